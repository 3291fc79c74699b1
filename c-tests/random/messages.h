/* A round of messages: planned by all ranks alike, executed by each in an order of its own, verified by the receiver.
 *
 * Free of deadlock by construction. Three shapes: SOUP posts sends without blocking, in random order with receives, and blocks only in receives
 * once all sends are posted; READY posts all receives, then comes a barrier, then sends of every mode; ORDERED walks one global list with
 * blocking calls. Receives with wildcards take no message that a narrower one needs: on one communicator the narrower are posted first
 * (precise, then one wildcard, then two), or all are alike.
 *
 * Verified when all is received: a receive, in the order of posting, has the earliest message of its source that fits it and
 * that no earlier receive has. The bytes are hashed at completion: what completes before its data is there is found.
 */
#ifndef RANDOM_MESSAGES_H
#define RANDOM_MESSAGES_H

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

static void prepare_receive(struct lane *l, struct receive *to)
{
    if (to->area.memory) {
        memset(to->area.memory, to->area.guard, to->area.bytes);
    } else {
        to->layout = layout_make(&l->own, to->base, to->capacity);
        to->items = items_for(&to->layout, to->capacity);
        to->area = area_for(&l->own, &to->layout, to->items);
    }
    to->done = 0;
}

static void prepare_send(struct lane *l, struct round *r, struct message *m)
{
    uint64_t forms = m->seed;
    if (!m->layout.elements && once_in(&l->own, 12)) {
        /* In packed form, which is the elements one after the other: it fits every type. */
        m->layout = (struct layout) {.type = MPI_PACKED, .base = m->base, .element = base_bytes[m->base]};
        layout_block(&m->layout, 0, 1);
        m->layout.extent = (ptrdiff_t) m->layout.element;
        m->items = m->elements;
    }
    if (!m->layout.elements)
        m->layout = layout_make(&forms, m->base, m->elements);
    if (m->area.memory)
        memset(m->area.memory, m->area.guard, m->area.bytes);
    else
        m->area = area_for(&l->own, &m->layout, m->items);
    place(m->area.address, &m->layout, m->elements, mix(m->seed, (uint64_t) r->iteration));
}

static void received(struct lane *l, struct receive *to, const MPI_Status *status)
{
    int count = -1, whole = -1;
    to->hash = area_hash(&to->area);
    to->done = 1;
    to->real_source = status->MPI_SOURCE;
    to->real_tag = status->MPI_TAG;
    MPI(MPI_Get_elements(status, to->layout.type, &count));
    MPI(MPI_Get_count(status, to->layout.type, &whole));
    to->elements = (size_t) count;
    int expected = to->elements % to->layout.elements ? MPI_UNDEFINED : (int) (to->elements / to->layout.elements);
    if (whole != expected)
        complain(l, "MPI_Get_count gives %d, MPI_Get_elements %d, an item has %zu", whole, count, to->layout.elements);
}

/* The buffer is the program's again: unchanged, and now of other contents. */
static void sent(struct lane *l, struct round *r, struct message *m)
{
    struct area *a = &m->area;
    if (once_in(&l->own, 4)) {
        struct area expected = area_twin(a);
        ptrdiff_t where;
        place(expected.address, &m->layout, m->elements, mix(m->seed, (uint64_t) r->iteration));
        if (differs_from(a, &expected, &where))
            complain(l, "a send has changed byte %td of its buffer", where);
        area_free(&expected);
    }
    if (m->form == PERSISTENT_FORM || m->form == FREED_FORM)
        memset(a->memory, 0xEE, a->bytes);
    else
        area_reuse(&l->own, a);
}

static int send_count(const struct message *m)
{
    return (int) (m->layout.type == MPI_PACKED ? m->items * m->layout.element : m->items);
}

/* A blocking or nonblocking send of any mode; the request is null if it has completed. */
static MPI_Request send(struct lane *l, struct message *m)
{
    MPI_Request request = MPI_REQUEST_NULL, *q = &request;
    MPI_Comm comm = comm_of(l, m->comm)->handle;
    const void *at = m->area.address;
    int count = send_count(m), to = m->destination, tag = m->tag;
    MPI_Datatype type = m->layout.type;
    if (m->form == BLOCKING_FORM) {
        switch (m->mode) {
        case STANDARD: MPI(MPI_Send(at, count, type, to, tag, comm)); break;
        case SYNCHRONOUS: MPI(MPI_Ssend(at, count, type, to, tag, comm)); break;
        case BUFFERED: MPI(MPI_Bsend(at, count, type, to, tag, comm)); break;
        case READY: MPI(MPI_Rsend(at, count, type, to, tag, comm)); break;
        }
    } else if (m->form == PERSISTENT_FORM) {
        if (m->persistent == MPI_REQUEST_NULL) {
            q = &m->persistent;
            switch (m->mode) {
            case STANDARD: MPI(MPI_Send_init(at, count, type, to, tag, comm, q)); break;
            case SYNCHRONOUS: MPI(MPI_Ssend_init(at, count, type, to, tag, comm, q)); break;
            case BUFFERED: MPI(MPI_Bsend_init(at, count, type, to, tag, comm, q)); break;
            case READY: MPI(MPI_Rsend_init(at, count, type, to, tag, comm, q)); break;
            }
        }
        if (once_in(&l->own, 3))
            MPI(MPI_Startall(1, &m->persistent));
        else
            MPI(MPI_Start(&m->persistent));
        request = m->persistent;
    } else {
        switch (m->mode) {
        case STANDARD: MPI(MPI_Isend(at, count, type, to, tag, comm, q)); break;
        case SYNCHRONOUS: MPI(MPI_Issend(at, count, type, to, tag, comm, q)); break;
        case BUFFERED: MPI(MPI_Ibsend(at, count, type, to, tag, comm, q)); break;
        case READY: MPI(MPI_Irsend(at, count, type, to, tag, comm, q)); break;
        }
        if (m->form == FREED_FORM)
            MPI(MPI_Request_free(q));
    }
    return request;
}

static void post_send(struct lane *l, struct round *r, int index)
{
    struct message *m = &r->message[index];
    prepare_send(l, r, m);
    TRACE(l, "send %d to %d (world %d), tag %d, %zu bytes, mode %d, form %d, communicator %d", index, m->destination, m->to, m->tag,
          m->elements * base_bytes[m->base], (int) m->mode, (int) m->form, m->comm);
    MPI_Request request = send(l, m);
    if (m->layout.derived && r->iterations == 1 && once_in(&l->own, 3)) {
        MPI(MPI_Type_free(&m->layout.type));
        m->layout.derived = 0;
    }
    if (m->form == BLOCKING_FORM)
        sent(l, r, m);
    else if (m->form != FREED_FORM)
        active_add(&r->active, request, SEND, index);
}

static void message_completed(struct lane *l, void *round, enum what what, int index, MPI_Request left, const MPI_Status *status);

static void post_receive(struct lane *l, struct round *r, int index)
{
    struct receive *to = &r->receive[index];
    MPI_Comm comm = comm_of(l, to->comm)->handle;
    MPI_Status status, probed;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Request request;
    int flag = 0, source = to->source, tag = to->tag;
    prepare_receive(l, to);
    void *at = to->area.address;
    int count = (int) to->items;
    MPI_Datatype type = to->layout.type;
    spoil(&status);
    spoil(&probed);
    if (to->way != IRECV && to->way != PERSISTENT_RECV && !r->blocking_allowed)
        to->way = IRECV;
    TRACE(l, "receive %d of %d, tag %d, way %d, communicator %d, at most %zu bytes%s", index, source, tag, (int) to->way, to->comm,
          to->capacity * base_bytes[to->base], to->cancelled ? ", to be cancelled" : "");
    switch (to->way) {
    case IRECV:
        to->posted = r->posted++;
        MPI(MPI_Irecv(at, count, type, source, tag, comm, &request));
        if (to->cancelled) {
            if (once_in(&l->own, 2))
                sched_yield();
            MPI(MPI_Cancel(&request));
            /* At once, for a receive in its place must be posted before this rank may block. */
            if (once_in(&l->own, 2))
                MPI(MPI_Wait(&request, &status));
            else
                do { MPI(MPI_Test(&request, &flag, &status)); } while (!flag && (in_vain(l), 1));
            message_completed(l, r, RECEIVE, index, request, &status);
            return;
        }
        active_add(&r->active, request, RECEIVE, index);
        return;
    case PERSISTENT_RECV:
        to->posted = r->posted++;
        if (to->persistent == MPI_REQUEST_NULL)
            MPI(MPI_Recv_init(at, count, type, source, tag, comm, &to->persistent));
        MPI(MPI_Start(&to->persistent));
        active_add(&r->active, to->persistent, RECEIVE, index);
        return;
    case PROBE_RECV: case IPROBE_RECV:
        if (to->way == PROBE_RECV)
            MPI(MPI_Probe(source, tag, comm, &probed));
        else
            do { MPI(MPI_Iprobe(source, tag, comm, &flag, &probed)); } while (!flag && (in_vain(l), 1));
        to->posted = r->posted++;
        MPI(MPI_Recv(at, count, type, probed.MPI_SOURCE, probed.MPI_TAG, comm, &status));
        break;
    case MPROBE_MRECV: case IMPROBE_IMRECV:
        if (to->way == MPROBE_MRECV)
            MPI(MPI_Mprobe(source, tag, comm, &handle, &probed));
        else
            do { MPI(MPI_Improbe(source, tag, comm, &flag, &handle, &probed)); } while (!flag && (in_vain(l), 1));
        to->posted = r->posted++;
        if (to->way == IMPROBE_IMRECV && r->shape != IN_ORDER && once_in(&l->own, 2)) {
            MPI(MPI_Imrecv(at, count, type, &handle, &request));
            active_add(&r->active, request, RECEIVE, index);
            return;
        }
        MPI(MPI_Mrecv(at, count, type, &handle, &status));
        if (handle != MPI_MESSAGE_NULL)
            complain(l, "the message handle is not null after MPI_Mrecv");
        break;
    default:
        to->posted = r->posted++;
        MPI(MPI_Recv(at, count, type, source, tag, comm, &status));
        probed = status;
    }
    if (to->way != RECV) {
        int bytes = -1, same = -2;
        MPI(MPI_Get_count(&probed, type, &bytes));
        MPI(MPI_Get_count(&status, type, &same));
        if (status.MPI_SOURCE != probed.MPI_SOURCE || status.MPI_TAG != probed.MPI_TAG || bytes != same)
            complain(l, "probed: source %d, tag %d, count %d; received: source %d, tag %d, count %d", probed.MPI_SOURCE, probed.MPI_TAG,
                     bytes, status.MPI_SOURCE, status.MPI_TAG, same);
    }
    received(l, to, &status);
}

/* A send and a receive in one request, of which both sides need not know. */
static void post_pair(struct lane *l, struct round *r, int out_index, int in_index)
{
#if MPI_VERSION >= 4
    struct message *out = &r->message[out_index];
    struct receive *in = &r->receive[in_index];
    MPI_Request request;
    prepare_send(l, r, out);
    prepare_receive(l, in);
    in->posted = r->posted++;
    in->way = IRECV;
    TRACE(l, "MPI_Isendrecv: send %d to %d, tag %d, %zu bytes; receive %d of %d, tag %d, communicator %d", out_index, out->destination, out->tag,
          out->elements * base_bytes[out->base], in_index, in->source, in->tag, in->comm);
    MPI(MPI_Isendrecv(out->area.address, send_count(out), out->layout.type, out->destination, out->tag, in->area.address, (int) in->items,
                      in->layout.type, in->source, in->tag, comm_of(l, in->comm)->handle, &request));
    active_add(&r->active, request, PAIR, out_index * 1000 + in_index);
#else
    (void) l, (void) r, (void) out_index, (void) in_index;
#endif
}

/* Messages to and from nobody. */
static void post_nothing(struct lane *l)
{
    char nothing[8] = "nobody";
    MPI_Comm comm = l->pool[0].handle;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = -1;
    spoil(&statuses[0]);
    /* MPICH's MPI_Waitall gives source 0. */
    if (!reference && once_in(&l->own, 2)) {
        MPI(MPI_Irecv(nothing, 8, MPI_CHAR, MPI_PROC_NULL, 3, comm, &requests[0]));
        MPI(MPI_Issend(nothing, 8, MPI_CHAR, MPI_PROC_NULL, 3, comm, &requests[1]));
        MPI(MPI_Waitall(2, requests, statuses));
    } else {
        MPI(MPI_Ssend(nothing, 8, MPI_CHAR, MPI_PROC_NULL, 3, comm));
        MPI(MPI_Recv(nothing, 8, MPI_CHAR, MPI_PROC_NULL, MPI_ANY_TAG, comm, &statuses[0]));
    }
    MPI(MPI_Get_count(&statuses[0], MPI_CHAR, &count));
    if (statuses[0].MPI_SOURCE != MPI_PROC_NULL || statuses[0].MPI_TAG != MPI_ANY_TAG || count || strcmp(nothing, "nobody"))
        complain(l, "received of MPI_PROC_NULL: source %d, tag %d, count %d, %s", statuses[0].MPI_SOURCE, statuses[0].MPI_TAG, count, nothing);
}

static void message_completed(struct lane *l, void *round, enum what what, int index, MPI_Request left, const MPI_Status *status)
{
    struct round *r = round;
    int flag = 0, persistent = 0;
    TRACE(l, "complete: %s %d, source %d, tag %d", what == SEND ? "send" : what == RECEIVE ? "receive" : what == COLLECTIVE ? "collective" : what == PAIR ? "pair" : "idup", index,
          status->MPI_SOURCE, status->MPI_TAG);
    switch (what) {
    case SEND:
        persistent = r->message[index].form == PERSISTENT_FORM;
        MPI(MPI_Test_cancelled(status, &flag));
        if (flag)
            complain(l, "a send that nobody cancelled is cancelled");
        sent(l, r, &r->message[index]);
        break;
    case RECEIVE: {
        struct receive *to = &r->receive[index];
        persistent = to->way == PERSISTENT_RECV;
        MPI(MPI_Test_cancelled(status, &flag));
        if (flag && !to->cancelled)
            complain(l, "a receive that nobody cancelled is cancelled");
        if (flag) {
            struct area expected = area_twin(&to->area);
            ptrdiff_t where;
            if (differs_from(&to->area, &expected, &where))
                complain(l, "a cancelled receive has written byte %td of its buffer", where);
            area_free(&expected);
            layout_free(&to->layout);
            area_free(&to->area);
            to->cancelled = 0;
            l->cancelled++;
            to->way = r->blocking_allowed && once_in(&l->own, 2) ? RECV : IRECV;
            post_receive(l, r, index);
        } else {
            received(l, to, status);
        }
        break;
    }
    case PAIR:
        sent(l, r, &r->message[index / 1000]);
        received(l, &r->receive[index % 1000], status);
        break;
    case COLLECTIVE:
        persistent = r->collective[index].form == COLLECTIVE_PERSISTENT;
        break;
    default:
        break;
    }
    if (persistent != (left != MPI_REQUEST_NULL))
        complain(l, "a %s request is %s after completion", persistent ? "persistent" : "nonblocking", left == MPI_REQUEST_NULL ? "null" : "not null");
    if (what == COLLECTIVE)
        collective_end(l, &r->collective[index], comm_of(l, r->collective[index].comm), r->iteration);
}

static void verify_receive(struct lane *l, struct round *r, struct receive *to)
{
    struct message *m = NULL;
    for (int i = 0; i < r->count && !m; i++) {
        struct message *one = &r->message[i];
        if (!one->taken && fits(to, one) && one->source == to->real_source)
            m = one;
    }
    const char *shapes[] = {"soup", "ready first", "in order"};
    char about[200];
    snprintf(about, sizeof about, "receive of source %d, tag %d on communicator %d (%s, way %d, iteration %d)", to->source, to->tag,
             to->comm, shapes[r->shape], (int) to->way, r->iteration);
    if (!to->done) {
        complain(l, "%s is not done", about);
        return;
    }
    if (!m) {
        complain(l, "%s: status has source %d, tag %d: there is no such message left", about, to->real_source, to->real_tag);
        return;
    }
    m->taken = 1;
    size_t length = strlen(about);
    snprintf(about + length, sizeof about - length, ": message %td from rank %d, mode %d, form %d, %zu bytes", m - r->message, m->from,
             (int) m->mode, (int) m->form, m->elements * base_bytes[m->base]);
    if (to->real_tag != m->tag || to->elements != m->elements) {
        complain(l, "%s: status has tag %d, %zu elements; expected tag %d, %zu elements", about, to->real_tag, to->elements, m->tag, m->elements);
        return;
    }
    struct area expected = area_twin(&to->area);
    ptrdiff_t where = 0;
    place(expected.address, &to->layout, m->elements, mix(m->seed, (uint64_t) r->iteration));
    if (differs_from(&to->area, &expected, &where)) {
        ptrdiff_t wrong = 0;
        for (size_t i = 0; i < to->area.bytes; i++)
            wrong += to->area.memory[i] != expected.memory[i];
        complain(l, "%s: byte %td is %#x, expected %#x (guard %#x), %td bytes differ", about, where, to->area.address[where],
                 expected.address[where], to->area.guard, wrong);
    } else if (area_hash(&expected) != to->hash) {
        complain(l, "%s: completed before its data was there", about);
    }
    area_free(&expected);
    l->messages++;
    l->bytes += m->elements * base_bytes[m->base];
}

static void verify_messages(struct lane *l, struct round *r)
{
    int order[2 * MESSAGES_MOST];
    for (int i = 0; i < r->receives; i++) {
        int j = i;
        for (; j > 0 && r->receive[order[j - 1]].posted > r->receive[i].posted; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int i = 0; i < r->receives; i++)
        verify_receive(l, r, &r->receive[order[i]]);
}

/* What this rank does, in queues: each is worked off in its order, all of them are merged at random. */
struct queue {
    int count, next, item[2 * MESSAGES_MOST];
    enum what what;
};

static void post_collective(struct lane *l, struct round *r, int index)
{
    struct collective *o = &r->collective[index];
    struct communicator *c = comm_of(l, o->comm);
    if (c->side < 0)
        return;
    TRACE(l, "MPI_%s on communicator %d, form %d", collective_names[o->kind], o->comm, (int) o->form);
    MPI_Request request = collective_begin(l, o, c, r->iteration);
    if (o->form == COLLECTIVE_BLOCKING)
        collective_end(l, o, c, r->iteration);
    else
        active_add(&r->active, request, COLLECTIVE, index);
}

static void post_duplicate(struct lane *l, struct round *r, int index)
{
    struct communicator *parent = comm_of(l, r->parent[index]);
    MPI_Request request;
    if (parent->side < 0)
        return;
    TRACE(l, "MPI_Comm_idup of communicator %d", r->parent[index]);
    MPI(MPI_Comm_idup(parent->handle, &r->duplicated[index], &request));
    active_add(&r->active, request, DUPLICATE, index);
}

static void work_off(struct lane *l, struct round *r, struct queue *queues, int count)
{
    for (;;) {
        int full[2 * POOL + 4], left = 0;
        for (int i = 0; i < count; i++)
            if (queues[i].next < queues[i].count)
                full[left++] = i;
        if (!left)
            return;
        struct queue *from = &queues[full[pick(&l->own, left)]];
        int item = from->item[from->next++], partner = -1;
        const struct message *m = from->what == SEND ? &r->message[item] : NULL;
        /* MPICH leaves the status of MPI_Isendrecv as it was. */
        if (m && !reference && MPI_VERSION >= 4 && m->mode == STANDARD && m->form == NONBLOCKING_FORM && r->iterations == 1 && once_in(&l->own, 3))
            for (int i = 0; i < left && partner < 0; i++) {
                struct queue *other = &queues[full[i]];
                const struct receive *to = other->what == RECEIVE ? &r->receive[other->item[other->next]] : NULL;
                if (to && to->comm == m->comm && !to->cancelled)
                    partner = other->item[other->next++];
            }
        if (partner >= 0) {
            post_pair(l, r, item, partner);
            continue;
        }
        if (once_in(&l->own, 40))
            post_nothing(l);
        if (once_in(&l->own, 60))
            usleep((useconds_t) pick(&l->own, 3000));
        switch (from->what) {
        case SEND: post_send(l, r, item); break;
        case RECEIVE: post_receive(l, r, item); break;
        case COLLECTIVE: post_collective(l, r, item); break;
        default: post_duplicate(l, r, item);
        }
        if (once_in(&l->own, 4))
            active_test(l, &r->active);
    }
}

static void put(struct queue *into, enum what what, int item)
{
    into->what = what;
    into->item[into->count++] = item;
}

static void post_everything(struct lane *l, struct round *r)
{
    /* Before this rank may block: sends, receives of each communicator, collective operations; then the rest of these. */
    struct queue early[POOL + 2] = {0}, late[POOL + 1] = {0};
    int deferred[POOL] = {0}, blocking = 0;
    for (int i = 0; i < r->duplicates && r->iteration == 0; i++)
        put(&early[POOL + 1], DUPLICATE, i);
    for (int i = 0; i < r->count; i++)
        if (r->message[i].from == rank)
            put(&early[POOL], SEND, i);
    for (int i = 0; i < r->receives; i++) {
        int c = r->receive[i].comm;
        deferred[c] |= r->shape == SOUP && once_in(&l->own, 6);
        put(deferred[c] ? &late[c] : &early[c], RECEIVE, i);
    }
    if (r->shape == READY_FIRST) {
        work_off(l, r, early, POOL);
        MPI(MPI_Barrier(l->pool[0].handle));
        r->blocking_allowed = 1;
    }
    if (early[POOL + 1].count) {
        work_off(l, r, &early[POOL + 1], 1);
        early[POOL + 1].count = early[POOL + 1].next = 0;
    }
    for (int i = 0; i < r->collectives; i++) {
        blocking |= r->shape == SOUP && r->collective[i].form == COLLECTIVE_BLOCKING;
        put(blocking ? &late[POOL] : &early[POOL + 1], COLLECTIVE, i);
    }
    work_off(l, r, early, POOL + 2);
    r->blocking_allowed = 1;
    work_off(l, r, late, POOL + 1);
}

/* One global list: each rank does its part in this order, so the first that is not done can always be done. */
static void walk(struct lane *l, struct round *r)
{
    int next = 0;
    r->blocking_allowed = 1;
    for (int i = 0; i < r->duplicates; i++)
        post_duplicate(l, r, i);
    for (int i = 0; i < r->count; i++) {
        struct message *m = &r->message[i];
        if (m->shift >= 0) {
            struct message *out = NULL;
            struct receive *in = NULL;
            int shift = m->shift;
            for (; i < r->count && r->message[i].shift == shift; i++) {
                if (r->message[i].from == rank)
                    out = &r->message[i];
                if (r->message[i].to == rank)
                    in = &r->receive[next++];
            }
            i--;
            if (!out || !in)
                continue;
            MPI_Status status;
            spoil(&status);
            prepare_send(l, r, out);
            prepare_receive(l, in);
            in->posted = r->posted++;
            MPI(MPI_Sendrecv(out->area.address, send_count(out), out->layout.type, out->destination, out->tag, in->area.address,
                             (int) in->items, in->layout.type, in->source, in->tag, comm_of(l, in->comm)->handle, &status));
            out->form = BLOCKING_FORM;
            sent(l, r, out);
            received(l, in, &status);
            continue;
        }
        if (m->from == rank) {
            if (m->to == rank && m->form == BLOCKING_FORM && m->mode != BUFFERED)
                m->form = NONBLOCKING_FORM;
            post_send(l, r, i);
        }
        if (m->to == rank)
            post_receive(l, r, next++);
        if (once_in(&l->own, 3))
            active_test(l, &r->active);
    }
}

static void round_free(struct round *r)
{
    for (int i = 0; i < r->count; i++) {
        struct message *m = &r->message[i];
        if (m->from != rank)
            continue;
        if (m->persistent != MPI_REQUEST_NULL)
            MPI(MPI_Request_free(&m->persistent));
        layout_free(&m->layout);
        if (m->area.memory)
            area_free(&m->area);
    }
    for (int i = 0; i < r->receives; i++) {
        if (r->receive[i].persistent != MPI_REQUEST_NULL)
            MPI(MPI_Request_free(&r->receive[i].persistent));
        layout_free(&r->receive[i].layout);
        area_free(&r->receive[i].area);
    }
    for (int i = 0; i < r->collectives; i++)
        collective_free(&r->collective[i]);
}

/* Waits until buffered messages have gone; all of them are received without this rank's help. */
static void flush(struct lane *l)
{
    void *buffer;
    int bytes;
    if (!once_in(&l->own, 8))
        return;
    if (l->lanes == 1 && once_in(&l->own, 2)) {
        TRACE(l, "MPI_Buffer_detach");
        MPI(MPI_Buffer_detach(&buffer, &bytes));
        memset(buffer, 0xEE, (size_t) bytes);
        MPI(MPI_Buffer_attach(buffer, bytes));
        return;
    }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Request request;
    if (once_in(&l->own, 2)) {
        MPI(MPI_Buffer_flush());
    } else {
        MPI(MPI_Buffer_iflush(&request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
#endif
}

static void round_of_messages(struct lane *l, int execute)
{
    struct round *r = calloc(1, sizeof *r);
    int shape = pick(&l->plan, 5), freed = -1;
    r->active.round = r;
    r->active.completed = message_completed;
    r->shape = shape < 2 ? SOUP : shape < 4 ? READY_FIRST : IN_ORDER;
    if (!(wanted_kinds & ORDERED) && r->shape == IN_ORDER)
        r->shape = SOUP;
    r->iterations = r->shape != IN_ORDER && once_in(&l->plan, 4) ? 2 + pick(&l->plan, 2) : 1;
    if (wanted_kinds & MESSAGES)
        plan_messages(l, r);
    int collectives = once_in(&l->plan, 2) ? 0 : pick(&l->plan, COLLECTIVES_MOST);
    for (int i = 0; r->shape != IN_ORDER && (wanted_kinds & COLLECTIVES) && i < collectives; i++)
        if (collective_plan(l, &r->collective[r->collectives]))
            r->collectives++;
    int entries[DUPLICATES_MOST], wanted = (wanted_kinds & CONSTRUCTORS) && once_in(&l->plan, 4) ? 1 + pick(&l->plan, DUPLICATES_MOST) : 0;
    int victim = communicator_any(l, 0), free_early = once_in(&l->plan, 4);
    for (int i = 0; i < wanted; i++) {
        int parent = communicator_any(l, 0), entry = communicator_entry(l);
        if (parent < 0 || entry < 0)
            break;
        entries[i] = entry;
        r->parent[r->duplicates++] = parent;
        /* Taken, but nothing in it before the end of the round. */
        l->pool[entry] = (struct communicator) {.live = 1, .shared = 1, .side = -1};
    }
    if (free_early && victim >= 0 && !l->pool[victim].kept && r->iterations == 1 && (wanted_kinds & CONSTRUCTORS))
        freed = victim;
    if (execute) {
        plan_receives(l, r);
        TRACE(l, "%d messages, shape %d, iterations %d, %d collective operations, barrier %d, freed %d, duplicates %d", r->count, r->shape, r->iterations,
              r->collectives, r->barrier, freed, r->duplicates);
        for (int i = 0; i < r->receives; i++)
            if (r->receive[i].comm == freed)
                r->receive[i].cancelled = 0;
        for (r->iteration = 0; r->iteration < r->iterations; r->iteration++) {
            r->blocking_allowed = 0;
            for (int i = 0; i < r->count; i++)
                r->message[i].taken = 0;
            if (r->shape == IN_ORDER)
                walk(l, r);
            else
                post_everything(l, r);
            if (freed >= 0 && l->pool[freed].side >= 0)
                MPI(MPI_Comm_free(&l->pool[freed].handle));
            while (r->active.count)
                active_complete(l, &r->active);
            verify_messages(l, r);
            flush(l);
            if (r->barrier)
                MPI(MPI_Barrier(l->pool[0].handle));
        }
        r->iteration = r->iterations - 1;
        round_free(r);
    } else {
        for (int i = 0; i < r->duplicates; i++)
            if (l->pool[r->parent[i]].side >= 0)
                MPI(MPI_Comm_dup(l->pool[r->parent[i]].handle, &r->duplicated[i]));
        if (freed >= 0 && l->pool[freed].side >= 0)
            MPI(MPI_Comm_free(&l->pool[freed].handle));
    }
    for (int i = 0; i < r->duplicates; i++) {
        struct communicator *made = &l->pool[entries[i]];
        *made = l->pool[r->parent[i]];
        made->handle = made->side >= 0 ? r->duplicated[i] : MPI_COMM_NULL;
        made->kept = made->shared = 0;
        verify_communicator(l, made, "MPI_Comm_idup");
        verify_copies(l, made);
        l->communicators++;
    }
    if (freed >= 0)
        l->pool[freed].live = 0;
    free(r);
}

#endif
