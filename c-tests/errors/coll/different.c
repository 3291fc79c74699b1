/* With OXMPI_CHECK_COLLECTIVES: ranks that do not call the same get an error that names who called what, all of them, and the next
 * operation works. */
#include "check.h"

static char text[MPI_MAX_ERROR_STRING];

static void expect(int code, int class_, const char *one, const char *other, int line)
{
    int length;
    check_class(__FILE__, line, "the call", code, class_);
    MPI(MPI_Error_string(code, text, &length));
    if (!strstr(text, one) || !strstr(text, other) || !strstr(text, "rank 0 called") || !strstr(text, "MPI_COMM_WORLD"))
        check_failed(__FILE__, line, "the text does not name %s and %s: %s", one, other, text);
    int all = 0;
    MPI(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(all, size * (size - 1) / 2);
}
#define EXPECT(call, class_, one, other) do { CHECK_HERE; expect(call, class_, one, other, __LINE__); } while (0)

static int waited(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char **argv)
{
    int in[8] = {0}, out[8] = {0}, last;
    MPI_Request request;
    start(&argc, &argv);
    last = rank == size - 1;
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int round = 0; round < 6; round++) {
        if (size == 1)
            break;
        EXPECT(last ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_OTHER,
               "MPI_Barrier", "MPI_Bcast(root 0, 16 bytes)");
        EXPECT(MPI_Bcast(in, 4, MPI_INT, last, MPI_COMM_WORLD), MPI_ERR_ROOT, "root 0", "root 1");
        EXPECT(MPI_Allreduce(in, out, last ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT, "4 bytes", "8 bytes");
        EXPECT(MPI_Allreduce(in, out, 1, last ? MPI_FLOAT : MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_TYPE, "MPI_INT", "MPI_FLOAT");
        EXPECT(MPI_Reduce(in, out, 1, MPI_INT, last ? MPI_MAX : MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_SUM", "MPI_MAX");
        EXPECT(MPI_Scatter(in, 1, MPI_INT, out, last ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "4 bytes", "8 bytes");
        EXPECT(last ? MPI_Barrier(MPI_COMM_WORLD) : waited(MPI_Ibarrier(MPI_COMM_WORLD, &request), &request), MPI_ERR_OTHER,
               "MPI_Barrier(", "MPI_Ibarrier(");
        EXPECT(waited(MPI_Ibcast(in, 1, MPI_INT, last, MPI_COMM_WORLD, &request), &request), MPI_ERR_ROOT, "root 0", "root 1");
    }
    return finish();
}
