/* A round of partitioned operations: partitions made ready in random order, looked for one by one, over several starts. */
#ifndef RANDOM_PARTS_H
#define RANDOM_PARTS_H

#include "active.h"
#include "communicators.h"
#include "layout.h"

#if MPI_VERSION >= 4

enum { PARTED_MOST = 8, PARTITIONS_MOST = 24 };

struct parted {
    int comm, source, destination, from, to, tag, base, parts, parts_received;
    size_t unit; /* elements of the smallest piece: both sides' partitions are multiples */
    uint64_t seed;
    struct layout layout;
    struct area out, in;
    MPI_Request send, receive;
    int ready[PARTITIONS_MOST], seen[PARTITIONS_MOST];
};

static size_t parted_elements(const struct parted *p)
{
    return p->unit * (size_t) p->parts * (size_t) p->parts_received;
}

static void parted_check(struct lane *l, struct parted *p, int iteration, int first, int count)
{
    size_t each = p->unit * (size_t) p->parts, bytes = each * p->layout.element, all = parted_elements(p) * p->layout.element;
    unsigned char *expected = malloc(all + 8);
    stream(expected, all, mix(p->seed, (uint64_t) iteration));
    if (memcmp(p->in.address + (size_t) first * bytes, expected + (size_t) first * bytes, bytes * (size_t) count))
        complain(l, "partitions %d to %d of %d (sent in %d of %zu bytes, iteration %d) are complete without their data", first, first + count - 1,
                 p->parts_received, p->parts, all / (size_t) p->parts, iteration);
    free(expected);
}

static void round_of_parts(struct lane *l, int execute)
{
    struct parted list[PARTED_MOST];
    int count = 0, wanted = 1 + pick(&l->plan, PARTED_MOST), iterations = 1 + pick(&l->plan, 3), left = 0;
    memset(list, 0, sizeof list);
    for (int i = 0; i < wanted; i++) {
        struct parted p = {.comm = pick(&l->plan, POOL), .send = MPI_REQUEST_NULL, .receive = MPI_REQUEST_NULL};
        int a = pick(&l->plan, RANKS), b = pick(&l->plan, RANKS);
        p.base = pick(&l->plan, BASES);
        p.parts = 1 + pick(&l->plan, once_in(&l->plan, 3) ? PARTITIONS_MOST : 4);
        p.parts_received = once_in(&l->plan, 3) ? p.parts : 1 + pick(&l->plan, once_in(&l->plan, 3) ? PARTITIONS_MOST : 4);
        p.unit = pick_bytes(&l->plan, 300000) / base_bytes[p.base] / (size_t) (p.parts * p.parts_received);
        p.tag = l->id * 100 + pick(&l->plan, 3);
        p.seed = next_random(&l->plan);
        struct communicator *c = &l->pool[p.comm];
        if (!c->live || c->inter || c->shared)
            continue;
        p.source = a % c->size[0], p.destination = b % c->size[0];
        p.from = c->world[0][p.source], p.to = c->world[0][p.destination];
        list[count++] = p;
    }
    if (!execute)
        return;
    for (int i = 0; i < count; i++) {
        struct parted *p = &list[i];
        MPI_Comm comm = l->pool[p->comm].handle;
        size_t elements = parted_elements(p);
        p->layout = (struct layout) {.type = bases()[p->base], .base = p->base, .element = base_bytes[p->base], .extent = (ptrdiff_t) base_bytes[p->base]};
        layout_block(&p->layout, 0, 1);
        if (p->from == rank) {
            p->out = area_for(&l->own, &p->layout, elements);
            MPI(MPI_Psend_init(p->out.address, p->parts, (MPI_Count) (elements / (size_t) p->parts), p->layout.type, p->destination, p->tag, comm, MPI_INFO_NULL, &p->send));
        }
        if (p->to == rank) {
            p->in = area_for(&l->own, &p->layout, elements);
            MPI(MPI_Precv_init(p->in.address, p->parts_received, (MPI_Count) (elements / (size_t) p->parts_received), p->layout.type, p->source, p->tag, comm, MPI_INFO_NULL, &p->receive));
        }
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
        for (int i = 0; i < count; i++) {
            struct parted *p = &list[i];
            memset(p->ready, 0, sizeof p->ready);
            memset(p->seen, 0, sizeof p->seen);
            if (p->to == rank) {
                memset(p->in.memory, p->in.guard, p->in.bytes);
                MPI(MPI_Start(&p->receive));
            }
            if (p->from == rank) {
                memset(p->out.memory, p->out.guard, p->out.bytes);
                MPI(MPI_Start(&p->send));
            }
        }
        /* Partitions of all sends in random order; those of the receives looked at meanwhile. */
        do {
            left = 0;
            for (int i = 0; i < count; i++) {
                struct parted *p = &list[i];
                if (p->from == rank) {
                    int first = pick(&l->own, p->parts), last = first, missing = 0, flag = 0;
                    for (int k = 0; k < p->parts; k++)
                        missing += !p->ready[k];
                    left += missing > 0;
                    if (missing && !p->ready[first]) {
                        while (last + 1 < p->parts && !p->ready[last + 1] && once_in(&l->own, 2))
                            last++;
                        size_t bytes = parted_elements(p) / (size_t) p->parts * p->layout.element, all = parted_elements(p) * p->layout.element;
                        unsigned char *data = malloc(all + 8);
                        int parts[PARTITIONS_MOST], how = pick(&l->own, 3);
                        stream(data, all, mix(p->seed, (uint64_t) iteration));
                        memcpy(p->out.address + (size_t) first * bytes, data + (size_t) first * bytes, bytes * (size_t) (last - first + 1));
                        free(data);
                        for (int k = first; k <= last; k++) {
                            p->ready[k] = 1;
                            parts[k - first] = k;
                        }
                        shuffle(&l->own, parts, last - first + 1);
                        if (how == 0) {
                            MPI(MPI_Pready_range(first, last, p->send));
                        } else if (how == 1) {
                            MPI(MPI_Pready_list(last - first + 1, parts, p->send));
                        } else {
                            for (int k = first; k <= last; k++)
                                MPI(MPI_Pready(parts[k - first], p->send));
                        }
                    } else if (missing) {
                        MPI(MPI_Test(&p->send, &flag, MPI_STATUS_IGNORE));
                        if (flag)
                            complain(l, "a partitioned send of which %d partitions are missing is complete", missing);
                    }
                }
                if (p->to == rank) {
                    int k = pick(&l->own, p->parts_received), flag = 0;
                    MPI(MPI_Parrived(p->receive, k, &flag));
                    if (flag)
                        parted_check(l, p, iteration, k, 1);
                    if (!flag && p->seen[k])
                        complain(l, "partition %d, which had arrived, has not any more", k);
                    p->seen[k] = flag;
                }
            }
        } while (left);
        struct active active = {.count = 0};
        MPI_Request all[2 * PARTED_MOST];
        for (int i = 0; i < count; i++) {
            if (list[i].from == rank)
                all[active.count++] = list[i].send;
            if (list[i].to == rank)
                all[active.count++] = list[i].receive;
        }
        if (once_in(&l->own, 2)) {
            MPI(MPI_Waitall(active.count, all, MPI_STATUSES_IGNORE));
        } else {
            for (int done = 0, index = 0; done < active.count; done++)
                MPI(MPI_Waitany(active.count, all, &index, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < count; i++) {
            struct parted *p = &list[i];
            if (p->from == rank)
                memset(p->out.memory, 0xEE, p->out.bytes);
            if (p->to == rank) {
                parted_check(l, p, iteration, 0, p->parts_received);
                struct area expected = area_twin(&p->in);
                ptrdiff_t where;
                place(expected.address, &p->layout, parted_elements(p), mix(p->seed, (uint64_t) iteration));
                if (differs_from(&p->in, &expected, &where))
                    complain(l, "a partitioned receive has written byte %td beside its buffer", where);
                area_free(&expected);
                l->partitions += (uint64_t) p->parts_received;
                l->bytes += parted_elements(p) * p->layout.element;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        struct parted *p = &list[i];
        if (p->from == rank) {
            MPI(MPI_Request_free(&p->send));
            area_free(&p->out);
        }
        if (p->to == rank) {
            MPI(MPI_Request_free(&p->receive));
            area_free(&p->in);
        }
        layout_free(&p->layout);
    }
}

#else
static void round_of_parts(struct lane *l, int execute)
{
    (void) l;
    (void) execute;
}
#endif
#endif
