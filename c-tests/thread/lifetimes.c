/* Figure 1 of "Minimizing MPI resource contention in multithreaded multicore environments" (Goodell et al., Cluster 2010) in several
 * threads: a communicator and types are freed while receives and sends with them pend; what they leave behind does not grow.
 *
 *     lifetimes ROUNDS THREADS */
#include "churn.h"
#include "threads.h"

enum { COUNT = 4, MOST = 8 };
static MPI_Comm parents[MOST];
static int rounds = 1000;

/* The send is persistent, so that it can be started when everything is freed. */
static void one_round(int me, int round)
{
    MPI_Comm comm;
    MPI_Datatype inner, in, out;
    MPI_Request receive, send;
    int from[2 * COUNT], to[3 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++)
        from[i] = 1000 * me + round + i;
    for (int i = 0; i < 3 * COUNT; i++)
        to[i] = -1;
    MPI(MPI_Type_vector(COUNT, 1, 3, MPI_INT, &inner));
    MPI(MPI_Type_contiguous(1, inner, &in));
    MPI(MPI_Type_commit(&in));
    MPI(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &out));
    MPI(MPI_Type_commit(&out));
    MPI(MPI_Comm_dup(parents[me], &comm));
    MPI(MPI_Irecv(to, 1, in, 0, 7, comm, &receive));
    MPI(MPI_Send_init(from, 1, out, 0, 7, comm, &send));
    MPI(MPI_Type_free(&inner));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Type_free(&in));
    MPI(MPI_Type_free(&out));
    if (round % 64 == 0)
        churn(80);
    MPI(MPI_Start(&send));
    MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&send));
    for (int i = 0; i < 3 * COUNT; i++)
        CHECK_INT(to[i], i % 3 ? -1 : 1000 * me + round + i / 3 * 2);
}

static void *run(void *number)
{
    for (int round = 0; round < rounds; round++)
        one_round((int) (intptr_t) number, round);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int all = argc > 1 ? atoi(argv[1]) : rounds, threads = argc > 2 ? atoi(argv[2]) : 4;
    if (slow())
        all = 20;
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &parents[i]));
    rounds = all / threads / 2;
    run_threads(threads, run);
    long before = resident_bytes();
    run_threads(threads, run);
    long grown = resident_bytes() - before;
    const char *scheme = getenv("OXMPI_LIFETIME");
    if (!slow() && !(scheme && !strcmp(scheme, "never")))
        CHECK(grown < 4 << 20);
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_free(&parents[i]));
    return finish();
}
