/* Figure 1 of "Efficient multithreaded context ID allocation in MPI" (Dinan et al., EuroMPI 2012): thread t of rank t duplicates
 * MPI_COMM_SELF while the threads of the same number duplicate a communicator of theirs. The algorithm of 2006 deadlocks here.
 *
 *     figure_1 ROUNDS THREADS */
#include "threads.h"

enum { MOST = 8 };
static MPI_Comm comms[MOST];
static int rounds = 100;

static void *duplicate(void *number)
{
    int me = (int) (intptr_t) number, sum, same;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm self, dup;
        if (me == rank)
            MPI(MPI_Comm_dup(MPI_COMM_SELF, &self));
        MPI(MPI_Comm_dup(comms[me], &dup));
        if (i % 16 == 0) {
            MPI(MPI_Comm_compare(dup, comms[me], &same));
            CHECK_INT(same, MPI_CONGRUENT);
            MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, dup));
            CHECK_INT(sum, me * size);
        }
        MPI(MPI_Comm_free(&dup));
        if (me == rank)
            MPI(MPI_Comm_free(&self));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    if (argc > 1)
        rounds = slow() ? 5 : atoi(argv[1]);
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(threads, duplicate);
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
