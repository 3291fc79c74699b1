/* A rank that is blocked for three seconds uses next to no processor time, whether it waits in MPI_Recv for a rank that
 * does something else, in MPI_Wait, in MPI_Probe, or in a barrier. A budget of processor time, which no load on the machine
 * changes much; the clock is not looked at. */
#include "check.h"
#include <sys/resource.h>
#include <time.h>

static double processor_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double) (use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double) (use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void be_elsewhere(void)
{
    struct timespec rest = { 3, 0 };
    while (nanosleep(&rest, &rest) != 0)
        ;
}

int main(int argc, char **argv)
{
    int word = 0;
    MPI_Request request;
    start(&argc, &argv);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    double begin = processor_seconds();
    if (rank == 0) {
        be_elsewhere();
        word = 77;
        for (int peer = 1; peer < size; peer++)
            MPI(MPI_Send(&word, 1, MPI_INT, peer, 3, MPI_COMM_WORLD));
    } else if (rank % 4 == 1) {
        MPI(MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (rank % 4 == 2) {
        MPI(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank % 4 == 3) {
        MPI(MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Irecv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (rank % 4 != 0 || rank == 0)
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    double used = processor_seconds() - begin;
    CHECK_INT(word, 77);
    if (!slow() && used >= 0.1)
        check_failed(__FILE__, __LINE__, "%.3f s of processor time while blocked for 3 s", used);
    return finish();
}
