/* Graphs that all know: a ring with a chord, a graph smaller than the communicator, loops and double edges, duplicates. */
#include "check.h"

static void ring(int nodes, int reorder)
{
    MPI_Comm graph, copy;
    int *ends = malloc((size_t) nodes * sizeof *ends), *edges = malloc((size_t) (3 * nodes) * sizeof *edges), count = 0;
    int *got_ends = malloc((size_t) nodes * sizeof *ends), *got = malloc((size_t) (3 * nodes) * sizeof *edges);
    for (int r = 0; r < nodes; r++) {
        edges[count++] = (r + nodes - 1) % nodes;
        edges[count++] = (r + 1) % nodes;
        if (r == 0 || r == nodes / 2)
            edges[count++] = r == 0 ? nodes / 2 : 0;
        ends[r] = count;
    }
    MPI(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, reorder, &graph));
    if (nodes < size && graph == MPI_COMM_NULL) {
        if (!reorder)
            CHECK(rank >= nodes);
        goto end;
    }
    for (int pass = 0; pass < 2; pass++) {
        int kind, n, e, me, inside;
        MPI(MPI_Comm_rank(graph, &me));
        MPI(MPI_Comm_size(graph, &inside));
        CHECK_INT(inside, nodes);
        MPI(MPI_Topo_test(graph, &kind));
        CHECK_INT(kind, MPI_GRAPH);
        MPI(MPI_Graphdims_get(graph, &n, &e));
        CHECK_INT(n, nodes);
        CHECK_INT(e, count);
        MPI(MPI_Graph_get(graph, n, e, got_ends, got));
        CHECK(memcmp(got_ends, ends, (size_t) nodes * sizeof *ends) == 0);
        CHECK(memcmp(got, edges, (size_t) count * sizeof *edges) == 0);
        for (int r = 0; r < nodes; r++) {
            int first = r ? ends[r - 1] : 0, degree;
            MPI(MPI_Graph_neighbors_count(graph, r, &degree));
            CHECK_INT(degree, ends[r] - first);
            MPI(MPI_Graph_neighbors(graph, r, degree, got));
            for (int i = 0; i < degree; i++)
                CHECK_INT(got[i], edges[first + i]);
        }
        /* round the ring */
        int out = me, in = -1;
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, (me + 1) % nodes, 0, &in, 1, MPI_INT, (me + nodes - 1) % nodes, 0, graph, MPI_STATUS_IGNORE));
        CHECK_INT(in, (me + nodes - 1) % nodes);
        MPI(MPI_Comm_dup(graph, &copy));
        MPI(MPI_Comm_free(&graph));
        graph = copy;
    }
    MPI(MPI_Comm_free(&graph));
end:
    free(ends), free(edges), free(got_ends), free(got);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int reorder = 0; reorder < 2; reorder++)
        for (int nodes = 1; nodes <= size; nodes++)
            ring(nodes, reorder);
    int none = 0, map;
    MPI_Comm graph;
    MPI(MPI_Graph_create(MPI_COMM_WORLD, 0, &none, &none, 0, &graph));
    CHECK(graph == MPI_COMM_NULL);
    int *ends = calloc((size_t) size, sizeof *ends);
    MPI(MPI_Graph_map(MPI_COMM_WORLD, size, ends, &none, &map));
    CHECK(map >= 0 && map < size);
    /* nobody knows anybody */
    MPI(MPI_Graph_create(MPI_COMM_WORLD, size, ends, &none, 1, &graph));
    MPI(MPI_Graph_neighbors_count(graph, size - 1, &map));
    CHECK_INT(map, 0);
    MPI(MPI_Comm_free(&graph));
    free(ends);
    return finish();
}
