/* A random program: from a seed all ranks make the same plan of messages, collective operations and communicators, execute it each in
 * an order of its own, and verify every byte, status and order of what they receive.
 *
 *     program SEED ROUNDS [LANES [NAME=VALUE...]]
 *
 * Each lane is a thread with communicators of its own and one that it shares with the others (MPI_THREAD_MULTIPLE). To narrow a fault
 * down: kinds=BITS (lane.h), largest=BYTES, lane=N (only that one runs), from=ROUND (earlier rounds only make and free communicators).
 * RANDOM_CONTINUE: go on after a fault. RANDOM_TRACE: each step on standard error.
 */
#include "threads.h"

#include "messages.h"
#include "parts.h"

static uint64_t program_seed;
static int rounds, lanes = 1;
static MPI_Comm common, controls[64];
static struct lane totals[64];
static MPI_Session session;

static struct communicator whole(MPI_Comm handle)
{
    struct communicator c = {.handle = handle, .live = 1, .kept = 1, .copies = -1};
    c.size[0] = size;
    for (int i = 0; i < size; i++)
        c.world[0][i] = i;
    find_self(&c);
    return c;
}

/* A session of this rank's own that begins and ends beside everything else. */
static void short_session(struct lane *l)
{
#if MPI_VERSION >= 4
    MPI_Session own;
    MPI_Group group;
    MPI_Comm comm;
    int out = pick(&l->own, 1000), in = -1;
    char tag[40];
    if (reference)
        return;
    snprintf(tag, sizeof tag, "own-%d-%d", l->id, l->round);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own));
    MPI(MPI_Group_from_session_pset(own, "mpi://SELF", &group));
    MPI(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, 0, 7, &in, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE));
    if (in != out)
        complain(l, "a session of its own received %d, expected %d", in, out);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Session_finalize(&own));
#else
    (void) l;
#endif
}

static void *run_lane(void *argument)
{
    struct lane *l = &totals[(intptr_t) argument];
    int id = (int) (intptr_t) argument;
    *l = (struct lane) {.id = id, .lanes = lanes, .seed = program_seed, .session = session};
    MPI(MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &l->key, NULL));
    l->pool[0] = whole(controls[id]);
    if (lanes > 1) {
        l->pool[1] = whole(common);
        l->pool[1].shared = 1;
    }
    if (id == 0)
        l->pool[2] = whole(MPI_COMM_WORLD);
    for (l->round = 0; l->round < rounds; l->round++) {
        int execute = l->round >= first_round;
        uint64_t here = mix(program_seed, (uint64_t) l->round * 64 + (uint64_t) id);
        l->plan = here;
        l->own = mix(here, (uint64_t) rank + 1);
        int constructors = pick(&l->plan, 3), parted = once_in(&l->plan, 8);
        if (once_in(&l->own, 10))
            short_session(l);
        for (int i = 0; i < constructors && (wanted_kinds & CONSTRUCTORS); i++)
            round_of_communicators(l);
        if (parted && (wanted_kinds & PARTITIONED))
            round_of_parts(l, execute);
        else
            round_of_messages(l, execute);
        l->rounds++;
    }
    for (int i = POOL - 1; i > 0; i--)
        if (l->pool[i].live && !l->pool[i].kept && l->pool[i].side >= 0)
            MPI(MPI_Comm_free(&l->pool[i].handle));
    MPI(MPI_Comm_free_keyval(&l->key));
    return NULL;
}

static void options(int argc, char **argv)
{
    program_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 20;
    lanes = argc > 3 ? atoi(argv[3]) : 1;
    for (int i = 4; i < argc; i++) {
        if (!strncmp(argv[i], "kinds=", 6))
            wanted_kinds = (int) strtol(argv[i] + 6, NULL, 0);
        else if (!strncmp(argv[i], "largest=", 8))
            largest = strtoull(argv[i] + 8, NULL, 0);
        else if (!strncmp(argv[i], "lane=", 5))
            only_lane = atoi(argv[i] + 5);
        else if (!strncmp(argv[i], "from=", 5))
            first_round = atoi(argv[i] + 5);
        else
            fprintf(stderr, "%s is not understood\n", argv[i]);
    }
}

/* Below MPI_THREAD_MULTIPLE or not: ranks need not agree. */
static void start_at_any_level(int *argc, char ***argv)
{
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    const char *number = getenv("PMI_RANK");
    uint64_t random = mix(program_seed, number ? strtoull(number, NULL, 10) : 0);
    int provided;
    watchdog((*argv)[0]);
    MPI(MPI_Init_thread(argc, argv, once_in(&random, 2) ? MPI_THREAD_SINGLE : levels[pick(&random, 4)], &provided));
    check_ranks();
}

int main(int argc, char **argv)
{
    int *limit, flag;
    options(argc, argv);
    tracing = getenv("RANDOM_TRACE") != NULL;
    if (lanes > 1)
        start_multiple(&argc, &argv);
    else
        start_at_any_level(&argc, &argv);
    if (size > RANKS || lanes > 64) {
        fprintf(stderr, "at most %d ranks and 64 lanes\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &flag));
    tag_limit = *limit;
    if (slow()) {
        rounds = rounds / 6 + 1;
        largest = largest > 40000 ? 40000 : largest;
    }
    reductions_start();
    size_t buffer = ((size_t) 4 << 20) * (size_t) lanes;
    void *attached = malloc(buffer);
    MPI(MPI_Buffer_attach(attached, (int) buffer));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &common));
    for (int i = 0; i < lanes; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &controls[i]));
#if MPI_VERSION >= 4
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
#endif
    if (only_lane >= 0)
        run_lane((void *) (intptr_t) only_lane);
    else if (lanes > 1)
        run_threads(lanes, run_lane);
    else
        run_lane((void *) 0);
#if MPI_VERSION >= 4
    MPI(MPI_Session_finalize(&session));
#endif
    uint64_t mine[7] = {0}, all[7];
    for (int i = 0; i < lanes; i++) {
        const uint64_t of[7] = {totals[i].messages, totals[i].bytes, totals[i].collectives, totals[i].communicators, totals[i].cancelled,
                                totals[i].partitions, totals[i].rounds};
        for (int k = 0; k < 7; k++)
            mine[k] += of[k];
        MPI(MPI_Comm_free(&controls[i]));
    }
    MPI(MPI_Comm_free(&common));
    MPI(MPI_Reduce(mine, all, 7, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    int detached;
    void *back;
    MPI(MPI_Buffer_detach(&back, &detached));
    free(attached);
    reductions_end();
    if (rank == 0)
        printf("checked: messages %llu bytes %llu collectives %llu communicators %llu cancelled %llu partitions %llu rounds %llu\n",
               (unsigned long long) all[0], (unsigned long long) all[1], (unsigned long long) all[2], (unsigned long long) all[3] / (unsigned) size,
               (unsigned long long) all[4], (unsigned long long) all[5], (unsigned long long) all[6] / (unsigned) size);
    return finish();
}
