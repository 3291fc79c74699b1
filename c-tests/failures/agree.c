/* MPIX_Comm_agree and MPIX_Comm_iagree while all live: the bitwise AND of the flags, in the order of the calls, on every form of
 * communicator. */
#include "check.h"

enum { ROUNDS = 300, UNDER_WAY = 9 };

static int flag_of(int of, int round)
{
    return ~(1 << ((of + round) % 31));
}

static int flags_of(int first, int last, int round)
{
    int flags = ~0;
    for (int of = first; of < last; of++)
        flags &= flag_of(of, round);
    return flags;
}

static void all_forms(MPI_Comm comm)
{
    int me, ranks, flags[UNDER_WAY];
    MPI_Request requests[UNDER_WAY];
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &ranks));
    for (int round = 0; round < ROUNDS; round++) {
        int flag = flag_of(me, round);
        MPI(MPIX_Comm_agree(comm, &flag));
        CHECK_INT(flag, flags_of(0, ranks, round));
    }
    /* Many under way, a blocking one behind them, and waits in another order. */
    for (int i = 0; i < UNDER_WAY; i++) {
        flags[i] = flag_of(me, i);
        MPI(MPIX_Comm_iagree(comm, &flags[i], &requests[i]));
    }
    int flag = flag_of(me, 100);
    MPI(MPIX_Comm_agree(comm, &flag));
    CHECK_INT(flag, flags_of(0, ranks, 100));
    for (int i = UNDER_WAY - 1; i >= 0; i--) {
        MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK_INT(flags[i], flags_of(0, ranks, i));
    }
}

/* A nonblocking one is complete only when all have called it. */
static void waits_for_all(void)
{
    int flag = 7, done = 0, token = 0;
    MPI_Request request;
    if (rank == size - 1 && size > 1)
        MPI(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request));
    if (rank == 0 && size > 1) {
        for (int i = 0; i < 2000; i++) {
            MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            CHECK(!done);
        }
        MPI(MPI_Send(&token, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD));
    }
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 7);
}

/* The flag is the other group's. */
static void of_both_groups(int swapped)
{
    MPI_Comm half, inter;
    int high = rank % 2 != swapped, flag;
    if (size < 2)
        return;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high == (1 != swapped) ? 0 : 1, 9, &inter));
    for (int round = 0; round < ROUNDS; round++) {
        int odd = 0x0f00 | round, even = 0x00f0 | round;
        flag = (rank % 2 ? odd : even) | 1 << (16 + rank);
        if (round % 2) {
            MPI_Request request;
            MPI(MPIX_Comm_iagree(inter, &flag, &request));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else
            MPI(MPIX_Comm_agree(inter, &flag));
        CHECK_INT(flag & 0xffff, rank % 2 ? even : odd);
    }
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
}

/* The memory of one that was freed is the next one's: with the same ranks, and others. */
static void after_each_other(void)
{
    for (int i = 0; i < 200; i++) {
        MPI_Comm part;
        int flag = flag_of(rank, i), ranks, me;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, i % 3 ? rank % (i % 3) : 0, rank, &part));
        MPI(MPI_Comm_size(part, &ranks));
        MPI(MPI_Comm_rank(part, &me));
        if (i % 5) {
            flag = flag_of(me, i);
            MPI(MPIX_Comm_agree(part, &flag));
            CHECK_INT(flag, flags_of(0, ranks, i));
        }
        MPI(MPI_Comm_free(&part));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm duplicate;
    start(&argc, &argv);
    all_forms(MPI_COMM_WORLD);
    all_forms(MPI_COMM_SELF);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
    all_forms(duplicate);
    MPI(MPI_Comm_free(&duplicate));
    waits_for_all();
    of_both_groups(0);
    of_both_groups(1);
    after_each_other();
    return finish();
}
