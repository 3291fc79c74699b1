/* MPI_Win_fence: what was stored before is seen after it, round by round, with every assertion that holds; on two windows in turn; while
 * a message of the program needs this rank. arg: rounds. */
#include "shared_window.h"

enum { LONGS = 8, BYTES = 1 << 20 };

static struct window a, b;

/* Each rank stores into the memory of the next one, in one of two places. */
static void rounds(struct window *w, int count)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int i = 1; i <= count; i++) {
        int store = i % 3 ? 0 : MPI_MODE_NOPUT;
        w->of[next][i % 2] = 1000L * i + rank;
        MPI(MPI_Win_fence(store | (i == count ? MPI_MODE_NOSUCCEED : 0), w->win));
        CHECK_INT(w->of[rank][i % 2], 1000L * i + before);
        CHECK(i == count || w->of[next][i % 2] == 1000L * i + rank);
    }
    MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
    MPI(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win));
}

/* Rank 0 is in the fence while the message that it has begun is received. */
static void with_messages(void)
{
    char *data = malloc(BYTES);
    for (int i = 0; i < 3; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == 0) {
            fill(data, BYTES, i);
            if (i == 1)
                MPI(MPI_Isend(data, BYTES, MPI_CHAR, size - 1, i, MPI_COMM_WORLD, &request));
            else
                MPI(MPI_Issend(data, BYTES, MPI_CHAR, size - 1, i, MPI_COMM_WORLD, &request));
        }
        if (rank == size - 1 && rank > 0) {
            MPI(MPI_Recv(data, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, BYTES, i);
        }
        if (size == 1)
            MPI(MPI_Recv(malloc(BYTES), BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Win_fence(0, a.win));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    free(data);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2000;
    start(&argc, &argv);
    if (slow())
        count /= 20;
    make_window(&a, MPI_COMM_WORLD, LONGS);
    make_window(&b, MPI_COMM_WORLD, LONGS);
    rounds(&a, count);
    with_messages();
    for (int i = 1; i < 100; i++) {
        rounds(&b, i % 5 + 1);
        rounds(&a, i % 3 + 1);
    }
    /* one rank is late again and again */
    for (int i = 0; i < 20; i++) {
        if (rank == i % size)
            usleep(2000);
        a.of[rank][7] = i;
        MPI(MPI_Win_fence(0, a.win));
        for (int r = 0; r < size; r++)
            CHECK_INT(a.of[r][7], i);
        MPI(MPI_Win_fence(0, a.win));
    }
    MPI(MPI_Win_free(&a.win));
    MPI(MPI_Win_free(&b.win));
    return finish();
}
