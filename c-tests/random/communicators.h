/* Communicators made and freed: every rank knows from the plan which there are, with what members and neighbours. */
#ifndef RANDOM_COMMUNICATORS_H
#define RANDOM_COMMUNICATORS_H

#include "lane.h"

static void find_self(struct communicator *c)
{
    c->side = c->me = -1;
    for (int side = 0; side <= c->inter; side++)
        for (int i = 0; i < c->size[side]; i++)
            if (c->world[side][i] == rank) {
                c->side = side;
                c->me = i;
            }
}

/* A free entry of the pool, or -1. */
static int communicator_entry(const struct lane *l)
{
    for (int i = 0; i < POOL; i++)
        if (!l->pool[i].live)
            return i;
    return -1;
}

/* A live one that may be the parent of another: not shared by threads. An intercommunicator only if asked for. */
static int communicator_any(struct lane *l, int inter)
{
    int start = pick(&l->plan, POOL);
    for (int i = 0; i < POOL; i++) {
        const struct communicator *c = &l->pool[(start + i) % POOL];
        if (c->live && !c->shared && (inter || !c->inter))
            return (start + i) % POOL;
    }
    return -1;
}

static void verify_communicator(struct lane *l, const struct communicator *c, const char *how)
{
    int me = -1, members = -1, flag = -1, remote = 0;
    if (c->side < 0) {
        if (c->handle != MPI_COMM_NULL)
            complain(l, "%s: a communicator for a rank that is no member", how);
        return;
    }
    if (c->handle == MPI_COMM_NULL) {
        complain(l, "%s: MPI_COMM_NULL for a member", how);
        return;
    }
    MPI(MPI_Comm_rank(c->handle, &me));
    MPI(MPI_Comm_size(c->handle, &members));
    MPI(MPI_Comm_test_inter(c->handle, &flag));
    if (flag)
        MPI(MPI_Comm_remote_size(c->handle, &remote));
    if (me != c->me || members != c->size[c->side] || !flag != !c->inter || (flag && remote != c->size[!c->side]))
        complain(l, "%s: rank %d of %d (remote %d), expected %d of %d", how, me, members, remote, c->me, c->size[c->side]);
    MPI_Group group, world;
    int ranks[RANKS], world_ranks[RANKS], side = flag && once_in(&l->own, 2) ? !c->side : c->side;
    if (side != c->side)
        MPI(MPI_Comm_remote_group(c->handle, &group));
    else
        MPI(MPI_Comm_group(c->handle, &group));
    MPI(MPI_Comm_group(l->pool[0].handle, &world));
    for (int i = 0; i < c->size[side]; i++)
        ranks[i] = i;
    MPI(MPI_Group_translate_ranks(group, c->size[side], ranks, world, world_ranks));
    for (int i = 0; i < c->size[side]; i++)
        if (world_ranks[i] != c->world[side][i])
            complain(l, "%s: rank %d is %d in the world, expected %d", how, i, world_ranks[i], c->world[side][i]);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&world));
}

/* Of a grid: two neighbours in each dimension; a block comes from the slot for the other direction. */
static void grid_neighbors(struct communicator *c)
{
    int stride[3] = {1, 1, 1};
    for (int d = c->dimensions - 2; d >= 0; d--)
        stride[d] = stride[d + 1] * c->extent[d + 1];
    for (int r = 0; r < c->size[0]; r++) {
        c->outs[r] = c->ins[r] = 2 * c->dimensions;
        for (int d = 0; d < c->dimensions; d++)
            for (int up = 0; up < 2; up++) {
                int at = r / stride[d] % c->extent[d], other = at + (up ? 1 : -1), k = 2 * d + up;
                int outside = other < 0 || other >= c->extent[d];
                other = (other + c->extent[d]) % c->extent[d];
                c->in[r][k] = c->out[r][k] = outside && !c->periodic[d] ? -1 : r + (other - at) * stride[d];
                c->slot[r][k] = 2 * d + !up;
            }
    }
}

/* An attribute of the lane's: a duplicate has its value and one more. */
static int copy_attribute(MPI_Comm from, int key, void *extra, void *value, void *copied, int *flag)
{
    (void) from, (void) key, (void) extra;
    *(void **) copied = (char *) value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void verify_copies(struct lane *l, struct communicator *made)
{
    void *value;
    int flag = -1;
    if (made->side < 0)
        return;
    MPI(MPI_Comm_get_attr(made->handle, l->key, &value, &flag));
    if (flag != (made->copies >= 0))
        complain(l, "an attribute that was %sset is %sthere", made->copies < 0 ? "not " : "", flag ? "" : "not ");
    else if (flag && (intptr_t) value != made->copies + 1)
        complain(l, "an attribute is %ld, expected %d", (long) (intptr_t) value, made->copies + 1);
    if (made->copies >= 0)
        made->copies++;
}

static void forget_topology(struct communicator *c)
{
    c->topology = NO_TOPOLOGY;
    c->dimensions = 0;
}

static void free_communicator(struct lane *l, struct communicator *c)
{
    if (c->side >= 0) {
        if (once_in(&l->plan, 3))
            MPI(MPI_Comm_disconnect(&c->handle));
        else
            MPI(MPI_Comm_free(&c->handle));
        if (c->handle != MPI_COMM_NULL)
            complain(l, "a freed communicator is not MPI_COMM_NULL");
    } else {
        (void) once_in(&l->plan, 3);
    }
    c->live = 0;
}

static void split(const struct communicator *from, struct communicator *made, uint64_t random)
{
    /* Three colors and none; only the part of color 0 is kept, the others are freed at once. */
    int colors[RANKS], keys[RANKS], many = 1 + (int) (random % 3), mine = MPI_UNDEFINED, my_key = 0;
    made->size[0] = 0;
    for (int i = 0; i < from->size[0]; i++) {
        uint64_t x = mix(random, (uint64_t) i);
        colors[i] = x % 9 == 0 ? MPI_UNDEFINED : (int) (x >> 8) % many;
        colors[i] = colors[i] < 0 && colors[i] != MPI_UNDEFINED ? 0 : colors[i];
        keys[i] = (int) (x >> 40) % 5 - 2;
    }
    if (from->side >= 0) {
        mine = colors[from->me];
        my_key = keys[from->me];
    }
    for (int key = -10; key < 10; key++)
        for (int i = 0; i < from->size[0]; i++)
            if (colors[i] == 0 && keys[i] == key)
                made->world[0][made->size[0]++] = from->world[0][i];
    find_self(made);
    if (from->side < 0)
        return;
    MPI(MPI_Comm_split(from->handle, mine, my_key, &made->handle));
    if (made->handle != MPI_COMM_NULL && mine != 0)
        MPI(MPI_Comm_free(&made->handle));
}

/* A random part of the parent's members, in a random order. */
static void choose_members(const struct communicator *from, struct communicator *made, int *ranks, uint64_t random)
{
    int order[RANKS];
    for (int i = 0; i < from->size[0]; i++)
        order[i] = i;
    shuffle(&random, order, from->size[0]);
    made->size[0] = 1 + pick(&random, from->size[0]);
    for (int i = 0; i < made->size[0]; i++) {
        ranks[i] = order[i];
        made->world[0][i] = from->world[0][order[i]];
    }
    find_self(made);
}

static void create_from_group(struct lane *l, const struct communicator *from, struct communicator *made, int how, uint64_t random)
{
    MPI_Group all, part;
    int ranks[RANKS];
    choose_members(from, made, ranks, random);
    if (from->side < 0)
        return;
    MPI(MPI_Comm_group(from->handle, &all));
    MPI(MPI_Group_incl(all, made->size[0], ranks, &part));
    if (how == 0) {
        MPI(MPI_Comm_create(from->handle, part, &made->handle));
    } else if (made->side >= 0) {
        if (how == 1) {
            MPI(MPI_Comm_create_group(from->handle, part, l->id, &made->handle));
        } else {
#if MPI_VERSION >= 4
            MPI_Group world, of_session, translated;
            char tag[60];
            int world_ranks[RANKS];
            snprintf(tag, sizeof tag, "random-%d-%d-%d", l->id, l->round, (int) (random % 1000));
            MPI(MPI_Comm_group(l->pool[0].handle, &world));
            MPI(MPI_Group_translate_ranks(part, made->size[0], (int[RANKS]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}, world, world_ranks));
            MPI(MPI_Group_from_session_pset(l->session, "mpi://WORLD", &of_session));
            MPI(MPI_Group_incl(of_session, made->size[0], world_ranks, &translated));
            MPI(MPI_Comm_create_from_group(translated, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made->handle));
            MPI(MPI_Group_free(&world));
            MPI(MPI_Group_free(&of_session));
            MPI(MPI_Group_free(&translated));
#endif
        }
    }
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&part));
}

static void create_grid(const struct communicator *from, struct communicator *made, uint64_t random)
{
    int left = from->size[0];
    made->topology = GRID;
    made->dimensions = 1 + pick(&random, 3);
    made->size[0] = 1;
    for (int d = 0; d < made->dimensions; d++) {
        int extent = 1 + pick(&random, left < 4 ? left : 4);
        made->extent[d] = d == made->dimensions - 1 && once_in(&random, 2) ? left : extent;
        left /= made->extent[d];
        made->size[0] *= made->extent[d];
        made->periodic[d] = once_in(&random, 2);
    }
    find_self(made);
    grid_neighbors(made);
    if (from->side >= 0)
        MPI(MPI_Cart_create(from->handle, made->dimensions, made->extent, made->periodic, 0, &made->handle));
}

static void create_graph(const struct communicator *from, struct communicator *made, uint64_t random)
{
    int n = from->size[0];
    made->topology = GRAPH;
    memset(made->outs, 0, sizeof made->outs);
    memset(made->ins, 0, sizeof made->ins);
    find_self(made);
    for (int a = 0; a < n; a++) {
        int others[RANKS], wanted = pick(&random, 5);
        for (int i = 0; i < n; i++)
            others[i] = i;
        shuffle(&random, others, n);
        for (int i = 0; i < n && made->outs[a] < wanted; i++) {
            int b = others[i];
            if (made->ins[b] == DEGREE)
                continue;
            made->slot[b][made->ins[b]] = made->outs[a];
            made->in[b][made->ins[b]++] = a;
            made->out[a][made->outs[a]++] = b;
        }
    }
    if (from->side >= 0) {
        int me = from->me;
        MPI(MPI_Dist_graph_create_adjacent(from->handle, made->ins[me], made->in[me], MPI_UNWEIGHTED, made->outs[me], made->out[me],
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made->handle));
    }
}

/* The two halves of a communicator, by the parity of ranks. */
static void create_inter(struct lane *l, const struct communicator *from, struct communicator *made)
{
    MPI_Comm half;
    made->inter = 1;
    made->size[0] = made->size[1] = 0;
    for (int i = 0; i < from->size[0]; i++)
        made->world[i % 2][made->size[i % 2]++] = from->world[0][i];
    find_self(made);
    if (from->side < 0)
        return;
    MPI(MPI_Comm_split(from->handle, from->me % 2, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, from->handle, 1 - from->me % 2, l->id, &made->handle));
    MPI(MPI_Comm_free(&half));
}

static void merge(const struct communicator *from, struct communicator *made, uint64_t random)
{
    int high = random % 2;
    made->inter = 0;
    made->size[0] = made->size[1] = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0, side = k ^ high; i < from->size[side]; i++)
            made->world[0][made->size[0]++] = from->world[side][i];
    find_self(made);
    if (from->side >= 0)
        MPI(MPI_Intercomm_merge(from->handle, from->side ^ high, &made->handle));
}

static void duplicate_with_hints(const struct communicator *from, struct communicator *made, uint64_t random)
{
    MPI_Info info;
    made->no_any_tag |= random % 2;
    made->no_any_source |= random / 2 % 2;
    if (from->side < 0)
        return;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", random % 2 ? "true" : "false"));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_source", random / 2 % 2 ? "true" : "false"));
    MPI(MPI_Comm_dup_with_info(from->handle, info, &made->handle));
    MPI(MPI_Info_free(&info));
}

/* One communicator made, or one freed. */
static void round_of_communicators(struct lane *l)
{
    static const char *const names[] = {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Comm_create_group", "MPI_Comm_create_from_group",
                                        "MPI_Cart_create", "MPI_Dist_graph_create_adjacent", "MPI_Intercomm_create", "MPI_Intercomm_merge",
                                        "MPI_Comm_dup_with_info"};
    int how = pick(&l->plan, 10), parent = communicator_any(l, 1), victim = communicator_any(l, 1), entry = communicator_entry(l);
    uint64_t random = next_random(&l->plan);
    if (entry < 0 || once_in(&l->plan, 3)) {
        if (victim >= 0 && !l->pool[victim].kept)
            free_communicator(l, &l->pool[victim]);
        return;
    }
    const struct communicator *from = &l->pool[parent];
    struct communicator made = *from;
    made.handle = MPI_COMM_NULL;
    made.kept = 0;
    made.of_session |= how == 4 && !from->inter;
    if (from->inter)
        how = how % 2 ? 0 : 8;
    else if (how == 8 || (how == 7 && from->size[0] < 2))
        how = 1;
    if (MPI_VERSION < 4 && how == 4)
        how = 3;
    if (how != 0 && how != 9) {
        forget_topology(&made);
        made.no_any_tag = made.no_any_source = 0;
    }
    switch (how) {
    case 0:
        if (from->side >= 0)
            MPI(MPI_Comm_dup(from->handle, &made.handle));
        break;
    case 1: split(from, &made, random); break;
    case 2: case 3: case 4: create_from_group(l, from, &made, how - 2, random); break;
    case 5: create_grid(from, &made, random); break;
    case 6: create_graph(from, &made, random); break;
    case 7: create_inter(l, from, &made); break;
    case 8: merge(from, &made, random); break;
    default: duplicate_with_hints(from, &made, random);
    }
    if (made.size[0] == 0)
        return;
    verify_communicator(l, &made, names[how]);
    if (how == 0 || how == 9)
        verify_copies(l, &made);
    else
        made.copies = -1;
    if (made.side >= 0 && made.copies < 0 && random % 3 == 0)
        MPI(MPI_Comm_set_attr(made.handle, l->key, (void *) (intptr_t) 100));
    if (random % 3 == 0)
        made.copies = made.copies < 0 ? 100 : made.copies;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    /* A buffer of its own for buffered sends: of as many bytes as needed. */
    if (made.side >= 0 && once_in(&l->own, 4))
        MPI(MPI_Comm_attach_buffer(made.handle, MPI_BUFFER_AUTOMATIC, 0));
#endif
    l->pool[entry] = made;
    l->communicators++;
}

#endif
