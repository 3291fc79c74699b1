/* Partitioned messages between parents and children, over the intercommunicator and over its merged one. args: the number of children. */
#include "spawned.h"

enum { PARTS = 3, INTS = 5 };

static int out[PARTS * INTS], in[PARTS * INTS];

static void swap(MPI_Comm comm, int to, int from, int tag, int mine, int theirs)
{
    MPI_Request requests[2];
    int parts = tag % 2 ? PARTS : 1;
    MPI(MPI_Psend_init(out, parts, PARTS * INTS / parts, MPI_INT, to, tag, comm, MPI_INFO_NULL, &requests[0]));
    MPI(MPI_Precv_init(in, 1, PARTS * INTS, MPI_INT, from, tag, comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PARTS * INTS; i++) {
            out[i] = mine * 1000 + round * 100 + i;
            in[i] = -1;
        }
        MPI(MPI_Startall(2, requests));
        for (int part = parts - 1; part >= 0; part--)
            MPI(MPI_Pready(part, requests[0]));
        MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PARTS * INTS; i++)
            CHECK_INT(in[i], theirs * 1000 + round * 100 + i);
    }
    for (int i = 0; i < 2; i++)
        MPI(MPI_Request_free(&requests[i]));
}

static void use(MPI_Comm inter)
{
    MPI_Comm merged;
    int me, members;
    if (rank == 0) /* with the first of the other side */
        for (int tag = 0; tag < 2; tag++)
            swap(inter, 0, 0, tag, is_child, !is_child);
    MPI(MPI_Intercomm_merge(inter, is_child, &merged));
    MPI(MPI_Comm_rank(merged, &me));
    MPI(MPI_Comm_size(merged, &members));
    for (int tag = 0; tag < 2; tag++) {
        int from = (me + members - 1) % members;
        swap(merged, (me + 1) % members, from, tag, me, from);
    }
    MPI(MPI_Comm_free(&merged));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start_family(&argc, &argv);
    comm = is_child ? parent : spawn(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 2, MPI_ARGV_NULL);
    use(comm);
    if (!is_child)
        part(&comm);
    return finish_family();
}
