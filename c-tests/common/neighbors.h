/* For tests of neighborhood collectives: who is around, whatever the topology. */
#ifndef OXMPI_NEIGHBORS_H
#define OXMPI_NEIGHBORS_H

#include "check.h"

enum { MOST_NEIGHBORS = 64 };

struct around {
    MPI_Comm comm;
    int me, sources, destinations, from[MOST_NEIGHBORS], to[MOST_NEIGHBORS];
    /* what the source sends here is at this place of its buffer */
    int place[MOST_NEIGHBORS];
};

/* The k-th edge from a process to another meets the k-th from the other's side; in a grid directions meet. */
static CHECK_UNUSED struct around around(MPI_Comm comm)
{
    struct around a = {.comm = comm};
    int kind, n, ranks;
    MPI(MPI_Comm_rank(comm, &a.me));
    MPI(MPI_Comm_size(comm, &ranks));
    MPI(MPI_Topo_test(comm, &kind));
    if (kind == MPI_CART) {
        MPI(MPI_Cartdim_get(comm, &n));
        for (int d = 0; d < n; d++)
            MPI(MPI_Cart_shift(comm, d, 1, &a.from[2 * d], &a.from[2 * d + 1]));
        a.sources = a.destinations = 2 * n;
        memcpy(a.to, a.from, sizeof a.to);
        for (int i = 0; i < a.sources; i++)
            a.place[i] = i ^ 1;
        return a;
    }
    if (kind == MPI_GRAPH) {
        MPI(MPI_Graph_neighbors_count(comm, a.me, &n));
        MPI(MPI_Graph_neighbors(comm, a.me, n, a.from));
        a.sources = a.destinations = n;
        memcpy(a.to, a.from, sizeof a.to);
    } else {
        int weighted;
        MPI(MPI_Dist_graph_neighbors_count(comm, &a.sources, &a.destinations, &weighted));
        MPI(MPI_Dist_graph_neighbors(comm, a.sources, a.from, MPI_UNWEIGHTED, a.destinations, a.to, MPI_UNWEIGHTED));
    }
    /* everybody tells its destinations */
    int *all = malloc((size_t) (ranks * MOST_NEIGHBORS) * sizeof *all);
    for (int i = a.destinations; i < MOST_NEIGHBORS; i++)
        a.to[i] = -1;
    MPI(MPI_Allgather(a.to, MOST_NEIGHBORS, MPI_INT, all, MOST_NEIGHBORS, MPI_INT, comm));
    for (int i = 0; i < a.sources; i++) {
        int before = 0, *theirs = all + a.from[i] * MOST_NEIGHBORS, at = -1;
        for (int j = 0; j < i; j++)
            before += a.from[j] == a.from[i];
        for (int k = 0; k < MOST_NEIGHBORS && at < 0; k++)
            if (theirs[k] == a.me && before-- == 0)
                at = k;
        CHECK(at >= 0);
        a.place[i] = at;
    }
    free(all);
    return a;
}

#endif
