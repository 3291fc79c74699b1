/* More communicators than 16-bit context ids: creation goes on and they work. With an argument, the job may have no more than that
 * (OXMPI_CONTEXT_PAGES=1): then the same creation fails on all ranks, nothing is lost, and it works again after some are freed. */
#include "check.h"

enum { MOST = 18000, IDS = 16384 };
static MPI_Comm made[MOST];

static int make(int limit)
{
    for (int i = 0; i < limit; i++) {
        int code = MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        if (code != MPI_SUCCESS) {
            CHECK_CLASS(code, MPI_ERR_OTHER);
            return i;
        }
    }
    return limit;
}

static void use(MPI_Comm comm, int value)
{
    int sum = -1;
    MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, value * size);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    int limited = argc > 1, first = 0, least = 0;
    int wanted = slow() && !limited ? 300 : MOST;
    for (int turn = 0; turn < 2; turn++) {
        int count = make(wanted);
        MPI(MPI_Allreduce(&count, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        CHECK_INT(count, least);
        if (limited)
            CHECK(count > IDS - 600 && count < IDS);
        else
            CHECK_INT(count, wanted);
        if (turn == 0)
            first = count;
        CHECK_INT(count, first); /* nothing was lost */
        for (int i = 0; i < count; i += i < count - 50 ? 997 : 1)
            use(made[i], i);
        if (limited) {
            MPI(MPI_Comm_free(&made[0]));
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &made[0]));
            use(made[0], 7);
        }
        for (int i = 0; i < count; i++)
            MPI(MPI_Comm_free(&made[i]));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
