/* Predefined attributes on communicators that come from a session: MPI_TAG_UB, and none of those of the world
 * (MPI 5.0, 9.1.2), whether there is a world or not. */
#include "check.h"

static const int of_world[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE, MPI_APPNUM};

static void only_tag_ub(MPI_Comm comm)
{
    int *value, flag = -1, mine = 5, key;
    MPI(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(*value >= 32767);
    for (size_t i = 0; i < sizeof of_world / sizeof *of_world; i++) {
        flag = -1;
        MPI(MPI_Comm_get_attr(comm, of_world[i], &value, &flag));
        if (flag)
            check_failed(__FILE__, __LINE__, "predefined attribute %zu has flag %d", i, flag);
        CHECK_CLASS(MPI_Comm_set_attr(comm, of_world[i], &mine), MPI_ERR_KEYVAL);
        flag = -1;
        MPI(MPI_Attr_get(comm, of_world[i], &value, &flag));
        CHECK_INT(flag, 0);
    }
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    MPI(MPI_Comm_set_attr(comm, key, &mine));
    MPI(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK(flag && value == &mine);
    MPI(MPI_Comm_delete_attr(comm, key));
    MPI(MPI_Comm_free_keyval(&key));
}

static void session(const char *tag)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, dup;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Group_free(&group));
    only_tag_ub(comm);
    MPI(MPI_Comm_dup(comm, &dup));
    only_tag_ub(dup);
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    int *value, flag;
    watchdog(argv[0]);
    session("alone");
    start(&argc, &argv);
    session("beside the world");
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (size_t i = 0; i < sizeof of_world / sizeof *of_world; i++) {
        int world = -1;
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, of_world[i], &value, &world));
        MPI(MPI_Comm_get_attr(dup, of_world[i], &value, &flag));
        CHECK_INT(flag, world);
        CHECK(world == 1 || of_world[i] == MPI_APPNUM || of_world[i] == MPI_UNIVERSE_SIZE);
    }
    MPI(MPI_Comm_free(&dup));
    return finish();
}
