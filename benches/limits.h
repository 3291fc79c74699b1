/* Two pinned processes that run the two sides of one function at the same time, and the primitives they use.
 * Invariant: outside pair_time the second process waits for a command and touches nothing else, so the first may write
 * all of `shared`. Only limits.c includes this. */
#ifndef LIMITS_H
#define LIMITS_H
#include "probe.h"
#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { FOOTPRINT = 4194304, PRIVATE = 4 * FOOTPRINT, RING = 16777216, MOST_PROCESSES = 64 };

typedef void copier(void *to, const void *from, size_t bytes);

struct ring {
    OWN_LINE _Atomic uint32_t head;
    OWN_LINE _Atomic uint32_t tail;
    _Alignas(4096) char data[RING]; /* starts like the buffers in its page: loads and stores must not alias 4 KB apart */
};

struct shared;
typedef void pair_body(struct shared *s, int side, long n);

struct shared {
    struct probe_pair probe;
    OWN_LINE _Atomic uint32_t ping;
    OWN_LINE _Atomic uint32_t pong;
    OWN_LINE _Atomic uint32_t command; /* counts up; the fields below are valid when it has changed */
    OWN_LINE _Atomic uint32_t done;    /* the last command that the second process has finished */
    OWN_LINE _Atomic uint32_t refused; /* a system call was not allowed */
    pair_body *body;                   /* the processes are forked: addresses of code and of private_buffer agree */
    long n;
    double stamp, late, ns;
    struct {
        size_t bytes, chunk, slots;
        size_t stride; /* from slot to slot: a gap keeps the receiver's prefetcher off the slot that is being written */
        int window, answer; /* messages in one iteration; answer: as much comes back, else one flag */
        int halves; /* copy by the kernel: each side does a half */
        char *far[2]; /* private_buffer of either side */
        copier *in, *out; /* of the ring */
    } plan;
    struct ring there, back;
    OWN_LINE _Atomic uint32_t arrived; /* of the crowd */
    OWN_LINE _Atomic uint32_t generation;
};

static struct shared *shared;
static char *private_buffer;
static int cores[2];
static pid_t second; /* 0 in the second process */

static inline void relax(void)
{
#ifdef __x86_64__
    _mm_pause();
#endif
}

static inline void futex(_Atomic uint32_t *p, int operation, uint32_t value)
{
    syscall(SYS_futex, p, operation, value, NULL, NULL, 0);
}

/* The windows of bandwidth.c. */
static inline int window_of(size_t bytes)
{
    size_t n = FOOTPRINT / bytes;
    return n > 64 ? 64 : n < 2 ? 2 : (int)n;
}

static inline char *touched(size_t bytes)
{
    void *p;
    if (posix_memalign(&p, 4096, bytes))
        abort();
    memset(p, 1, bytes);
    return p;
}

static inline void second_process(uint32_t seen)
{
    for (;;) {
        int spins = 0;
        while (load(&shared->command) == seen)
            if (++spins > 1000)
                sched_yield();
        seen++;
        if (!shared->body)
            _exit(0);
        shared->body(shared, 1, shared->n);
        put(&shared->done, seen);
    }
}

/* Seconds from the start on this side until this side has finished; both sides start within a microsecond. */
static inline double pair_time(pair_body *body, long n)
{
    put(&shared->ping, 0);
    put(&shared->pong, 0);
    struct ring *rings[2] = {&shared->there, &shared->back};
    for (int i = 0; i < 2; i++) {
        put(&rings[i]->head, 0);
        put(&rings[i]->tail, 0);
    }
    shared->body = body;
    shared->n = n;
    uint32_t command = load(&shared->command) + 1;
    put(&shared->command, command);
    double start = probe_now();
    body(shared, 0, n);
    double end = probe_now();
    while (load(&shared->done) != command)
        sched_yield();
    return end - start;
}

static void empty_body(struct shared *s, int side, long n) { (void)s, (void)side, (void)n; }

static inline void pair_begin(int first_core, int second_core)
{
    if (!shared) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            abort();
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* the second process may then write into this one */
    uint32_t seen = load(&shared->command);
    shared->plan.far[0] = private_buffer;
    second = fork();
    probe_pin(second ? first_core : second_core);
    if (second == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        free(private_buffer); /* pages of its own, not copies on write in the middle of a measurement */
        private_buffer = shared->plan.far[1] = touched(PRIVATE);
        second_process(seen);
    }
    pair_time(empty_body, 1); /* the second process is ready */
}

static inline void pair_end(void)
{
    shared->body = NULL;
    put(&shared->command, load(&shared->command) + 1);
    waitpid(second, NULL, 0);
    put(&shared->done, load(&shared->command));
}

/* n processes on the two cores, a counting barrier in shared memory, nothing but sched_yield to wait: seconds a barrier. */
static inline double crowd_barrier(int processes, double budget)
{
    pid_t children[MOST_PROCESSES];
    put(&shared->arrived, 0);
    put(&shared->generation, 0);
    double time = 0;
    for (int i = processes - 1; i >= 0; i--) {
        if (i > 0 && (children[i] = fork()) != 0)
            continue;
        if (i > 0)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        probe_pin(cores[i % 2]);
        double start = probe_now();
        uint32_t generation = 0, last = UINT32_MAX; /* `last` is agreed through shared->n by the first process */
        for (; generation != last; generation++) {
            if (i == 0 && last == UINT32_MAX && probe_now() - start > budget) {
                shared->n = last = generation + 2;
                put(&shared->refused, 2);
            }
            if (atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel) == (uint32_t)processes - 1) {
                put(&shared->arrived, 0);
                put(&shared->generation, generation + 1);
            } else
                while (load(&shared->generation) == generation)
                    sched_yield();
            if (last == UINT32_MAX && load(&shared->refused) == 2)
                last = (uint32_t)shared->n;
        }
        time = (probe_now() - start) / generation;
        if (i > 0)
            _exit(0);
    }
    for (int i = 1; i < processes; i++)
        waitpid(children[i], NULL, 0);
    put(&shared->refused, 0);
    return time;
}

/* ---- copy loops ---- */

static void copy_library(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

#ifdef __x86_64__
__attribute__((target("avx2"))) static void copy_avx2(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    for (; bytes >= 128; bytes -= 128, t += 128, f += 128) {
        __m256i a = _mm256_loadu_si256((const void *)f), b = _mm256_loadu_si256((const void *)(f + 32));
        __m256i c = _mm256_loadu_si256((const void *)(f + 64)), d = _mm256_loadu_si256((const void *)(f + 96));
        _mm256_storeu_si256((void *)t, a);
        _mm256_storeu_si256((void *)(t + 32), b);
        _mm256_storeu_si256((void *)(t + 64), c);
        _mm256_storeu_si256((void *)(t + 96), d);
    }
    memcpy(t, f, bytes);
}

__attribute__((target("avx512f"))) static void copy_avx512(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    for (; bytes >= 256; bytes -= 256, t += 256, f += 256) {
        __m512i a = _mm512_loadu_si512(f), b = _mm512_loadu_si512(f + 64);
        __m512i c = _mm512_loadu_si512(f + 128), d = _mm512_loadu_si512(f + 192);
        _mm512_storeu_si512(t, a);
        _mm512_storeu_si512(t + 64, b);
        _mm512_storeu_si512(t + 128, c);
        _mm512_storeu_si512(t + 192, d);
    }
    memcpy(t, f, bytes);
}
/* Stores that take no ownership of the lines; `to` is aligned, as chunks of a ring are. */
__attribute__((target("avx512f"))) static void copy_past_cache(void *to, const void *from, size_t bytes)
{
    char *t = to, *end = t + bytes;
    const char *f = from;
    for (; end - t >= 64; t += 64, f += 64)
        _mm512_stream_si512((void *)t, _mm512_loadu_si512(f));
    memcpy(t, f, end - t);
    _mm_sfence();
}
#endif

/* How the sender copies into the ring and the receiver out of it. */
struct named_copier {
    const char *name;
    copier *in, *out;
};

static const struct named_copier *copiers(void)
{
    static struct named_copier list[7];
    int n = 0;
    list[n++] = (struct named_copier){"memcpy", copy_library, copy_library};
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        list[n++] = (struct named_copier){"avx512", copy_avx512, copy_avx512};
        list[n++] = (struct named_copier){"avx512 non-temporal", copy_past_cache, copy_avx512};
    } else if (__builtin_cpu_supports("avx2"))
        list[n++] = (struct named_copier){"avx2", copy_avx2, copy_avx2};
#endif
    list[n].name = NULL;
    return list;
}
#endif
