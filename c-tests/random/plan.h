/* What a round of messages is: the plan that all ranks draw alike, and the receives that each draws for itself. */
#ifndef RANDOM_PLAN_H
#define RANDOM_PLAN_H

#include "active.h"
#include "collectives.h"
#include "communicators.h"
#include "layout.h"

enum { MESSAGES_MOST = 90, DUPLICATES_MOST = 3, SOUP = 0, READY_FIRST, IN_ORDER };
enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY };
enum form { BLOCKING_FORM, NONBLOCKING_FORM, PERSISTENT_FORM, FREED_FORM };

struct message {
    int comm, from, to;       /* ranks of the world */
    int source, destination;  /* as the other side calls them */
    int tag, base, shift;     /* messages of one shift are exchanged by MPI_Sendrecv */
    size_t elements;
    enum mode mode;
    enum form form;
    uint64_t seed;
    int taken;
    /* Of the sender. */
    struct layout layout;
    size_t items;
    struct area area;
    MPI_Request persistent;
};

enum way { IRECV, PERSISTENT_RECV, RECV, PROBE_RECV, MPROBE_MRECV, IMPROBE_IMRECV, IPROBE_RECV, WAYS };

struct receive {
    int comm, source, tag, base, general, cancelled, done;
    enum way way;
    size_t capacity, items;
    struct layout layout;
    struct area area;
    MPI_Request persistent;
    int posted;               /* in which order */
    /* What the status said, and the area's hash at completion. */
    int real_source, real_tag;
    size_t elements;
    uint64_t hash;
};

struct round {
    int shape, iterations, iteration, wild, barrier, count, receives, posted, blocking_allowed;
    int style[POOL][RANKS], base[POOL][RANKS];
    struct message message[MESSAGES_MOST];
    struct receive receive[2 * MESSAGES_MOST];
    struct collective collective[COLLECTIVES_MOST];
    int collectives;
    int duplicates, parent[DUPLICATES_MOST]; /* of communicators that are made meanwhile */
    MPI_Comm duplicated[DUPLICATES_MOST];
    struct active active;
};

static struct communicator *comm_of(struct lane *l, int index)
{
    return &l->pool[index];
}

/* Messages in the order of one list (walk): a receive with wildcards may take a message that comes later in the list, and its own
 * sender then waits for a receive behind steps that wait for this sender. So nothing waits for such a receive in the list. */
static void keep_order_possible(struct round *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->message[i].shift >= 0)
            for (int to = 0; to < size; to++)
                r->style[r->message[i].comm][to] = 0;
    for (int i = 0; i < r->count; i++) {
        struct message *m = &r->message[i];
        if (r->style[m->comm][m->to] && m->form == BLOCKING_FORM && m->mode != BUFFERED)
            m->form = NONBLOCKING_FORM;
    }
}

/* Same on every rank. */
static void plan_messages(struct lane *l, struct round *r)
{
    int huge = once_in(&l->plan, 40) && largest == 1 << 20;
    size_t budget = largest < 20000 ? 20 * largest : huge ? 32 << 20 : 4 << 20;
    int most = once_in(&l->plan, 4) ? MESSAGES_MOST : 24, wanted = 1 + pick(&l->plan, most);
    int style = pick(&l->plan, 6), burst = pick(&l->plan, 4), order = 0;
    uint64_t buffered = 0;
    for (int c = 0; c < POOL; c++)
        for (int to = 0; to < size; to++) {
            r->style[c][to] = style == 5 ? pick(&l->plan, 5) : style;
            r->base[c][to] = pick(&l->plan, 2 * BASES) % BASES;
        }
    for (int tries = 0; r->count < wanted && tries < 4 * wanted; tries++) {
        struct message m = {.comm = pick(&l->plan, POOL), .shift = -1, .persistent = MPI_REQUEST_NULL};
        struct communicator *c = comm_of(l, m.comm);
        int side = pick(&l->plan, 2), a = pick(&l->plan, RANKS), b = pick(&l->plan, RANKS), shifted = r->shape == IN_ORDER && once_in(&l->plan, 4);
        size_t bytes = pick_bytes(&l->plan, largest < budget / 2 ? largest : budget / 2);
        if (huge && once_in(&l->plan, 4))
            bytes = ((size_t) 2 << 20) + (size_t) pick(&l->plan, 6 << 20);
        m.tag = l->id * 100 + pick(&l->plan, 4);
        if (once_in(&l->plan, 6))
            m.tag = c->shared ? m.tag + 50 : tag_limit - pick(&l->plan, 3);
        m.mode = (enum mode) pick(&l->plan, 4);
        m.form = (enum form) pick(&l->plan, 4);
        uint64_t random = next_random(&l->plan);
        if (!c->live)
            continue;
        if (!c->inter)
            side = 0;
        a %= c->size[side];
        b %= c->size[c->inter ? !side : 0];
        if (burst && r->count && !shifted && r->message[r->count - 1].shift < 0 && pick(&random, 4) < burst) {
            struct message *last = &r->message[r->count - 1];
            m.comm = last->comm, m.source = last->source, m.destination = last->destination, m.from = last->from, m.to = last->to;
            if (pick(&random, 4))
                m.tag = last->tag;
            c = comm_of(l, m.comm);
            if (c->shared)
                m.tag = last->tag;
        } else {
            m.source = a, m.destination = b;
            m.from = c->world[side][a];
            m.to = c->world[c->inter ? !side : 0][b];
        }
        int distance = 1 + b, participants = 1;
        if (shifted && !c->inter) {
            participants = c->size[0];
            m.shift = order++;
            bytes = bytes > 100000 ? 100000 : bytes;
        }
        for (int i = 0; i < participants && r->count < MESSAGES_MOST; i++) {
            struct message one = m;
            if (m.shift >= 0) {
                if (r->count + participants - i > MESSAGES_MOST)
                    break;
                one.source = i;
                one.destination = (i + distance) % participants;
                one.from = c->world[0][one.source];
                one.to = c->world[0][one.destination];
            }
            one.base = r->base[one.comm][one.to];
            one.seed = mix(random, (uint64_t) i);
            uint64_t forms = one.seed;
            /* The sender's type decides how many elements there are exactly; every rank makes it to know that. */
            struct layout layout = layout_make(&forms, one.base, bytes / base_bytes[one.base]);
            one.items = bytes / base_bytes[one.base] / layout.elements;
            one.elements = one.items * layout.elements;
            bytes = one.elements * layout.element;
            layout_free(&layout);
            if (one.mode == READY && r->shape != READY_FIRST)
                one.mode = STANDARD;
            if (one.mode == BUFFERED && c->of_session && !(wanted_kinds & SESSION_BUFFERED))
                one.mode = STANDARD;
            if (one.mode == BUFFERED && (bytes > 1 << 20 || (buffered += bytes + 200) > 1 << 20))
                one.mode = STANDARD;
            if (r->shape == SOUP && one.form == BLOCKING_FORM && one.mode != BUFFERED)
                one.form = NONBLOCKING_FORM;
            if (one.form == FREED_FORM && r->iterations > 1)
                one.form = NONBLOCKING_FORM;
            r->barrier |= one.mode == BUFFERED || one.form == FREED_FORM;
            budget -= budget < bytes ? budget : bytes;
            r->message[r->count++] = one;
        }
        if (budget < 1000)
            break;
    }
    if (r->shape == IN_ORDER)
        keep_order_possible(r);
    r->wild = style != 0;
    r->barrier |= r->wild || r->iterations > 1 || once_in(&l->plan, 2);
}

static int fits(const struct receive *to, const struct message *m)
{
    return m->to == rank && m->comm == to->comm && (to->source == MPI_ANY_SOURCE || to->source == m->source)
        && (to->tag == MPI_ANY_TAG || to->tag == m->tag);
}

/* What this rank's receives are; only it knows. */
static void plan_receives(struct lane *l, struct round *r)
{
    for (int i = 0; i < r->count; i++) {
        struct message *m = &r->message[i];
        struct communicator *c = comm_of(l, m->comm);
        if (m->to != rank)
            continue;
        struct receive to = {.comm = m->comm, .source = m->source, .tag = m->tag, .base = m->base, .persistent = MPI_REQUEST_NULL};
        int style = r->style[m->comm][rank], tags = !c->shared && !c->no_any_tag, sources = !c->no_any_source;
        /* 1: any source; 2: any tag; 3: both; 4: from precise to both; 0: precise */
        int any_source = style == 1 || style == 3, any_tag = style == 2 || style == 3;
        if (style == 4 && r->shape != IN_ORDER && sources) {
            to.general = pick(&l->own, tags ? 3 : 2);
            any_source = to.general > 0;
            any_tag = to.general > 1;
        }
        if (any_source && sources)
            to.source = MPI_ANY_SOURCE;
        if (any_tag && tags)
            to.tag = MPI_ANY_TAG;
        int way = r->shape == READY_FIRST ? pick(&l->own, 2) : once_in(&l->own, 2) ? pick(&l->own, 2) : pick(&l->own, WAYS);
        if (r->shape == IN_ORDER)
            way = RECV + pick(&l->own, WAYS - RECV);
        to.way = (enum way) way;
        to.cancelled = r->shape == SOUP && style != 4 && r->iterations == 1 && (wanted_kinds & CANCELS) && once_in(&l->own, 15);
        if (to.cancelled)
            to.way = IRECV;
        for (int j = 0; j < r->count; j++)
            if (fits(&to, &r->message[j]) && r->message[j].elements > to.capacity)
                to.capacity = r->message[j].elements;
        if (once_in(&l->own, 3))
            to.capacity += (size_t) pick(&l->own, 40);
        r->receive[r->receives++] = to;
    }
    /* Stable: the narrower first. */
    for (int i = 1; i < r->receives; i++)
        for (int j = i; j > 0 && r->receive[j - 1].general > r->receive[j].general; j--) {
            struct receive kept = r->receive[j];
            r->receive[j] = r->receive[j - 1];
            r->receive[j - 1] = kept;
        }
}

#endif
