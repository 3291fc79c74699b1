/* What two cores of this machine can do without any MPI; the benchmarks are compared with it.
 *   limits probe                          one-way time of a cache line between core A and B, in ns (also tells the placement)
 *   limits copy   [seconds] [largest]     pipelined copy through a shared ring: latency and bandwidth, best chunk, ring and copy loop
 *   limits kernel [seconds] [largest]     process_vm_readv by one side; and both sides copying a half each
 *   limits both   [seconds]               both cores copy at the same time, each in memory of its own: bytes a second, by what they touch together
 *   limits wait   [seconds]               sched_yield, hand-over by yield, futex wake on one core and across, counter barriers with yield
 * Two processes, pinned to the first two cores that the process may use; they spin on a shared mapping. */
#include "limits.h"

/* ---- the bounced line, and measurements between two of its probes ---- */

static void line_body(struct shared *s, int side, long n)
{
    double ns = probe_line(&s->probe, side, (int)n);
    if (side == 0)
        s->ns = ns;
}

static double line_ns(int batches)
{
    pair_time(line_body, batches);
    return shared->ns;
}

typedef double measurement(double seconds);

static double line_only(double seconds)
{
    (void)seconds;
    return 1e-9 * line_ns(PROBE_MOST);
}

/* Measures and prints; again if the host moved the cores meanwhile. A value of 0 or less: not possible here, nothing printed. */
static void report(const char *series, long size, measurement *measure, double seconds, double factor, const char *unit,
                   const char *better)
{
    double before, after, value;
    int attempts = 0;
    do {
        before = line_ns(60);
        value = measure(seconds);
        after = line_ns(60);
    } while (probe_moved(before, after) && ++attempts < 3);
    if (value > 0)
        probe_result(series, size, *unit == 'G' || *unit == 'M' ? factor / value : factor * value, unit, better, before, after);
}

/* ---- copy through a ring ---- */

static void ring_send(struct ring *r, const char *from, size_t bytes)
{
    uint32_t head = load(&r->head), tail = load(&r->tail);
    for (size_t at = 0; at < bytes; at += shared->plan.chunk) {
        size_t n = bytes - at < shared->plan.chunk ? bytes - at : shared->plan.chunk;
        while (head - tail == shared->plan.slots) {
            tail = load(&r->tail);
            relax();
        }
        shared->plan.in(r->data + head % shared->plan.slots * shared->plan.stride, from + at, n);
        put(&r->head, ++head);
    }
}

static void ring_receive(struct ring *r, char *to, size_t bytes)
{
    uint32_t tail = load(&r->tail), head = tail;
    for (size_t at = 0; at < bytes; at += shared->plan.chunk) {
        size_t n = bytes - at < shared->plan.chunk ? bytes - at : shared->plan.chunk;
        while (head == tail) {
            head = load(&r->head);
            relax();
        }
        shared->plan.out(to + at, r->data + tail % shared->plan.slots * shared->plan.stride, n);
        put(&r->tail, ++tail);
    }
}

/* Sends and receives in buffers of its own, as latency.c and bandwidth.c do. */
static void copy_body(struct shared *s, int side, long n)
{
    char *out = private_buffer, *in = private_buffer + 2 * FOOTPRINT;
    for (long i = 1; i <= n; i++) {
        if (side == 0)
            for (int w = 0; w < shared->plan.window; w++)
                ring_send(&s->there, out + w * shared->plan.bytes, shared->plan.bytes);
        else
            for (int w = 0; w < shared->plan.window; w++)
                ring_receive(&s->there, in + w * shared->plan.bytes, shared->plan.bytes);
        if (shared->plan.answer) {
            if (side == 0)
                ring_receive(&s->back, in, shared->plan.bytes);
            else
                ring_send(&s->back, out, shared->plan.bytes);
        } else if (side == 0)
            await(&s->pong, i);
        else
            put(&s->pong, i);
    }
}

static double copy_time(double seconds)
{
    double once = pair_time(copy_body, 2) / 2;
    long n = once < seconds ? (long)(seconds / once) + 1 : 1;
    return pair_time(copy_body, n) / n;
}

struct way {
    double time;
    size_t chunk, gap, ring;
    const struct named_copier *copier;
};

static double copy_time_by(const struct way *w, double seconds)
{
    shared->plan.chunk = w->chunk, shared->plan.stride = w->chunk + w->gap, shared->plan.slots = w->ring / (w->chunk + w->gap);
    shared->plan.in = w->copier->in, shared->plan.out = w->copier->out;
    return copy_time(seconds);
}

/* Seconds of an iteration of the plan's bytes and answer, with the best chunk, gap, ring and copy loop that a search finds.
 * The ring matters more than one would think: where the cores share a last-level cache, one that is larger than the
 * private caches is best, for its lines are then found in the shared one; where they do not, stores past the cache are. */
static double copy_best(double seconds)
{
    enum { KEPT = 4 };
    struct way best[KEPT + 1], w;
    int kept = 0;
    for (w.copier = copiers(); w.copier->name; w.copier++)
        for (w.chunk = 2048; w.chunk <= 65536 && w.chunk <= shared->plan.bytes; w.chunk *= 2)
            for (w.ring = 65536; w.ring <= RING; w.ring *= 4)
                for (w.gap = 0; w.gap <= w.chunk; w.gap += w.chunk) {
                    if (w.ring / (w.chunk + w.gap) < 2)
                        continue;
                    w.time = copy_time_by(&w, seconds / 100);
                    int at = kept;
                    while (at > 0 && best[at - 1].time > w.time) {
                        best[at] = best[at - 1];
                        at--;
                    }
                    if (at < KEPT)
                        best[at] = w;
                    kept += kept < KEPT;
                }
    /* The quickest of a search is partly luck: measure the first few again, longer, and take the best median. */
    double least = 1e9;
    int winner = 0;
    for (int k = 0; k < kept; k++) {
        double again[5];
        for (int i = 0; i < 5; i++)
            again[i] = copy_time_by(&best[k], seconds / 50);
        double t = probe_median(again, 5);
        if (t < least)
            least = t, winner = k;
    }
    printf("# %s of %zu bytes: chunk %zu, gap %zu, ring %zu, %s\n", shared->plan.answer ? "latency" : "bandwidth",
           shared->plan.bytes, best[winner].chunk, best[winner].gap, best[winner].ring, best[winner].copier->name);
    return least;
}

static void touch_body(struct shared *s, int side, long n)
{
    (void)side, (void)n;
    for (size_t i = 0; i < RING; i += 4096)
        atomic_fetch_add((_Atomic char *)&s->there.data[i], 1), atomic_fetch_add((_Atomic char *)&s->back.data[i], 1);
}

static void copying(double seconds, size_t largest)
{
    pair_time(touch_body, 1);
    for (int answer = 1; answer >= 0; answer--)
        for (size_t bytes = 8192; bytes <= largest; bytes *= 2) {
            shared->plan.bytes = bytes;
            shared->plan.answer = answer;
            shared->plan.window = answer ? 1 : window_of(bytes);
            if (answer)
                report("limit_latency", bytes, copy_best, seconds, 1e6 / 2, "us", "lower");
            else
                report("limit_bandwidth", bytes, copy_best, seconds, 1e-9 * shared->plan.window * bytes, "GB/s", "higher");
        }
}

/* ---- both cores copy, nothing goes between them ---- */

enum { LARGEST_TOUCHED = 256 << 20 };

static void both_body(struct shared *s, int side, long n)
{
    static char *memory;
    if (!memory)
        memory = touched(LARGEST_TOUCHED / 2);
    size_t bytes = s->plan.bytes;
    for (long i = 0; i < n; i++)
        s->plan.in(memory + bytes, memory, bytes);
    put(side == 0 ? &s->ping : &s->pong, 1);
    await(side == 0 ? &s->pong : &s->ping, 1);
}

static double both_time(double seconds)
{
    double best = 1e9;
    for (const struct named_copier *c = copiers(); c->name; c++) {
        shared->plan.in = c->in;
        double times[5], once = pair_time(both_body, 2) / 2;
        long n = once < seconds / 20 ? (long)(seconds / 20 / once) + 1 : 1;
        for (int i = 0; i < 5; i++)
            times[i] = pair_time(both_body, n) / n;
        double time = probe_median(times, 5);
        best = time < best ? time : best;
    }
    return best;
}

static void both_copying(double seconds)
{
    pair_time(both_body, 0); /* the pages are there */
    for (size_t together = 128 << 10; together <= LARGEST_TOUCHED; together *= 2) {
        shared->plan.bytes = together / 4;
        report("both_copy", together, both_time, seconds, 2e-9 * shared->plan.bytes, "GB/s", "higher");
    }
}

/* ---- copy by the kernel ---- */

static void kernel_body(struct shared *s, int side, long n)
{
    char *mine = private_buffer, *far = s->plan.far[!side];
    size_t first = s->plan.halves ? shared->plan.bytes / 2 : shared->plan.bytes;
    for (long i = 1; i <= n; i++) {
        if (side == 0) { /* the reader: its first part by reading, the sender writes the rest meanwhile */
            put(&s->ping, i);
            struct iovec local = {mine, first}, remote = {far, first};
            if (process_vm_readv(second, &local, 1, &remote, 1, 0) != (ssize_t)first)
                put(&s->refused, 1);
            await(&s->pong, i);
        } else {
            await(&s->ping, i);
            struct iovec local = {mine + first, shared->plan.bytes - first}, remote = {far + first, shared->plan.bytes - first};
            if (s->plan.halves && process_vm_writev(getppid(), &local, 1, &remote, 1, 0) != (ssize_t)(shared->plan.bytes - first))
                put(&s->refused, 1);
            put(&s->pong, i);
        }
    }
}

static double kernel_time(double seconds)
{
    double times[5], once = pair_time(kernel_body, 2) / 2;
    long n = once < seconds / 5 ? (long)(seconds / 5 / once) + 1 : 1;
    for (int i = 0; i < 5; i++)
        times[i] = pair_time(kernel_body, n) / n;
    return load(&shared->refused) ? 0 : probe_median(times, 5);
}

static void kernel_rates(double seconds, size_t largest)
{
    for (int halves = 0; halves < 2; halves++)
        for (size_t bytes = 8192; bytes <= largest; bytes *= 2) {
            shared->plan.bytes = bytes;
            shared->plan.halves = halves;
            report(halves ? "kernel_halves" : "kernel_readv", bytes, kernel_time, seconds, 1e-9 * bytes, "GB/s", "higher");
        }
    if (load(&shared->refused))
        printf("# process_vm_readv/writev: not allowed here\n");
}

/* ---- waiting ---- */

static void yield_body(struct shared *s, int side, long n)
{
    for (long i = 1; i <= n; i++)
        if (side == 0) {
            put(&s->ping, i);
            while (load(&s->pong) != (uint32_t)i)
                sched_yield();
        } else {
            while (load(&s->ping) != (uint32_t)i)
                sched_yield();
            put(&s->pong, i);
        }
}

/* The second process sleeps for certain when it is woken: the first gives it 50 µs for that. From the store to awake. */
static void futex_body(struct shared *s, int side, long n)
{
    for (long i = 1; i <= n; i++)
        if (side == 0) {
            for (double until = probe_now() + 50e-6; probe_now() < until;)
                sched_yield();
            s->stamp = probe_now();
            put(&s->ping, i);
            futex(&s->ping, FUTEX_WAKE, 1);
            while (load(&s->pong) != (uint32_t)i)
                sched_yield();
        } else {
            for (uint32_t seen; (seen = load(&s->ping)) != (uint32_t)i;)
                futex(&s->ping, FUTEX_WAIT, seen);
            s->late += probe_now() - s->stamp;
            put(&s->pong, i);
        }
}

static double futex_time(double seconds)
{
    double times[5];
    for (int i = 0; i < 5; i++) {
        long n = (long)(seconds / 5 / 80e-6) + 1;
        shared->late = 0;
        pair_time(futex_body, n);
        times[i] = shared->late / n;
    }
    return probe_median(times, 5);
}

static double yield_alone(double seconds)
{
    double start = probe_now(), time;
    long n = 0;
    do {
        for (int i = 0; i < 1000; i++)
            sched_yield();
        n += 1000;
    } while ((time = probe_now() - start) < seconds);
    return time / n;
}

/* The second process comes to the core of the first for a while. */
static double on_one_core(measurement *measure, double seconds)
{
    pair_end();
    pair_begin(cores[0], cores[0]);
    double time = measure(seconds);
    pair_end();
    pair_begin(cores[0], cores[1]);
    return time;
}

static double yield_time(double seconds)
{
    double times[5], once = pair_time(yield_body, 20) / 20;
    long n = (long)(seconds / 5 / once) + 1;
    for (int i = 0; i < 5; i++)
        times[i] = pair_time(yield_body, n) / n / 2;
    return probe_median(times, 5);
}

static double futex_one_core(double seconds) { return on_one_core(futex_time, seconds); }
static double yield_one_core(double seconds) { return on_one_core(yield_time, seconds); }

static int crowd;
static double crowd_time(double seconds)
{
    double times[5];
    pair_end();
    for (int i = 0; i < 5; i++)
        times[i] = crowd_barrier(crowd, seconds / 5);
    pair_begin(cores[0], cores[1]);
    return probe_median(times, 5);
}

static void waiting(double seconds)
{
    report("yield_alone", -1, yield_alone, seconds, 1e6, "us", "lower");
    report("yield_handover", -1, yield_one_core, seconds, 1e6, "us", "lower");
    report("futex_one_core", -1, futex_one_core, seconds, 1e6, "us", "lower");
    report("futex_across", -1, futex_time, seconds, 1e6, "us", "lower");
    for (crowd = 2; crowd <= 16; crowd *= 2) {
        char series[40];
        snprintf(series, sizeof series, "yield_barrier_%d", crowd);
        report(series, -1, crowd_time, seconds, 1e6, "us", "lower");
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "probe";
    double seconds = argc > 2 ? atof(argv[2]) : 0.2;
    size_t largest = argc > 3 ? (size_t)atol(argv[3]) : 4194304;
    if (probe_cores(cores) < 2) {
        fprintf(stderr, "limits: two cores are needed\n");
        return 2;
    }
    private_buffer = touched(PRIVATE);
    pair_begin(cores[0], cores[1]);
    if (!strcmp(what, "probe"))
        report("line", -1, line_only, seconds, 1e9, "ns", "lower");
    else if (!strcmp(what, "copy"))
        copying(seconds, largest);
    else if (!strcmp(what, "kernel"))
        kernel_rates(seconds, largest);
    else if (!strcmp(what, "both"))
        both_copying(seconds);
    else if (!strcmp(what, "wait"))
        waiting(seconds);
    else {
        fprintf(stderr, "limits probe | copy | kernel | both | wait\n");
        pair_end();
        return 2;
    }
    pair_end();
    return 0;
}
