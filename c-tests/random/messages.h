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

#include "steps.h"

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
