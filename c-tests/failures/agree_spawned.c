/* Agreement and shrinking between jobs: on an intercommunicator to spawned processes, and on one made of both groups. The last child dies, or the
 * last parent, before the calls or in the middle of them. Arguments: who dies ("nobody", "child", "parent"), "blocking" or "nonblocking". */
#include "agreeing.h"
#include "dying.h"
#include "spawned.h"
#include <mpi-ext.h>

enum { CHILDREN = 3 };
static int nonblocking, parents;

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* What each process says: a bit of its own is missing. Parents have the lower ones. */
static int flag_of(int of_child, int of)
{
    return ~(1 << (of_child ? 10 + of : of));
}

static int flag_of_all(int of_child, int but)
{
    int flag = -1;
    for (int of = 0; of < (of_child ? CHILDREN : parents); of++)
        if (of != but)
            flag &= flag_of(of_child, of);
    return flag;
}

/* A sum over what is left, of both groups. */
static void check_works(MPI_Comm comm, int members)
{
    int inter, sum = 0, one = 1, remote;
    MPI(MPI_Comm_test_inter(comm, &inter));
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    if (inter) {
        MPI(MPI_Comm_remote_size(comm, &remote));
        CHECK_INT(sum, remote);
        MPI(MPI_Comm_size(comm, &sum));
        CHECK_INT(sum + remote, members);
    } else {
        CHECK_INT(sum, members);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm children = MPI_COMM_NULL, merged, left, both;
    MPI_Group failed;
    MPI_Request request;
    int flag, code, count, ack;
    start_family(&argc, &argv);
    const char *who = argv[1];
    nonblocking = !strcmp(argv[2], "nonblocking");
    char *words[] = {argv[1], argv[2], NULL};
    MPI_Comm family = is_child ? parent : (children = spawn(MPI_COMM_WORLD, CHILDREN, words));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(family, MPI_ERRORS_RETURN));
    if (is_child)
        MPI(MPI_Comm_remote_size(family, &parents));
    else
        parents = size;
    MPI(MPI_Intercomm_merge(family, is_child, &merged));
    MPI(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    int all = parents + CHILDREN, child_dies = !strcmp(who, "child"), parent_dies = !strcmp(who, "parent"), dies = child_dies || parent_dies;
    int is_victim = rank == size - 1 && (is_child ? child_dies : parent_dies);
    /* While all live. */
    for (int i = 0; i < 3; i++) {
        flag = flag_of(is_child, rank);
        MPI(agree(family, &flag, nonblocking));
        CHECK_INT(flag, flag_of_all(!is_child, -1));
        flag = flag_of(is_child, rank);
        MPI(agree(merged, &flag, !nonblocking));
        CHECK_INT(flag, flag_of_all(0, -1) & flag_of_all(1, -1));
    }
    left = shrink(family, nonblocking);
    check_works(left, all);
    MPI(MPI_Comm_free(&left));
    left = shrink(merged, nonblocking);
    check_works(left, all);
    MPI(MPI_Comm_free(&left));
    int is_near = shares_memory(merged);
    before_deaths(merged, is_victim);
    if (is_victim) {
        /* Its part of one agreement is done. */
        flag = 5;
        MPI(MPIX_Comm_iagree(merged, &flag, &request));
        die();
    }
    flag = 7;
    code = agree(merged, &flag, nonblocking);
    /* Over a fabric it may have died with it. */
    int counts = is_near || code == MPI_SUCCESS, first = flag;
    CHECK_INT(check_class_of(code), counts ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED);
    CHECK_INT(flag, dies && counts ? 5 : 7);
    flag = flag_of(is_child, rank);
    code = agree(family, &flag, nonblocking);
    CHECK_INT(check_class_of(code), dies ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
    CHECK_INT(flag, flag_of_all(!is_child, (is_child ? parent_dies : child_dies) ? (is_child ? parents : CHILDREN) - 1 : -1));
    flag = 9;
    code = agree(merged, &flag, nonblocking);
    CHECK_INT(check_class_of(code), dies ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS);
    MPI(MPIX_Comm_agree_failed(merged, &failed));
    MPI(MPI_Group_size(failed, &count));
    CHECK_INT(count, dies);
    if (failed != MPI_GROUP_EMPTY)
        MPI(MPI_Group_free(&failed));
    MPI(MPIX_Comm_ack_failed(family, all, &ack));
    CHECK_INT(ack, dies);
    flag = 3;
    MPI(agree(family, &flag, nonblocking));
    CHECK_INT(flag, 3);
    /* Also when it is revoked. */
    if (!is_child && rank == 0)
        MPI(MPIX_Comm_revoke(merged));
    both = shrink(merged, nonblocking);
    check_works(both, all - dies);
    MPI(MPI_Allreduce(&first, &flag, 1, MPI_INT, MPI_MIN, both));
    CHECK_INT(first, flag);
    left = shrink(family, nonblocking);
    check_works(left, all - dies);
    flag = is_child ? 6 : 12;
    MPI(agree(left, &flag, nonblocking));
    CHECK_INT(flag, is_child ? 12 : 6);
    MPI(MPI_Comm_free(&both));
    MPI(MPI_Comm_free(&merged));
    MPI(MPI_Comm_free(&family));
    part(&left);
    parent = MPI_COMM_NULL;
    return finish_family();
}
