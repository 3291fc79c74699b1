/* Wrong arguments of every receive: buf, count, datatype, source, tag, comm, status or request; int and MPI_Count forms. */
#include "wrong.h"

static int data[4];
static MPI_Request request;
static MPI_Status status;

#define WRONG(f, last, last_name) do { \
        ERROR(f(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_BUFFER, "buf", NULL); \
        ERROR(f(data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_COUNT, "count", "-1"); \
        ERROR(f(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(data, 1, (MPI_Datatype) MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "source", number(size)); \
        ERROR(f(data, 1, MPI_INT, -77, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "source", "-77"); \
        ERROR(f(data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, last), MPI_ERR_TAG, "tag", "-5"); \
        ERROR(f(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL, last), MPI_ERR_COMM, "comm", NULL); \
        ERROR(f(data, 1, MPI_INT, 0, 0, (MPI_Comm) MPI_INT, last), MPI_ERR_COMM, "comm", NULL); \
        if (!reference) \
            ERROR(f(data, 1, MPI_INT, 0, 0, freed, last), MPI_ERR_COMM, "comm", NULL); \
        if (!ignores_null_status || strcmp(last_name, "status")) \
            ERROR(f(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, last_name, NULL); \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    MPI_Comm freed = freed_comm();
    WRONG(MPI_Recv, &status, "status");
    WRONG(MPI_Recv_c, &status, "status");
    WRONG(MPI_Irecv, &request, "request");
    WRONG(MPI_Irecv_c, &request, "request");
    WRONG(MPI_Recv_init, &request, "request");
    WRONG(MPI_Recv_init_c, &request, "request");
    return finish();
}
