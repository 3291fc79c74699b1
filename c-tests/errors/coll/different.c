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

static void counts_differ(int code, const char *function, const char *said, int line)
{
    int length;
    check_class(__FILE__, line, "the call", code, MPI_ERR_COUNT);
    MPI(MPI_Error_string(code, text, &length));
    if (!strstr(text, function) || !strstr(text, said) || !strstr(text, "MPI_COMM_WORLD"))
        check_failed(__FILE__, line, "the text does not say that in %s %s: %s", function, said, text);
}

/* The counts of the v and w forms: what the last rank has for rank 0, or expects from it, is one element more than it should be. */
static void amounts(void)
{
    enum { MOST = 64 };
    static int in[2 * MOST], out[2 * MOST];
    int counts[MOST], wrong[MOST], displs[MOST], bytes[MOST], last = rank == size - 1, to_last = size - 1;
    char from_last[100], of_zero[100];
    MPI_Datatype types[MOST];
    MPI_Request request;
    for (int r = 0; r < size; r++) {
        counts[r] = wrong[r] = 1, displs[r] = 2 * r, bytes[r] = 8 * r, types[r] = MPI_INT;
    }
    wrong[0] = 2;
    snprintf(from_last, sizeof from_last, "rank %d has 8 bytes for rank 0, which expects 4 bytes", to_last);
    snprintf(of_zero, sizeof of_zero, "rank 0 has 4 bytes for rank %d, which expects 8 bytes", to_last);
#define COUNTS(call, function, text) do { CHECK_HERE; counts_differ(call, function, text, __LINE__); } while (0)
    COUNTS(MPI_Alltoallv(in, last ? wrong : counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD), "MPI_Alltoallv", from_last);
    COUNTS(MPI_Alltoallv(in, counts, displs, MPI_INT, out, last ? wrong : counts, displs, MPI_INT, MPI_COMM_WORLD), "MPI_Alltoallv", of_zero);
    COUNTS(MPI_Alltoallw(in, last ? wrong : counts, bytes, types, out, counts, bytes, types, MPI_COMM_WORLD), "MPI_Alltoallw", from_last);
    COUNTS(MPI_Allgatherv(in, 1, MPI_INT, out, last ? wrong : counts, displs, MPI_INT, MPI_COMM_WORLD), "MPI_Allgatherv", of_zero);
    COUNTS(MPI_Gatherv(in, last ? 2 : 1, MPI_INT, out, counts, displs, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gatherv", from_last);
    COUNTS(MPI_Scatterv(in, counts, displs, MPI_INT, out, last ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Scatterv", of_zero);
    COUNTS(waited(MPI_Ialltoallv(in, last ? wrong : counts, displs, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD, &request), &request), "MPI_Ialltoallv", from_last);
    /* as many elements in all, and other blocks */
    for (int r = 0; r < size; r++)
        wrong[r] = counts[r] = 2;
    wrong[0] = 3, wrong[size - 1] = 1;
    COUNTS(MPI_Reduce_scatter(in, out, last ? wrong : counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Reduce_scatter", "rank 0, which expects 8 bytes");
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
    for (int round = 0; round < 3 && size > 1; round++)
        amounts();
    return finish();
}
