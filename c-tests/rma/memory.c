/* MPI_Alloc_mem; windows of more than 2 GB; more than there is: an error of one class on all ranks and no signal; children of a fork, and
 * those that live while others write to their parent's memory. */
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

/* While a child of a fork lives, that has pages in common with this process until one of both writes to them: operations of others reach
 * this process's memory and not the child's, and children that run other programs change nothing. */
static void with_child(void)
{
    enum { BYTES = 100000 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size, go[2], answer[2], status = -1;
    int64_t one = 1, old, *cells;
    char *out = malloc(BYTES), *own = malloc(BYTES), byte = 0;
    MPI_Win win;
    fill(own, BYTES, (uint64_t) rank);
    fill(out, BYTES, (uint64_t) (100 + rank));
    MPI(MPI_Win_create(own, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(pipe(go) == 0 && pipe(answer) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        /* when the parent's memory has been changed */
        close(go[1]);
        byte = read(go[0], &byte, 1) == 0 && differs(own, BYTES, (uint64_t) rank) == BYTES ? 'y' : 'n';
        _exit(write(answer[1], &byte, 1) == 1 ? 7 : 8);
    }
    close(go[0]);
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Put(out, BYTES, MPI_CHAR, right, 0, BYTES, MPI_CHAR, win));
    MPI(MPI_Win_fence(0, win));
    CHECK_PATTERN(own, BYTES, (uint64_t) (100 + left));
    cells = (int64_t *) own;
    cells[1] = 40;
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, right, 8, MPI_SUM, win));
    MPI(MPI_Win_fence(0, win));
    CHECK_INT(old, 40);
    CHECK_INT(cells[1], 41);
    CHECK_INT(system("sleep 0; exit 5") >> 8, 5);
    MPI(MPI_Win_fence(0, win));
    close(go[1]);
    CHECK(read(answer[0], &byte, 1) == 1 && byte == 'y');
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    MPI(MPI_Win_free(&win));
    close(answer[0]), close(answer[1]);
    free(out), free(own);
}

/* Operations at places and with counts beyond 2 GB, on a window of the heap. */
static void far_away(MPI_Win win, MPI_Aint bytes, const char *base)
{
    char *from = malloc((size_t) bytes);
    int64_t one = 1, old = -1;
    MPI_Datatype apart;
    MPI(MPI_Win_fence(0, win));
    if (rank == size - 1) {
        memset(from, 7, (size_t) bytes);
        from[bytes - 10] = 9;
        MPI(MPI_Put_c(from, bytes, MPI_CHAR, 0, 0, bytes, MPI_CHAR, win));
        MPI(MPI_Win_fence(0, win));
        memset(from, 0, 5);
        MPI(MPI_Get_c(from + 5, bytes - 5, MPI_CHAR, 0, 5, bytes - 5, MPI_CHAR, win));
        MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, bytes - 32, MPI_SUM, win));
        MPI(MPI_Win_fence(0, win));
        CHECK_INT(old, 0x0707070707070707);
        CHECK_INT(from[4], 0);
        CHECK_INT(from[bytes - 10], 9);
        for (MPI_Aint i = 5; i < bytes; i += 4001)
            CHECK(from[i] == 7 || i == bytes - 10);
        /* two pieces that lie further apart than an int can say */
        MPI(MPI_Type_create_hvector(2, 1000, bytes - 2000, MPI_CHAR, &apart));
        MPI(MPI_Type_commit(&apart));
        memset(from, 11, (size_t) bytes);
        MPI(MPI_Put(from, 1, apart, 0, 500, 1, apart, win));
        MPI(MPI_Type_free(&apart));
        MPI(MPI_Win_fence(0, win));
        memset(from, 13, (size_t) bytes);
        MPI(MPI_Accumulate_c(from, bytes - 3000, MPI_SIGNED_CHAR, 0, 1500, bytes - 3000, MPI_SIGNED_CHAR, MPI_REPLACE, win));
        MPI(MPI_Win_fence(0, win));
    } else
        for (int i = 0; i < 4; i++)
            MPI(MPI_Win_fence(0, win));
    for (MPI_Aint i = 0; rank == 0 && i < bytes - 500; i += i < 4000 || i > bytes - 4000 ? 1 : 4001)
        CHECK_INT(base[i], i < 500 ? 7 : i < 1500 || i >= bytes - 1500 ? 11 : 13);
    free(from);
    MPI(MPI_Win_fence(0, win));
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
    far_away(win, bytes, base);
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
    with_child();
    if (argc > 1)
        large();
    return finish();
}
