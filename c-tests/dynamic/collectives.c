/* Collective operations over the intercommunicator of parents and children, blocking and nonblocking. args: the number of children. */
#include "spawned.h"

static int others, root;

/* The root's side says MPI_ROOT at the root and MPI_PROC_NULL elsewhere; the other side names the root. */
static int root_of(int of_parents)
{
    if (of_parents == is_child)
        return root;
    return rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

/* The data goes from the root to the other side, or from the other side to the root. */
static void rooted(MPI_Comm comm, int of_parents)
{
    int at = root_of(of_parents), value = -1, *all = calloc(others + size, sizeof *all);
    MPI_Request request;
    if (at == MPI_ROOT)
        value = 4711;
    MPI(MPI_Bcast(&value, 1, MPI_INT, at, comm));
    if (at >= 0)
        CHECK_INT(value, 4711);
    value = at == MPI_ROOT ? 4712 : -1;
    MPI(MPI_Ibcast(&value, 1, MPI_INT, at, comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (at >= 0 && !reference) /* MPICH 5.0.2 brings nothing here */
        CHECK_INT(value, 4712);
    value = 10 + rank;
    MPI(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, at, comm));
    for (int i = 0; at == MPI_ROOT && i < others; i++)
        CHECK_INT(all[i], 10 + i);
    for (int i = 0; i < others; i++)
        all[i] = 20 + i;
    MPI(MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, at, comm));
    if (at >= 0)
        CHECK_INT(value, 20 + rank);
    value = rank + 1;
    all[0] = -1;
    MPI(MPI_Reduce(&value, all, 1, MPI_INT, MPI_SUM, at, comm));
    if (at == MPI_ROOT)
        CHECK_INT(all[0], others * (others + 1) / 2);
    free(all);
}

static void symmetric(MPI_Comm comm)
{
    int mine = 100 * (1 + is_child) + rank, value = -1, *out = calloc(others, sizeof *out), *in = calloc(others, sizeof *in);
    int theirs = 100 * (2 - is_child);
    MPI_Request request;
    MPI(MPI_Barrier(comm));
    MPI(MPI_Ibarrier(comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < others; i++)
        CHECK_INT(in[i], theirs + i);
    MPI(MPI_Allreduce(&mine, &value, 1, MPI_INT, MPI_MAX, comm));
    CHECK_INT(value, theirs + others - 1);
    MPI(MPI_Iallreduce(&mine, &value, 1, MPI_INT, MPI_MIN, comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(value, theirs);
    for (int i = 0; i < others; i++)
        out[i] = 1000 * mine + i;
    MPI(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < others; i++)
        CHECK_INT(in[i], 1000 * (theirs + i) + rank);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start_family(&argc, &argv);
    comm = is_child ? parent : spawn(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 2, MPI_ARGV_NULL);
    MPI(MPI_Comm_remote_size(comm, &others));
    for (int round = 0; round < 3; round++) {
        symmetric(comm);
        for (int of_parents = 0; of_parents < 2; of_parents++) {
            int of_side = of_parents != is_child ? size : others;
            root = round % of_side;
            rooted(comm, of_parents);
        }
    }
    if (!is_child)
        part(&comm);
    return finish_family();
}
