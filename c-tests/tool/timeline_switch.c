// The timeline switched off and on by MPI_Pcontrol, and more calls than its limit has room for. On 2 ranks; tests/timeline/main.rs looks at the file.
#include "check.h"

static void exchange(int count)
{
    int out = rank, in;
    for (int i = 0; i < count; i++)
        MPI(MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 7, &in, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int flag;
    start(&argc, &argv);
    if (size == 2) {
        exchange(2);
        MPI(MPI_Pcontrol(0));
        exchange(5);
        MPI(MPI_Pcontrol(1));
        exchange(3);
        for (int i = 0; i < 20000; i++)
            MPI(MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    return finish();
}
