/* MPI_Comm_accept and MPI_Comm_connect on a communicator with a process that has died end with an error on all that are left, whoever is at the other side; on what
 * is left of the communicator they work. Both sides are halves of one job. Arguments: which side has the dead ("accept" or "connect"), and "root" if it is the
 * process with the port. */
#include "failing.h"

/* All wait for no longer than this: nobody may come. */
static MPI_Info limit;

static int meet(int accepts, const char *port, MPI_Comm side, MPI_Comm *met)
{
    *met = MPI_COMM_SELF;
    return accepts ? MPI_Comm_accept(port, limit, 0, side, met) : MPI_Comm_connect(port, limit, 0, side, met);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm side, living, left, met;
    int me, ranks, one = 1, sum = 0, flag = 1;
    start_failing(&argc, &argv);
    /* Both have at least two. */
    int accepts = rank % 2, dead_accept = !strcmp(argv[1], "accept"), dies_as_root = argc > 2;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, accepts, dies_as_root ? -rank : rank, &side));
    MPI(MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN));
    last = size - 1 - ((size - 1) % 2 != dead_accept);
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == last, rank, &living));
    MPI(MPI_Info_create(&limit));
    MPI(MPI_Info_set(limit, "timeout", "1"));
    int opens = dies_as_root && !dead_accept ? size - 1 - size % 2 : 1;
    if (rank == opens)
        MPI(MPI_Open_port(MPI_INFO_NULL, port));
    MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, opens, MPI_COMM_WORLD));
    last_is_dead("kill");
    /* One side at a time, then both. */
    for (int round = 0; round < 3; round++) {
        int is_here = round == 2 || round == accepts, has_dead = accepts == dead_accept;
        if (is_here) {
            int code = meet(accepts, port, side, &met);
            CHECK(!has_dead || met == MPI_COMM_NULL);
            if (has_dead && check_class_of(code) != MPIX_ERR_PROC_FAILED)
                check_failed(__FILE__, __LINE__, "error class %d in round %d", check_class_of(code), round);
            /* The other side may have met the root, which was told later. */
            if (code == MPI_SUCCESS)
                MPI(MPI_Comm_free(&met));
        }
        MPI(MPI_Barrier(living));
    }
    MPI(MPIX_Comm_failure_ack(side));
    MPI(MPIX_Comm_agree(side, &flag));
    MPI(MPIX_Comm_shrink(side, &left));
    MPI(MPI_Info_set(limit, "timeout", "40"));
    MPI(meet(accepts, port, left, &met));
    MPI(MPI_Comm_remote_size(met, &ranks));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, met));
    CHECK_INT(sum, ranks);
    MPI(MPI_Comm_rank(met, &me));
    MPI(MPI_Comm_disconnect(&met));
    if (rank == opens)
        MPI(MPI_Close_port(port));
    MPI(MPI_Info_free(&limit));
    MPI(MPI_Comm_free(&left));
    MPI(MPI_Comm_free(&side));
    MPI(MPI_Barrier(living));
    MPI(MPI_Comm_free(&living));
    return finish();
}
