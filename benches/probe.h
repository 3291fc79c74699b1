/* The clock, the probe of where the host has put the two cores, and the result line: shared by the MPI programs and limits.c.
 * The probe bounces a cache line between two processes; its one-way time is 180-260 ns between separate cores and 30-55 ns
 * between siblings of one core, and every number of two ranks follows it. */
#ifndef PROBE_H
#define PROBE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PROBE_SIBLINGS_BELOW = 100, PROBE_MOST = 200, PROBE_BOUNCES = 200 };
#define OWN_LINE _Alignas(128) /* the neighbouring line is prefetched with it */

struct probe_pair {
    OWN_LINE _Atomic uint32_t ping;
    OWN_LINE _Atomic uint32_t pong;
};

static inline double probe_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int probe_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double probe_median(double *times, int n)
{
    qsort(times, n, sizeof *times, probe_ascending);
    return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static inline uint32_t load(_Atomic uint32_t *p) { return atomic_load_explicit(p, memory_order_acquire); }
static inline void put(_Atomic uint32_t *p, uint32_t v) { atomic_store_explicit(p, v, memory_order_release); }

/* No pause: it would add its own length to what is measured. The yield is for two processes that share a core after all. */
static inline void await(_Atomic uint32_t *p, uint32_t v)
{
    for (int spins = 0; load(p) != v;)
        if (++spins == 100000) {
            sched_yield();
            spins = 0;
        }
}

static inline void probe_pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* The first two cores that this process may use; returns how many there are. */
static inline int probe_cores(int cores[2])
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    int found = 0;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set))
            cores[found++] = i;
    return found;
}

/* Both sides call it with the same count of batches, each on its core: one-way ns, the median of many short batches,
 * so that a batch that was disturbed does not count. The pair is left as it was found: the counts go on from there. */
static inline double probe_line(struct probe_pair *pair, int side, int batches)
{
    double times[PROBE_MOST];
    /* Both counts are equal while nobody probes; side 0 moves first, and only after side 1 has said that it is here. */
    uint32_t at = load(side ? &pair->pong : &pair->ping) + 1;
    if (side == 1)
        put(&pair->pong, at);
    else
        await(&pair->pong, at);
    for (int b = 0; b < batches; b++) {
        double start = probe_now();
        for (int i = 0; i < PROBE_BOUNCES; i++) {
            at++;
            if (side == 0) {
                put(&pair->ping, at);
                await(&pair->pong, at);
            } else {
                await(&pair->ping, at);
                put(&pair->pong, at);
            }
        }
        times[b] = (probe_now() - start) / PROBE_BOUNCES / 2;
    }
    return 1e9 * probe_median(times, batches);
}

static inline int probe_moved(double before, double after)
{
    return before > 0 && after > 0 && (before < PROBE_SIBLINGS_BELOW) != (after < PROBE_SIBLINGS_BELOW);
}

/* One line for the runner; flushed, so that it survives a run that is cut short. size < 0: the series has no size.
 * before, after: the probes around the measurement, 0: none. */
static inline void probe_result(const char *series, long size, double value, const char *unit, const char *better,
                                double before, double after)
{
    printf("RESULT series=%s size=%ld value=%.6g unit=%s better=%s line=%.1f/%.1f\n", series, size, value, unit, better,
           before, after);
    fflush(stdout);
}
#endif
