/* Blocking, nonblocking and persistent operations of all kinds, many at once, on a communicator, its copy and a copy of that: begun and
 * completed in an order of each rank's own where the standard lets it. Communicators are freed while operations are under way, and many
 * follow each other. */
#include "check.h"

enum { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, KINDS };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { COMMS = 3, MOST = 40, FOLLOWING = 300, LIVE = 6 };

struct operation {
    int kind, form, comm, count, root, id;
    int *in, *out;
    MPI_Request request;
};

/* The one of all ranks, and that of this one. */
static uint64_t together, alone;

static int below(uint64_t *state, int limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int) ((*state >> 33) % (uint64_t) limit);
}

/* What rank r has for rank s in place i. */
static int value(int id, int r, int s, int i)
{
    return id * 1000 + r * 17 + s * 5 + i % 1000;
}

static int parts_in(int kind)
{
    return kind == SCATTER || kind == ALLTOALL || kind == REDUCE_SCATTER ? size : 1;
}

static int parts_out(int kind)
{
    return kind == GATHER || kind == ALLGATHER || kind == ALLTOALL ? size : 1;
}

static void choose(struct operation *o, int id, int comms, int form)
{
    static const int counts[] = {0, 1, 2, 11, 12, 13, 255, 256, 257, 1025, 4096, 16385, 75000};
    o->id = id;
    o->kind = below(&together, KINDS);
    o->form = form < FORMS ? form : below(&together, FORMS);
    o->comm = below(&together, comms);
    o->root = below(&together, size);
    o->count = counts[below(&together, sizeof counts / sizeof *counts)];
    if (slow() && o->count > 5000)
        o->count /= 8;
    int parts = parts_in(o->kind) * parts_out(o->kind);
    if (o->count > 75000 / (parts > size ? size : parts))
        o->count = 75000 / (parts > size ? size : parts);
    o->in = malloc(((size_t) o->count * (size_t) parts_in(o->kind) + 1) * sizeof(int));
    o->out = malloc(((size_t) o->count * (size_t) parts_out(o->kind) + 1) * sizeof(int));
    o->request = MPI_REQUEST_NULL;
}

/* Fresh data of a turn. */
static void refill(struct operation *o, int turn)
{
    for (int s = 0; s < parts_in(o->kind); s++)
        for (int i = 0; i < o->count; i++)
            o->in[s * o->count + i] = value(o->id + turn, rank, s, i);
    int own = o->kind == BCAST && rank == o->root;
    for (int i = 0; i <= o->count * parts_out(o->kind); i++)
        o->out[i] = own && i < o->count ? value(o->id + turn, rank, 0, i) : -1;
}

/* All forms of one call. */
#define CALL(Name, name, ...) do { \
        if (o->form == BLOCKING) \
            MPI(MPI_##Name(__VA_ARGS__, comm)); \
        else if (o->form == NONBLOCKING) \
            MPI(MPI_I##name(__VA_ARGS__, comm, &o->request)); \
        else \
            MPI(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &o->request)); \
    } while (0)

/* Calls it, or makes the persistent request. */
static void call(struct operation *o, MPI_Comm comm)
{
    int n = o->count, root = o->root;
    switch (o->kind) {
    case BARRIER:
        if (o->form == BLOCKING)
            MPI(MPI_Barrier(comm));
        else if (o->form == NONBLOCKING)
            MPI(MPI_Ibarrier(comm, &o->request));
        else
            MPI(MPI_Barrier_init(comm, MPI_INFO_NULL, &o->request));
        break;
    case BCAST:
        CALL(Bcast, bcast, o->out, n, MPI_INT, root);
        break;
    case GATHER:
        CALL(Gather, gather, o->in, n, MPI_INT, o->out, n, MPI_INT, root);
        break;
    case SCATTER:
        CALL(Scatter, scatter, o->in, n, MPI_INT, o->out, n, MPI_INT, root);
        break;
    case ALLGATHER:
        CALL(Allgather, allgather, o->in, n, MPI_INT, o->out, n, MPI_INT);
        break;
    case ALLTOALL:
        CALL(Alltoall, alltoall, o->in, n, MPI_INT, o->out, n, MPI_INT);
        break;
    case REDUCE:
        CALL(Reduce, reduce, o->in, o->out, n, MPI_INT, MPI_SUM, root);
        break;
    case ALLREDUCE:
        CALL(Allreduce, allreduce, o->in, o->out, n, MPI_INT, MPI_SUM);
        break;
    case REDUCE_SCATTER:
        CALL(Reduce_scatter_block, reduce_scatter_block, o->in, o->out, n, MPI_INT, MPI_SUM);
        break;
    case SCAN:
        CALL(Scan, scan, o->in, o->out, n, MPI_INT, MPI_SUM);
        break;
    default:
        CALL(Exscan, exscan, o->in, o->out, n, MPI_INT, MPI_SUM);
    }
}

/* The sum of what the first ranks have for rank s. */
static int sum(int ranks, int id, int s, int i)
{
    return ranks * value(id, 0, s, i) + 17 * ranks * (ranks - 1) / 2;
}

static int expected(const struct operation *o, int id, int part, int i)
{
    switch (o->kind) {
    case BCAST:
        return value(id, o->root, 0, i);
    case GATHER:
        return rank == o->root ? value(id, part, 0, i) : -1;
    case SCATTER:
        return value(id, o->root, rank, i);
    case ALLGATHER:
        return value(id, part, 0, i);
    case ALLTOALL:
        return value(id, part, rank, i);
    case REDUCE:
        return rank == o->root ? sum(size, id, 0, i) : -1;
    case ALLREDUCE:
        return sum(size, id, 0, i);
    case REDUCE_SCATTER:
        return sum(size, id, rank, i);
    case SCAN:
        return sum(rank + 1, id, 0, i);
    case EXSCAN:
        return sum(rank, id, 0, i);
    }
    return -1;
}

static void check(const struct operation *o, int turn)
{
    if (o->kind == EXSCAN && rank == 0) /* undefined */
        return;
    for (int part = 0; part < parts_out(o->kind); part++)
        for (int i = 0; i < o->count; i++) {
            int found = o->out[part * o->count + i], right = expected(o, o->id + turn, part, i);
            if (found != right) {
                check_failed(__FILE__, __LINE__, "operation %d: kind %d, form %d, %d elements, root %d, turn %d: part %d, element %d is %d, not %d",
                             o->id, o->kind, o->form, o->count, o->root, turn, part, i, found, right);
                return;
            }
        }
    CHECK_INT(o->out[o->count * parts_out(o->kind)], -1);
}

/* Numbers below n, in an order of this rank's own. */
static void shuffle(int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int j = below(&alone, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* Completes them all: in another way and order on each rank. */
static void complete(struct operation *all, int n)
{
    MPI_Request requests[MOST];
    int order[MOST], left = 0, number, done[MOST], flag;
    shuffle(order, n);
    for (int i = 0; i < n; i++)
        requests[i] = all[order[i]].request;
    switch (below(&alone, 6)) {
    case 0:
        for (int i = 0; i < n; i++)
            MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        break;
    case 1:
        MPI(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
        break;
    case 2:
        do
            MPI(MPI_Waitsome(n, requests, &number, done, MPI_STATUSES_IGNORE));
        while (number != MPI_UNDEFINED);
        break;
    case 3:
        do
            MPI(MPI_Waitany(n, requests, &number, MPI_STATUS_IGNORE));
        while (number != MPI_UNDEFINED);
        break;
    case 4:
        do
            MPI(MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE));
        while (!flag);
        break;
    default: /* tests, one after the other, that never look at all; inactive ones are complete */
        for (int i = 0; left < n; i = (i + 1) % n) {
            MPI(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
            left = flag ? left + 1 : 0;
        }
    }
    for (int i = 0; i < n; i++)
        all[order[i]].request = requests[i];
}

/* Starts the persistent ones that are left, so many of them at most. */
static void start_some(struct operation *all, const int *order, int n, int *next, int most)
{
    for (; *next < n && most > 0; ++*next, most--)
        if (all[order[*next]].form == PERSISTENT)
            MPI(MPI_Start(&all[order[*next]].request));
}

static void together_on(MPI_Comm *comms, int frees, int number, int id)
{
    static struct operation all[MOST];
    int order[MOST], next = 0;
    for (int i = 0; i < number; i++) {
        choose(&all[i], id + 10 * i, COMMS, FORMS);
        refill(&all[i], 0);
        /* made in the same order on all ranks */
        if (all[i].form == PERSISTENT)
            call(&all[i], comms[all[i].comm]);
    }
    shuffle(order, number);
    for (int i = 0; i < number; i++) {
        start_some(all, order, number, &next, below(&alone, 4));
        if (all[i].form != PERSISTENT)
            call(&all[i], comms[all[i].comm]);
        if (all[i].form == BLOCKING)
            check(&all[i], 0);
    }
    start_some(all, order, number, &next, number);
    for (int c = 0; frees && c < COMMS; c++)
        MPI(MPI_Comm_free(&comms[c]));
    complete(all, number);
    for (int i = 0; i < number; i++)
        check(&all[i], 0);
    for (int turn = 1; turn < 3; turn++) {
        for (int i = 0; i < number; i++)
            if (all[i].form == PERSISTENT)
                refill(&all[i], turn);
        shuffle(order, number);
        next = 0;
        start_some(all, order, number, &next, number);
        complete(all, number);
        for (int i = 0; i < number; i++)
            if (all[i].form == PERSISTENT)
                check(&all[i], turn);
    }
    for (int i = 0; i < number; i++) {
        if (all[i].form == PERSISTENT)
            MPI(MPI_Request_free(&all[i].request));
        CHECK(all[i].request == MPI_REQUEST_NULL);
        free(all[i].in);
        free(all[i].out);
    }
}

/* Communicators that follow each other, some of them at once, each freed while its operations are under way. */
static void one_after_the_other(int number)
{
    static struct operation all[LIVE][2];
    for (int i = 0; i < number + LIVE; i++) {
        struct operation *now = all[i % LIVE];
        if (i >= LIVE) {
            complete(now, 2);
            for (int k = 0; k < 2; k++) {
                check(&now[k], 0);
                if (now[k].form == PERSISTENT)
                    MPI(MPI_Request_free(&now[k].request));
                free(now[k].in);
                free(now[k].out);
            }
        }
        if (i < number) {
            MPI_Comm comm;
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            for (int k = 0; k < 2; k++) {
                choose(&now[k], 20 * i + 10 * k, 1, k ? i % FORMS : NONBLOCKING);
                refill(&now[k], 0);
                call(&now[k], comm);
                if (now[k].form == PERSISTENT)
                    MPI(MPI_Start(&now[k].request));
            }
            MPI(MPI_Comm_free(&comm));
        }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    together = 1;
    alone = (uint64_t) rank + 77;
    int rounds = slow() ? 2 : 8;
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comms[COMMS] = {MPI_COMM_NULL};
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
        for (int c = 1; c < COMMS; c++)
            MPI(MPI_Comm_dup(comms[c - 1], &comms[c]));
        together_on(comms, 0, 6, 10000 * round);
        together_on(comms, 0, slow() ? 10 : MOST, 10000 * round + 1000);
        together_on(comms, 1, slow() ? 10 : MOST / 2, 10000 * round + 2000);
    }
    one_after_the_other(slow() ? 20 : FOLLOWING);
    return finish();
}
