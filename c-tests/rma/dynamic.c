/* MPI_Win_attach and MPI_Win_detach: many regions, none twice, again after they were detached. */
#include "check.h"

enum { regions = 500, largest = 64 };

static char memory[regions * largest];

static void many(MPI_Win win)
{
    uint64_t state = (uint64_t) rank;
    int order[regions];
    for (int i = 0; i < regions; i++)
        order[i] = i;
    for (int round = 0; round < 3; round++) {
        for (int i = regions - 1; i > 0; i--) {
            int j = (int) (next_random(&state) % (uint64_t) (i + 1)), old = order[i];
            order[i] = order[j];
            order[j] = old;
        }
        for (int i = 0; i < regions; i++)
            MPI(MPI_Win_attach(win, memory + order[i] * largest, 1 + (int) (next_random(&state) % largest)));
        for (int i = 0; i < regions; i++)
            MPI(MPI_Win_detach(win, memory + order[regions - 1 - i] * largest));
    }
}

int main(int argc, char **argv)
{
    MPI_Win win, other;
    void *value;
    char *allocated;
    int flag;
    start(&argc, &argv);
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == MPI_BOTTOM);
    MPI(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && *(MPI_Aint *) value == 0);
    MPI(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int *) value == MPI_WIN_FLAVOR_DYNAMIC);
    many(win);
    MPI(MPI_Win_attach(win, memory, 1000));
    if (!reference) {
        CHECK_CLASS(MPI_Win_attach(win, memory, 1000), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_attach(win, memory + 999, 1), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(MPI_Win_detach(win, memory + 1), MPI_ERR_RMA_ATTACH);
    }
    MPI(MPI_Win_attach(win, memory + 1000, 10));
    if (!reference)
        CHECK_CLASS(MPI_Win_attach(win, memory + 500, 2000), MPI_ERR_RMA_ATTACH);
    /* Another window does not mind. */
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &other));
    MPI(MPI_Win_attach(other, memory + 500, 2000));
    MPI(MPI_Win_detach(win, memory));
    MPI(MPI_Win_attach(win, memory + 20, 900));
    /* Nothing, and memory that can be shared. */
    MPI(MPI_Win_attach(win, memory, 0));
    MPI(MPI_Win_detach(win, memory));
    MPI(MPI_Alloc_mem(100, MPI_INFO_NULL, &allocated));
    MPI(MPI_Win_attach(win, allocated, 100));
    MPI(MPI_Win_detach(win, allocated));
    MPI(MPI_Free_mem(allocated));
    /* What is attached still goes with the window. */
    MPI(MPI_Win_free(&other));
    MPI(MPI_Win_free(&win));
    return finish();
}
