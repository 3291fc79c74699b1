/* MPIX_Comm_get_failed gives the failed processes of a communicator in an order in which new ones come last; MPIX_Comm_ack_failed acknowledges
 * the first of them, never fewer than before, and says how many are; MPIX_Comm_failure_ack all, MPIX_Comm_failure_get_acked gives those. Each
 * communicator has its own. Two processes die, one after the other. */
#include "failing.h"

int main(int argc, char **argv)
{
    MPI_Comm w = MPI_COMM_WORLD, dup, living, odd;
    MPI_Group group, first;
    int acked = -1, flag = -1, same;
    start_failing(&argc, &argv);
    int second = last - 1;
    MPI(MPI_Comm_dup(w, &dup));
    MPI(MPI_Comm_split(w, rank < second, 0, &living));
    MPI(MPI_Comm_split(w, rank % 2, 0, &odd));
    CHECK_INT(failed_of(w), 0);
    CHECK_INT(acked_of(w), 0);
    MPI(MPIX_Comm_ack_failed(w, 5, &acked));
    CHECK_INT(acked, 0);
    MPI(MPIX_Comm_is_revoked(w, &flag));
    CHECK_INT(flag, 0);

    last_is_dead(argv[1]);
    CHECK_INT(failed_of(w), 1 << last);
    CHECK_INT(acked_of(w), 0);
    MPI(MPIX_Comm_get_failed(dup, &first));
    if (rank == second) {
        char go;
        for (int i = 0; i < second; i++)
            MPI(MPI_Recv(&go, 1, MPI_CHAR, i, 7, w, MPI_STATUS_IGNORE));
        raise(SIGKILL);
    }
    MPI(MPI_Send("", 1, MPI_CHAR, second, 7, w));
    FAILED(MPI_Recv(&flag, 1, MPI_INT, second, 8, w, MPI_STATUS_IGNORE));

    /* Whom an error names is among the failed, behind those known before. */
    CHECK_INT(failed_of(w), 1 << last | 1 << second);
    MPI(MPIX_Comm_get_failed(w, &group));
    MPI(MPI_Group_compare(first, group, &same));
    CHECK_INT(same, MPI_UNEQUAL);
    int zero = 0, in_world;
    MPI_Group world;
    MPI(MPI_Comm_group(w, &world));
    MPI(MPI_Group_translate_ranks(group, 1, &zero, world, &in_world));
    CHECK_INT(in_world, last);
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&first));

    MPI(MPIX_Comm_ack_failed(w, 0, &acked));
    CHECK_INT(acked, 0);
    MPI(MPIX_Comm_ack_failed(w, 1, &acked));
    CHECK_INT(acked, 1);
    CHECK_INT(acked_of(w), 1 << last);
    MPI(MPIX_Comm_ack_failed(w, 0, &acked));
    CHECK_INT(acked, 1);
    /* One that is not acknowledged is enough. */
    FAILED(MPI_Recv(&flag, 1, MPI_INT, MPI_ANY_SOURCE, 8, w, MPI_STATUS_IGNORE));
    CHECK_INT(acked_of(dup), 0);
    MPI(MPIX_Comm_failure_ack(w));
    CHECK_INT(acked_of(w), 1 << last | 1 << second);
    MPI(MPIX_Comm_ack_failed(w, 100, &acked));
    CHECK_INT(acked, 2);
    CHECK_INT(acked_of(dup), 0);

    /* Of other communicators only members count. */
    CHECK_INT(failed_of(odd), rank % 2 == last % 2 ? 1 << last : 1 << second);
    CHECK_INT(failed_of(living), 0);
    CHECK_INT(failed_of(MPI_COMM_SELF), 0);
    MPI(MPI_Barrier(living));
    return finish();
}
