/* Wrong arguments of topologies. A constructor fails on all ranks when one is wrong. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Comm grid, graph, dist, wrong, inter = MPI_COMM_NULL;
    int dims[3] = {1, 1, 1}, periods[3] = {0, 1, 0}, out[3], a, b, c;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Cart_create(MPI_COMM_NULL, 3, dims, periods, 0, &wrong), MPI_ERR_COMM, "comm_old", NULL);
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &wrong), MPI_ERR_ARG, "ndims", "-1");
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, NULL, periods, 0, &wrong), MPI_ERR_ARG, "dims", NULL);
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, NULL, 0, &wrong), MPI_ERR_ARG, "periods", NULL);
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, NULL), MPI_ERR_ARG, "comm_cart", NULL);
    for (int bad = -2; bad < 0; bad++) {
        dims[1] = bad;
        ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &wrong), MPI_ERR_DIMS, "dims", number(bad));
    }
    dims[1] = size + 1;
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &wrong), MPI_ERR_DIMS, "dims", number(size + 1));
    dims[0] = dims[1] = dims[2] = 2000000000;
    ERROR(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &wrong), MPI_ERR_DIMS, "dims", NULL);
    dims[0] = dims[2] = 1, dims[1] = size;
    /* wrong on one rank */
    if (size > 1) {
        int code = MPI_Cart_create(MPI_COMM_WORLD, rank == 1 ? -3 : 3, dims, periods, 0, &wrong);
        CHECK_INT(check_class_of(code), rank == 1 ? MPI_ERR_ARG : MPI_ERR_TOPOLOGY);
        int one = 0, bad = rank == 0 ? size : 0, degree = 1;
        code = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &one, &degree, &bad, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &wrong);
        CHECK_INT(check_class_of(code), rank == 0 ? MPI_ERR_RANK : MPI_ERR_TOPOLOGY);
        code = MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &one, &degree, &one, rank ? MPI_UNWEIGHTED : &one, MPI_INFO_NULL, 0, &wrong);
        CHECK_INT(check_class_of(code), MPI_ERR_ARG);
        MPI_Comm half;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, (rank + 1) % 2, 5, &inter));
        MPI(MPI_Comm_free(&half));
        MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        ERROR(MPI_Cart_create(inter, 3, dims, periods, 0, &wrong), MPI_ERR_COMM, "comm_old", NULL);
        ERROR(MPI_Graph_create(inter, 0, dims, dims, 0, &wrong), MPI_ERR_COMM, "comm_old", NULL);
        ERROR(MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, NULL, MPI_INFO_NULL, 0, &wrong), MPI_ERR_COMM, "comm_old", NULL);
        MPI(MPI_Topo_test(inter, &a));
        CHECK_INT(a, MPI_UNDEFINED);
        MPI(MPI_Comm_free(&inter));
    }
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid));
    MPI(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    ERROR(MPI_Cart_coords(MPI_COMM_WORLD, 0, 3, out), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Cart_coords(grid, size, 3, out), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Cart_coords(grid, MPI_PROC_NULL, 3, out), MPI_ERR_RANK, "rank", NULL);
    ERROR(MPI_Cart_coords(grid, 0, 2, out), MPI_ERR_ARG, "maxdims", "2");
    ERROR(MPI_Cart_coords(grid, 0, -1, out), MPI_ERR_ARG, "maxdims", "-1");
    ERROR(MPI_Cart_coords(grid, 0, 3, NULL), MPI_ERR_ARG, "coords", NULL);
    ERROR(MPI_Cart_get(grid, 2, out, out, out), MPI_ERR_ARG, "maxdims", "2");
    ERROR(MPI_Cart_get(grid, 3, NULL, out, out), MPI_ERR_ARG, "dims", NULL);
    ERROR(MPI_Cart_get(grid, 3, out, NULL, out), MPI_ERR_ARG, "periods", NULL);
    ERROR(MPI_Cart_get(MPI_COMM_SELF, 3, out, out, out), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Cart_rank(grid, ((int[]) {1, 0, 0}), &a), MPI_ERR_ARG, "coords", "1");
    ERROR(MPI_Cart_rank(grid, ((int[]) {0, 0, -1}), &a), MPI_ERR_ARG, "coords", "-1");
    ERROR(MPI_Cart_rank(grid, NULL, &a), MPI_ERR_ARG, "coords", NULL);
    ERROR(MPI_Cart_rank(grid, ((int[]) {0, 0, 0}), NULL), MPI_ERR_ARG, "rank", NULL);
    ERROR(MPI_Cart_shift(grid, 3, 1, &a, &b), MPI_ERR_DIMS, "direction", "3");
    ERROR(MPI_Cart_shift(grid, -1, 1, &a, &b), MPI_ERR_DIMS, "direction", "-1");
    ERROR(MPI_Cart_shift(grid, 0, 1, NULL, &b), MPI_ERR_ARG, "rank_source", NULL);
    ERROR(MPI_Cart_shift(grid, 0, 1, &a, NULL), MPI_ERR_ARG, "rank_dest", NULL);
    ERROR(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &a, &b), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Cart_sub(MPI_COMM_WORLD, periods, &wrong), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Cart_sub(grid, NULL, &wrong), MPI_ERR_ARG, "remain_dims", NULL);
    ERROR(MPI_Cart_sub(grid, periods, NULL), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Cartdim_get(MPI_COMM_WORLD, &a), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Cartdim_get(grid, NULL), MPI_ERR_ARG, "ndims", NULL);
    ERROR(MPI_Cart_map(MPI_COMM_WORLD, -2, dims, periods, &a), MPI_ERR_ARG, "ndims", "-2");
    ERROR(MPI_Cart_map(MPI_COMM_WORLD, 1, ((int[]) {-1}), periods, &a), MPI_ERR_DIMS, "dims", NULL);
    MPI(MPI_Cart_shift(grid, 1, -2147483647 - 1, &a, &b));
    MPI(MPI_Cart_shift(grid, 0, -2147483647 - 1, &a, &b));
    CHECK(a == MPI_PROC_NULL && b == MPI_PROC_NULL);

    int *ends = calloc((size_t) size, sizeof *ends), edges[2] = {0, 0};
    for (int i = 0; i < size; i++)
        ends[i] = 1;
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, -1, ends, edges, 0, &wrong), MPI_ERR_ARG, "nnodes", "-1");
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size + 1, ends, edges, 0, &wrong), MPI_ERR_ARG, "nnodes", number(size + 1));
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, NULL, edges, 0, &wrong), MPI_ERR_ARG, "indx", NULL);
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, ends, NULL, 0, &wrong), MPI_ERR_ARG, "edges", NULL);
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, NULL), MPI_ERR_ARG, "comm_graph", NULL);
    edges[0] = size;
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &wrong), MPI_ERR_ARG, "edges", number(size));
    edges[0] = -1;
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &wrong), MPI_ERR_ARG, "edges", "-1");
    edges[0] = 0;
    ends[0] = -7;
    ERROR(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &wrong), MPI_ERR_ARG, "index", "-7");
    ERROR(MPI_Graph_map(MPI_COMM_WORLD, size, ends, edges, &a), MPI_ERR_ARG, "index", "-7");
    ends[0] = 1;
    MPI(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &graph));
    MPI(MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN));
    ERROR(MPI_Graph_get(graph, size - 1, 1, ends, edges), MPI_ERR_ARG, "maxindex", NULL);
    ERROR(MPI_Graph_get(graph, size, 0, ends, edges), MPI_ERR_ARG, "maxedges", "0");
    ERROR(MPI_Graph_get(grid, size, 1, ends, edges), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Graph_neighbors(graph, size, 1, out), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Graph_neighbors(graph, 0, 0, out), MPI_ERR_ARG, "maxneighbors", "0");
    ERROR(MPI_Graph_neighbors(graph, 0, 1, NULL), MPI_ERR_ARG, "neighbors", NULL);
    ERROR(MPI_Graph_neighbors_count(graph, -1, &a), MPI_ERR_RANK, "rank", "-1");
    ERROR(MPI_Graph_neighbors_count(grid, 0, &a), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Graphdims_get(grid, &a, &b), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Graphdims_get(graph, NULL, &b), MPI_ERR_ARG, "nnodes", NULL);

    int zero = 0, bad = size, minus = -1, one = 1;
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, &zero, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "indegree", "-1");
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &one, -1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "outdegree", "-1");
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &bad, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_RANK, "sources", number(size));
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &one, 1, &minus, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_RANK, "destinations", "-1");
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &minus, 1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "sourceweights", "-1");
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &one, 1, &zero, &minus, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "destweights", "-1");
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &one, 1, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "destweights", NULL);
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, &one, 1, &zero, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "destweights", NULL);
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, NULL, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "sources", NULL);
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, NULL, 1, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "sourceweights", NULL);
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL, freed_info(), 0, &wrong), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0, NULL), MPI_ERR_ARG, "comm_dist_graph", NULL);
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, -1, &zero, &one, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &bad, &one, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_RANK, "sources", number(size));
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, &minus, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "degrees", "-1");
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, &one, &minus, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_RANK, "destinations", "-1");
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, &one, &zero, &minus, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "weights", "-1");
    ERROR(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, NULL, &zero, &one, MPI_INFO_NULL, 0, &wrong), MPI_ERR_ARG, "degrees", NULL);
    MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0, &zero, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist));
    MPI(MPI_Comm_set_errhandler(dist, MPI_ERRORS_RETURN));
    ERROR(MPI_Dist_graph_neighbors(dist, -1, out, out, 1, out, out), MPI_ERR_ARG, "maxindegree", "-1");
    ERROR(MPI_Dist_graph_neighbors(dist, 1, out, out, -1, out, out), MPI_ERR_ARG, "maxoutdegree", "-1");
    ERROR(MPI_Dist_graph_neighbors(grid, 1, out, out, 1, out, out), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Dist_graph_neighbors_count(graph, &a, &b, &c), MPI_ERR_TOPOLOGY, "comm", NULL);
    ERROR(MPI_Dist_graph_neighbors_count(dist, &a, NULL, &c), MPI_ERR_ARG, "outdegree", NULL);
    ERROR(MPI_Topo_test(grid, NULL), MPI_ERR_ARG, "status", NULL);
    ERROR(MPI_Topo_test(MPI_COMM_NULL, &a), MPI_ERR_COMM, "comm", NULL);
    MPI(MPI_Comm_free(&grid));
    MPI(MPI_Comm_free(&graph));
    MPI(MPI_Comm_free(&dist));
    free(ends);
    return finish();
}
