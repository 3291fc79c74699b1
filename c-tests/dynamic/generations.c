/* One communicator of three generations: parents and children spawn together, and all merge. Then the middle generation leaves, and
 * the first and the last talk on. */
#include "spawned.h"

static void ring(MPI_Comm comm)
{
    int me, number, left = -1, sum = -1;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &number));
    MPI(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % number, 0, &left, 1, MPI_INT, (me + number - 1) % number, 0, comm,
                     MPI_STATUS_IGNORE));
    CHECK_INT(left, (me + number - 1) % number);
    MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, number * (number - 1) / 2);
}

int main(int argc, char **argv)
{
    enum { FIRST, MIDDLE, LAST };
    MPI_Comm two, last, three, rest;
    char *words[] = {"last", NULL};
    start_family(&argc, &argv);
    int generation = !is_child ? FIRST : argc > 1 ? LAST : MIDDLE, me, number, failures, all = 0;
    if (generation != LAST) {
        MPI_Comm both = is_child ? parent : spawn(MPI_COMM_WORLD, 2, MPI_ARGV_NULL);
        MPI(MPI_Intercomm_merge(both, is_child, &two));
        ring(two);
        last = spawn(two, 2, words);
        MPI(MPI_Comm_disconnect(&two));
        MPI(MPI_Comm_disconnect(&both));
        parent = MPI_COMM_NULL;
    } else {
        last = parent;
        parent = MPI_COMM_NULL;
    }
    MPI(MPI_Intercomm_merge(last, generation == LAST, &three));
    MPI(MPI_Comm_disconnect(&last));
    ring(three);
    MPI(MPI_Comm_rank(three, &me));
    MPI(MPI_Comm_size(three, &number));
    failures = check_failures;
    MPI(MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, three));
    CHECK_INT(all, 0);
    MPI(MPI_Comm_split(three, generation == MIDDLE ? MPI_UNDEFINED : 0, me, &rest));
    MPI(MPI_Comm_disconnect(&three));
    if (generation != MIDDLE) {
        ring(rest);
        failures = check_failures;
        MPI(MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, rest));
        CHECK_INT(all, 0);
        MPI(MPI_Comm_disconnect(&rest));
    }
    return finish_family();
}
