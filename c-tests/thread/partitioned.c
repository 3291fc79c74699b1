/* Partitions that several threads fill, and that several threads look for. */
#include "threads.h"

enum { THREADS = 4, EACH = 5, PARTITIONS = THREADS * EACH, COUNT = 700, ROUNDS = 20 };

static int out[PARTITIONS * COUNT], in[PARTITIONS * COUNT], round_;
static MPI_Request send, receive;

static void *fill_and_look(void *argument)
{
    int thread = (int) (intptr_t) argument;
    for (int i = 0; i < EACH; i++) {
        int partition = i * THREADS + thread;
        for (int k = 0; k < COUNT; k++)
            out[partition * COUNT + k] = round_ * 131 + partition * COUNT + k;
        MPI(MPI_Pready(partition, send));
    }
    for (int partition = thread; partition < PARTITIONS / 2; partition += 2) {
        int flag = 0;
        while (!flag)
            MPI(MPI_Parrived(receive, partition, &flag));
        for (int k = partition * 2 * COUNT; k < (partition + 1) * 2 * COUNT; k++)
            if (in[k] != round_ * 131 + k) {
                CHECK_INT(in[k], round_ * 131 + k);
                break;
            }
    }
    return NULL;
}

static void *mark(void *argument)
{
    int thread = (int) (intptr_t) argument;
    for (int i = 0; i < EACH; i++)
        MPI(MPI_Pready(thread * EACH + i, send));
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI(MPI_Psend_init(out, PARTITIONS, COUNT, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    MPI(MPI_Precv_init(in, PARTITIONS / 2, 2 * COUNT, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (round_ = 0; round_ < (slow() ? 3 : ROUNDS); round_++) {
        memset(in, -1, sizeof in);
        MPI(MPI_Start(&receive));
        MPI(MPI_Start(&send));
        if (round_ % 2)
            for (int i = 0; i < PARTITIONS * COUNT; i++)
                out[i] = round_ * 131 + i;
        run_threads(THREADS, round_ % 2 ? mark : fill_and_look);
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
        MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < PARTITIONS * COUNT; i++)
            if (in[i] != round_ * 131 + i) {
                CHECK_INT(in[i], round_ * 131 + i);
                break;
            }
    }
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));
    return finish();
}
