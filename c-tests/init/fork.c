/* args: how the child ends. A child forked in the middle never touches the job: _exit (0), exit with its handlers (1), a signal
 * (2), exec (3), or it lives on for a while after its parent has finalized (4). */
#include "check.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0, status = 0, flag = 0, in = -1, ready[2];
    static unsigned char out[200000], back[200000];
    MPI_Request requests[2];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    fill(out, sizeof out, rank);
    /* something is on its way while we fork */
    MPI(MPI_Irecv(back, sizeof back, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Isend(out, sizeof out, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK_INT(pipe(ready), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char byte;
        close(ready[1]);
        alarm(20);
        switch (how) {
        case 0:
            _exit(7);
        case 1:
            exit(7);
        case 2:
            signal(SIGTERM, SIG_DFL);
            kill(getpid(), SIGTERM);
            _exit(1);
        case 3:
            execl("/bin/sh", "sh", "-c", "exit 7", (char *) NULL);
            _exit(1);
        default:
            close(1), close(2); /* not ours to hold open */
            if (read(ready[0], &byte, 1) != 0)
                _exit(1);
            exit(7);
        }
    }
    close(ready[0]);
    if (how < 4) {
        CHECK(waitpid(child, &status, 0) == child);
        if (how == 2)
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_PATTERN(back, sizeof back, from);
    for (int i = 0; i < 100; i++) {
        MPI(MPI_Sendrecv(&rank, 1, MPI_INT, to, 2, &in, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(in, from);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Finalize());
    if (how == 4) {
        close(ready[1]); /* the child goes on now */
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    return conclude();
}
