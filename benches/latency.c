/* Ping-pong of ranks 0 and 1 with blocking calls: half of the round trip, in µs.   latency [seconds per size] [largest] */
#include "bench.h"

struct exchange {
    char *out, *in;
    int bytes;
};

static void ping_pong(long iterations, void *what)
{
    struct exchange *e = what;
    for (long i = 0; i < iterations; i++)
        if (bench_rank == 0) {
            MPI_Send(e->out, e->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(e->in, e->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(e->in, e->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(e->out, e->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0,     1,     8,     64,     256,    1024,   2048,    4096,    8192,
                                16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304};
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    int largest = (int)bench_argument(argc, argv, 2, 4194304);
    struct exchange e = {bench_buffer(4194304), bench_buffer(4194304), 0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= largest; i++) {
        e.bytes = sizes[i];
        bench_fill(e.out, e.bytes, bench_rank);
        ping_pong(1, &e);
        bench_check(e.in, e.bytes, !bench_rank, "latency");
        double time = bench_measure(ping_pong, &e, budget) / 2;
        if (bench_rank == 0)
            bench_result("latency", e.bytes, 1e6 * time, "us", "lower");
    }
    MPI_Finalize();
    return 0;
}
