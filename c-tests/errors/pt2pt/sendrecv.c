/* Wrong arguments of Sendrecv, Sendrecv_replace, Isendrecv and Isendrecv_replace, both sides. */
#include "wrong.h"

static int out[4], in[4];
static MPI_Request request;
static MPI_Status status;

#define WRONG(f, last, last_name) do { \
        ERROR(f(NULL, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_BUFFER, "sendbuf", NULL); \
        ERROR(f(out, -3, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_COUNT, "sendcount", "-3"); \
        ERROR(f(out, 1, MPI_DATATYPE_NULL, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TYPE, "sendtype", NULL); \
        ERROR(f(out, 1, MPI_INT, size, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "dest", number(size)); \
        ERROR(f(out, 1, MPI_INT, 0, -5, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TAG, "sendtag", "-5"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_BUFFER, "recvbuf", NULL); \
        ERROR(f(out, 1, MPI_INT, 0, 0, in, -4, MPI_INT, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_COUNT, "recvcount", "-4"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, in, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TYPE, "recvtype", NULL); \
        ERROR(f(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, -77, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "source", "-77"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, -6, MPI_COMM_WORLD, last), MPI_ERR_TAG, "recvtag", "-6"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_NULL, last), MPI_ERR_COMM, "comm", NULL); \
        if (!ignores_null_status || strcmp(last_name, "status")) \
            ERROR(f(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, last_name, NULL); \
    } while (0)
#define WRONG_REPLACE(f, last, last_name) do { \
        ERROR(f(NULL, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_BUFFER, "buf", NULL); \
        ERROR(f(out, -3, MPI_INT, 0, 0, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_COUNT, "count", "-3"); \
        ERROR(f(out, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(out, 1, MPI_INT, size, 0, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "dest", number(size)); \
        ERROR(f(out, 1, MPI_INT, 0, -5, 0, 0, MPI_COMM_WORLD, last), MPI_ERR_TAG, "sendtag", "-5"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, -77, 0, MPI_COMM_WORLD, last), MPI_ERR_RANK, "source", "-77"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, 0, -6, MPI_COMM_WORLD, last), MPI_ERR_TAG, "recvtag", "-6"); \
        ERROR(f(out, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_NULL, last), MPI_ERR_COMM, "comm", NULL); \
        if (!ignores_null_status || strcmp(last_name, "status")) \
            ERROR(f(out, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, last_name, NULL); \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    WRONG(MPI_Sendrecv, &status, "status");
    WRONG(MPI_Sendrecv_c, &status, "status");
    WRONG(MPI_Isendrecv, &request, "request");
    WRONG(MPI_Isendrecv_c, &request, "request");
    WRONG_REPLACE(MPI_Sendrecv_replace, &status, "status");
    WRONG_REPLACE(MPI_Sendrecv_replace_c, &status, "status");
    WRONG_REPLACE(MPI_Isendrecv_replace, &request, "request");
    WRONG_REPLACE(MPI_Isendrecv_replace_c, &request, "request");
    return finish();
}
