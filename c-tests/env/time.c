/* MPI_Wtime does not go back and advances; MPI_Wtick is a resolution; a message cannot arrive before it was sent if the
 * clock is global. */
#include "check.h"

int main(int argc, char **argv)
{
    int *global, flag;
    start(&argc, &argv);
    double before = MPI_Wtime(), tick = MPI_Wtick(), last = before;
    CHECK(tick > 0 && tick < 1);
    for (int i = 0; i < 10000; i++) {
        double now = MPI_Wtime();
        CHECK(now >= last);
        last = now;
    }
    do
        last = MPI_Wtime();
    while (last == before); /* the watchdog ends it if the clock stands still */
    CHECK(PMPI_Wtime() >= last);
    CHECK(PMPI_Wtick() == tick);
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag));
    if (flag && *global && rank < 2 && size > 1)
        for (int i = 0; i < 100; i++) {
            double sent = MPI_Wtime();
            if (rank == i % 2) {
                MPI(MPI_Send(&sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD));
            } else {
                MPI(MPI_Recv(&sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(MPI_Wtime() >= sent);
            }
        }
    return finish();
}
