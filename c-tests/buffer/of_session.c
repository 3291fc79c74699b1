/* The buffer of a session serves the communicators that come from it, through groups and other communicators, and no other;
 * one that has a buffer of its own uses that. Without either the buffer of the process serves (MPI 5.0, 3.6); a session's
 * end leaves none of it behind. */
#include "check.h"

static char space[2][4000 + MPI_BSEND_OVERHEAD], world_space[100 + MPI_BSEND_OVERHEAD], payload[3000], incoming[3000];

/* Whether a buffered send of 3000 bytes finds room. */
static int has_room(MPI_Comm comm)
{
    int code = MPI_Bsend(payload, sizeof payload, MPI_CHAR, 0, 1, comm), me;
    MPI(MPI_Comm_rank(comm, &me));
    if (code != MPI_SUCCESS) {
        CHECK_CLASS(code, MPI_ERR_BUFFER);
        return 0;
    }
    if (me == 0) {
        int n;
        MPI(MPI_Comm_size(comm, &n));
        for (int i = 0; i < n; i++)
            MPI(MPI_Recv(incoming, sizeof incoming, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Barrier(comm));
    return 1;
}

/* The process's buffer, on communicators of sessions: persistent and nonblocking sends too. */
static void of_process(MPI_Comm comm, MPI_Comm dup, MPI_Session session)
{
    static char large[4000 + MPI_BSEND_OVERHEAD];
    MPI_Request request;
    void *address;
    int bytes;
    CHECK_INT(has_room(comm), 0);
    MPI(MPI_Buffer_attach(large, sizeof large));
    CHECK_INT(has_room(comm), 1);
    MPI(MPI_Buffer_flush());
    CHECK_INT(has_room(dup), 1);
    MPI(MPI_Buffer_flush());
    MPI(MPI_Ibsend(payload, sizeof payload, MPI_CHAR, MPI_PROC_NULL, 1, comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Bsend_init(payload, sizeof payload, MPI_CHAR, MPI_PROC_NULL, 1, comm, &request));
    MPI(MPI_Start(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    /* A small one of the session comes first, although there is no room in it. */
    MPI(MPI_Session_attach_buffer(session, world_space, sizeof world_space));
    CHECK_INT(has_room(comm), 0);
    MPI(MPI_Session_detach_buffer(session, &address, &bytes));
    CHECK_INT(has_room(comm), 1);
    MPI(MPI_Buffer_detach(&address, &bytes));
    CHECK(address == large);
    CHECK_INT(bytes, sizeof large);
    CHECK_INT(has_room(comm), 0);
}

/* Sessions only: the process's buffer serves, and is gone with the last session. */
static void without_world(int round)
{
    static char large[4000 + MPI_BSEND_OVERHEAD];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, round ? "second" : "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Group_free(&group));
    CHECK_INT(has_room(comm), 0);
    MPI(MPI_Buffer_attach(large, sizeof large));
    CHECK_INT(has_room(comm), 1);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MPI_Session session, other;
    MPI_Group group, part;
    MPI_Comm comm, others, dup, split, created, cart;
    void *address;
    int bytes, dims = 0, periods = 0;
    watchdog(argv[0]);
    without_world(0);
    without_world(1);
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Group_incl(group, 1, &(int){0}, &part));
    MPI(MPI_Group_union(part, group, &part));
    MPI(MPI_Comm_create_from_group(part, "one", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&part));
    MPI(MPI_Group_from_session_pset(other, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, "other", MPI_INFO_NULL, MPI_ERRORS_RETURN, &others));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Comm_dup(comm, &dup));
    MPI(MPI_Comm_split(dup, 0, 0, &split));
    MPI(MPI_Comm_group(split, &group));
    MPI(MPI_Comm_create(split, group, &created));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Dims_create(size, 1, &dims));
    MPI(MPI_Cart_create(created, 1, &dims, &periods, 0, &cart));

    CHECK_INT(has_room(comm), 0);
    MPI(MPI_Buffer_attach(world_space, sizeof world_space));
    CHECK_INT(has_room(comm), 0);
    MPI(MPI_Session_attach_buffer(session, space[0], sizeof space[0]));
    CHECK_INT(has_room(comm), 1);
    MPI(MPI_Session_flush_buffer(session));
    CHECK_INT(has_room(dup), 1);
    MPI(MPI_Session_flush_buffer(session));
    CHECK_INT(has_room(split), 1);
    MPI(MPI_Session_flush_buffer(session));
    CHECK_INT(has_room(created), 1);
    MPI(MPI_Session_flush_buffer(session));
    CHECK_INT(has_room(cart), 1);
    MPI(MPI_Session_flush_buffer(session));
    CHECK_INT(has_room(others), 0);
    CHECK_INT(has_room(MPI_COMM_WORLD), 0);
    MPI(MPI_Comm_attach_buffer(others, space[1], sizeof space[1]));
    CHECK_INT(has_room(others), 1);
    MPI(MPI_Comm_detach_buffer(others, &address, &bytes));
    CHECK_INT(has_room(others), 0);
    MPI(MPI_Session_detach_buffer(session, &address, &bytes));
    CHECK(address == space[0]);
    CHECK_INT(has_room(cart), 0);
    MPI(MPI_Buffer_detach(&address, &bytes));
    of_process(comm, dup, session);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_free(&others));
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Comm_free(&split));
    MPI(MPI_Comm_free(&created));
    MPI(MPI_Comm_free(&cart));
    MPI(MPI_Session_finalize(&session));
    MPI(MPI_Session_finalize(&other));
    return finish();
}
