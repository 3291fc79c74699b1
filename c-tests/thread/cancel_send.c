/* Threads send, cancel and receive at once: each message is received or cancelled, whichever engine it leaves by, also where another
 * thread waits for the send that one cancels. */
#include "threads.h"

enum { THREADS = 4, LONG = 70000 };

static MPI_Comm comms[THREADS];
static int rounds;

static int wait_for(MPI_Request *request)
{
    MPI_Status status;
    int cancelled = -1;
    MPI(MPI_Wait(request, &status));
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled == 0 || cancelled == 1);
    return cancelled;
}

/* Threads of even numbers have a communicator each, the others share one. */
static void *run(void *number)
{
    static const int sizes[] = {0, 8, 5000, LONG};
    int me = (int) (intptr_t) number, to = (rank + 1) % size, from = (rank + size - 1) % size, tag = 10 * me, cancelled, other;
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    MPI_Comm comm = me % 2 ? comms[1] : comms[me];
    uint64_t state = (uint64_t) (rank * 10 + me);
    for (int round = 0; round < rounds; round++) {
        MPI_Request send, receive = MPI_REQUEST_NULL;
        int flag, early = next_random(&state) % 3 == 0, bytes = sizes[round % 4];
        unsigned before = (unsigned) next_random(&state) % 5;
        fill(out, (size_t) bytes, (uint64_t) (rank * 100 + me));
        MPI(MPI_Issend(out, bytes, MPI_BYTE, to, tag, comm, &send));
        if (early)
            MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, comm, &receive));
        for (unsigned i = 0; i < before; i++)
            MPI(MPI_Iprobe(from, tag + 9, comm, &flag, MPI_STATUS_IGNORE));
        MPI(MPI_Cancel(&send));
        if (!early)
            MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, comm, &receive));
        cancelled = wait_for(&send);
        fill(out, (size_t) bytes, (uint64_t) (rank * 100 + me + 50));
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &send));
        CHECK_INT(wait_for(&receive), 0);
        MPI(MPI_Sendrecv(&cancelled, 1, MPI_INT, to, tag + 1, &other, 1, MPI_INT, from, tag + 1, comm, MPI_STATUS_IGNORE));
        if (!other) {
            CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 100 + me));
            MPI(MPI_Recv(in, bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
        }
        CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 100 + me + 50));
        CHECK_INT(wait_for(&send), 0);
    }
    free(in);
    free(out);
    return NULL;
}

/* Of two threads one waits for the send that the other cancels. */
static MPI_Request shared;

static void *waits(void *unused)
{
    MPI_Request request = shared;
    (void) unused;
    CHECK_INT(wait_for(&request), 1);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : slow() ? 20 : 400;
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, run);
    for (int i = 0; i < 20; i++) {
        static char data[LONG];
        MPI(MPI_Issend(data, i % 2 ? LONG : 1, MPI_BYTE, (rank + 1) % size, 5, comms[i % THREADS], &shared));
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, waits, NULL), 0);
        for (int flag, looks = 0; looks < 10 * i; looks++)
            MPI(MPI_Iprobe(MPI_ANY_SOURCE, 6, comms[0], &flag, MPI_STATUS_IGNORE));
        MPI(MPI_Cancel(&shared));
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
