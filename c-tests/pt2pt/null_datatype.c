/* MPI_DATATYPE_NULL with count 0 in messages of all kinds: it stands for the type of no elements, as in MPICH. With elements
 * it is an error. */
#include "check.h"

#define NONE NULL, 0, MPI_DATATYPE_NULL

static MPI_Comm comm;
static int peer, tag;

/* The other side of each message gives a type: both have to fit. */
static MPI_Request expected(void)
{
    MPI_Request request;
    MPI(MPI_Irecv(NULL, 0, MPI_INT, peer, tag, comm, &request));
    return request;
}

static void arrived(MPI_Request request)
{
    MPI_Status status;
    MPI(MPI_Wait(&request, &status));
    CHECK_STATUS(status, peer, tag, 0);
    tag++;
}

static void complete(MPI_Request request)
{
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void blocking(void)
{
    MPI_Request request = expected();
    MPI(MPI_Send(NONE, peer, tag, comm));
    arrived(request);
    request = expected();
    MPI(MPI_Bsend(NONE, peer, tag, comm));
    arrived(request);
    request = expected();
    MPI(MPI_Ssend(NONE, peer, tag, comm));
    arrived(request);
    request = expected();
    MPI(MPI_Barrier(comm));
    MPI(MPI_Rsend(NONE, peer, tag, comm));
    arrived(request);
    MPI(MPI_Send(NONE, MPI_PROC_NULL, tag, comm));
}

static void nonblocking(void)
{
    MPI_Request request = expected(), send;
    MPI(MPI_Isend(NONE, peer, tag, comm, &send));
    complete(send);
    arrived(request);
    request = expected();
    MPI(MPI_Ibsend(NONE, peer, tag, comm, &send));
    complete(send);
    arrived(request);
    request = expected();
    MPI(MPI_Issend(NONE, peer, tag, comm, &send));
    complete(send);
    arrived(request);
    request = expected();
    MPI(MPI_Barrier(comm));
    MPI(MPI_Irsend(NONE, peer, tag, comm, &send));
    complete(send);
    arrived(request);
}

static void persistent(void)
{
    MPI_Request sends[4], receive;
    int first = tag;
    MPI(MPI_Send_init(NONE, peer, tag, comm, &sends[0]));
    MPI(MPI_Bsend_init(NONE, peer, tag + 1, comm, &sends[1]));
    MPI(MPI_Ssend_init(NONE, peer, tag + 2, comm, &sends[2]));
    MPI(MPI_Rsend_init(NONE, peer, tag + 3, comm, &sends[3]));
    for (int i = 0; i < 4; i++) {
        MPI_Status status;
        MPI(MPI_Recv_init(NONE, peer, first + i, comm, &receive));
        MPI(MPI_Start(&receive));
        MPI(MPI_Barrier(comm));
        MPI(MPI_Start(&sends[i]));
        MPI(MPI_Wait(&receive, &status));
        CHECK_STATUS(status, peer, first + i, 0);
        MPI(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&receive));
        MPI(MPI_Request_free(&sends[i]));
    }
    tag += 4;
}

static void receives(void)
{
    MPI_Request send, request;
    MPI_Message message;
    MPI_Status status;
    int value = 7;
    MPI(MPI_Isend(NULL, 0, MPI_INT, peer, tag, comm, &send));
    MPI(MPI_Probe(peer, tag, comm, &status));
    MPI(MPI_Recv(NONE, peer, tag, comm, &status));
    CHECK_STATUS(status, peer, tag, 0);
    complete(send);
    MPI(MPI_Isend(NULL, 0, MPI_INT, peer, tag, comm, &send));
    MPI(MPI_Irecv(NONE, peer, tag, comm, &request));
    arrived(request);
    complete(send);
    MPI(MPI_Isend(NULL, 0, MPI_INT, peer, tag, comm, &send));
    MPI(MPI_Mprobe(peer, tag, comm, &message, &status));
    MPI(MPI_Mrecv(NONE, &message, &status));
    CHECK_STATUS(status, peer, tag, 0);
    complete(send);
    MPI(MPI_Isend(NULL, 0, MPI_INT, peer, tag, comm, &send));
    MPI(MPI_Mprobe(peer, tag, comm, &message, &status));
    MPI(MPI_Imrecv(NONE, &message, &request));
    arrived(request);
    complete(send);

    /* Data that comes is too much. */
    MPI(MPI_Isend(&value, 1, MPI_INT, peer, tag, comm, &send));
    CHECK_CLASS(MPI_Recv(NONE, peer, tag, comm, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    complete(send);
    tag++;
}

static void exchanges(void)
{
    MPI_Status status;
    MPI(MPI_Sendrecv(NONE, peer, tag, NONE, peer, tag, comm, &status));
    CHECK_STATUS(status, peer, tag, 0);
    MPI(MPI_Sendrecv_replace(NONE, peer, tag, peer, tag, comm, &status));
    CHECK_STATUS(status, peer, tag, 0);
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI(MPI_Isendrecv(NONE, peer, tag, NONE, peer, tag, comm, &request));
    complete(request);
    MPI(MPI_Isendrecv_replace(NONE, peer, tag, peer, tag, comm, &request));
    complete(request);
#endif
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
    MPI_Request requests[2];
    if (reference) /* MPICH 4.0.2 makes them and then dies of the null type. */
        return;
    MPI(MPI_Psend_init(NULL, 2, 0, MPI_DATATYPE_NULL, peer, tag, comm, MPI_INFO_NULL, &requests[0]));
    MPI(MPI_Precv_init(NULL, 2, 0, MPI_DATATYPE_NULL, peer, tag, comm, MPI_INFO_NULL, &requests[1]));
    MPI(MPI_Startall(2, requests));
    MPI(MPI_Pready_range(0, 1, requests[0]));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_Request_free(&requests[1]));
}
#endif

static void errors(void)
{
    MPI_Request request;
    int value = 0, count;
    MPI_Status status;
    ERROR(MPI_Send(&value, 1, MPI_DATATYPE_NULL, peer, tag, comm), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Send(&value, 1, MPI_DATATYPE_NULL, MPI_PROC_NULL, tag, comm), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Recv(&value, 1, MPI_DATATYPE_NULL, peer, tag, comm, &status), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Isend(&value, 1, MPI_DATATYPE_NULL, peer, tag, comm, &request), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Send(&value, -1, MPI_DATATYPE_NULL, peer, tag, comm), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_Sendrecv(NONE, peer, tag, &value, 1, MPI_DATATYPE_NULL, peer, tag, comm, &status), MPI_ERR_TYPE, "recvtype",
          "MPI_DATATYPE_NULL");
    MPI(MPI_Sendrecv(NONE, peer, tag, NONE, peer, tag, comm, &status));
    ERROR(MPI_Get_count(&status, MPI_DATATYPE_NULL, &count), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    ERROR(MPI_Pack_size(0, MPI_DATATYPE_NULL, comm, &count), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
    count = 0;
    ERROR(MPI_Pack(&value, 0, MPI_DATATYPE_NULL, &value, 4, &count, comm), MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
}

static void all(void)
{
    tag = 0;
    blocking();
    nonblocking();
    persistent();
    receives();
    exchanges();
#if MPI_VERSION >= 4
    partitioned();
#endif
    errors();
}

int main(int argc, char **argv)
{
    static char buffer[100000];
    char *detached;
    int bytes;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Buffer_attach(buffer, sizeof buffer));
    comm = MPI_COMM_SELF;
    peer = 0;
    all();
    if (size % 2 == 0) {
        comm = MPI_COMM_WORLD;
        peer = rank ^ 1;
        all();
    }
    MPI(MPI_Buffer_detach(&detached, &bytes));
    return finish();
}
