/* A random program of messages and barriers, which may be stuck, and what becomes of it: an oracle says on rank 0 where each rank ends, before any
 * rank begins. Without wildcards that does not depend on the order in which things happen. args: SEED */
#include "../common/check.h"

enum { OPERATIONS = 200, RANKS = 16, COMMUNICATORS = 3, TAGS = 2, KEYS = COMMUNICATORS * RANKS * RANKS * TAGS };
enum kind { SEND, SSEND, RECEIVE, ISSEND, IRECEIVE, WAITALL, BARRIER, IBARRIER, SLEEP };

struct operation {
    enum kind kind;
    /* SLEEP: its milliseconds are in `peer`. */
    int peer, tag, on;
};

static struct operation program[RANKS][OPERATIONS];
static int lengths[RANKS];

static int below(uint64_t *state, int limit)
{
    return (int) (next_random(state) % (uint64_t) limit);
}

static void add(int of, enum kind kind, int peer, int tag, int on)
{
    if (lengths[of] < OPERATIONS)
        program[of][lengths[of]++] = (struct operation){kind, peer, tag, on};
}

/* The last communicator has the ranks from 1 on. */
static int is_member(int of, int on)
{
    return on < 2 || of > 0;
}

/* A program that ends, as all ranks do these steps in one order. */
static void generate(uint64_t *state)
{
    int steps = 4 + below(state, 6 * size), long_sleeps = below(state, 3) == 0;
    for (int i = 0; i < steps; i++) {
        int what = below(state, 12), from = below(state, size), to = (from + 1 + below(state, size - 1)) % size, tag = below(state, TAGS);
        int on = below(state, COMMUNICATORS);
        if (what < 7) {
            const enum kind sends[] = {SEND, SSEND, ISSEND}, receives[] = {RECEIVE, IRECEIVE};
            on = is_member(from, on) && is_member(to, on) ? on : 0;
            add(from, sends[below(state, 3)], to, tag, on);
            add(to, receives[below(state, 2)], from, tag, on);
        } else if (what < 9) {
            enum kind kind = below(state, 2) ? BARRIER : IBARRIER;
            for (int of = 0; of < size; of++)
                if (is_member(of, on))
                    add(of, kind, 0, 0, on);
        } else if (what < 11)
            add(from, WAITALL, 0, 0, 0);
        else
            add(from, SLEEP, long_sleeps ? below(state, 2500) : below(state, 50), 0, 0);
    }
}

/* One or two changes, after which it may end or not. */
static void mutate(uint64_t *state)
{
    for (int changes = 1 + below(state, 2); changes > 0; changes--) {
        int of = below(state, size), at = lengths[of] ? below(state, lengths[of]) : 0, on = below(state, COMMUNICATORS);
        struct operation *it = &program[of][at], kept = *it;
        if (!lengths[of])
            continue;
        switch (below(state, 5)) {
        case 0:
            memmove(it, it + 1, (size_t) (--lengths[of] - at) * sizeof *it);
            break;
        case 1:
            it->tag = (it->tag + 1) % TAGS;
            break;
        case 2:
            it->on = is_member(of, on) && (it->kind >= WAITALL || is_member(it->peer, on)) ? on : it->on;
            break;
        case 3:
            if (it->kind < WAITALL)
                it->peer = it->on == 2 || it->peer == of ? it->peer : (of + 1 + below(state, size - 1)) % size;
            break;
        default:
            if (at + 1 < lengths[of]) {
                it[0] = it[1];
                it[1] = kept;
            }
        }
    }
}

static int key(int on, int from, int to, int tag)
{
    return ((on * RANKS + from) * RANKS + to) * TAGS + tag;
}

/* What has been posted of a program, and what a rank waits for: requests, the last one posted by a call that waits for it. */
struct posted {
    int sends[KEYS], receives[KEYS], barriers[2][COMMUNICATORS][RANKS];
};

struct awaited {
    enum kind kind;
    int key, number;
};

static void post(struct posted *posted, int of, const struct operation *it, struct awaited *awaited)
{
    int is_send = it->kind == SEND || it->kind == SSEND || it->kind == ISSEND;
    *awaited = (struct awaited){it->kind, it->on, 0};
    if (it->kind == BARRIER || it->kind == IBARRIER)
        awaited->number = posted->barriers[it->kind == IBARRIER][it->on][of]++;
    else if (it->kind < WAITALL) {
        awaited->key = is_send ? key(it->on, of, it->peer, it->tag) : key(it->on, it->peer, of, it->tag);
        awaited->number = is_send ? posted->sends[awaited->key]++ : posted->receives[awaited->key]++;
    }
}

static int is_complete(const struct posted *posted, const struct awaited *it)
{
    switch (it->kind) {
    case SSEND:
    case ISSEND:
        return posted->receives[it->key] > it->number;
    case RECEIVE:
    case IRECEIVE:
        return posted->sends[it->key] > it->number;
    case BARRIER:
    case IBARRIER:
        for (int of = 0; of < size; of++)
            if (is_member(of, it->key) && posted->barriers[it->kind == IBARRIER][it->key][of] <= it->number)
                return 0;
        return 1;
    default:
        return 1;
    }
}

static const char *function(enum kind kind)
{
    return kind == SSEND ? "MPI_Ssend" : kind == RECEIVE ? "MPI_Recv" : kind == BARRIER ? "MPI_Barrier" : "MPI_Waitall";
}

/* Where each rank ends. */
static void foretell(void)
{
    static struct posted posted;
    static struct awaited awaited[RANKS][OPERATIONS];
    int at[RANKS] = {0}, open[RANKS] = {0}, has_posted[RANKS] = {0}, moved = 1, ended = 0;
    while (moved) {
        moved = 0;
        for (int of = 0; of < size; of++)
            for (; at[of] < lengths[of]; at[of]++, moved = 1) {
                const struct operation *it = &program[of][at[of]];
                int is_request = it->kind == ISSEND || it->kind == IRECEIVE || it->kind == IBARRIER, waits = 0;
                if (!has_posted[of] && it->kind != WAITALL) {
                    post(&posted, of, it, &awaited[of][open[of]]);
                    open[of] += is_request;
                    moved = 1;
                }
                has_posted[of] = 1;
                for (int i = 0; it->kind == WAITALL && i < open[of]; i++)
                    waits |= !is_complete(&posted, &awaited[of][i]);
                if (waits || (!is_request && !is_complete(&posted, &awaited[of][open[of]]) && it->kind != WAITALL))
                    break;
                if (it->kind == WAITALL)
                    open[of] = 0;
                has_posted[of] = 0;
            }
    }
    for (int of = 0; of < size; of++)
        ended += at[of] == lengths[of];
    if (rank > 0)
        return;
    printf("EXPECTED");
    for (int of = 0; of < size && ended < size; of++)
        printf(" %d:%s", of, at[of] == lengths[of] ? "MPI_Finalize" : function(program[of][at[of]].kind));
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Comm on[2][COMMUNICATORS];
    start(&argc, &argv);
    uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    if (size < 2 || size > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    generate(&state);
    if (below(&state, 5))
        mutate(&state);
    for (int of = 0; of < size; of++)
        add(of, WAITALL, 0, 0, 0);
    foretell();
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &on[i][0]));
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &on[i][1]));
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, rank, &on[i][2]));
    }
    static int values[OPERATIONS], expected[OPERATIONS], receives[KEYS], sends[KEYS];
    MPI_Request requests[OPERATIONS];
    int open = 0;
    for (int i = 0; i < lengths[rank]; i++) {
        const struct operation *it = &program[rank][i];
        MPI_Comm comm = on[it->kind == IBARRIER][it->on];
        int peer = it->on == 2 ? it->peer - 1 : it->peer, is_receive = it->kind == RECEIVE || it->kind == IRECEIVE;
        expected[i] = -1;
        if (it->kind < WAITALL) {
            int in = is_receive ? key(it->on, it->peer, rank, it->tag) : key(it->on, rank, it->peer, it->tag);
            int value = 1000 * in + (is_receive ? receives[in]++ : sends[in]++);
            values[i] = is_receive ? -1 : value;
            expected[i] = value;
        }
        switch (it->kind) {
        case SEND: MPI(MPI_Send(&values[i], 1, MPI_INT, peer, it->tag, comm)); break;
        case SSEND: MPI(MPI_Ssend(&values[i], 1, MPI_INT, peer, it->tag, comm)); break;
        case RECEIVE: MPI(MPI_Recv(&values[i], 1, MPI_INT, peer, it->tag, comm, MPI_STATUS_IGNORE)); break;
        case ISSEND: MPI(MPI_Issend(&values[i], 1, MPI_INT, peer, it->tag, comm, &requests[open++])); break;
        case IRECEIVE: MPI(MPI_Irecv(&values[i], 1, MPI_INT, peer, it->tag, comm, &requests[open++])); break;
        case WAITALL:
            MPI(MPI_Waitall(open, requests, MPI_STATUSES_IGNORE));
            open = 0;
            break;
        case BARRIER: MPI(MPI_Barrier(comm)); break;
        case IBARRIER: MPI(MPI_Ibarrier(comm, &requests[open++])); break;
        case SLEEP: usleep(1000 * (unsigned) it->peer); break;
        }
    }
    for (int i = 0; i < lengths[rank]; i++)
        if (program[rank][i].kind < WAITALL)
            CHECK_INT(values[i], expected[i]);
    return finish();
}
