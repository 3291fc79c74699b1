/* One message at a time: buffers, each form of send and receive, completion, and what was received. */
#ifndef RANDOM_STEPS_H
#define RANDOM_STEPS_H

#include "plan.h"

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

#endif
