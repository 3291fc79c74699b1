/* Wrong arguments of Probe, Iprobe, Mprobe, Improbe. */
#include "wrong.h"

static MPI_Status status;
static MPI_Message message;
static int flag;

#define WRONG(f, ...) do { \
        ERROR(f(size, 0, MPI_COMM_WORLD, __VA_ARGS__), MPI_ERR_RANK, "source", number(size)); \
        ERROR(f(-77, 0, MPI_COMM_WORLD, __VA_ARGS__), MPI_ERR_RANK, "source", "-77"); \
        ERROR(f(0, -5, MPI_COMM_WORLD, __VA_ARGS__), MPI_ERR_TAG, "tag", "-5"); \
        ERROR(f(0, 0, MPI_COMM_NULL, __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
        ERROR(f(0, 0, (MPI_Comm) MPI_INT, __VA_ARGS__), MPI_ERR_COMM, "comm", NULL); \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    WRONG(MPI_Probe, &status);
    WRONG(MPI_Iprobe, &flag, &status);
    WRONG(MPI_Mprobe, &message, &status);
    WRONG(MPI_Improbe, &flag, &message, &status);
    ERROR(MPI_Iprobe(0, 0, MPI_COMM_WORLD, NULL, &status), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Improbe(0, 0, MPI_COMM_WORLD, NULL, &message, &status), MPI_ERR_ARG, "flag", NULL);
    if (!reference) {
        ERROR(MPI_Mprobe(0, 0, MPI_COMM_WORLD, NULL, &status), MPI_ERR_ARG, "message", NULL);
        ERROR(MPI_Improbe(0, 0, MPI_COMM_WORLD, &flag, NULL, &status), MPI_ERR_ARG, "message", NULL);
        if (!ignores_null_status)
            ERROR(MPI_Probe(0, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "status", NULL);
        if (!ignores_null_status)
            ERROR(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, NULL), MPI_ERR_ARG, "status", NULL);
    }
    return finish();
}
