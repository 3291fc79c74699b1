/* Wrong arguments of every send: buf, count, datatype, dest, tag, comm, request; int and MPI_Count forms. Nothing is sent. */
#include "wrong.h"

static int data[4];
static MPI_Request request;

#define WRONG(f, ...) do { \
        ERROR(f(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_BUFFER, "buf", NULL); \
        ERROR(f(data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_COUNT, "count", "-1"); \
        ERROR(f(data, -2147483647, MPI_INT, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_COUNT, "count", "-2147483647"); \
        ERROR(f(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(data, 1, (MPI_Datatype) MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(data, 1, (MPI_Datatype) 0, 0, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TYPE, "datatype", NULL); \
        ERROR(f(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK, "dest", number(size)); \
        ERROR(f(data, 1, MPI_INT, 1000000, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK, "dest", "1000000"); \
        ERROR(f(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK, "dest", NULL); \
        ERROR(f(data, 1, MPI_INT, -77, 0, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_RANK, "dest", "-77"); \
        ERROR(f(data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TAG, "tag", "-5"); \
        ERROR(f(data, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TAG, "tag", NULL); \
        if (upper < INT32_MAX) \
            ERROR(f(data, 1, MPI_INT, 0, upper + 1, MPI_COMM_WORLD __VA_ARGS__), MPI_ERR_TAG, "tag", number(upper + 1ll)); \
        ERROR(f(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
        ERROR(f(data, 1, MPI_INT, 0, 0, (MPI_Comm) MPI_INT __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
        ERROR(f(data, 1, MPI_INT, 0, 0, (MPI_Comm) 0 __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
        if (!reference) \
            ERROR(f(data, 1, MPI_INT, 0, 0, freed __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
    } while (0)
#define COMMA ,
#define WRONG_REQUEST(f) do { \
        WRONG(f, COMMA &request); \
        ERROR(f(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "request", NULL); } while (0)
#define BOTH(w, f) do { w(f); w(f##_c); } while (0)
#define WRONG_PLAIN(f) WRONG(f, )

int main(int argc, char **argv)
{
    int *value, flag, upper;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    upper = *value;
    MPI_Comm freed = freed_comm();
    BOTH(WRONG_PLAIN, MPI_Send);
    BOTH(WRONG_PLAIN, MPI_Bsend);
    BOTH(WRONG_PLAIN, MPI_Ssend);
    BOTH(WRONG_PLAIN, MPI_Rsend);
    BOTH(WRONG_REQUEST, MPI_Isend);
    BOTH(WRONG_REQUEST, MPI_Ibsend);
    BOTH(WRONG_REQUEST, MPI_Issend);
    BOTH(WRONG_REQUEST, MPI_Irsend);
    BOTH(WRONG_REQUEST, MPI_Send_init);
    BOTH(WRONG_REQUEST, MPI_Bsend_init);
    BOTH(WRONG_REQUEST, MPI_Ssend_init);
    BOTH(WRONG_REQUEST, MPI_Rsend_init);
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    return finish();
}
