/* What a revoked communicator is good for, and what not. */
#include "failing.h"

#define REVOKED(call) CHECK_CLASS(call, MPIX_ERR_REVOKED)

static CHECK_UNUSED void await_revocation(MPI_Comm comm)
{
    int flag = 0;
    while (!flag) {
        MPI(MPIX_Comm_is_revoked(comm, &flag));
        usleep(1000);
    }
}

/* Each call that is not local raises, also to nobody. */
static CHECK_UNUSED void check_raises(MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Win win = MPI_WIN_NULL;
    int x = 0, y = 0, flag, inter;
    for (int peer = MPI_PROC_NULL; peer <= 0; peer++) {
        REVOKED(MPI_Send(&x, 1, MPI_INT, peer, 0, comm));
        REVOKED(MPI_Ssend(&x, 1, MPI_INT, peer, 0, comm));
        REVOKED(MPI_Recv(&x, 1, MPI_INT, peer, 0, comm, &status));
        REVOKED(MPI_Sendrecv(&x, 1, MPI_INT, peer, 0, &y, 1, MPI_INT, peer, 0, comm, &status));
        REVOKED(MPI_Isend(&x, 1, MPI_INT, peer, 0, comm, &request));
        REVOKED(MPI_Irecv(&x, 1, MPI_INT, peer, 0, comm, &request));
        REVOKED(MPI_Probe(peer, 0, comm, &status));
        REVOKED(MPI_Iprobe(peer, 0, comm, &flag, &status));
        REVOKED(MPI_Mprobe(peer, 0, comm, &message, &status));
        REVOKED(MPI_Improbe(peer, 0, comm, &flag, &message, &status));
    }
    REVOKED(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    REVOKED(MPI_Barrier(comm));
    REVOKED(MPI_Bcast(&x, 1, MPI_INT, 0, comm));
    REVOKED(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm));
    REVOKED(MPI_Ibarrier(comm, &request));
    REVOKED(MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm, &request));
    REVOKED(MPI_Comm_dup(comm, &new));
    REVOKED(MPI_Comm_idup(comm, &new, &request));
    REVOKED(MPI_Comm_split(comm, 0, 0, &new));
    MPI(MPI_Comm_test_inter(comm, &inter));
    if (!inter) {
        int one = 1;
        MPI_File file;
        REVOKED(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm));
        REVOKED(MPI_Cart_create(comm, 1, &one, &one, 0, &new));
        REVOKED(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &win));
        REVOKED(MPI_File_open(comm, "/tmp/nothing", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    } else {
        REVOKED(MPI_Intercomm_merge(comm, 0, &new));
    }
    CHECK(new == MPI_COMM_NULL && win == MPI_WIN_NULL && request == MPI_REQUEST_NULL);
}

/* Local calls work. */
static CHECK_UNUSED void check_local(MPI_Comm comm)
{
    MPI_Group group;
    MPI_Errhandler handler;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int x, key, flag, *found;
    MPI(MPI_Comm_size(comm, &x));
    MPI(MPI_Comm_rank(comm, &x));
    MPI(MPI_Comm_test_inter(comm, &x));
    MPI(MPI_Comm_group(comm, &group));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Comm_set_name(comm, "lost"));
    MPI(MPI_Comm_get_name(comm, name, &x));
    CHECK_STRING(name, "lost");
    MPI(MPI_Comm_compare(comm, comm, &x));
    CHECK_INT(x, MPI_IDENT);
    MPI(MPI_Comm_get_errhandler(comm, &handler));
    MPI(MPI_Comm_set_errhandler(comm, handler));
    MPI(MPI_Errhandler_free(&handler));
    MPI(MPI_Comm_get_info(comm, &info));
    MPI(MPI_Comm_set_info(comm, info));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    MPI(MPI_Comm_set_attr(comm, key, &x));
    MPI(MPI_Comm_get_attr(comm, key, &found, &flag));
    CHECK(flag && found == &x);
    MPI(MPI_Comm_delete_attr(comm, key));
    MPI(MPI_Comm_free_keyval(&key));
    MPI(MPI_Topo_test(comm, &x));
    MPI(MPI_Pack_size(1, MPI_INT, comm, &x));
    failed_of(comm);
    MPI(MPIX_Comm_failure_ack(comm));
    acked_of(comm);
    MPI(MPIX_Comm_ack_failed(comm, 0, &x));
    MPI(MPIX_Comm_is_revoked(comm, &flag));
    CHECK_INT(flag, 1);
    MPI(MPIX_Comm_revoke(comm));
}

/* Agreement and shrinking work, and what is left works. */
static CHECK_UNUSED void check_recovers(MPI_Comm comm)
{
    MPI_Comm left = MPI_COMM_NULL, also = MPI_COMM_NULL;
    MPI_Group failed;
    MPI_Request requests[2];
    int flag = 6 | rank << 8, all = 3, n = 0, inter, members;
    MPI(MPIX_Comm_failure_ack(comm));
    MPIX_Comm_agree(comm, &flag);
    CHECK_INT(flag & 0xff, 6);
    MPI(MPIX_Comm_iagree(comm, &all, &requests[0]));
    MPI(MPIX_Comm_ishrink(comm, &also, &requests[1]));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK_INT(all, 3);
    MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MPI(MPIX_Comm_agree_failed(comm, &failed));
    ranks_once(failed);
    MPI(MPIX_Comm_shrink(comm, &left));
    for (int i = 0; i < 2; i++) {
        MPI_Comm *new = i ? &also : &left;
        int one = 1;
        MPI(MPIX_Comm_is_revoked(*new, &flag));
        CHECK_INT(flag, 0);
        MPI(MPI_Comm_test_inter(*new, &inter));
        MPI(inter ? MPI_Comm_remote_size(*new, &members) : MPI_Comm_size(*new, &members));
        MPI(MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, *new));
        CHECK_INT(n, members);
        MPI(MPI_Comm_free(new));
    }
}
