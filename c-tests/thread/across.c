/* A thread of rank 0 is in a split of an intercommunicator while the other side still duplicates another communicator, together with a
 * second thread of rank 0: the split must not hold anything that the duplicate needs. Of the default strategy it does so where its
 * eager part is used up, which OXMPI_CONTEXT_EAGER_WORDS=0 stands for. */
#include "threads.h"
#include <unistd.h>

static MPI_Comm inter, both;
static int by_type;

static void split(void)
{
    MPI_Comm new = MPI_COMM_NULL;
    int remote;
    if (by_type)
        MPI(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new));
    else
        MPI(MPI_Comm_split(inter, 3, rank, &new));
    MPI(MPI_Comm_remote_size(new, &remote));
    CHECK_INT(remote, rank == 0 ? size - 1 : 1);
    MPI(MPI_Comm_free(&new));
}

static void duplicate(void)
{
    MPI_Comm new;
    int sum, one = 1;
    MPI(MPI_Comm_dup(both, &new));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, new));
    CHECK_INT(sum, size);
    MPI(MPI_Comm_free(&new));
}

static void *run(void *thread)
{
    if (thread == NULL) {
        split();
    } else {
        usleep(50000); /* the split waits for the other side by now; if it does not, nothing is tested, and nothing fails */
        duplicate();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    for (by_type = 0; by_type < 2; by_type++) {
        MPI_Comm side;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &side));
        MPI(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0, 5, &inter));
        /* made later: its turn comes after the intercommunicator's */
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &both));
        if (rank == 0) {
            run_threads(2, run);
        } else {
            duplicate();
            split();
        }
        MPI(MPI_Comm_free(&both));
        MPI(MPI_Comm_free(&inter));
        MPI(MPI_Comm_free(&side));
    }
    return finish();
}
