/* The first creation on a new communicator has its id already: no rank waits for another in it. The standard promises nothing of the kind.
 * Messages on what was made go where they belong, and ids return. */
#include "check.h"

static void ring(MPI_Comm comm, int value)
{
    int members, mine, got = -1;
    MPI(MPI_Comm_size(comm, &members));
    MPI(MPI_Comm_rank(comm, &mine));
    MPI(MPI_Sendrecv(&value, 1, MPI_INT, (mine + 1) % members, 0, &got, 1, MPI_INT, (mine + members - 1) % members, 0, comm,
                     MPI_STATUS_IGNORE));
    CHECK_INT(got, value);
}

/* Rank 0 duplicates before any other rank begins to, and frees nothing of what others may still need. */
static void is_local(MPI_Comm made, int value)
{
    MPI_Comm copy, second;
    int members, mine;
    MPI(MPI_Comm_size(made, &members));
    MPI(MPI_Comm_rank(made, &mine));
    if (mine == 0) {
        MPI(MPI_Comm_dup(made, &copy));
        for (int other = 1; other < members; other++)
            MPI(MPI_Send(&value, 1, MPI_INT, other, 9, made));
    } else {
        int told = -1;
        MPI(MPI_Recv(&told, 1, MPI_INT, 0, 9, made, MPI_STATUS_IGNORE));
        CHECK_INT(told, value);
        MPI(MPI_Comm_dup(made, &copy));
    }
    MPI(MPI_Comm_dup(made, &second));
    ring(copy, value);
    ring(second, value + 1);
    ring(made, value + 2);
    MPI(MPI_Comm_free(&second));
    MPI(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 100; round++) {
        MPI_Comm made;
        MPI_Request request;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        is_local(made, round);
        MPI(MPI_Comm_free(&made));
        MPI(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        is_local(made, round);
        MPI(MPI_Comm_free(&made));
        /* Two communicators of one id. */
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made));
        is_local(made, round);
        MPI(MPI_Comm_free(&made));
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &made));
        if (made != MPI_COMM_NULL) {
            is_local(made, round);
            MPI(MPI_Comm_free(&made));
        }
    }
    finish();
    return 0;
}
