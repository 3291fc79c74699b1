/* Windows of nonblocking messages, each window answered by an empty message.
 *   bandwidth one  [seconds per size] [largest]   rank 0 sends, rank 1 receives: GB/s
 *   bandwidth both [seconds per size] [largest]   both send and receive: GB/s, both directions together
 *   bandwidth rate [seconds]                      8-byte messages, window 64: million messages a second
 * Window: 64 messages, fewer where they would be more than 4 MB together, but at least 2. Each message of a window has
 * its own buffer on both sides (overlapping receive buffers are an error in MPI). limits.c uses the same windows. */
#include "bench.h"

enum { WINDOW = 64, FOOTPRINT = 4194304, LARGEST = 4194304 };

struct stream {
    char *out, *in;
    int bytes, window;
    int first, last; /* the ranks that send: 0..0 or 0..1 */
};

static int peer_sends(const struct stream *s)
{
    int peer = !bench_rank;
    return peer <= s->last;
}

static void windows(long iterations, void *what)
{
    struct stream *s = what;
    MPI_Request requests[2 * WINDOW];
    int peer = !bench_rank, sends = bench_rank <= s->last, receives = peer_sends(s);
    for (long i = 0; i < iterations; i++) {
        int n = 0;
        if (receives)
            for (int w = 0; w < s->window; w++)
                MPI_Irecv(s->in + (size_t)w * s->bytes, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
        if (sends)
            for (int w = 0; w < s->window; w++)
                MPI_Isend(s->out + (size_t)w * s->bytes, s->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        if (s->last == 0) {
            if (bench_rank == 0)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

static double one_window(struct stream *s, int bytes, double budget)
{
    s->bytes = bytes;
    s->window = FOOTPRINT / bytes > WINDOW ? WINDOW : FOOTPRINT / bytes < 2 ? 2 : FOOTPRINT / bytes;
    bench_fill(s->out, (size_t)s->window * bytes, bytes);
    windows(1, s);
    if (peer_sends(s))
        bench_check(s->in, (size_t)s->window * bytes, bytes, "bandwidth");
    return bench_measure(windows, s, budget);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "one";
    double budget = bench_argument(argc, argv, 2, 0.2);
    int largest = (int)bench_argument(argc, argv, 3, LARGEST);
    struct stream s = {bench_buffer(2 * LARGEST), bench_buffer(2 * LARGEST), 0, 0, 0, !strcmp(mode, "both")};
    if (!strcmp(mode, "rate")) {
        double time = one_window(&s, 8, budget);
        if (bench_rank == 0)
            bench_result("rate", 8, 1e-6 * s.window / time, "M/s", "higher");
    } else
        for (int bytes = 1024; bytes <= largest; bytes *= 2) {
            double time = one_window(&s, bytes, budget);
            if (bench_rank == 0)
                bench_result(s.last ? "bidirectional" : "bandwidth", bytes,
                             1e-9 * (1 + s.last) * s.window * bytes / time, "GB/s", "higher");
        }
    MPI_Finalize();
    return 0;
}
