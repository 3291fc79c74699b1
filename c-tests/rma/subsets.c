/* Windows of communicators whose ranks are some of MPI_COMM_WORLD's, and in another order: all flavours, all ways of synchronisation. The
 * targets are the communicator's ranks, those of groups any. arg: rounds. */
#include "near.h"

enum { WORDS = 64, FLAVOURS = 4 };

static MPI_Comm comm;
static MPI_Win win;
static int me, ranks, world_of[64];
static int64_t own_memory[WORDS], *cells;
static MPI_Aint at[64]; /* where each rank's memory begins */

static void make(int flavour)
{
    MPI_Aint address = 0;
    cells = own_memory;
    if (flavour == 2 && !share_memory(comm))
        flavour = 0;
    switch (flavour) {
    case 0: MPI(MPI_Win_allocate(sizeof own_memory, 8, MPI_INFO_NULL, comm, &cells, &win)); break;
    case 1: MPI(MPI_Win_create(cells, sizeof own_memory, 8, MPI_INFO_NULL, comm, &win)); break;
    case 2: MPI(MPI_Win_allocate_shared(sizeof own_memory, 8, MPI_INFO_NULL, comm, &cells, &win)); break;
    default:
        MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
        MPI(MPI_Win_attach(win, cells, sizeof own_memory));
        MPI(MPI_Get_address(cells, &address));
    }
    memset(cells, 0, sizeof own_memory);
    MPI(MPI_Allgather(&address, 1, MPI_AINT, at, 1, MPI_AINT, comm));
}

static MPI_Aint word(int flavour, int target, int index)
{
    return flavour == 3 ? MPI_Aint_add(at[target], 8 * index) : index;
}

/* To a rank: who this process is, in a place of its own, and one more in a common place. */
static void operate(int flavour, int target, int64_t *mark)
{
    static const int64_t one = 1;
    MPI(MPI_Put(mark, 1, MPI_INT64_T, target, word(flavour, target, me), 1, MPI_INT64_T, win));
    MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, target, word(flavour, target, 63), 1, MPI_INT64_T, MPI_SUM, win));
}

static void one_round(int flavour, int round)
{
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks, worlds[2] = {world_of[next], world_of[before]};
    int64_t mark = 1000 * round + rank, got = -1;
    MPI_Group world, to, from;
    cells[63] = 0;
    MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    for (int target = 0; target < ranks; target++)
        operate(flavour, target, &mark);
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int r = 0; r < ranks; r++)
        CHECK_INT(cells[r], 1000 * round + world_of[r]);
    CHECK_INT(cells[63], ranks);
    /* groups made of MPI_COMM_WORLD */
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_incl(world, 1, &worlds[0], &to));
    MPI(MPI_Group_incl(world, 1, &worlds[1], &from));
    cells[before] = 0;
    MPI(MPI_Win_post(from, 0, win));
    MPI(MPI_Win_start(to, 0, win));
    operate(flavour, next, &mark);
    MPI(MPI_Win_complete(win));
    MPI(MPI_Win_wait(win));
    CHECK_INT(cells[before], 1000 * round + world_of[before]);
    CHECK_INT(cells[63], ranks + 1);
    MPI(MPI_Group_free(&world));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
    MPI(MPI_Barrier(comm));
    int last = ranks - 1;
    mark = -mark;
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win));
    MPI(MPI_Get(&got, 1, MPI_INT64_T, last, word(flavour, last, 63), 1, MPI_INT64_T, win));
    MPI(MPI_Win_flush(last, win));
    got++;
    MPI(MPI_Put(&got, 1, MPI_INT64_T, last, word(flavour, last, 63), 1, MPI_INT64_T, win));
    MPI(MPI_Win_unlock(last, win));
    MPI(MPI_Win_lock_all(0, win));
    operate(flavour, next, &mark);
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(comm));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    CHECK_INT(cells[before], -1000 * round - world_of[before]);
    CHECK_INT(cells[63], ranks + 2 + (me == last ? ranks : 0));
    MPI(MPI_Win_unlock(me, win));
    MPI(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 8;
    start(&argc, &argv);
    for (int kind = 0; kind < 4; kind++) {
        /* backwards; halves; every third, backwards; from the middle */
        int colour = kind == 1 ? rank % 2 : kind == 2 ? rank % 3 : 0, key = kind == 1 ? rank : kind == 3 ? (rank + size / 2) % size : -rank;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm));
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &ranks));
        MPI(MPI_Allgather(&rank, 1, MPI_INT, world_of, 1, MPI_INT, comm));
        for (int flavour = 0; flavour < FLAVOURS; flavour++) {
            make(flavour);
            for (int round = 1; round <= rounds; round++)
                one_round(flavour, round);
            if (flavour == 3)
                MPI(MPI_Win_detach(win, cells));
            MPI(MPI_Win_free(&win));
        }
        MPI(MPI_Comm_free(&comm));
    }
    return finish();
}
