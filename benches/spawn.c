/* Parents and children: messages between a process and the one that it has spawned, and the time of spawn and disconnect.
 *
 *   spawn world       2 ranks: ping-pong and bandwidth of ranks 0 and 1, to compare with
 *   spawn child       1 rank: the same with a child
 *   spawn rounds [n]  1 rank: MPI_Comm_spawn of one child, MPI_Comm_disconnect and both, in ms; medians of n rounds
 *
 * The child's processor is no rank of a common world, so bench.h's probe and clock do not fit; each loop is timed at one end. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 5, WINDOW = 32, LARGEST = 1 << 20 };

static char *out, *in;

static void ping_pong(MPI_Comm comm, int peer, int first, int bytes, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        if (first)
            MPI_Send(out, bytes, MPI_BYTE, peer, 1, comm);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(out, bytes, MPI_BYTE, peer, 1, comm);
    }
}

/* All messages go one way; an empty one comes back for each window. */
static void stream(MPI_Comm comm, int peer, int first, int bytes, int iterations)
{
    MPI_Request requests[WINDOW];
    for (int i = 0; i < iterations; i++) {
        for (int j = 0; j < WINDOW; j++)
            if (first)
                MPI_Isend(out, bytes, MPI_BYTE, peer, 2, comm, &requests[j]);
            else
                MPI_Irecv(in, bytes, MPI_BYTE, peer, 2, comm, &requests[j]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (first)
            MPI_Recv(in, 0, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(out, 0, MPI_BYTE, peer, 3, comm);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Seconds an iteration: the median of batches of about 10 ms. The first side decides how many iterations there are. */
static double measure(void (*body)(MPI_Comm, int, int, int, int), MPI_Comm comm, int peer, int first, int bytes)
{
    double times[BATCHES];
    int iterations = 10;
    body(comm, peer, first, bytes, iterations);
    double begin = MPI_Wtime();
    body(comm, peer, first, bytes, iterations);
    iterations = (int) (0.01 / ((MPI_Wtime() - begin) / iterations + 1e-8)) + 1;
    if (first)
        MPI_Send(&iterations, 1, MPI_INT, peer, 4, comm);
    else
        MPI_Recv(&iterations, 1, MPI_INT, peer, 4, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < BATCHES; i++) {
        begin = MPI_Wtime();
        body(comm, peer, first, bytes, iterations);
        times[i] = (MPI_Wtime() - begin) / iterations;
    }
    return median(times, BATCHES);
}

static void result(const char *series, long size, double value, const char *unit, const char *better)
{
    printf("RESULT series=%s size=%ld value=%.6g unit=%s better=%s\n", series, size, value, unit, better);
    fflush(stdout);
}

static void pair(MPI_Comm comm, int peer, int first)
{
    static const int sizes[] = {8, 4096, 65536, LARGEST};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double time = measure(ping_pong, comm, peer, first, sizes[i]) / 2;
        if (first)
            result("latency", sizes[i], 1e6 * time, "us", "lower");
    }
    for (size_t i = 2; i < sizeof sizes / sizeof sizes[0]; i++) {
        double time = measure(stream, comm, peer, first, sizes[i]) / WINDOW;
        if (first)
            result("bandwidth", sizes[i], 1e-9 * sizes[i] / time, "GB/s", "higher");
    }
}

static void rounds(char *program, int count)
{
    double *spawns = malloc(count * sizeof *spawns), *ends = malloc(count * sizeof *ends), *both = malloc(count * sizeof *both);
    char *words[] = {"leave", NULL};
    for (int i = -1; i < count; i++) {
        MPI_Comm children;
        double begin = MPI_Wtime();
        MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
        double middle = MPI_Wtime();
        MPI_Comm_disconnect(&children);
        double end = MPI_Wtime();
        if (i < 0)
            continue; /* the first makes more */
        spawns[i] = middle - begin;
        ends[i] = end - middle;
        both[i] = end - begin;
    }
    result("spawn", -1, 1e3 * median(spawns, count), "ms", "lower");
    result("disconnect", -1, 1e3 * median(ends, count), "ms", "lower");
    result("spawn_disconnect", -1, 1e3 * median(both, count), "ms", "lower");
    free(spawns);
    free(ends);
    free(both);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *mode = argc > 1 ? argv[1] : "world";
    out = malloc(LARGEST);
    in = malloc(LARGEST);
    memset(out, 1, LARGEST);
    memset(in, 1, LARGEST);
    if (parent != MPI_COMM_NULL) {
        if (strcmp(mode, "leave"))
            pair(parent, 0, 0);
        MPI_Comm_disconnect(&parent);
    } else if (!strcmp(mode, "child")) {
        MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
        pair(child, 0, 1);
        MPI_Comm_disconnect(&child);
    } else if (!strcmp(mode, "rounds")) {
        rounds(argv[0], argc > 2 ? atoi(argv[2]) : 20);
    } else if (rank < 2) {
        pair(MPI_COMM_WORLD, !rank, rank == 0);
    }
    MPI_Finalize();
    return 0;
}
