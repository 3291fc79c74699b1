/* Neighborhood collectives, all five, blocking, nonblocking and persistent, with and without _c, on grids (periodic with sides of 1
 * and 2, with borders), graphs (loops, double edges) and distributed graphs. Each value says sender, place and element. */
#include "neighbors.h"

enum { N = 3, ROOM = MOST_NEIGHBORS * 8 };

static int value(int sender, int place, int element) { return 10000 * sender + 100 * place + element; }

/* Runs a call in its three forms; `again` between two starts. */
#define FORMS(blocking, nonblocking, persistent, clear, check) do { \
        MPI_Request request; \
        clear; \
        MPI(blocking); \
        check; \
        clear; \
        MPI(nonblocking); \
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
        check; \
        MPI(persistent); \
        for (int start_ = 0; start_ < 2; start_++) { \
            clear; \
            MPI(MPI_Start(&request)); \
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
            check; \
        } \
        MPI(MPI_Request_free(&request)); \
    } while (0)

static int out[ROOM], in[ROOM];
#define CLEAR for (int i_ = 0; i_ < ROOM; i_++) in[i_] = -1

/* Block i begins at in[at(i)] and has length(i) elements; what is not a block is untouched. */
static void expect(const struct around *a, int line, const int *at, const int *length, int same)
{
    int wanted[ROOM];
    for (int i = 0; i < ROOM; i++)
        wanted[i] = -1;
    for (int i = 0; i < a->sources; i++)
        for (int e = 0; e < length[i] && a->from[i] != MPI_PROC_NULL; e++)
            wanted[at[i] + e] = value(a->from[i], same ? 0 : a->place[i], e);
    for (int i = 0; i < ROOM; i++)
        if (in[i] != wanted[i])
            check_failed(__FILE__, line, "element %d is %d, not %d", i, in[i], wanted[i]);
}

static void all_on(MPI_Comm comm)
{
    struct around a = around(comm);
    MPI_Comm c = comm;
    int at[MOST_NEIGHBORS], length[MOST_NEIGHBORS];
    for (int i = 0; i < MOST_NEIGHBORS; i++)
        at[i] = N * i, length[i] = N;
    for (int e = 0; e < N; e++)
        out[e] = value(a.me, 0, e);
#define GATHER out, N, MPI_INT, in, N, MPI_INT, c
    FORMS(MPI_Neighbor_allgather(GATHER), MPI_Ineighbor_allgather(GATHER, &request), MPI_Neighbor_allgather_init(GATHER, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 1));
    FORMS(MPI_Neighbor_allgather_c(GATHER), MPI_Ineighbor_allgather_c(GATHER, &request), MPI_Neighbor_allgather_init_c(GATHER, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 1));
    /* with gaps, last first */
    MPI_Count lengths_c[MOST_NEIGHBORS];
    MPI_Aint at_c[MOST_NEIGHBORS];
    for (int i = 0; i < a.sources; i++)
        at[i] = (N + 1) * (a.sources - 1 - i) + 1;
    for (int i = 0; i < MOST_NEIGHBORS; i++)
        lengths_c[i] = length[i], at_c[i] = at[i];
#define GATHERV(lengths, at) out, N, MPI_INT, in, lengths, at, MPI_INT, c
    FORMS(MPI_Neighbor_allgatherv(GATHERV(length, at)), MPI_Ineighbor_allgatherv(GATHERV(length, at), &request),
          MPI_Neighbor_allgatherv_init(GATHERV(length, at), MPI_INFO_NULL, &request), CLEAR, expect(&a, __LINE__, at, length, 1));
    FORMS(MPI_Neighbor_allgatherv_c(GATHERV(lengths_c, at_c)), MPI_Ineighbor_allgatherv_c(GATHERV(lengths_c, at_c), &request),
          MPI_Neighbor_allgatherv_init_c(GATHERV(lengths_c, at_c), MPI_INFO_NULL, &request), CLEAR, expect(&a, __LINE__, at, length, 1));

    for (int i = 0; i < MOST_NEIGHBORS; i++) {
        at[i] = N * i;
        for (int e = 0; e < N; e++)
            out[N * i + e] = value(a.me, i, e);
    }
    FORMS(MPI_Neighbor_alltoall(GATHER), MPI_Ineighbor_alltoall(GATHER, &request), MPI_Neighbor_alltoall_init(GATHER, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 0));
    FORMS(MPI_Neighbor_alltoall_c(GATHER), MPI_Ineighbor_alltoall_c(GATHER, &request), MPI_Neighbor_alltoall_init_c(GATHER, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 0));
    /* lengths by sender and its place: also none */
    int send_length[MOST_NEIGHBORS], send_at[MOST_NEIGHBORS];
    MPI_Count send_lengths_c[MOST_NEIGHBORS];
    MPI_Aint send_at_c[MOST_NEIGHBORS];
    for (int i = 0; i < MOST_NEIGHBORS; i++) {
        send_length[i] = (a.me + i) % (N + 1), send_at[i] = N * i;
        length[i] = i < a.sources ? (a.from[i] + a.place[i] + (N + 1)) % (N + 1) : 0, at[i] = N * (MOST_NEIGHBORS - 1 - i);
        send_lengths_c[i] = send_length[i], send_at_c[i] = send_at[i], lengths_c[i] = length[i], at_c[i] = at[i];
    }
#define EXCHANGE(send_lengths, send_at, lengths, at) out, send_lengths, send_at, MPI_INT, in, lengths, at, MPI_INT, c
#define SMALL EXCHANGE(send_length, send_at, length, at)
#define LARGE EXCHANGE(send_lengths_c, send_at_c, lengths_c, at_c)
    FORMS(MPI_Neighbor_alltoallv(SMALL), MPI_Ineighbor_alltoallv(SMALL, &request), MPI_Neighbor_alltoallv_init(SMALL, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 0));
    FORMS(MPI_Neighbor_alltoallv_c(LARGE), MPI_Ineighbor_alltoallv_c(LARGE, &request), MPI_Neighbor_alltoallv_init_c(LARGE, MPI_INFO_NULL, &request),
          CLEAR, expect(&a, __LINE__, at, length, 0));
    /* types of their own, in bytes; a pair of ints where the length is even */
    MPI_Datatype pair, types[MOST_NEIGHBORS], send_types[MOST_NEIGHBORS];
    MPI_Aint bytes[MOST_NEIGHBORS], send_bytes[MOST_NEIGHBORS];
    int pieces[MOST_NEIGHBORS], send_pieces[MOST_NEIGHBORS];
    MPI(MPI_Type_contiguous(2, MPI_INT, &pair));
    MPI(MPI_Type_commit(&pair));
    for (int i = 0; i < MOST_NEIGHBORS; i++) {
        int even = length[i] % 2 == 0;
        types[i] = even ? pair : MPI_INT, pieces[i] = even ? length[i] / 2 : length[i], lengths_c[i] = pieces[i];
        bytes[i] = at[i] * (MPI_Aint) sizeof(int);
        send_types[i] = MPI_INT, send_pieces[i] = send_length[i], send_bytes[i] = send_at[i] * (MPI_Aint) sizeof(int);
    }
#define TYPED(send_pieces, pieces) out, send_pieces, send_bytes, send_types, in, pieces, bytes, types, c
    FORMS(MPI_Neighbor_alltoallw(TYPED(send_pieces, pieces)), MPI_Ineighbor_alltoallw(TYPED(send_pieces, pieces), &request),
          MPI_Neighbor_alltoallw_init(TYPED(send_pieces, pieces), MPI_INFO_NULL, &request), CLEAR, expect(&a, __LINE__, at, length, 0));
    FORMS(MPI_Neighbor_alltoallw_c(TYPED(send_lengths_c, lengths_c)), MPI_Ineighbor_alltoallw_c(TYPED(send_lengths_c, lengths_c), &request),
          MPI_Neighbor_alltoallw_init_c(TYPED(send_lengths_c, lengths_c), MPI_INFO_NULL, &request), CLEAR, expect(&a, __LINE__, at, length, 0));
    /* absolute addresses */
    for (int i = 0; i < MOST_NEIGHBORS; i++) {
        MPI(MPI_Get_address(&in[at[i]], &bytes[i]));
        MPI(MPI_Get_address(&out[send_at[i]], &send_bytes[i]));
    }
#define ABSOLUTE MPI_BOTTOM, send_pieces, send_bytes, send_types, MPI_BOTTOM, pieces, bytes, types, c
    FORMS(MPI_Neighbor_alltoallw(ABSOLUTE), MPI_Ineighbor_alltoallw(ABSOLUTE, &request),
          MPI_Neighbor_alltoallw_init(ABSOLUTE, MPI_INFO_NULL, &request), CLEAR, expect(&a, __LINE__, at, length, 0));
    MPI(MPI_Type_free(&pair));
    MPI(MPI_Comm_free(&comm));
}

static void grid(int n, const int *sides, const int *periods)
{
    MPI_Comm comm;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, n, sides, periods, 0, &comm));
    if (comm != MPI_COMM_NULL)
        all_on(comm);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    static const int open[3] = {0, 0, 0}, closed[3] = {1, 1, 1}, mixed[3] = {1, 0, 1};
    grid(1, &size, open);
    grid(1, &size, closed);
    for (int n = 2; n <= 3; n++) {
        int sides[3] = {0, 0, 0};
        MPI(MPI_Dims_create(size, n, sides));
        grid(n, sides, open);
        grid(n, sides, closed);
        grid(n, sides, mixed);
    }
    if (size >= 4)
        grid(3, (int[]) {2, 1, 2}, closed);
    grid(0, NULL, NULL);

    /* a ring in which each process is its own neighbor too; with few processes edges are double */
    int *ends = malloc((size_t) size * sizeof *ends), *edges = malloc((size_t) (3 * size) * sizeof *edges);
    for (int r = 0; r < size; r++) {
        ends[r] = 3 * (r + 1);
        edges[3 * r] = (r + 1) % size, edges[3 * r + 1] = r, edges[3 * r + 2] = (r + size - 1) % size;
    }
    MPI_Comm comm;
    MPI(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm));
    all_on(comm);
    free(ends), free(edges);

    /* rank r sends r % 4 times to rank 0 and once to all behind it; sources backwards */
    int to[MOST_NEIGHBORS], from[MOST_NEIGHBORS], outs = 0, ins = 0;
    for (int i = 0; i < rank % 4; i++)
        to[outs++] = 0;
    for (int r = rank + 1; r < size; r++)
        to[outs++] = r;
    for (int r = size - 1; r >= 0; r--) {
        for (int i = 0; i < r % 4 && rank == 0; i++)
            from[ins++] = r;
        if (r < rank)
            from[ins++] = r;
    }
    MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, MPI_UNWEIGHTED, outs, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    all_on(comm);
    return finish();
}
