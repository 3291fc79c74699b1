/* Rank 1 ends in the way that the first argument names; the others wait for it in MPI calls that never end, with a second argument in
 * receives only, so that they send nothing. Without any argument all
 * run collective operations until something else ends them. Rank 0 prints "ready" when all have spoken to all. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *wish, const char *name)
{
    return !strcmp(wish, name);
}

int main(int argc, char **argv)
{
    int rank, size, sum, one = 1;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size)
        return 99;
    if (rank == 0) {
        puts("ready");
        fflush(stdout);
    }
    if (is(how, "return4") || is(how, "returns")) {
        MPI_Finalize();
        return is(how, "returns") ? 10 + rank : rank == 1 ? 4 : 0;
    }
    if (*how && rank == 1) {
        usleep(100000);
        if (is(how, "kill"))
            raise(SIGKILL);
        if (is(how, "segv"))
            raise(SIGSEGV);
        if (is(how, "abort"))
            abort();
        if (is(how, "exit0"))
            _exit(0);
        if (is(how, "exit5"))
            _exit(5);
        if (is(how, "world7"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (is(how, "self7"))
            MPI_Abort(MPI_COMM_SELF, 7);
        return 98;
    }
    if (is(how, "") || (rank % 2 == 0 && argc == 2))
        for (;;)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Recv(&one, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 97;
}
