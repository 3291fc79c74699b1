/* What a round does, from the seed: all ranks make the same plan. */
#ifndef KILLED_PLAN_H
#define KILLED_PLAN_H

#include "death.h"

enum { MOST_STEPS = 32, MOST_BLOCK = 256 << 10 };

/* Neighbourhood operations from NEIGHBOR_ALLGATHER on, reductions from REDUCE to EXSCAN. */
enum kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN,
    NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHERV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV, NEIGHBOR_ALLTOALLW, KINDS
};
static const char *const kind_names[] = {
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
    "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
    "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"};

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const form_names[] = {"blocking", "nonblocking", "persistent"};

/* How the wait for a request is made. */
enum wait { WAIT, TEST, WAITALL, WAITS };
static const char *const wait_names[] = {"wait", "test", "waitall"};

/* PAIR: two numbers, for user-defined operations; HOLES: six numbers in two parts. */
enum type { BYTES, NUMBERS, HOLES, PAIRS };
static const char *const type_names[] = {"bytes", "numbers", "holes", "pairs"};

/* OWN_SUM: user-defined; COMPOSITION: user-defined and not commutative. */
enum reduction { SUM, MAXIMUM, BXOR, OWN_SUM, COMPOSITION, REDUCTIONS };
static const char *const reduction_names[] = {"sum", "max", "bxor", "own_sum", "composition"};

/* The base is MPI_COMM_WORLD in the first round, later a communicator of the living. */
enum place { BASE, DUPLICATE, REVERSED, HALVES, PLACES };
static const char *const place_names[] = {"base", "duplicate", "reversed", "halves"};

/* What a rank does after its first error: it makes all further calls; it ends (only in the last round, otherwise as GO_ON); a few calls,
 * and it lives on outside of MPI until all others have their errors, too. The last one is only done if asked for: a rank that does not
 * come is awaited by algorithms over messages. */
enum manner { GO_ON, LEAVE, STAY, MANNERS };
static const char *const manner_names[] = {"go_on", "leave", "stay"};

struct step {
    enum kind kind;
    enum form form;
    enum wait wait;
    enum type type;
    enum reduction reduction;
    int count, root, in_place, starts;
    uint64_t seed;
};

struct plan {
    /* Ranks in MPI_COMM_WORLD; the victim is one of them. */
    int living[MOST_RANKS], count, victim;
    enum place place;
    enum manner manner;
    enum death death;
    /* Of the death: its step, and how many events or microseconds later. */
    int step, events, microseconds;
    /* So many requests are under way at a time. */
    int window, steps;
    struct step step_of[MOST_STEPS];
};

/* -1, or what the arguments ask for. */
static struct {
    int kind, form, death, place, manner, bytes, type;
} wanted = {-1, -1, -1, -1, -1, -1, -1};

static int either(int chosen, int drawn)
{
    return chosen >= 0 ? chosen : drawn;
}

static int is_reduction(enum kind kind)
{
    return kind >= REDUCE && kind <= EXSCAN;
}

static int is_of_neighbors(enum kind kind)
{
    return kind >= NEIGHBOR_ALLGATHER;
}

/* Bytes of an element without its holes. */
static int packed(enum type type)
{
    static const int bytes[] = {1, 4, 24, 8};
    return bytes[type];
}

static struct step draw_step(uint64_t *random, int ranks, enum death death)
{
    struct step step = {0};
    int bytes = below(random, 10) ? 1 << below(random, 21) : 0;
    bytes += bytes > 1 ? below(random, bytes) : 0;
    bytes = either(wanted.bytes, bytes > 1 << 20 ? 1 << 20 : bytes);
    step.kind = (enum kind) either(wanted.kind, below(random, KINDS));
    if (death == FUNCTION && wanted.kind < 0)
        step.kind = (enum kind) (REDUCE + below(random, EXSCAN - REDUCE + 1));
    step.form = (enum form) either(wanted.form, below(random, 5) < 3 ? BLOCKING : 1 + below(random, 2));
    step.wait = (enum wait) below(random, WAITS);
    step.type = (enum type) either(wanted.type, below(random, 3));
    step.reduction = (enum reduction) (death == FUNCTION ? OWN_SUM + below(random, 2) : below(random, REDUCTIONS));
    if (is_reduction(step.kind))
        step.type = step.reduction == COMPOSITION ? PAIRS : NUMBERS;
    /* Of what consists of a block for each rank, mostly all blocks together have so many bytes. */
    int blocks = !is_reduction(step.kind) && step.kind != BCAST && !is_of_neighbors(step.kind);
    if (step.kind == REDUCE_SCATTER || step.kind == REDUCE_SCATTER_BLOCK)
        blocks = 1;
    if (blocks && (below(random, 10) < 7 || bytes > MOST_BLOCK))
        bytes /= ranks;
    if (is_of_neighbors(step.kind) && bytes > MOST_BLOCK)
        bytes = MOST_BLOCK;
    step.count = bytes / packed(step.type);
    step.root = below(random, ranks);
    step.in_place = below(random, 4) == 0;
    step.starts = 1 + below(random, 2);
    step.seed = next_random(random);
    return step;
}

/* Plan of a round with these living ranks; of the half of a communicator that `half` says. */
static CHECK_UNUSED struct plan draw_plan(uint64_t seed, int round, const int *living, int count)
{
    struct plan plan = {.count = count};
    uint64_t random = seed * 1000003 + (uint64_t) round;
    memcpy(plan.living, living, (size_t) count * sizeof *living);
    plan.victim = living[below(&random, count)];
    plan.place = (enum place) either(wanted.place, below(&random, PLACES));
    if (plan.place == HALVES && count < 4)
        plan.place = DUPLICATE;
    plan.manner = (enum manner) either(wanted.manner, below(&random, STAY));
    plan.death = (enum death) either(wanted.death, below(&random, DEATHS));
    /* Over a fabric the kernel reads the page to send it, and the provider's error is rightly the end of the job. */
    if (plan.death == PAGE && getenv("OXMPI_FABRIC"))
        plan.death = TIMER;
    plan.events = 1 + below(&random, 1 << below(&random, 6));
    plan.microseconds = (1 << below(&random, 15)) + below(&random, 50);
    plan.window = below(&random, 2) ? 1 : 3;
    plan.step = below(&random, 14);
    plan.steps = plan.step + 4 + below(&random, 5);
    int ranks = plan.place == HALVES ? count / 2 : count;
    /* What is used again and again gets memory of its own. */
    struct step often = draw_step(&random, ranks, plan.death);
    int how_often = below(&random, 3);
    for (int i = 0; i < plan.steps; i++) {
        struct step *step = &plan.step_of[i];
        *step = draw_step(&random, ranks, plan.death);
        if (below(&random, 3) < how_often) {
            uint64_t own = step->seed;
            *step = often;
            step->seed = own;
        }
        if (ranks > 1 && below(&random, 3) == 0)
            step->root = below(&random, ranks);
    }
    return plan;
}

/* An argument like kill=timer. False: it is none. */
static CHECK_UNUSED int read_wish(const char *argument)
{
    const struct { const char *key; int *to; const char *const *names; int count; } keys[] = {
        {"op=", &wanted.kind, kind_names, KINDS}, {"form=", &wanted.form, form_names, FORMS},
        {"kill=", &wanted.death, death_names, DEATHS}, {"comm=", &wanted.place, place_names, PLACES},
        {"then=", &wanted.manner, manner_names, MANNERS}, {"type=", &wanted.type, type_names, PAIRS},
        {"bytes=", &wanted.bytes, NULL, 0}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t length = strlen(keys[i].key);
        if (strncmp(argument, keys[i].key, length))
            continue;
        const char *value = argument + length;
        *keys[i].to = keys[i].names ? find_name(value, keys[i].names, keys[i].count) : atoi(value);
        return 1;
    }
    return 0;
}

#endif
