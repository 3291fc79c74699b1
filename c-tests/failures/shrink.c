/* MPIX_Comm_shrink and MPIX_Comm_ishrink while all live: a communicator of the same ranks. */
#include "check.h"

static void check_like(MPI_Comm old, MPI_Comm new)
{
    MPI_Group groups[2];
    MPI_Errhandler handlers[2];
    int result, topology, sum, of[2];
    MPI(MPI_Comm_group(old, &groups[0]));
    MPI(MPI_Comm_group(new, &groups[1]));
    MPI(MPI_Group_compare(groups[0], groups[1], &result));
    CHECK_INT(result, MPI_IDENT);
    MPI(MPI_Comm_get_errhandler(old, &handlers[0]));
    MPI(MPI_Comm_get_errhandler(new, &handlers[1]));
    CHECK(handlers[0] == handlers[1]);
    MPI(MPI_Topo_test(new, &topology));
    CHECK_INT(topology, MPI_UNDEFINED);
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = i ? new : old;

        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        of[i] = sum;
    }
    CHECK_INT(of[1], of[0]);
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Errhandler_free(&handlers[i]));
        MPI(MPI_Group_free(&groups[i]));
    }
}

static void both_forms(MPI_Comm comm)
{
    for (int i = 0; i < 30; i++) {
        MPI_Comm new = MPI_COMM_NULL, again = MPI_COMM_NULL;
        MPI_Request requests[2];
        int flag = 5;
        MPI(MPIX_Comm_shrink(comm, &new));
        check_like(comm, new);
        MPI(MPI_Comm_free(&new));
        /* In the order of the calls, whatever else agrees. */
        MPI(MPIX_Comm_ishrink(comm, &again, &requests[0]));
        MPI(MPIX_Comm_iagree(comm, &flag, &requests[1]));
        MPI(MPIX_Comm_shrink(comm, &new));
        MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_INT(flag, 5);
        check_like(comm, again);
        check_like(comm, new);
        MPI(MPI_Comm_free(&new));
        MPI(MPI_Comm_free(&again));
    }
}

/* More that live at one time than ids are offered with an agreement; on one rank some are taken besides. */
static void many(MPI_Comm comm)
{
    enum { MANY = 70, MORE = 300 };
    static MPI_Comm all[MANY], more[MORE];
    for (int i = 0; i < MORE && rank == 0; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &more[i]));
    for (int i = 0; i < MANY; i++)
        MPI(MPIX_Comm_shrink(i % 3 == 2 ? all[i - 1] : comm, &all[i]));
    for (int i = 0; i < MANY; i++)
        check_like(comm, all[i]);
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Comm_free(&all[i]));
    for (int i = 0; i < MORE && rank == 0; i++)
        MPI(MPI_Comm_free(&more[i]));
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    start(&argc, &argv);
    many(MPI_COMM_WORLD);
    both_forms(MPI_COMM_WORLD);
    both_forms(MPI_COMM_SELF);
    int periods = 1;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &other));
    MPI(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    both_forms(other);
    MPI(MPI_Comm_free(&other));
    if (size > 1) {
        MPI_Comm half;
        int high = rank >= size / 2;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, high, -rank, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? size / 2 - 1 : size - 1, 9, &other));
        both_forms(other);
        MPI(MPI_Comm_free(&other));
        MPI(MPI_Comm_free(&half));
    }
    return finish();
}
