/* The ranks as on several nodes (OXMPI_PRETEND, the argument says how many): the calls that tell nodes apart do so, and
 * collective operations within and between nodes take no context ids. */
#include "check.h"

static int nodes;

static int node_of(int process)
{
    return (int) ((long) process * nodes / size);
}

/* Communicators that can be made; -1 if that is not known. */
static long free_ids(void)
{
    long free = -1;
    int index, provided, count;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (MPI_T_pvar_get_index("context_ids_free", MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS) {
        MPI_T_pvar_session session;
        MPI_T_pvar_handle handle;
        char value[64] = {0};
        MPI(MPI_T_pvar_session_create(&session));
        MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
        CHECK_INT(count, 1);
        MPI(MPI_T_pvar_read(session, handle, value));
        memcpy(&free, value, sizeof free);
        MPI(MPI_T_pvar_handle_free(session, &handle));
        MPI(MPI_T_pvar_session_free(&session));
    }
    MPI(MPI_T_finalize());
    return free;
}

static void use(MPI_Comm comm)
{
    int me, n, sum, all[64], one = 1;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &n));
    for (int i = 0; i < 10; i++) {
        MPI(MPI_Barrier(comm));
        MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, n);
        MPI(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm));
        for (int r = 0; r < n; r++)
            CHECK_INT(all[r], r);
        sum = me == i % n ? i : -1;
        MPI(MPI_Bcast(&sum, 1, MPI_INT, i % n, comm));
        CHECK_INT(sum, i);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm node, across, dealt, part, grid;
    int expected = 0, first = -1, found, me, kind;
    start(&argc, &argv);
    nodes = argc > 1 ? atoi(argv[1]) : 1;
    nodes = nodes > size ? size : nodes;
    for (int r = 0; r < size; r++)
        if (node_of(r) == node_of(rank)) {
            first = first < 0 ? r : first;
            expected++;
        }
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(MPI_Comm_size(node, &found));
    MPI(MPI_Comm_rank(node, &me));
    CHECK_INT(found, expected);
    CHECK_INT(me, rank - first);
    long before = free_ids();
    use(node);
    use(MPI_COMM_WORLD);
    CHECK(free_ids() == before);
    /* one of each node: nothing is left to share */
    MPI(MPI_Comm_split(MPI_COMM_WORLD, me, rank, &across));
    use(across);
    MPI(MPI_Comm_split_type(across, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    MPI(MPI_Comm_size(part, &found));
    CHECK_INT(found, 1);
    MPI(MPI_Comm_free(&part));
    MPI(MPI_Comm_free(&across));
    /* ranks in an order that is not the nodes' */
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, rank * 7 % (size + 1), &dealt));
    use(dealt);
    MPI(MPI_Comm_split_type(dealt, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    MPI(MPI_Comm_compare(part, node, &kind));
    CHECK(kind == MPI_SIMILAR || kind == MPI_CONGRUENT);
    use(part);
    MPI(MPI_Comm_free(&part));
    MPI(MPI_Comm_free(&dealt));
#if MPI_VERSION >= 4
    /* a machine is less than all only if there are several */
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Machine"));
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part));
    MPI(MPI_Comm_compare(part, node, &kind));
    CHECK_INT(kind, MPI_CONGRUENT);
    MPI(MPI_Comm_free(&part));
    MPI(MPI_Info_free(&info));
#endif
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]) {1}, 1, &grid));
    use(grid);
    MPI(MPI_Comm_free(&grid));
    MPI(MPI_Comm_free(&node));
    return finish();
}
