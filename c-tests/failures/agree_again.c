/* A death behind an agreement that has failed because of another one: the next agreement tells of both, alike on all that are left, in whatever step of the first
 * one the second process dies. Arguments: "started" (it dies behind MPIX_Comm_iagree), "told" (behind the call that has told it of the first death), "acknowledged" (it
 * has acknowledged that besides), or "shrunk" (behind MPIX_Comm_ishrink). */
#include "failing.h"
#include "agreeing.h"

static void die(void)
{
    raise(SIGKILL);
    for (;;)
        pause();
}

/* All of a communicator have this value. */
static void check_alike(MPI_Comm comm, int value)
{
    int ends[2] = {value, -value};
    MPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MIN, comm));
    CHECK(ends[0] == value && ends[1] == -value);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, left = MPI_COMM_NULL, again;
    MPI_Request request;
    MPI_Group failed;
    int flag = 7, code, second, count, sum, one = 1, first_class;
    start_failing(&argc, &argv);
    const char *when = argv[1];
    second = last - 1;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* The second one is not waited for when it dies: each of its calls is one that the others can do without. */
    last_dies("kill");
    MPI(MPIX_Comm_iagree(comm, &flag, &request));
    if (rank == second && !strcmp(when, "started"))
        die();
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    FAILED(code);
    CHECK_INT(flag, 7);
    if (rank == second && !strcmp(when, "told"))
        die();
    if (!strcmp(when, "acknowledged")) {
        MPI(MPIX_Comm_failure_ack(comm));
        flag = 6;
        code = agree(comm, &flag, 1);
        if (rank == second)
            die();
        MPI(code);
        CHECK_INT(flag, 6);
    }
    if (!strcmp(when, "shrunk")) {
        MPI(MPIX_Comm_ishrink(comm, &left, &request));
        if (rank == second)
            die();
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Comm_size(left, &count));
        /* It may have done all of its part. */
        CHECK(count == second || count == last);
        MPI(MPI_Comm_free(&left));
    }
    /* Until all know of the second one: none takes part who is dead. */
    flag = 5;
    code = agree(comm, &flag, 0);
    FAILED(code);
    CHECK_INT(flag, 5);
    first_class = check_class_of(code);
    MPI(MPIX_Comm_agree_failed(comm, &failed));
    CHECK_INT(ranks_once(failed), 1 << last | 1 << second);
    MPI(MPIX_Comm_failure_ack(comm));
    CHECK_INT(acked_of(comm), 1 << last | 1 << second);
    for (int i = 0; i < 4; i++) {
        flag = 8 + i;
        MPI(agree(comm, &flag, i % 2));
        CHECK_INT(flag, 8 + i);
    }
    again = shrink(comm, 0);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again));
    CHECK_INT(sum, second);
    check_alike(again, first_class);
    MPI(MPI_Comm_free(&again));
    MPI(MPI_Comm_free(&comm));
    return finish();
}
