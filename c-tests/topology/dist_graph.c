/* Distributed graphs: from one's own neighbors, and from edges that anybody brings; weights, none, and no edges at all. */
#include "check.h"

enum { MOST = 40 };

/* An edge from each rank to the d-th one after it weighs 10 * rank + d. */
static void expect(MPI_Comm graph, int degree, int weighted, int ordered)
{
    int in, out, flag, kind, me, from[MOST], to[MOST], in_weights[MOST], out_weights[MOST];
    MPI(MPI_Topo_test(graph, &kind));
    CHECK_INT(kind, MPI_DIST_GRAPH);
    MPI(MPI_Comm_rank(graph, &me));
    MPI(MPI_Dist_graph_neighbors_count(graph, &in, &out, &flag));
    CHECK_INT(in, degree);
    CHECK_INT(out, degree);
    CHECK_INT(!!flag, weighted);
    memset(in_weights, -1, sizeof in_weights);
    memset(out_weights, -1, sizeof out_weights);
    MPI(MPI_Dist_graph_neighbors(graph, MOST, from, in_weights, MOST, to, out_weights));
    int sources = 0, destinations = 0, weights = 0;
    for (int d = 1; d <= degree; d++) {
        int source = (me + d * size - d) % size, destination = (me + d) % size;
        sources += from[d - 1] - source, destinations += to[d - 1] - destination;
        weights += 10 * source + d + 10 * me + d;
        if (weighted)
            weights -= in_weights[d - 1] + out_weights[d - 1];
        if (ordered) {
            CHECK_INT(from[d - 1], source);
            CHECK_INT(to[d - 1], destination);
            if (weighted) {
                CHECK_INT(in_weights[d - 1], 10 * source + d);
                CHECK_INT(out_weights[d - 1], 10 * me + d);
            }
        }
    }
    CHECK_INT(sources, 0);
    CHECK_INT(destinations, 0);
    if (weighted)
        CHECK_INT(weights, 0);
    /* less room: the first ones only, and weights may be left out */
    if (degree > 0) {
        int first[2] = {-5, -5};
        MPI(MPI_Dist_graph_neighbors(graph, 1, first, weighted ? MPI_UNWEIGHTED : in_weights, 0, to, MPI_UNWEIGHTED));
        CHECK_INT(first[0], from[0]);
        CHECK_INT(first[1], -5);
    }
}

static void adjacent(int degree, int weighted, int reorder)
{
    MPI_Comm graph, copy;
    int from[MOST], to[MOST], in[MOST], out[MOST];
    for (int d = 1; d <= degree; d++) {
        from[d - 1] = (rank + d * size - d) % size, to[d - 1] = (rank + d) % size;
        in[d - 1] = 10 * from[d - 1] + d, out[d - 1] = 10 * rank + d;
    }
    int *in_weights = !weighted ? MPI_UNWEIGHTED : degree ? in : MPI_WEIGHTS_EMPTY, *out_weights = !weighted ? MPI_UNWEIGHTED : degree ? out : MPI_WEIGHTS_EMPTY;
    MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, from, in_weights, degree, to, out_weights, MPI_INFO_NULL, reorder, &graph));
    expect(graph, degree, weighted, 1);
    MPI(MPI_Comm_dup(graph, &copy));
    MPI(MPI_Comm_free(&graph));
    expect(copy, degree, weighted, 1);
    MPI(MPI_Comm_free(&copy));
}

/* who: 0 each brings its own, 1 the last brings all, 2 each brings those of the next, split in two */
static void anybody(int degree, int weighted, int who, int reorder)
{
    MPI_Comm graph;
    int n = 0, edges = 0, *sources = malloc((size_t) (2 * size) * sizeof *sources), *degrees = malloc((size_t) (2 * size) * sizeof *degrees);
    int *to = malloc((size_t) (size * degree + 1) * sizeof *to), *weights = malloc((size_t) (size * degree + 1) * sizeof *weights);
    for (int r = 0; r < size; r++) {
        int mine = who == 0 ? r == rank : who == 1 ? rank == size - 1 : r == (rank + 1) % size;
        if (!mine)
            continue;
        int first = who == 2 ? degree / 2 : degree;
        sources[n] = r, degrees[n++] = first;
        if (who == 2)
            sources[n] = r, degrees[n++] = degree - first;
        for (int d = 1; d <= degree; d++)
            to[edges] = (r + d) % size, weights[edges++] = 10 * r + d;
    }
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, to, !weighted ? MPI_UNWEIGHTED : edges ? weights : MPI_WEIGHTS_EMPTY, info, reorder, &graph));
    MPI(MPI_Info_free(&info));
    expect(graph, degree, weighted, 0);
    MPI(MPI_Comm_free(&graph));
    free(sources), free(degrees), free(to), free(weights);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static const int degrees[] = {0, 1, 2, 5};
    for (int d = 0; d < 4; d++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int reorder = 0; reorder < 2; reorder++) {
                adjacent(degrees[d], weighted, reorder);
                for (int who = 0; who < 3; who++)
                    anybody(degrees[d], weighted, who, reorder);
            }
    /* a star with loops: rank 0 knows all, twice each way; the others know rank 0 */
    MPI_Comm star;
    int n = rank == 0 ? 2 * size : 2, *ranks = calloc((size_t) n, sizeof *ranks), in, out, flag;
    for (int i = 0; i < n; i++)
        ranks[i] = rank == 0 ? i / 2 : 0;
    if (size > 1) {
        MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, ranks, MPI_UNWEIGHTED, n, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star));
        MPI(MPI_Dist_graph_neighbors_count(star, &in, &out, &flag));
        CHECK(in == n && out == n && !flag);
        MPI(MPI_Comm_free(&star));
    }
    free(ranks);
    return finish();
}
