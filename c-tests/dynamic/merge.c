/* MPI_Intercomm_merge of parents and children in both orders; communicators and groups made from the merged one. args: the number of
 * children. */
#include "spawned.h"

static int others;

/* Every rank contributes; collective and by messages around the ring. */
static void use(MPI_Comm comm)
{
    int number, me, sum = -1, left = -1;
    MPI(MPI_Comm_size(comm, &number));
    MPI(MPI_Comm_rank(comm, &me));
    int value = me + 1;
    MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, number * (number + 1) / 2);
    MPI(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % number, 5, &left, 1, MPI_INT, (me + number - 1) % number, 5, comm,
                     MPI_STATUS_IGNORE));
    CHECK_INT(left, (me + number - 1) % number);
    int *all = malloc(number * sizeof *all);
    MPI(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int i = 0; i < number; i++)
        CHECK_INT(all[i], i);
    for (int root = 0; root < number; root++) {
        int word = me == root ? 99 + root : -1;
        MPI(MPI_Bcast(&word, 1, MPI_INT, root, comm));
        CHECK_INT(word, 99 + root);
    }
    free(all);
}

static void groups(MPI_Comm merged, MPI_Comm inter, int first)
{
    MPI_Group all, world, mine, remote, together;
    int relation, total = size + others, *from = malloc(total * sizeof *from), *to = malloc(total * sizeof *to);
    MPI(MPI_Comm_group(merged, &all));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Comm_group(inter, &mine));
    MPI(MPI_Comm_remote_group(inter, &remote));
    MPI(MPI_Group_compare(world, mine, &relation));
    CHECK_INT(relation, MPI_IDENT);
    MPI(MPI_Group_compare(world, remote, &relation));
    CHECK_INT(relation, MPI_UNEQUAL);
    for (int i = 0; i < total; i++)
        from[i] = i;
    MPI(MPI_Group_translate_ranks(world, size, from, all, to));
    for (int i = 0; i < size; i++)
        CHECK_INT(to[i], first ? i : others + i);
    MPI(MPI_Group_translate_ranks(remote, others, from, all, to));
    for (int i = 0; i < others; i++)
        CHECK_INT(to[i], first ? size + i : i);
    MPI(MPI_Group_translate_ranks(all, total, from, world, to));
    for (int i = 0; i < total; i++) {
        int here = first ? i : i - others;
        CHECK_INT(to[i], here >= 0 && here < size ? here : MPI_UNDEFINED);
    }
    MPI(MPI_Group_union(first ? mine : remote, first ? remote : mine, &together));
    MPI(MPI_Group_compare(together, all, &relation));
    CHECK_INT(relation, MPI_IDENT);
    MPI(MPI_Group_free(&together));
    MPI(MPI_Group_intersection(mine, remote, &together));
    MPI(MPI_Group_size(together, &relation));
    CHECK_INT(relation, 0);
    MPI(MPI_Group_free(&together));
    MPI(MPI_Group_difference(all, remote, &together));
    MPI(MPI_Group_compare(together, world, &relation));
    CHECK_INT(relation, MPI_IDENT);
    MPI(MPI_Group_free(&together));
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&mine));
    MPI(MPI_Group_free(&remote));
    free(from);
    free(to);
}

static void constructors(MPI_Comm merged)
{
    MPI_Comm new, half;
    MPI_Group all, part_of;
    int me, number, relation, dims[1] = {0}, periods[1] = {1};
    MPI(MPI_Comm_rank(merged, &me));
    MPI(MPI_Comm_size(merged, &number));
    MPI(MPI_Comm_dup(merged, &new));
    MPI(MPI_Comm_compare(merged, new, &relation));
    CHECK_INT(relation, MPI_CONGRUENT);
    use(new);
    MPI(MPI_Comm_free(&new));
    MPI_Request request;
    MPI(MPI_Comm_idup(merged, &new, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(new);
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Comm_split(merged, me % 2, -me, &half));
    use(half);
    if (number > 1) { /* an intercommunicator of the halves */
        MPI_Comm between;
        MPI(MPI_Intercomm_create(half, 0, merged, me % 2 ? number - 1 - (number - 1) % 2 : number - 1 - number % 2, 3, &between));
        exchange(between, 50, me % 2 * 100, 100 - me % 2 * 100);
        MPI(MPI_Comm_free(&between));
    }
    MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_group(merged, &all));
    int range[1][3] = {{number - 1, 0, -1}};
    MPI(MPI_Group_range_incl(all, 1, range, &part_of));
    MPI(MPI_Comm_create(merged, part_of, &new));
    MPI(MPI_Comm_compare(merged, new, &relation));
    CHECK_INT(relation, number > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    use(new);
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Comm_create_group(merged, part_of, 9, &new));
    use(new);
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Group_free(&part_of));
    MPI(MPI_Group_free(&all));
    MPI(MPI_Dims_create(number, 1, dims));
    MPI(MPI_Cart_create(merged, 1, dims, periods, 0, &new));
    use(new);
    MPI(MPI_Comm_free(&new));
    MPI(MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new));
    use(new);
    MPI(MPI_Comm_free(&new));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, merged;
    start_family(&argc, &argv);
    comm = is_child ? parent : spawn(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 2, MPI_ARGV_NULL);
    MPI(MPI_Comm_remote_size(comm, &others));
    for (int children_high = 0; children_high < 2; children_high++) {
        int first = is_child != children_high, me;
        MPI(MPI_Intercomm_merge(comm, !first, &merged));
        MPI(MPI_Comm_rank(merged, &me));
        CHECK_INT(me, first ? rank : others + rank);
        MPI(MPI_Comm_size(merged, &me));
        CHECK_INT(me, size + others);
        use(merged);
        groups(merged, comm, first);
        constructors(merged);
        MPI(MPI_Comm_disconnect(&merged));
    }
    /* Both say the same: one of the sides is first. */
    int me, relation;
    MPI(MPI_Intercomm_merge(comm, 0, &merged));
    MPI(MPI_Comm_rank(merged, &me));
    CHECK(me == rank || me == others + rank);
    use(merged);
    MPI(MPI_Comm_compare(merged, MPI_COMM_WORLD, &relation));
    CHECK_INT(relation, MPI_UNEQUAL);
    MPI(MPI_Comm_free(&merged));
    if (!is_child)
        part(&comm);
    return finish_family();
}
