/* MPI_Comm_create: some, none, several groups in one call; and the error handler is the parent's. */
#include "check.h"

static void use(MPI_Comm comm, int expected_rank, int expected_size)
{
    int r, s, sum;
    MPI(MPI_Comm_rank(comm, &r));
    MPI(MPI_Comm_size(comm, &s));
    CHECK_INT(r, expected_rank);
    CHECK_INT(s, expected_size);
    MPI(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, s * (s - 1) / 2);
}

int main(int argc, char **argv)
{
    MPI_Group all, group;
    MPI_Comm comm;
    MPI_Errhandler handler;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));

    int backwards[1][3] = {{size - 1, 0, -1}};
    MPI(MPI_Group_range_incl(all, 1, backwards, &group));
    MPI(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    MPI(MPI_Group_free(&group));
    use(comm, size - 1 - rank, size);
    MPI(MPI_Comm_get_errhandler(comm, &handler));
    if (!reference) /* the standard: a new communicator inherits it */
        CHECK(handler == MPI_ERRORS_RETURN);
    MPI(MPI_Comm_free(&comm));

    int even[1][3] = {{0, (size - 1) / 2 * 2, 2}};
    MPI(MPI_Group_range_incl(all, 1, even, &group));
    MPI(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (rank % 2 == 0) {
        use(comm, rank / 2, (size + 1) / 2);
        MPI(MPI_Comm_free(&comm));
    }
    /* even and odd ranks in one call */
    if (rank % 2) {
        MPI_Group odd;
        MPI(MPI_Group_difference(all, group, &odd));
        MPI(MPI_Group_free(&group));
        group = odd;
    }
    MPI(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    use(comm, rank / 2, (size + (rank % 2 ? 0 : 1)) / 2);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Group_free(&group));

    MPI(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI(MPI_Group_free(&all));
    return finish();
}
