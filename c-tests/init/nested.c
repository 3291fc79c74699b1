/* A rank runs another MPI program as its child, by fork and exec, which inherits environment and files. Whatever becomes of the
 * child (it may refuse, or be alone), it ends, it never takes its parent's place in the job, and the parent goes on unharmed. */
#include "check.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child")) {
        alarm(20);
        MPI_Init(&argc, &argv);
        check_ranks();
        if (size != 1)
            return 3;
        MPI_Finalize();
        return 0;
    }
    start(&argc, &argv);
    int status = 0, in = -1, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        pid_t child = fork();
        if (child == 0) {
            close(1), close(2); /* what it says is its own business */
            execl("/proc/self/exe", argv[0], "child", (char *) NULL);
            _exit(4);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(!(WIFEXITED(status) && (WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 4)));
        CHECK(!(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM));
        for (int i = 0; i < 50; i++) {
            MPI(MPI_Sendrecv(&i, 1, MPI_INT, to, i, &in, 1, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(in, i);
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
