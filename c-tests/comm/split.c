/* MPI_Comm_split: colours, keys, ties, MPI_UNDEFINED; messages and collectives on what comes out. */
#include "check.h"

static void use(MPI_Comm comm, int expected_rank, int expected_size)
{
    int r, s, sum, value = -1;
    MPI(MPI_Comm_rank(comm, &r));
    MPI(MPI_Comm_size(comm, &s));
    CHECK_INT(r, expected_rank);
    CHECK_INT(s, expected_size);
    MPI(MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % s, 3, &value, 1, MPI_INT, (r + s - 1) % s, 3, comm, MPI_STATUS_IGNORE));
    CHECK_INT(value, (r + s - 1) % s);
    MPI(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, s * (s - 1) / 2);
    MPI(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, inner;
    start(&argc, &argv);
    for (int colours = 1; colours <= size; colours++) {
        int mine = rank % colours, of_mine = (size - mine + colours - 1) / colours;
        /* in order, backwards, and all with one key: ties are broken by the old rank */
        MPI(MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &comm));
        use(comm, rank / colours, of_mine);
        MPI(MPI_Comm_split(comm, 7, -rank, &inner));
        use(inner, of_mine - 1 - rank / colours, of_mine);
        MPI(MPI_Comm_free(&inner));
        MPI(MPI_Comm_split(comm, 0, 5, &inner));
        use(inner, rank / colours, of_mine);
        MPI(MPI_Comm_free(&inner));
        MPI(MPI_Comm_free(&comm));
    }
    /* even keys first, and order kept among equals */
    int even = (size + 1) / 2;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 2147483647, rank % 2, &comm));
    use(comm, rank % 2 ? even + rank / 2 : rank / 2, size);
    MPI(MPI_Comm_free(&comm));
    /* only the last takes part, then nobody */
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? 0 : MPI_UNDEFINED, 0, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank != size - 1));
    if (comm != MPI_COMM_NULL) {
        use(comm, 0, 1);
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    return finish();
}
