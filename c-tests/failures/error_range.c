/* The hint mpi_error_range: a death revokes communicators that have the dead (group), all that there are (universe), or none (local). Arguments:
 * the range, how the communicator gets the hint, and how its processes wait. */
#include "revoked.h"

static MPI_Comm with, without, self;

static void check_hint(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[20] = "";
    int flag;
    MPI(MPI_Comm_get_info(comm, &info));
    MPI(MPI_Info_get(info, key, 19, value, &flag));
    CHECK(flag);
    CHECK_STRING(value, expected);
    MPI(MPI_Info_free(&info));
}

/* A duplicate, or an intercommunicator, of `from` with this range. */
static MPI_Comm make(MPI_Comm from, MPI_Info info, const char *how)
{
    MPI_Comm new;
    if (!strcmp(how, "dup")) {
        MPI(MPI_Comm_dup_with_info(from, info, &new));
    } else if (!strcmp(how, "idup")) {
        MPI_Request request;
        MPI(MPI_Comm_idup_with_info(from, info, &new, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (!strcmp(how, "inter")) {
        MPI_Comm half;
        int r, n;
        MPI(MPI_Comm_rank(from, &r));
        MPI(MPI_Comm_size(from, &n));
        MPI(MPI_Comm_split(from, r % 2, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, from, !(r % 2), 3, &new));
        MPI(MPI_Comm_free(&half));
        MPI(MPI_Comm_set_info(new, info));
    } else {
        MPI(MPI_Comm_dup(from, &new));
        MPI(MPI_Comm_set_info(new, info));
    }
    MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
    return new;
}

/* Waits on a communicator for a process that lives, which sends nothing. */
static int wait_on(MPI_Comm comm, const char *how)
{
    int x, r, flag = 0, inter, code;
    MPI_Request request;
    MPI(MPI_Comm_test_inter(comm, &inter));
    MPI(MPI_Comm_rank(comm, &r));
    int peer = inter ? 0 : !r;
    if (!strcmp(how, "recv"))
        return MPI_Recv(&x, 1, MPI_INT, peer, 4, comm, MPI_STATUS_IGNORE);
    if (!strcmp(how, "ssend"))
        return MPI_Ssend(&x, 1, MPI_INT, peer, 4, comm);
    if (!strcmp(how, "loop")) {
        while (!(code = MPI_Iprobe(peer, 4, comm, &flag, MPI_STATUS_IGNORE)))
            CHECK(!flag);
        return code;
    }
    if ((code = MPI_Irecv(&x, 1, MPI_INT, peer, 4, comm, &request)))
        return code;
    while (!(code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE)))
        CHECK(!flag);
    CHECK(request == MPI_REQUEST_NULL);
    return code;
}

static int is_revoked(MPI_Comm comm)
{
    int flag;
    MPI(MPIX_Comm_is_revoked(comm, &flag));
    return flag;
}

/* Two that live exchange something. */
static void check_works(MPI_Comm comm)
{
    int r, out = 5, in = 0, inter;
    MPI(MPI_Comm_test_inter(comm, &inter));
    MPI(MPI_Comm_rank(comm, &r));
    if (r < 2 && !inter)
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, !r, 6, &in, 1, MPI_INT, !r, 6, comm, MPI_STATUS_IGNORE));
    else if (r == 0)
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, 0, 6, &in, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE));
    else
        return;
    CHECK_INT(in, 5);
}

int main(int argc, char **argv)
{
    MPI_Comm living, half, late;
    MPI_Info info;
    start_failing(&argc, &argv);
    const char *range = argv[1], *how = argv[2], *waits = argv[3];
    int is_local = !strcmp(range, "local"), is_universe = !strcmp(range, "universe");
    MPI(MPI_Info_create(&info));
    /* Another value is passed over. */
    MPI(MPI_Info_set(info, "mpi_error_range", "galaxy"));
    MPI(MPI_Comm_set_info(MPI_COMM_WORLD, info));
    MPI(MPI_Info_set(info, "mpi_error_range", range));
    MPI(MPI_Info_set(info, "mpi_error_uniform", "collective"));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == last, 0, &living));
    with = make(MPI_COMM_WORLD, info, how);
    if (rank != last) {
        without = make(living, info, how);
        self = make(MPI_COMM_SELF, info, strcmp(how, "inter") ? how : "set");
    }
    check_hint(with, "mpi_error_range", range);
    check_hint(with, "mpi_error_uniform", "local");
    check_hint(MPI_COMM_WORLD, "mpi_error_range", "local");
    /* Calls on communicators without the hint do not need the dead. */
    MPI(MPI_Comm_dup(with, &half));
    check_hint(half, "mpi_error_range", "local");
    MPI(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    if (is_local) {
        last_is_dead("kill");
        CHECK(!is_revoked(with) && !is_revoked(without) && !is_revoked(self));
        check_works(with);
        check_works(without);
    } else {
        last_dies("kill");
        REVOKED(wait_on(with, waits));
        check_raises(with);
        check_local(with);
        check_recovers(with);
        if (is_universe) {
            await_revocation(without);
            await_revocation(self);
            check_raises(without);
        } else {
            CHECK(!is_revoked(without) && !is_revoked(self));
            check_works(without);
        }
        /* A communicator that is made later: the death counts. */
        MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        MPI(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &late));
        MPI(MPI_Comm_set_errhandler(late, MPI_ERRORS_RETURN));
        CHECK_INT(is_revoked(late), is_universe);
        MPI(MPI_Comm_free(&late));
    }
    CHECK(!is_revoked(MPI_COMM_WORLD) && !is_revoked(half));
    check_works(half);
    MPI(MPI_Barrier(living));
    MPI(MPI_Comm_set_info(half, info));
    CHECK_INT(is_revoked(half), !is_local);
    MPI(MPI_Info_free(&info));
    MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_free(&with));
    MPI(MPI_Comm_free(&without));
    MPI(MPI_Comm_free(&self));
    MPI(MPI_Comm_free(&living));
    return finish();
}
