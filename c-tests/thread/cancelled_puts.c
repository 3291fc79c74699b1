/* Threads are cancelled while they put to and get from windows of other hosts. Each ends between two calls, and window and shared state are
 * as after any call.
 *
 *     cancelled_puts ROUNDS */
#include "threads.h"

enum { THREADS = 3, WORDS = 1 << 14 };
static MPI_Win window;
static int *memory;
static _Atomic int ends;
static int rounds = 20;

static void *work(void *number)
{
    static int out[THREADS][WORDS], in[THREADS][WORDS];
    int me = (int) (intptr_t) number, mine = rank * THREADS + me;
    for (unsigned turn = me;; turn++) {
        int words = 1 << turn % 14, target = (int) ((rank + turn) % size);
        MPI_Aint at = (MPI_Aint) mine * WORDS;
        for (int i = 0; i < words; i++)
            out[me][i] = (int) turn + i;
        MPI(MPI_Put(out[me], words, MPI_INT, target, at, words, MPI_INT, window));
        MPI(MPI_Win_flush(target, window));
        MPI(MPI_Get(in[me], words, MPI_INT, target, at, words, MPI_INT, window));
        MPI(MPI_Win_flush(target, window));
        CHECK_INT(in[me][words - 1], out[me][words - 1]);
        ends++;
        pthread_testcancel();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    if (argc > 1)
        rounds = atoi(argv[1]);
    MPI_Aint bytes = (MPI_Aint) size * THREADS * WORDS * (MPI_Aint) sizeof(int);
    MPI(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    MPI(MPI_Win_lock_all(0, window));
    cancel_in_rounds(rounds, THREADS, work, &ends, NULL);
    MPI(MPI_Win_unlock_all(window));
    MPI(MPI_Win_free(&window));
    return finish();
}
