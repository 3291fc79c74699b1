/* Operations that are under way on a communicator which their process has freed already: they end when another process revokes it, or when the
 * process that they wait for dies. Arguments: "revoke" or "death", "intra" or "inter". */
#include "revoked.h"

enum { RECEIVE, ANY, SEND, MEETING, REQUESTS };

/* What the last process does not answer. In an intercommunicator it is in the other group for all that are looked at. */
static void begin(MPI_Comm comm, int peer, int *data, MPI_Request *requests)
{
    MPI(MPI_Irecv(data, 1, MPI_INT, peer, 5, comm, &requests[RECEIVE]));
    MPI(MPI_Irecv(data + 1, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &requests[ANY]));
    MPI(MPI_Issend(data + 2, 1, MPI_INT, peer, 7, comm, &requests[SEND]));
    MPI(MPI_Ibarrier(comm, &requests[MEETING]));
}

int main(int argc, char **argv)
{
    MPI_Comm half = MPI_COMM_NULL, comm, other;
    MPI_Request requests[REQUESTS];
    int data[3] = {0, 0, 0}, flag, class;
    start_failing(&argc, &argv);
    int revokes = !strcmp(argv[1], "revoke"), inter = !strcmp(argv[2], "inter");
    int high = rank >= size / 2, looks = rank != last && !(inter && high), peer = inter ? last - size / 2 : last;
    if (inter)
        MPI(MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half));
    for (int round = 0; round < (revokes ? 20 : 1); round++) {
        if (inter)
            MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? 0 : size / 2, 9, &comm));
        else
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        if (looks)
            begin(comm, peer, data, requests);
        if (rank != last)
            MPI(MPI_Comm_free(&comm));
        /* Others are made and freed meanwhile. */
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
        MPI(MPI_Comm_free(&other));
        before_deaths(MPI_COMM_WORLD, rank == last && !revokes);
        if (rank == last) {
            usleep(round % 4 * 1000);
            if (!revokes)
                raise(SIGKILL);
            MPI(MPIX_Comm_revoke(comm));
            MPI(MPI_Comm_free(&comm));
        }
        if (looks) {
            int wanted = revokes ? MPIX_ERR_REVOKED : MPIX_ERR_PROC_FAILED;
            CHECK_CLASS(MPI_Wait(&requests[RECEIVE], MPI_STATUS_IGNORE), wanted);
            class = check_class_of(MPI_Wait(&requests[ANY], MPI_STATUS_IGNORE));
            if (class == MPIX_ERR_PROC_FAILED_PENDING && !revokes) {
                MPI(MPI_Cancel(&requests[ANY]));
                MPI(MPI_Wait(&requests[ANY], MPI_STATUS_IGNORE));
            } else {
                CHECK_INT(class, wanted);
            }
            CHECK_CLASS(MPI_Wait(&requests[SEND], MPI_STATUS_IGNORE), wanted);
            CHECK_CLASS(MPI_Wait(&requests[MEETING], MPI_STATUS_IGNORE), wanted);
            for (int i = 0; i < REQUESTS; i++)
                CHECK(requests[i] == MPI_REQUEST_NULL);
        }
        if (revokes)
            MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* What is left works. */
    flag = 3;
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    CHECK_INT(flag, 3);
    if (half != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&half));
    return finish();
}
