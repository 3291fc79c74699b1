/* A receive from any source on a communicator of two jobs, of which the last child dies, or the last parent: nobody of the other job does, so its mpiexec
 * tells of no death. All of both jobs learn of it, whatever they do. Arguments: who dies ("child", "parent"), and what the others do: "wait", "test",
 * "recv", "probe", or "ask" for the failed. */
#include "agreeing.h"
#include "dying.h"
#include "spawned.h"
#include <mpi-ext.h>

enum { CHILDREN = 3 };

int main(int argc, char **argv)
{
    MPI_Comm merged, left;
    MPI_Request request;
    MPI_Group failed;
    MPI_Status status;
    int code = MPI_SUCCESS, count = 0, flag = 0, x = 0, me, all;
    start_family(&argc, &argv);
    const char *who = argv[1], *what = argv[2];
    char *words[] = {argv[1], argv[2], NULL};
    MPI_Comm family = is_child ? parent : spawn(MPI_COMM_WORLD, CHILDREN, words);
    MPI(MPI_Intercomm_merge(family, is_child, &merged));
    MPI(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_rank(merged, &me));
    MPI(MPI_Comm_size(merged, &all));
    int is_victim = rank == size - 1 && is_child == !strcmp(who, "child");
    /* Connections are there before the death. */
    before_deaths(merged, is_victim);
    if (is_victim) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    if (!strcmp(what, "recv"))
        CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, merged, &status), MPIX_ERR_PROC_FAILED);
    if (!strcmp(what, "probe"))
        CHECK_CLASS(MPI_Probe(MPI_ANY_SOURCE, 1, merged, &status), MPIX_ERR_PROC_FAILED);
    while (!strcmp(what, "ask") && !count) {
        MPI(MPIX_Comm_get_failed(merged, &failed));
        MPI(MPI_Group_size(failed, &count));
        if (failed != MPI_GROUP_EMPTY)
            MPI(MPI_Group_free(&failed));
        usleep(1000);
    }
    MPI(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, merged, &request));
    if (!strcmp(what, "test"))
        while (code == MPI_SUCCESS)
            code = MPI_Test(&request, &flag, &status);
    else
        code = MPI_Wait(&request, &status);
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(request != MPI_REQUEST_NULL);
    /* Once it is acknowledged the receive waits for the others: nobody sends before all know of the death. */
    MPI(MPIX_Comm_failure_ack(merged));
    left = shrink(merged, 0);
    CHECK_INT((MPI_Comm_size(left, &count), count), all - 1);
    MPI(MPI_Send(&me, 1, MPI_INT, me, 1, merged));
    MPI(MPI_Wait(&request, &status));
    CHECK_INT(x, me);
    MPI(MPI_Comm_free(&merged));
    MPI(MPI_Comm_free(&family));
    part(&left);
    parent = MPI_COMM_NULL;
    return finish_family();
}
