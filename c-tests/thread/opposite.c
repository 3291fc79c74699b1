/* args: rounds. Two parents, two threads; even ranks use the threads at once, odd ranks duplicate one parent after the other
 * (the deadlock of Open MPI's and of the waiting queue's algorithm as printed). */
#include "threads.h"

static int rounds;
static MPI_Comm parents[2];

static void duplicate(int which)
{
    MPI_Comm dup;
    MPI(MPI_Comm_dup(parents[which], &dup));
    MPI(MPI_Barrier(dup));
    MPI(MPI_Comm_free(&dup));
}

static void *run(void *argument)
{
    for (int round = 0; round < rounds; round++)
        duplicate((int) (intptr_t) argument);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 100;
    start_multiple(&argc, &argv);
    if (slow())
        rounds = 10;
    for (int i = 0; i < 2; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]));
    if (rank % 2 == 0) {
        run_threads(2, run);
    } else {
        for (int round = 0; round < rounds; round++)
            for (int i = 1; i >= 0; i--)
                duplicate(i);
    }
    for (int i = 0; i < 2; i++)
        MPI(MPI_Comm_free(&parents[i]));
    return finish();
}
