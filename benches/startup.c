/* Time of MPI_Init and of MPI_Finalize, in ms. Each rank prints its own line (the second is known only when MPI is gone);
 * the runner takes the slowest rank. A barrier before each, where possible, keeps waiting for late starters out of finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

int main(int argc, char **argv)
{
    double before = now();
    MPI_Init(&argc, &argv);
    double initialised = now();
    MPI_Barrier(MPI_COMM_WORLD);
    double ready = now();
    MPI_Finalize();
    double end = now();
    char lines[200];
    snprintf(lines, sizeof lines,
             "RESULT series=init size=-1 value=%.6g unit=ms better=lower\n"
             "RESULT series=finalize size=-1 value=%.6g unit=ms better=lower\n",
             initialised - before, end - ready);
    fputs(lines, stdout);
    return fflush(stdout);
}
