/* What all parts of the program share: a lane, which is one thread's part of the plan, and its random numbers.
 * `plan` gives every rank the same numbers and is drawn by all ranks alike; `own` differs from rank to rank and decides only
 * what the other ranks need not know: the order of posting, kinds of receive, kinds of completion.
 */
#ifndef RANDOM_LANE_H
#define RANDOM_LANE_H

#include "check.h"
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

enum { RANKS = 32, POOL = 10, DEGREE = 8 };

enum topology { NO_TOPOLOGY, GRID, GRAPH };

/* What every rank knows of a communicator, whether it is a member or not. */
struct communicator {
    MPI_Comm handle; /* MPI_COMM_NULL on ranks that are no members */
    int live, kept, shared;
    int copies;                 /* what the lane's attribute is, or -1 */
    int inter;                  /* two groups; else only the first */
    int size[2], world[2][RANKS];
    int side, me;               /* side is -1 on ranks that are no members */
    int no_any_tag, no_any_source, of_session;
    enum topology topology;
    int dimensions, extent[3], periodic[3];
    /* For each rank whom it sends to and receives from in neighbourhood operations, and what slot of its source a block comes from. */
    int outs[RANKS], out[RANKS][DEGREE], ins[RANKS], in[RANKS][DEGREE], slot[RANKS][DEGREE];
};

struct lane {
    int id, lanes, round;
    uint64_t seed, plan, own;
    int key;                  /* of an attribute that is copied to duplicates, or MPI_KEYVAL_INVALID */
    struct communicator pool[POOL];
    MPI_Session session;
    /* What was checked. */
    uint64_t messages, bytes, collectives, communicators, cancelled, partitions, rounds;
};

/* Kinds of rounds that are wanted: bits of the last argument. */
enum { MESSAGES = 1, ORDERED = 2, COLLECTIVES = 4, CONSTRUCTORS = 8, PARTITIONED = 16, CANCELS = 32, SESSION_BUFFERED = 64, ALL_KINDS = 127 };
static int wanted_kinds = ALL_KINDS;
static int only_lane = -1, first_round = 0;
static size_t largest = 1 << 20;
static int tag_limit = 32767;

static void complain(const struct lane *l, const char *format, ...) CHECK_FORMAT(2, 3);

/* A fault ends the job: what follows it would only be its consequences. */
static void complain(const struct lane *l, const char *format, ...)
{
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "[rank %d of %d] seed %llu, lane %d of %d, round %d: %s\n", rank, size, (unsigned long long) l->seed,
            l->id, l->lanes, l->round, text);
    fflush(stderr);
    __atomic_add_fetch(&check_failures, 1, __ATOMIC_RELAXED);
    if (!getenv("RANDOM_CONTINUE"))
        MPI_Abort(MPI_COMM_WORLD, 95);
}

/* With RANDOM_TRACE each step is written, to see what a rank did before it hung. */
static int tracing = 0;
#define TRACE(l, ...) do { if (tracing) trace(l, __VA_ARGS__); } while (0)
static CHECK_UNUSED CHECK_FORMAT(2, 3) void trace(const struct lane *l, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "[rank %d] lane %d, round %d: %s\n", rank, l->id, l->round, text);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t state = a * 0x9E3779B97F4A7C15ull ^ (b + 0x632BE59BD9B4E019ull) * 0xD1B54A32D192ED03ull;
    return next_random(&state);
}

/* 0 to limit - 1. */
static int pick(uint64_t *state, int limit)
{
    return (int) (next_random(state) % (uint64_t) limit);
}

/* One time in so many. */
static int once_in(uint64_t *state, int times)
{
    return pick(state, times) == 0;
}

static void shuffle(uint64_t *state, int *values, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = pick(state, i + 1), kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
}

/* After a look in vain: the rank that is waited for may need this core. */
static void in_vain(struct lane *l)
{
    if (!once_in(&l->own, 8))
        sched_yield();
}

/* A number of bytes, often beside a border of the protocols. */
static size_t pick_bytes(uint64_t *state, size_t limit)
{
    static const size_t borders[] = {0, 8, 20, 28, 64, 148, 1024, 4096, 5120, 10240, 16384, 20480, 32768, 49152, 65536, 131072, 262144, 1048576};
    enum { BORDERS = sizeof borders / sizeof *borders };
    size_t bytes;
    switch (pick(state, 8)) {
    case 0: bytes = 0; break;
    case 1: case 2: bytes = (size_t) pick(state, 200); break;
    case 3: bytes = (size_t) pick(state, 20000); break;
    case 4: bytes = (size_t) pick(state, 100000); break;
    case 5: bytes = borders[pick(state, BORDERS)] + (size_t) pick(state, 200); break;
    default: {
        int off = pick(state, 5) - 2;
        bytes = borders[pick(state, BORDERS)];
        bytes = off < 0 && bytes < (size_t) -off ? 0 : bytes + (size_t) off;
    }
    }
    return bytes > limit ? limit - (size_t) pick(state, 3) * (limit > 2) : bytes;
}

#endif
