/* Messages a second between the threads of two processes: thread t of rank 0 sends windows of 64 messages to thread t of rank 1,
 * which answers each window with an empty one. One line for each number of threads, and one for a single thread below
 * MPI_THREAD_MULTIPLE when the program is started so.
 *
 *     threads LEVEL WHERE [THREADS [BYTES [MILLISECONDS]]]
 *
 * LEVEL: single or multiple. WHERE: world (all in MPI_COMM_WORLD, a tag each), own (a duplicate for each thread), hints (one
 * duplicate for all with mpi_assert_no_any_tag and mpi_assert_no_any_source, a tag each). THREADS 0: 1, 2 and 4. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 64, MOST = 64, BATCHES = 5 };

static int rank, bytes;
static MPI_Comm comms[MOST];
static pthread_barrier_t start_line;
static double seconds;
static long windows[MOST];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* The sender ends it: the last answer it wants is asked for with tag + MOST. */
static void *run(void *number)
{
    int tag = (int)(intptr_t)number;
    MPI_Comm comm = comms[tag];
    MPI_Request requests[WINDOW + 1];
    char *buffers = calloc(WINDOW, bytes + 1);
    int more = 1;
    long count = 0;
    pthread_barrier_wait(&start_line);
    double end = now() + seconds;
    while (more) {
        if (rank == 0) {
            more = now() < end;
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(buffers + i * bytes, bytes, MPI_BYTE, 1, tag, comm, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(&more, 1, MPI_INT, 1, tag, comm);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, tag, comm, MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < WINDOW; i++)
                MPI_Irecv(buffers + i * bytes, bytes, MPI_BYTE, 0, tag, comm, &requests[i]);
            MPI_Irecv(&more, 1, MPI_INT, 0, tag, comm, &requests[WINDOW]);
            MPI_Waitall(WINDOW + 1, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, tag, comm);
        }
        count++;
    }
    windows[tag] = count;
    free(buffers);
    return NULL;
}

static double batch(int threads)
{
    pthread_t others[MOST];
    pthread_barrier_init(&start_line, NULL, threads);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = now();
    for (intptr_t t = 1; t < threads; t++)
        pthread_create(&others[t], NULL, run, (void *)t);
    run((void *)0);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    double took = now() - began;
    long sum = 0;
    for (int t = 0; t < threads; t++)
        sum += windows[t];
    pthread_barrier_destroy(&start_line);
    return sum * (double)WINDOW / took;
}

static int ascending(const void *one, const void *two)
{
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

static void measure(int threads, const char *series)
{
    double rates[BATCHES];
    batch(threads);
    for (int i = 0; i < BATCHES; i++)
        rates[i] = batch(threads);
    qsort(rates, BATCHES, sizeof *rates, ascending);
    double least = windows[0], most = windows[0];
    for (int t = 1; t < threads; t++) {
        least = windows[t] < least ? windows[t] : least;
        most = windows[t] > most ? windows[t] : most;
    }
    if (rank == 0)
        printf("RESULT series=%s size=%d value=%.4g unit=msg/s better=higher threads=%d least_share=%.2f\n", series, bytes,
               rates[BATCHES / 2], threads, most > 0 ? least / most : 1);
}

int main(int argc, char **argv)
{
    const char *level = argc > 1 ? argv[1] : "multiple", *where = argc > 2 ? argv[2] : "own";
    int threads = argc > 3 ? atoi(argv[3]) : 0, given, size;
    int multiple = strcmp(level, "single") != 0;
    bytes = argc > 4 ? atoi(argv[4]) : 8;
    seconds = (argc > 5 ? atoi(argv[5]) : 200) * 1e-3;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || (multiple && given != MPI_THREAD_MULTIPLE) || threads < 0 || threads > MOST || bytes < 0) {
        fprintf(stderr, "two ranks, MPI_THREAD_MULTIPLE, at most %d threads\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm hinted = MPI_COMM_NULL;
    if (!strcmp(where, "hints"))
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &hinted);
    int most = threads ? threads : 4;
    for (int t = 0; t < most; t++)
        if (!strcmp(where, "own"))
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        else
            comms[t] = hinted == MPI_COMM_NULL ? MPI_COMM_WORLD : hinted;
    for (int count = 1; count <= most; count *= 2)
        if (!threads || count == threads) {
            char series[64];
            snprintf(series, sizeof series, "%s_%s_%d", level, where, count);
            measure(count, series);
            if (!multiple)
                break;
        }
    for (int t = 0; t < most && !strcmp(where, "own"); t++)
        MPI_Comm_free(&comms[t]);
    if (hinted != MPI_COMM_NULL)
        MPI_Comm_free(&hinted);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
