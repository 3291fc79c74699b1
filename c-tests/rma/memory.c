/* MPI_Alloc_mem; windows of more than 2 GB; more than there is: an error of one class on all ranks and no signal; children of a fork. */
#include "check.h"
#include <sys/wait.h>

static void alloc_mem(void)
{
    MPI_Info info;
    char *memory[64];
    MPI_Aint sizes[] = {0, 1, 64, 2048, 2049, 100000, 5 << 20};
    for (int i = 0; i < 64; i++) {
        size_t bytes = (size_t) sizes[i % 7];
        MPI(MPI_Alloc_mem(sizes[i % 7], MPI_INFO_NULL, &memory[i]));
        CHECK(memory[i] != NULL);
        CHECK_INT((uintptr_t) memory[i] % 16, 0);
        fill(memory[i], bytes, (uint64_t) i);
    }
    for (int i = 63; i >= 0; i--) {
        CHECK_PATTERN(memory[i], (size_t) sizes[i % 7], (uint64_t) i);
        MPI(MPI_Free_mem(memory[i]));
    }
    MPI(MPI_Info_create(&info));
    const char *alignments[] = {"64", "256", "4096", "65536", "8388608"};
    for (int i = 0; i < 5 && !reference; i++) {
        MPI(MPI_Info_set(info, "mpi_minimum_memory_alignment", alignments[i]));
        MPI(MPI_Alloc_mem(100, info, &memory[0]));
        CHECK_INT((uintptr_t) memory[0] % strtoul(alignments[i], NULL, 10), 0);
        memset(memory[0], 1, 100);
        MPI(MPI_Free_mem(memory[0]));
    }
    MPI(MPI_Info_free(&info));
}

static void too_much(void)
{
    MPI_Win win;
    char *base;
    MPI_Aint sizes[] = {(MPI_Aint) 1 << 60, (MPI_Aint) 1 << 45};
    for (int i = 0; i < 2; i++)
        for (int one = 0; one < 2; one++) {
            /* All ranks, and the last one alone. */
            MPI_Aint bytes = one && rank != size - 1 ? 8 : sizes[i];
            int code = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
            CHECK_CLASS(code, MPI_ERR_NO_MEM);
            code = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
            if (sizes[i] < (MPI_Aint) 1 << 50)
                CHECK_CLASS(code, MPI_ERR_NO_MEM);
            else
                CHECK(code != MPI_SUCCESS);
        }
    /* Nothing is left of that. */
    MPI(MPI_Win_allocate(100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    fill(base, 100000, 1);
    MPI(MPI_Win_free(&win));
}

static void forked(void)
{
    MPI_Win win;
    char *base;
    int status = -1;
    MPI(MPI_Win_allocate(5000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    fill(base, 5000, (uint64_t) rank);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_INT(system("exit 3") >> 8, 3);
    CHECK_PATTERN(base, 5000, (uint64_t) rank);
    MPI(MPI_Win_free(&win));
}

/* Only where it is said: it takes the memory. */
static void large(void)
{
    MPI_Win win;
    char *base;
    MPI_Aint bytes = ((MPI_Aint) 1 << 31) + 12345, found;
    int unit;
    MPI(MPI_Win_allocate_shared(rank == 0 ? bytes : 100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    if (rank == 0)
        base[bytes - 1] = 55;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_shared_query(win, 0, &found, &unit, &base));
    CHECK_INT(found, bytes);
    CHECK_INT(base[bytes - 1], 55);
    MPI(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    alloc_mem();
    if (!reference)
        too_much();
    forked();
    if (argc > 1)
        large();
    return finish();
}
