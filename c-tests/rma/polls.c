/* A rank that polls its window's memory with synchronisation calls only: messages that its peer needs still come through. arg: the call. */
#include "shared_window.h"

enum { BYTES = 4 << 20 };

static struct window w;

static int is_told(const char *how)
{
    volatile long *flag = w.of[rank];
    if (!strcmp(how, "flush")) {
        MPI(MPI_Win_flush(rank, w.win));
        return *flag != 0;
    }
    if (!strcmp(how, "sync")) {
        MPI(MPI_Win_sync(w.win));
        return *flag != 0;
    }
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    int told = *flag != 0;
    MPI(MPI_Win_unlock(rank, w.win));
    return told;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "flush";
    MPI_Request request;
    start(&argc, &argv);
    char *data = malloc(BYTES);
    make_window(&w, MPI_COMM_WORLD, 1);
    fill(data, BYTES, 1 - rank);
    int all = strcmp(how, "lock");
    if (all)
        MPI(MPI_Win_lock_all(0, w.win));
    if (rank == 0) {
        MPI(MPI_Irecv(data, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request));
        while (!is_told(how))
            ;
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_PATTERN(data, BYTES, 0);
    } else if (rank == 1) {
        /* ends only when rank 0 takes part */
        MPI(MPI_Ssend(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
        w.of[0][0] = 1;
    }
    if (all)
        MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_free(&w.win));
    free(data);
    return finish();
}
