/* Agreement and shrinking where the memory for them is used up: all get MPI_ERR_NO_MEM, alike, and the communicator is as before; those that have agreed before go on.
 * The last rank dies then, and what is left works. For a node with little memory. Arguments: "blocking" or "nonblocking". */
#include "failing.h"

enum { MOST = 4000, FURTHER = 20 };
static MPI_Comm made[MOST];

/* The nonblocking form may say so when it begins. */
static int agree(MPI_Comm comm, int *flag, int nonblocking)
{
    MPI_Request request;
    if (!nonblocking)
        return MPIX_Comm_agree(comm, flag);
    int code = MPIX_Comm_iagree(comm, flag, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int shrink(MPI_Comm comm, MPI_Comm *new, int nonblocking)
{
    MPI_Request request;
    if (!nonblocking)
        return MPIX_Comm_shrink(comm, new);
    int code = MPIX_Comm_ishrink(comm, new, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int count = 0, code = MPI_SUCCESS, flag, sum, one = 1, nonblocking;
    MPI_Comm left = MPI_COMM_NULL;
    start_failing(&argc, &argv);
    nonblocking = !strcmp(argv[1], "nonblocking");
    while (count < MOST && code == MPI_SUCCESS) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &made[count]));
        MPI(MPI_Comm_set_errhandler(made[count], MPI_ERRORS_RETURN));
        flag = ~(1 << rank);
        code = agree(made[count], &flag, nonblocking);
        if (code == MPI_SUCCESS)
            CHECK_INT(flag, (int) (~0u << size));
        count++;
    }
    CHECK_CLASS(code, MPI_ERR_NO_MEM);
    int ends[2] = {count, -count};
    MPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    CHECK(ends[0] == count && ends[1] == -count);
    MPI_Comm without = made[count - 1];
    for (int i = 0; i < FURTHER; i++) {
        CHECK_CLASS(agree(without, &flag, i % 2), MPI_ERR_NO_MEM);
        CHECK_CLASS(shrink(without, &left, i % 2), MPI_ERR_NO_MEM);
        /* It is good for all else. */
        MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, without));
        CHECK_INT(sum, size);
        /* As are those that have a desk. */
        flag = i;
        MPI(agree(made[i % (count - 1)], &flag, nonblocking));
        CHECK_INT(flag, i);
    }
    last_is_dead("kill");
    CHECK_CLASS(agree(without, &flag, nonblocking), MPI_ERR_NO_MEM);
    flag = 3;
    FAILED(agree(made[0], &flag, nonblocking));
    CHECK_INT(flag, 3);
    MPI(shrink(made[0], &left, nonblocking));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left));
    CHECK_INT(sum, size - 1);
    MPI(MPI_Comm_free(&left));
    for (int i = 0; i < count; i++)
        MPI(MPI_Comm_free(&made[i]));
    return finish();
}
