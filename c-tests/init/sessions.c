/* Sessions without MPI_Init: several rounds of init and finalize, each with communicators from process sets, messages between
 * all ranks, a communicator of half of them, intercommunicators; the world model between and after them. */
#include "check.h"

static MPI_Session session;

static void names(int expected_world)
{
    int count, length, flag, found_world = 0, found_self = 0;
    char name[MPI_MAX_PSET_NAME_LEN], value[16];
    MPI_Info info;
    MPI(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        length = 0;
        MPI(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 0 && length < MPI_MAX_PSET_NAME_LEN);
        MPI(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        CHECK_INT(length, strlen(name) + 1);
        MPI(MPI_Session_get_pset_info(session, name, &info));
        length = sizeof value;
        MPI(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
        CHECK_INT(flag, 1);
        MPI(MPI_Info_free(&info));
        if (!strcmp(name, "mpi://WORLD")) {
            found_world = 1;
            CHECK_INT(atoi(value), expected_world);
        }
        if (!strcmp(name, "mpi://SELF")) {
            found_self = 1;
            CHECK_INT(atoi(value), 1);
        }
    }
    CHECK_INT(found_world + found_self, 2);
}

static MPI_Comm from_set(const char *name, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI(MPI_Group_from_session_pset(session, name, &group));
    MPI(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Group_free(&group));
    return comm;
}

/* What a communicator of all ranks can do. */
static void use(MPI_Comm all, int round)
{
    int sum = 0, value, *attribute, flag, me, n, next, before;
    MPI_Comm half, inter, merged;
    MPI_Group group, low, high;
    MPI(MPI_Comm_rank(all, &me));
    MPI(MPI_Comm_size(all, &n));
    rank = me;
    next = (me + 1) % n;
    before = (me + n - 1) % n;
    MPI(MPI_Comm_get_attr(all, MPI_TAG_UB, &attribute, &flag));
    CHECK_INT(flag, 1);
    CHECK(*attribute >= 32767);
    MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_INT(sum, n * (n - 1) / 2);
    value = me * 100 + round;
    MPI(MPI_Sendrecv_replace(&value, 1, MPI_INT, next, 3, before, 3, all, MPI_STATUS_IGNORE));
    CHECK_INT(value, before * 100 + round);
    MPI(MPI_Comm_split(all, me % 2, 0, &half));
    MPI(MPI_Barrier(half));
    MPI(MPI_Comm_free(&half));
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, n, 0, all), MPI_ERR_RANK);
    if (n < 2)
        return;
    MPI(MPI_Comm_group(all, &group));
    int range[1][3] = {{0, n / 2 - 1, 1}};
    MPI(MPI_Group_range_incl(group, 1, range, &low));
    MPI(MPI_Group_difference(group, low, &high));
    MPI(MPI_Intercomm_create_from_groups(me < n / 2 ? low : high, 0, me < n / 2 ? high : low, 0, "sides", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    MPI(MPI_Intercomm_merge(inter, me >= n / 2, &merged));
    MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK_INT(sum, n * (n - 1) / 2);
    MPI(MPI_Comm_free(&merged));
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&low));
    MPI(MPI_Group_free(&high));
}

/* Of the kinds of memory that a program asks for it is told those that are supported, and of other hints none that are not known. */
static void memory_kinds(void)
{
    MPI_Session other;
    MPI_Info info;
    char value[64] = "";
    int length = sizeof value, flag;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi,system,cuda:device"));
    MPI(MPI_Info_set(info, "such_a_key", "true"));
    MPI(MPI_Session_init(info, MPI_ERRORS_RETURN, &other));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Session_get_info(other, &info));
    MPI(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag));
    CHECK(flag && !strcmp(value, "mpi,system"));
    MPI(MPI_Info_get_string(info, "such_a_key", &length, value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Info_free(&info));
    MPI(MPI_Session_finalize(&other));
}

static void one_round(int round, int ranks)
{
    MPI_Comm all, alone;
    MPI_Info info;
    char value[64];
    int length = sizeof value, flag, n;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Session_get_info(session, &info));
    MPI(MPI_Info_get_string(info, "thread_level", &length, value, &flag));
    CHECK_INT(flag, 1);
    CHECK(!strncmp(value, "MPI_THREAD_", 11));
    MPI(MPI_Info_free(&info));
    memory_kinds();
    names(ranks);
    all = from_set("mpi://WORLD", "all");
    use(all, round);
    alone = from_set("mpi://SELF", "alone");
    MPI(MPI_Comm_size(alone, &n));
    CHECK_INT(n, 1);
    MPI(MPI_Comm_free(&alone));
    /* One rank is late: the others have finalized, and begun the next round, before it has. */
    if (round % 3 == 1 && rank == 0)
        usleep(200000);
    MPI(MPI_Comm_free(&all));
    MPI(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
    int flag, ranks = atoi(getenv("C_SUITE_SIZE") ? getenv("C_SUITE_SIZE") : "1");
    int with_world = argc > 1 && strchr(argv[1], 'w') != NULL;
    MPI_Session outer;
    watchdog(argv[0]);
    for (int round = 0; round < 4; round++) {
        one_round(round, ranks);
        MPI(MPI_Initialized(&flag));
        CHECK_INT(flag, 0);
    }
    if (with_world) {
        MPI_Comm all;
        /* open across the whole life of the world model */
        MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &outer));
        session = outer;
        all = from_set("mpi://WORLD", "outer");
        MPI(MPI_Init(NULL, NULL));
        check_ranks();
        one_round(10, ranks);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Finalize());
        MPI(MPI_Finalized(&flag));
        CHECK_INT(flag, 1);
        use(all, 11);
        one_round(12, ranks);
        MPI(MPI_Comm_free(&all));
        MPI(MPI_Session_finalize(&outer));
        one_round(13, ranks);
        MPI(MPI_Initialized(&flag));
        CHECK_INT(flag, 1);
    }
    session = MPI_SESSION_NULL;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI_Comm all = from_set("mpi://WORLD", "end");
    MPI(MPI_Comm_rank(all, &rank));
    MPI(MPI_Comm_size(all, &size));
    CHECK_INT(size, ranks);
    MPI(MPI_Comm_free(&all));
    MPI(MPI_Session_finalize(&session));
    return conclude();
}
