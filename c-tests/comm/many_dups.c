/* args: live total. Many duplicates alive at one time, and far more made and freed one after the other. */
#include "check.h"

int main(int argc, char **argv)
{
    int live = argc > 1 ? atoi(argv[1]) : 200, total = argc > 2 ? atoi(argv[2]) : 3000, sum;
    start(&argc, &argv);
    if (slow())
        live = 10, total = 50;
    MPI_Comm *comms = malloc(live * sizeof *comms), dup;
    for (int i = 0; i < live; i++)
        MPI(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    for (int i = live - 1; i >= 0; i--) {
        int value = -1;
        MPI(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0, comms[i], MPI_STATUS_IGNORE));
        CHECK_INT(value, i);
    }
    for (int i = 0; i < live; i++)
        MPI(MPI_Comm_free(&comms[i]));
    for (int i = 0; i < total; i++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        if (i % 100 == 0) {
            MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup));
            CHECK_INT(sum, size * (size - 1) / 2);
        }
        MPI(MPI_Comm_free(&dup));
    }
    free(comms);
    return finish();
}
