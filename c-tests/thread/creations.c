/* Several threads make and free communicators in every way at one time: dup, idup (several outstanding), split, create_group of
 * MPI_COMM_WORLD by all threads with a tag each. What a thread does is random and the same on all its ranks. Each new communicator
 * is used before and after others come and go.
 *
 *     creations ROUNDS THREADS SEED    less than zero rounds: so many seconds */
#include "threads.h"

enum { MOST = 8, LIVE = 12, PENDING = 6 };
static MPI_Comm comms[MOST];
static int rounds = 40;
static uint64_t seed = 1;

struct own {
    int thread, live;
    MPI_Comm comm[LIVE]; /* MPI_COMM_NULL where this rank is no member */
};

/* Ranks of each communicator add what tells them apart. */
static void use(MPI_Comm comm, int value)
{
    int ranks, sum = 0, greatest = -1;
    if (comm == MPI_COMM_NULL)
        return;
    MPI(MPI_Comm_size(comm, &ranks));
    MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, value * ranks);
    MPI(MPI_Allreduce(&value, &greatest, 1, MPI_INT, MPI_MAX, comm));
    CHECK_INT(greatest, value);
}

static void keep(struct own *own, MPI_Comm comm, int round)
{
    use(comm, own->thread * 100000 + round);
    own->comm[own->live++] = comm;
}

static void drop(struct own *own, int at)
{
    if (own->comm[at] != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&own->comm[at]));
    own->comm[at] = own->comm[--own->live];
}

static void idup_many(struct own *own, MPI_Comm parent, uint64_t order, int round)
{
    MPI_Comm made[PENDING];
    MPI_Request requests[PENDING];
    for (int i = 0; i < PENDING; i++)
        MPI(MPI_Comm_idup(parent, &made[i], &requests[i]));
    for (int i = 0; i < PENDING; i++) { /* some order, which the ranks do not share */
        int at = (int) ((i + order + (uint64_t) rank) % PENDING);
        MPI(MPI_Wait(&requests[at], MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < PENDING; i++)
        use(made[i], own->thread * 100000 + round * 10 + i);
    for (int i = 0; i < PENDING; i++)
        MPI(MPI_Comm_free(&made[i]));
}

static MPI_Comm group_of_world(struct own *own, uint64_t choice)
{
    int members[64], count = 0, is_member = 0;
    MPI_Group world, group;
    MPI_Comm made = MPI_COMM_NULL;
    for (int i = 0; i < size && i < 64; i++)
        if (choice >> i & 1 || size == 1)
            members[count++] = i, is_member |= i == rank;
    if (!is_member)
        return made;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_incl(world, count, members, &group));
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, own->thread, &made));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&world));
    return made;
}

static void *create(void *number)
{
    struct own own = {(int) (intptr_t) number, 0, {MPI_COMM_NULL}};
    uint64_t state = seed * 1000 + (uint64_t) own.thread;
    for (int round = 0; !is_over(comms[own.thread], round, rounds); round++) {
        MPI_Comm made = MPI_COMM_NULL, parent = comms[own.thread];
        /* All ranks draw the same numbers, whether they are members or not. */
        uint64_t what = next_random(&state) % 5, choice = next_random(&state), which = next_random(&state);
        if (own.live == LIVE || (own.live && what == 4)) {
            drop(&own, (int) (choice % (uint64_t) own.live));
            if (what == 4)
                continue;
        }
        if (own.live && which % 3 == 0)
            parent = own.comm[which / 3 % (uint64_t) own.live];
        if (what == 0 && parent != MPI_COMM_NULL)
            MPI(MPI_Comm_dup(parent, &made));
        else if (what == 1 && parent != MPI_COMM_NULL)
            MPI(MPI_Comm_split(parent, choice >> rank & 1 ? 1 : MPI_UNDEFINED, 0, &made));
        else if (what == 2)
            made = group_of_world(&own, choice);
        else if (what == 3 && parent != MPI_COMM_NULL)
            idup_many(&own, parent, choice, round);
        keep(&own, made, round);
    }
    while (own.live)
        drop(&own, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int threads = argc > 2 ? atoi(argv[2]) : 3;
    if (argc > 1)
        rounds = slow() ? 10 : atoi(argv[1]);
    if (argc > 3)
        seed = (uint64_t) atoi(argv[3]);
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(threads, create);
    for (int i = 0; i < threads; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
