/* Process sets that mpiexec was told: -pset even=0-3:2 -pset app://two=1,0 -pset all=all, on 4 ranks; without it, none. */
#include "check.h"

static int size_of(MPI_Session session, const char *name)
{
    MPI_Info info;
    char value[16] = "";
    int length = sizeof value, flag;
    MPI(MPI_Session_get_pset_info(session, name, &info));
    MPI(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    MPI(MPI_Info_free(&info));
    return atoi(value);
}

static int has(MPI_Session session, const char *wanted)
{
    int count, found = 0;
    MPI(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    for (int i = 0; i < count; i++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name;
        MPI(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        found += !strcmp(name, wanted);
    }
    return found;
}

/* Names are URIs: case does not matter in scheme and host (RFC 3986). */
static void any_case(MPI_Session session)
{
    static const char *const names[][2] = {
        {"mpi://world", "mpi://WORLD"}, {"MPI://WORLD", "mpi://WORLD"}, {"Mpi://Self", "mpi://SELF"}, {"mpi://self", "mpi://SELF"}};
    MPI_Group group, same;
    int result;
    for (int i = 0; i < 4; i++) {
        CHECK_INT(size_of(session, names[i][0]), size_of(session, names[i][1]));
        MPI(MPI_Group_from_session_pset(session, names[i][0], &group));
        MPI(MPI_Group_from_session_pset(session, names[i][1], &same));
        MPI(MPI_Group_compare(group, same, &result));
        CHECK_INT(result, MPI_IDENT);
        MPI(MPI_Group_free(&group));
        MPI(MPI_Group_free(&same));
    }
    CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://WORLDS", &group), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int count, sum = 0, me, ranks[2], world_ranks[2] = {0, 1};
    start(&argc, &argv);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    if (!reference) /* MPICH 4.0.2 knows its own spelling only. */
        any_case(session);
    if (argc == 1) {
        CHECK_INT(count, 2);
        CHECK_CLASS(MPI_Group_from_session_pset(session, "even", &group), MPI_ERR_ARG);
        MPI(MPI_Session_finalize(&session));
        return finish();
    }
    CHECK_INT(has(session, "mpi://WORLD"), 1);
    CHECK_INT(has(session, "mpi://SELF"), 1);
    CHECK_INT(has(session, "all"), 1);
    CHECK_INT(has(session, "even"), rank % 2 == 0); /* only those that the process is in */
    CHECK_INT(has(session, "app://two"), rank < 2);
    CHECK_INT(count, 3 + (rank % 2 == 0) + (rank < 2));
    CHECK_INT(size_of(session, "even"), 2);
    CHECK_INT(size_of(session, "app://two"), 2);
    CHECK_INT(size_of(session, "APP://TWO"), 2);
    CHECK_CLASS(MPI_Group_from_session_pset(session, "Even", &group), MPI_ERR_ARG); /* no URI */
    CHECK_INT(size_of(session, "all"), size);
    if (rank < 2) {
        MPI_Group world;
        MPI(MPI_Group_from_session_pset(session, "app://two", &group));
        MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
        MPI(MPI_Group_translate_ranks(world, 2, world_ranks, group, ranks));
        CHECK_INT(ranks[0], 1); /* in the order given */
        CHECK_INT(ranks[1], 0);
        MPI(MPI_Comm_create_from_group(group, "two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        MPI(MPI_Comm_rank(comm, &me));
        CHECK_INT(me, 1 - rank);
        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, 1);
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Group_free(&group));
        MPI(MPI_Group_free(&world));
    }
    MPI(MPI_Session_finalize(&session));
    return finish();
}
