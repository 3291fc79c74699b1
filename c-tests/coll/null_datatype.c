/* MPI_DATATYPE_NULL with count 0 in collective operations: accepted by broadcasts, MPI_Alltoallw and the neighborhood
 * operations without a list of counts for one type, as in MPICH; an error in the others. */
#include "check.h"

#define NONE NULL, 0, MPI_DATATYPE_NULL

static int zeros[16];
static MPI_Aint places[16];
static MPI_Datatype types[16];

static void accepted(void)
{
    MPI_Request request;
    char from[16] = {0}, into[16];
    if (!reference) { /* MPICH 4.0.2 ends the job from 2 ranks on, 5.0.2 does not. */
        MPI(MPI_Bcast(NONE, 0, MPI_COMM_WORLD));
        MPI(MPI_Ibcast(NONE, 0, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        /* The root gives a type. */
        if (rank == 0)
            MPI(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
        else
            MPI(MPI_Bcast(NONE, 0, MPI_COMM_WORLD));
#if MPI_VERSION >= 4
        MPI(MPI_Bcast_init(NONE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        MPI(MPI_Start(&request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&request));
#endif
    }
    MPI(MPI_Alltoallw(from, zeros, zeros, types, into, zeros, zeros, types, MPI_COMM_WORLD));
    MPI(MPI_Ialltoallw(from, zeros, zeros, types, into, zeros, zeros, types, MPI_COMM_WORLD, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Each rank sends an int to the next, and has null types for the others. */
static void ring(void)
{
    int sends[16] = {0}, receives[16] = {0}, next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1;
    MPI_Datatype out[16], in[16];
    for (int i = 0; i < size; i++)
        out[i] = in[i] = MPI_DATATYPE_NULL;
    sends[next] = receives[before] = 1;
    out[next] = in[before] = MPI_INT;
    MPI(MPI_Alltoallw(&rank, sends, zeros, out, &got, receives, zeros, in, MPI_COMM_WORLD));
    CHECK_INT(got, before);
}

static void neighbors(void)
{
    MPI_Comm comm;
    char from[16] = {0}, into[16];
    int period = 1;
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &comm));
    MPI(MPI_Neighbor_allgather(NONE, NONE, comm));
    MPI(MPI_Neighbor_alltoall(NONE, NONE, comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    ERROR(MPI_Neighbor_allgatherv(NONE, NULL, zeros, zeros, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE, "recvtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Neighbor_alltoallv(NULL, zeros, zeros, MPI_DATATYPE_NULL, NULL, zeros, zeros, MPI_DATATYPE_NULL, comm),
          MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    MPI(MPI_Neighbor_alltoallw(from, zeros, places, types, into, zeros, places, types, comm));
    MPI(MPI_Comm_free(&comm));
}

static void refused(void)
{
    MPI_Request request;
    int value = 0;
    ERROR(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Gather(NONE, NONE, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Gather(&value, 0, MPI_INT, NONE, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "recvtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Gatherv(&value, 0, MPI_INT, NULL, zeros, zeros, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "recvtype",
          "MPI_DATATYPE_NULL");
    ERROR(MPI_Scatter(NONE, NONE, 0, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Allgather(NONE, NONE, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Alltoall(NONE, NONE, MPI_COMM_SELF), MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Alltoallv(NULL, zeros, zeros, MPI_DATATYPE_NULL, NULL, zeros, zeros, MPI_DATATYPE_NULL, MPI_COMM_SELF),
          MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Iallgather(NONE, NONE, MPI_COMM_SELF, &request), MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
    /* MPICH 4.0.2 says MPI_ERR_OP, 5.0.2 ends the job. */
    if (!reference)
        ERROR(MPI_Allreduce(&value, &value, 0, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_SELF), MPI_ERR_TYPE, "datatype",
              "MPI_DATATYPE_NULL");
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    for (int i = 0; i < 16; i++)
        types[i] = MPI_DATATYPE_NULL;
    accepted();
    ring();
    neighbors();
    refused();
    return finish();
}
