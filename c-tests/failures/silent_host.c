/* A host that gives no sign of life while its ranks run on: its keeper is stopped. Its ranks have failed for all others, which go on and take nothing any more of
 * what these send. When the keeper runs again it ends them. For two ranks on each of two hosts. */
#include "failing.h"

enum { MOST = 200000, AFTER = 300 };

/* The process that watches the ranks of this host: one above, by its name. */
static pid_t keeper(void)
{
    pid_t pid = getppid();
    while (pid > 1) {
        char path[64], name[64] = "";
        int parent = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", (int) pid);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d (%63[^)]) %*c %d", name, &parent) != 2)
            break;
        fclose(file);
        if (!strncmp(name, "oxmpi-supervise", 15))
            return pid;
        pid = parent;
    }
    check_failed(__FILE__, __LINE__, "no keeper above this rank");
    return 0;
}

/* Sends numbers to rank 0 as long as it lives. */
static void run_on(void)
{
    for (int i = 0; i < MOST; i++) {
        MPI_Request request;
        int done = 0, code = MPI_Isend(&i, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        while (!code && !done) {
            code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            usleep(500);
        }
        if (code)
            break;
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    int far[2], number, next = 0, code, sum, one = 1, flag = 3, failed = 0;
    MPI_Comm left;
    start_failing(&argc, &argv);
    far[0] = rank == 2 ? (int) keeper() : 0;
    MPI(MPI_Bcast(far, 1, MPI_INT, 2, MPI_COMM_WORLD));
    before_deaths(MPI_COMM_WORLD, rank >= 2);
    if (rank == 2)
        CHECK_INT(kill(far[0], SIGSTOP), 0);
    if (rank >= 2)
        run_on();
    /* What comes before is in order. */
    while (rank == 0 && (code = MPI_Recv(&number, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_SUCCESS)
        CHECK_INT(number, next++);
    if (rank == 0)
        CHECK(next > 0);
    else
        code = MPI_Recv(&number, 1, MPI_INT, 3, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    FAILED(code);
    /* They run on. */
    for (int i = 0; i < AFTER; i++) {
        FAILED(MPI_Recv(&number, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        usleep(2000);
    }
    while (failed != (1 << 2 | 1 << 3)) {
        failed = failed_of(MPI_COMM_WORLD);
        usleep(1000);
    }
    MPI(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    MPI(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    CHECK_INT(flag, 3);
    MPI(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left));
    CHECK_INT(sum, 2);
    /* Until here they have not ended. */
    MPI(MPI_Barrier(left));
    if (rank == 0)
        CHECK_INT(kill((pid_t) far[0], SIGCONT), 0);
    MPI(MPI_Barrier(left));
    MPI(MPI_Comm_free(&left));
    return finish();
}
