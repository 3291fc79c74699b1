/* MPI_Comm_accept and MPI_Comm_connect between the halves of one job: roots that are not 0, other ranks without arguments, a port that
 * serves several times, several ports, and clients one by one. */
#include "ports.h"

static void *volatile nowhere = (void *) 8;

/* In a half: connects with the other one, and checks both. */
static MPI_Comm meet(MPI_Comm half, int server, const char *port, int root)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int me, number, flag = 0;
    MPI(MPI_Comm_rank(half, &me));
    const char *mine = me == root ? port : nowhere;
    MPI_Info info = me == root || reference ? MPI_INFO_NULL : (MPI_Info) 0;
    if (server)
        MPI(MPI_Comm_accept(mine, info, root, half, &comm));
    else
        MPI(MPI_Comm_connect(mine, info, root, half, &comm));
    MPI(MPI_Comm_test_inter(comm, &flag));
    CHECK_INT(flag, 1);
    MPI(MPI_Comm_rank(comm, &number));
    CHECK_INT(number, me);
    MPI(MPI_Comm_size(half, &flag));
    MPI(MPI_Comm_size(comm, &number));
    CHECK_INT(number, flag);
    MPI(MPI_Comm_remote_size(comm, &number));
    CHECK_INT(number, size - flag);
    return comm;
}

static void use(MPI_Comm comm, int server)
{
    MPI_Comm merged;
    int me, sum = -1;
    talk(comm, 1, server);
    talk(comm, 100000, server);
    MPI(MPI_Intercomm_merge(comm, server, &merged));
    MPI(MPI_Comm_rank(merged, &me));
    CHECK_INT(me, rank);
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK_INT(sum, size * (size - 1) / 2);
    int relation;
    MPI(MPI_Comm_compare(merged, MPI_COMM_WORLD, &relation));
    CHECK_INT(relation, MPI_CONGRUENT);
    MPI(MPI_Comm_free(&merged));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", second[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, comm;
    start(&argc, &argv);
    /* The servers are the upper half. */
    int server = rank >= size / 2, root, number;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, server, rank, &half));
    MPI(MPI_Comm_size(half, &number));
    root = number - 1;
    if (rank == size - 1) {
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
        MPI(MPI_Open_port(MPI_INFO_NULL, second));
        CHECK(strlen(port) > 0 && strlen(port) < MPI_MAX_PORT_NAME);
        CHECK(strcmp(port, second) != 0);
    }
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, size - 1, MPI_COMM_WORLD));
    MPI(MPI_Bcast(second, sizeof second, MPI_CHAR, size - 1, MPI_COMM_WORLD));
    for (int round = 0; round < 5; round++) {
        comm = meet(half, server, round % 2 ? second : port, root);
        use(comm, server);
        MPI(MPI_Comm_disconnect(&comm));
        CHECK(comm == MPI_COMM_NULL);
    }
    /* Two connections at once. */
    MPI_Comm other;
    comm = meet(half, server, port, root);
    other = meet(half, server, second, root);
    use(other, server);
    use(comm, server);
    MPI(MPI_Comm_disconnect(&comm));
    use(other, server);
    MPI(MPI_Comm_disconnect(&other));
    MPI(MPI_Comm_free(&half));
    /* Each of the others alone with the last rank, in the order in which they come. */
    if (rank == size - 1) {
        int seen = 0;
        for (int i = 0; i < size - 1; i++) {
            int who = -1;
            MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
            MPI(MPI_Recv(&who, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
            CHECK(who >= 0 && who < size - 1 && !(seen >> who & 1));
            seen |= 1 << who;
            MPI(MPI_Send(&who, 1, MPI_INT, 0, 2, comm));
            MPI(MPI_Comm_disconnect(&comm));
        }
    } else {
        int back = -1;
        MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
        MPI(MPI_Send(&rank, 1, MPI_INT, 0, 1, comm));
        MPI(MPI_Recv(&back, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
        CHECK_INT(back, rank);
        MPI(MPI_Comm_disconnect(&comm));
    }
    if (rank == size - 1) {
        MPI(MPI_Close_port(port));
        MPI(MPI_Close_port(second));
    }
    return finish();
}
