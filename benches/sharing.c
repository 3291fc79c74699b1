/* Ranks that share cores with each other and with other programs:   sharing SECONDS barrier|allreduce|ring WORK | wait PAUSE
 * barrier, allreduce (8 bytes), ring (512 bytes to the next rank, and as many from the one before): each rank computes for WORK us before each call. wait: rank 0 sleeps for PAUSE us and then enters a
 * barrier, in which the others wait for it. Prints us a call, as rank 0 sees them, and how many there were. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double BATCH = 0.02; /* s, at least, so that agreeing on the end costs nothing */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size;
    static char sent[512], received[512];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    double seconds = atof(argv[1]), pause = 1e-6 * atof(argv[3]), begin = 0, took, one = 1, sum;
    int reduces = !strcmp(argv[2], "allreduce"), rings = !strcmp(argv[2], "ring"), waits = !strcmp(argv[2], "wait");
    struct timespec sleep = {(time_t)pause, (long)(1e9 * (pause - (time_t)pause))};
    long calls = 0, batch = 1, next;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int warm = 1; batch > 0; batch = next) {
        double first = now();
        for (long i = 0; i < batch; i++) {
            if (waits && rank == 0)
                nanosleep(&sleep, NULL);
            if (!waits && pause > 0)
                for (double end = now() + pause; now() < end;)
                    ;
            if (reduces)
                MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            else if (rings)
                MPI_Sendrecv(sent, sizeof sent, MPI_BYTE, (rank + 1) % size, 0, received, sizeof received, MPI_BYTE, (rank + size - 1) % size, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Barrier(MPI_COMM_WORLD);
        }
        double end = now();
        next = end - first < BATCH ? 2 * batch : batch;
        if (!warm)
            calls += batch;
        if (warm && (next == batch || batch > 1000)) {
            warm = 0;
            begin = end;
        }
        took = end - begin;
        if (!warm && took >= seconds)
            next = 0;
        MPI_Bcast(&next, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("CALLS %ld US %.4g\n", calls, 1e6 * took / calls);
    MPI_Finalize();
    return 0;
}
