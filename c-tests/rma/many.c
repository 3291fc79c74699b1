/* Many windows alive, and many made and freed: no limit is met and nothing grows. Arguments: alive, in turn. */
#include "near.h"
#include "process.h"

static void in_turn(int times)
{
    static int mine[4];
    int near = share_memory(MPI_COMM_WORLD);
    for (int i = 0; i < times; i++) {
        MPI_Win win;
        int *base = NULL;
        switch (near || i % 4 != 2 ? i % 4 : 0) {
        case 0: MPI(MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win)); break;
        case 1: MPI(MPI_Win_create(mine, sizeof mine, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win)); break;
        case 2: MPI(MPI_Win_allocate_shared(100, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win)); break;
        default: MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
                 MPI(MPI_Win_attach(win, mine, sizeof mine));
        }
        if (base)
            *base = i;
        MPI(MPI_Win_free(&win));
    }
}

/* Buffers that messages of other hosts come into are 2 MB, and in memory from their first use on: so that this is not taken for windows. */
static void use_buffers(void)
{
    enum { BYTES = 16000, MESSAGES = 200 };
    char *out = calloc(1, BYTES), *in = malloc(BYTES);
    MPI_Request request;
    for (int i = 0; i < MESSAGES * (size - 1); i++) {
        int to = (rank + 1 + i / MESSAGES) % size, from = (rank + size - 1 - i / MESSAGES) % size;
        MPI(MPI_Irecv(in, BYTES, MPI_CHAR, from, 0, MPI_COMM_WORLD, &request));
        MPI(MPI_Send(out, BYTES, MPI_CHAR, to, 0, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    free(out), free(in);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int alive = argc > 1 ? atoi(argv[1]) : 500, turns = argc > 2 ? atoi(argv[2]) : 4000;
    MPI_Win *all = malloc((size_t) alive * sizeof *all);
    int **bases = malloc((size_t) alive * sizeof *bases);
    for (int i = 0; i < alive; i++) {
        MPI(MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i], &all[i]));
        *bases[i] = i * size + rank;
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < alive; i++) {
        CHECK_INT(*bases[i], i * size + rank);
        MPI(MPI_Win_free(&all[i]));
    }
    free(all);
    free(bases);
    if (!share_memory(MPI_COMM_WORLD))
        use_buffers();
    in_turn(turns / 10);
    /* Of a fabric's receive buffers more and more are in memory as they are used, 2 MB at most. */
    long buffers = share_memory(MPI_COMM_WORLD) ? 0 : 2500 << 10;
    long before = resident_bytes();
    int open = descriptors();
    in_turn(turns);
    CHECK_INT(descriptors(), open);
    /* The allocator may keep some. A window that stays behind costs more than 200 bytes. */
    if (!slow() && !reference)
        CHECK(resident_bytes() - before < (100 << 10) + turns * 102L + buffers);
    return finish();
}
