/* Children that were disconnected are no longer the parents' matter: they are killed, fail or abort, and the parents go on. */
#include "spawned.h"

static void go_on(void)
{
    int one = 1, sum = 0;
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
}

int main(int argc, char **argv)
{
    int pid = getpid(), pids[2];
    start_family(&argc, &argv);
    if (is_child) {
        MPI(MPI_Gather(&pid, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent));
        part(&parent);
        if (!strcmp(argv[1], "abort") && rank == 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
        if (!strcmp(argv[1], "fail"))
            exit(5);
        for (;;)
            pause();
    }
    static char *ways[] = {"kill", "abort", "fail"};
    for (int way = 0; way < 3; way++) {
        char *words[] = {ways[way], NULL};
        MPI_Comm children = spawn(MPI_COMM_WORLD, 2, words);
        MPI(MPI_Gather(NULL, 0, MPI_INT, pids, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
        part(&children);
        if (rank == 0) {
            if (way == 0)
                kill(pids[0], SIGKILL);
            wait_for_end(pids[0]);
            wait_for_end(pids[1]);
        }
        go_on();
    }
    MPI_Comm children = spawn(MPI_COMM_WORLD, 1, (char *[]) {"kill", NULL});
    MPI(MPI_Gather(NULL, 0, MPI_INT, pids, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
    part(&children);
    if (rank == 0)
        kill(pids[0], SIGKILL);
    go_on();
    return finish_family();
}
