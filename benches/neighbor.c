/* The Neighbor Message Rate benchmark of "Minimizing MPI resource contention in multithreaded multicore environments" (Goodell et al.,
 * Cluster 2010): each thread posts 12 receives from and 12 sends to its peer, 0 bytes each, and waits for all of them. The rate is that
 * of messages of both directions.
 *
 *     neighbor SHAPE LEVEL THREADS OBJECTS SECONDS
 *
 * SHAPE: paper (rank 0 with THREADS threads, a single-threaded rank for each), pairs (two ranks with THREADS threads each), self (one rank
 * and one thread that sends to itself; SECONDS is the number of rounds, to count instructions). LEVEL: single or multiple, of ranks with
 * threads. OBJECTS: predefined, or derived (a duplicate of MPI_COMM_WORLD and a vector for each thread). */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EACH = 12, MOST = 64, WARM = 10, LOOK = 50 };

struct thread {
    MPI_Comm comm;
    MPI_Datatype type;
    int peer, tag, leads;
    long rounds;
    double seconds;
};

static int rank, paper, self;
static double limit;
static struct thread threads[MOST];
static pthread_barrier_t line;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void one_round(const struct thread *thread)
{
    MPI_Request requests[2 * EACH];
    for (int i = 0; i < EACH; i++)
        MPI_Irecv(NULL, 0, thread->type, thread->peer, thread->tag, thread->comm, &requests[i]);
    for (int i = 0; i < EACH; i++)
        MPI_Isend(NULL, 0, thread->type, thread->peer, thread->tag, thread->comm, &requests[EACH + i]);
    MPI_Waitall(2 * EACH, requests, MPI_STATUSES_IGNORE);
}

/* One of each pair says after so many rounds whether there are more. */
static int goes_on(const struct thread *thread, double end)
{
    int more = now() < end;
    if (thread->leads)
        MPI_Send(&more, 1, MPI_INT, thread->peer, MOST + thread->tag, MPI_COMM_WORLD);
    else
        MPI_Recv(&more, 1, MPI_INT, thread->peer, MOST + thread->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return more;
}

static void *run(void *number)
{
    struct thread *thread = &threads[(intptr_t)number];
    for (int i = 0; i < WARM; i++)
        one_round(thread);
    pthread_barrier_wait(&line);
    double begin = now();
    if (self) {
        for (thread->rounds = 0; thread->rounds < (long)limit; thread->rounds++)
            one_round(thread);
    } else {
        do {
            for (int i = 0; i < LOOK; i++)
                one_round(thread);
            thread->rounds += LOOK;
        } while (goes_on(thread, begin + limit));
    }
    thread->seconds = now() - begin;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    paper = !strcmp(argv[1], "paper");
    self = !strcmp(argv[1], "self");
    int count = atoi(argv[3]), derived = !strcmp(argv[4], "derived"), given, wanted = MPI_THREAD_SINGLE;
    limit = atof(argv[5]);
    if (!strcmp(argv[2], "multiple"))
        wanted = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wanted, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (given < wanted || count < 1 || count > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int own = paper && rank > 0 ? 1 : count;
    for (int i = 0; i < count; i++) {
        /* All ranks duplicate for each thread; in the paper's shape a rank uses only that of its own thread. */
        MPI_Comm comm = MPI_COMM_WORLD;
        if (derived)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        int at = paper && rank > 0 ? 0 : i;
        if (paper && rank > 0 && i != rank - 1)
            continue;
        struct thread *thread = &threads[at];
        thread->comm = comm;
        thread->type = MPI_INT;
        if (derived) {
            MPI_Type_vector(4, 1, 2, MPI_INT, &thread->type);
            MPI_Type_commit(&thread->type);
        }
        thread->tag = i;
        thread->leads = rank == 0;
        thread->peer = self ? 0 : paper && rank == 0 ? i + 1 : 1 - rank;
        if (paper && rank > 0)
            thread->peer = 0;
    }
    pthread_t handles[MOST];
    pthread_barrier_init(&line, NULL, own);
    for (intptr_t i = 1; i < own; i++)
        pthread_create(&handles[i], NULL, run, (void *)i);
    run(0);
    for (int i = 1; i < own; i++)
        pthread_join(handles[i], NULL);
    double rate = 0;
    for (int i = 0; i < own; i++)
        rate += threads[i].rounds * 2 * EACH / threads[i].seconds;
    if (rank == 0)
        printf("RATE %.0f\n", rate);
    MPI_Finalize();
    return 0;
}
