/* All ranks exchange messages at once, meant for more ranks than cores: µs a round, to the last rank's completion (see bench.h).
 *   exchange [seconds per size] [largest]
 * ring:   in each round every rank receives from its left and sends to its right neighbour (Irecv, Isend, Waitall).
 * random: in each round the ranks are paired at random (the same pairs on all ranks and all libraries), each pair does Sendrecv. */
#include "bench.h"

enum { PAIRINGS = 64, LARGEST = 65536, MOST = 1024 };

struct exchange {
    char *out, *in;
    int bytes;
    int partner[PAIRINGS];
};

static void ring(long iterations, void *what)
{
    struct exchange *e = what;
    int left = (bench_rank + bench_size - 1) % bench_size, right = (bench_rank + 1) % bench_size;
    for (long i = 0; i < iterations; i++) {
        MPI_Request requests[2];
        MPI_Irecv(e->in, e->bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(e->out, e->bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void random_pairs(long iterations, void *what)
{
    struct exchange *e = what;
    for (long i = 0; i < iterations; i++) {
        int partner = e->partner[i % PAIRINGS];
        MPI_Sendrecv(e->out, e->bytes, MPI_BYTE, partner, 2, e->in, e->bytes, MPI_BYTE, partner, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void choose_partners(struct exchange *e)
{
    unsigned long long state = 88172645463325252ULL;
    for (int p = 0; p < PAIRINGS; p++) {
        int order[MOST];
        for (int i = 0; i < bench_size; i++)
            order[i] = i;
        for (int i = bench_size - 1; i > 0; i--) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            int j = (int)(state % (unsigned)(i + 1)), kept = order[i];
            order[i] = order[j], order[j] = kept;
        }
        for (int i = 0; i < bench_size; i++)
            if (order[i] == bench_rank)
                e->partner[p] = order[i ^ 1];
    }
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    if (bench_size % 2 || bench_size > MOST) {
        fprintf(stderr, "exchange: an even number of ranks up to %d, please\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double budget = bench_argument(argc, argv, 1, 0.2);
    int largest = (int)bench_argument(argc, argv, 2, LARGEST);
    struct exchange e = {bench_buffer(LARGEST), bench_buffer(LARGEST), 0, {0}};
    choose_partners(&e);
    static const int sizes[] = {8, 512, 4096, 16384, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= largest; i++) {
        e.bytes = sizes[i];
        bench_fill(e.out, e.bytes, bench_rank);
        ring(1, &e);
        bench_check(e.in, e.bytes, (bench_rank + bench_size - 1) % bench_size, "ring");
        double time = bench_measure(ring, &e, budget);
        if (bench_rank == 0)
            bench_result("ring", e.bytes, 1e6 * time, "us", "lower");
        random_pairs(1, &e);
        bench_check(e.in, e.bytes, e.partner[0], "random");
        time = bench_measure(random_pairs, &e, budget);
        if (bench_rank == 0)
            bench_result("random", e.bytes, 1e6 * time, "us", "lower");
    }
    MPI_Finalize();
    return 0;
}
