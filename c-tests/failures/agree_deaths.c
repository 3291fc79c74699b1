/* Agreement and shrinking where ranks die: in front of a call, behind their part of it, behind it. What the survivors were told is compared
 * on the communicator that is left. */
#include "agreeing.h"
#include "dying.h"
#include <signal.h>

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* All of a communicator have this value. */
static void check_alike(MPI_Comm comm, int value)
{
    int ends[2] = {value, -value};
    MPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MIN, comm));
    CHECK_INT(ends[0], value);
    CHECK_INT(ends[1], -value);
}

static void check_failed_process(int code, int victim, const char *function)
{
    char text[MPI_MAX_ERROR_STRING], wanted[60];
    int length;
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", victim);
    if (!strstr(text, wanted) || !strstr(text, function))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
}

/* The victim has done its part. */
static void check_part(int code, int flag, int others, int victim, int is_near)
{
    int counts = is_near || code == MPI_SUCCESS;
    CHECK_INT(check_class_of(code), counts ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED);
    CHECK_INT(flag, ~(counts ? others : others & ~(1 << victim)));
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD, left;
    start(&argc, &argv);
    const char *when = argv[1];
    int nonblocking = argc > 2 && !strcmp(argv[2], "nonblocking");
    int inter = argc > 3 && !strcmp(argv[3], "inter");
    int victim = size - 1, flag = ~(1 << rank), code, ranks, remote, expected = size - 1;
    return_errors();
    if (inter) {
        MPI_Comm half;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank >= size / 2 ? 0 : size / 2, 9, &comm));
    }
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MPI(MPI_Barrier(comm));
    /* What a process sends over a fabric may die with it: its part of an agreement may count then, or not, for all alike. */
    int is_near = shares_memory(MPI_COMM_WORLD), others = 0;
    before_deaths(MPI_COMM_WORLD, strcmp(when, "all_but_one") ? rank == victim : rank != 0);
    for (int of = 0; of < size; of++)
        others |= !inter || (of >= size / 2) != (rank >= size / 2) ? 1 << of : 0;
    if (!strcmp(when, "before")) {
        if (rank == victim)
            die();
        code = agree(comm, &flag, nonblocking);
        check_failed_process(code, victim, nonblocking ? "MPI_Wait" : "MPIX_Comm_agree");
        CHECK_INT(flag, ~(others & ~(1 << victim)));
    } else if (!strcmp(when, "part")) {
        /* Its part is done: it counts. */
        if (rank == victim) {
            MPI_Request request;
            MPI(MPIX_Comm_iagree(comm, &flag, &request));
            die();
        }
        code = agree(comm, &flag, nonblocking);
        check_part(code, flag, others, victim, is_near);
    } else if (!strcmp(when, "after")) {
        code = agree(comm, &flag, nonblocking);
        if (rank == victim)
            die();
        check_part(code, flag, others, victim, is_near);
    } else if (!strcmp(when, "collective")) {
        /* A collective operation has failed before; agreement does not mind. */
        if (rank == victim)
            die();
        MPI_Barrier(comm);
        code = agree(comm, &flag, nonblocking);
        check_failed_process(code, victim, nonblocking ? "MPI_Wait" : "MPIX_Comm_agree");
    } else if (!strcmp(when, "shrink")) {
        /* In the middle of it. */
        if (rank == victim) {
            MPI_Request request;
            MPI(MPIX_Comm_ishrink(comm, &left, &request));
            die();
        }
        flag = 0;
    } else if (!strcmp(when, "all_but_one")) {
        if (rank != 0)
            die();
        expected = 1;
        flag = 0;
    }
    left = shrink(comm, nonblocking);
    MPI(MPI_Comm_size(left, &ranks));
    remote = 0;
    if (inter)
        MPI(MPI_Comm_remote_size(left, &remote));
    if (!strcmp(when, "shrink") && ranks + remote == size) {
        /* All of its part was done in its call: it has died behind it. */
        MPI_Comm first = left;
        MPI(MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN));
        left = shrink(first, nonblocking);
        MPI(MPI_Comm_free(&first));
        MPI(MPI_Comm_size(left, &ranks));
        if (inter)
            MPI(MPI_Comm_remote_size(left, &remote));
    }
    if (inter) {
        CHECK_INT(ranks + remote, expected);
    } else {
        CHECK_INT(ranks, expected);
        check_alike(left, flag);
    }
    MPI(MPI_Comm_set_errhandler(left, MPI_ERRORS_ARE_FATAL));
    flag = -1;
    MPI(agree(left, &flag, nonblocking));
    CHECK_INT(flag, -1);
    /* Again, of the old one: the new one does not change it. */
    MPI_Comm again = shrink(comm, !nonblocking);
    MPI(MPI_Barrier(again));
    MPI(MPI_Comm_free(&again));
    MPI(MPI_Barrier(left));
    return finish();
}
