/* MPI_Win_attach and MPI_Win_detach: many regions, none twice, again after they were detached with other sizes; operations on them, while
 * others are attached, too; what is not attached, or not mapped, is an error. */
#include "check.h"
#include <sys/mman.h>

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

/* Memory of the right neighbour, as it is told. */
static MPI_Aint theirs(void *own)
{
    MPI_Aint mine, address;
    MPI(MPI_Get_address(own, &mine));
    MPI(MPI_Sendrecv(&mine, 1, MPI_AINT, (rank + size - 1) % size, 1, &address, 1, MPI_AINT, (rank + 1) % size, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    return address;
}

static void settle(MPI_Win win)
{
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
}

/* Puts, gets and accumulates on each of many regions: every second one is of the heap, sizes are of all kinds. */
static void operations(MPI_Win win)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, one = 1, back;
    char *own[regions], byte;
    MPI_Aint at[regions], bytes;
    for (int i = 0; i < regions; i++) {
        bytes = 4 + i % 59;
        if (i % 2)
            MPI(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own[i]));
        else
            own[i] = memory + i * largest;
        memset(own[i], 0, (size_t) bytes);
        MPI(MPI_Win_attach(win, own[i], bytes));
    }
    for (int i = 0; i < regions; i++)
        at[i] = theirs(own[i]);
    MPI(MPI_Win_lock_all(0, win));
    for (int i = 0; i < regions; i++) {
        int number = regions - 1 - i * 7 % regions;
        byte = (char) (rank + number);
        MPI(MPI_Put(&byte, 1, MPI_CHAR, right, MPI_Aint_add(at[number], 3 + number % 59), 1, MPI_CHAR, win));
        MPI(MPI_Accumulate(&number, 1, MPI_INT, right, at[number], 1, MPI_INT, MPI_BXOR, win));
        MPI(MPI_Fetch_and_op(&one, &back, MPI_INT, right, at[number], MPI_NO_OP, win));
        MPI(MPI_Win_flush(right, win));
        CHECK_INT(back & 0xffffff, (number ^ (number % 59 ? 0 : byte << 24)) & 0xffffff);
        if (!reference) {
            CHECK_CLASS(MPI_Put(&byte, 1, MPI_CHAR, right, MPI_Aint_add(at[number], 4 + number % 59), 1, MPI_CHAR, win),
                        MPI_ERR_RMA_RANGE);
            CHECK_CLASS(MPI_Get(&back, 1, MPI_INT, right, MPI_Aint_add(at[number], 1 + number % 59), 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        }
    }
    settle(win);
    for (int i = 0; i < regions; i++)
        if (i % 59)
            CHECK_INT(own[i][3 + i % 59], (char) (left + i));
    settle(win);
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < regions; i++) {
        MPI(MPI_Win_detach(win, own[i]));
        if (i % 2)
            MPI(MPI_Free_mem(own[i]));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (!reference) {
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        CHECK_CLASS(MPI_Put(&byte, 1, MPI_CHAR, right, at[0], 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Accumulate(&one, 1, MPI_INT, right, at[1], 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Compare_and_swap(&one, &one, &back, MPI_INT, right, at[2], win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_unlock(right, win));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* One address again and again, each time with another size, which the next operation has to know. */
static void again(MPI_Win win)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char byte, back;
    MPI_Aint at = theirs(memory);
    for (int round = 1; round < 40; round++) {
        int bytes = 1 + round * 29 % 97;
        memset(memory, 0, 100);
        MPI(MPI_Win_attach(win, memory, bytes));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        byte = (char) (rank + round);
        MPI(MPI_Put(&byte, 1, MPI_CHAR, right, MPI_Aint_add(at, bytes - 1), 1, MPI_CHAR, win));
        MPI(MPI_Win_flush(right, win));
        MPI(MPI_Get(&back, 1, MPI_CHAR, right, MPI_Aint_add(at, bytes - 1), 1, MPI_CHAR, win));
        if (!reference)
            CHECK_CLASS(MPI_Put(&byte, 1, MPI_CHAR, right, MPI_Aint_add(at, bytes), 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_unlock(right, win));
        CHECK_INT(back, byte);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_INT(memory[bytes - 1], (char) (left + round));
        CHECK_INT(memory[bytes], 0);
        MPI(MPI_Win_detach(win, memory));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* Each rank works on what its neighbour has attached for good, and attaches and detaches its own more than before meanwhile. */
static void meanwhile(MPI_Win win)
{
    enum { FIXED = 8000 };
    int right = (rank + 1) % size, rounds = slow() ? 60 : 400;
    int64_t *cells = (int64_t *) (memory + FIXED), value, back = -1;
    memset(cells, 0, 80);
    MPI(MPI_Win_attach(win, cells, 80));
    MPI_Aint at = theirs(cells);
    MPI(MPI_Win_lock_all(0, win));
    for (int i = 1; i <= rounds; i++) {
        /* below and above, in tables that grow and shrink */
        for (int k = 0; k < i % 100; k++)
            MPI(MPI_Win_attach(win, memory + (k % 2 ? 0 : FIXED + 100) + k * largest, largest));
        value = 3;
        MPI(MPI_Fetch_and_op(&value, &back, MPI_INT64_T, right, MPI_Aint_add(at, 8), MPI_SUM, win));
        value = i;
        MPI(MPI_Put(&value, 1, MPI_INT64_T, right, MPI_Aint_add(at, 72), 1, MPI_INT64_T, win));
        MPI(MPI_Win_flush(right, win));
        CHECK_INT(back, 3 * (i - 1));
        for (int k = i % 100 - 1; k >= 0; k--)
            MPI(MPI_Win_detach(win, memory + (k % 2 ? 0 : FIXED + 100) + k * largest));
    }
    settle(win);
    CHECK_INT(cells[1], 3 * rounds);
    CHECK_INT(cells[9], rounds);
    settle(win);
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_detach(win, cells));
}

/* It may wait until the flush, which then has its error. */
static int accumulate_and_flush(const int *value, int target, MPI_Aint at, MPI_Win win)
{
    int code = MPI_Accumulate(value, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win), flushed = MPI_Win_flush(target, win);
    return code ? code : flushed;
}

/* Memory that its owner has unmapped but not detached: an error of the origin's, and its neighbours work. */
static void unmapped(MPI_Win win)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    int right = (rank + 1) % size, one = 1, back = -1;
    char *own = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI(MPI_Win_attach(win, own, (MPI_Aint) (3 * page)));
    MPI_Aint at = theirs(own);
    CHECK(munmap(own + page, page) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (right != rank) {
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        CHECK_CLASS(MPI_Put(&one, 1, MPI_INT, right, MPI_Aint_add(at, (MPI_Aint) page), 1, MPI_INT, win), MPI_ERR_RMA_ATTACH);
        MPI(MPI_Win_flush(right, win)); /* the first one after it does not wait */
        CHECK_CLASS(MPI_Get(&back, 1, MPI_INT, right, MPI_Aint_add(at, (MPI_Aint) page + 8), 1, MPI_INT, win), MPI_ERR_RMA_ATTACH);
        CHECK_CLASS(accumulate_and_flush(&one, right, MPI_Aint_add(at, (MPI_Aint) page), win), MPI_ERR_RMA_ATTACH);
        MPI(MPI_Win_flush(right, win));
        CHECK_CLASS(MPI_Fetch_and_op(&one, &back, MPI_INT, right, MPI_Aint_add(at, (MPI_Aint) page), MPI_SUM, win), MPI_ERR_RMA_ATTACH);
        MPI(MPI_Win_flush(right, win));
        CHECK_CLASS(MPI_Compare_and_swap(&one, &one, &back, MPI_INT, right, MPI_Aint_add(at, (MPI_Aint) page), win), MPI_ERR_RMA_ATTACH);
        MPI(MPI_Fetch_and_op(&one, &back, MPI_INT, right, MPI_Aint_add(at, (MPI_Aint) (2 * page)), MPI_SUM, win));
        MPI(MPI_Win_unlock(right, win));
        CHECK_INT(back, 0);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(*(int *) (own + 2 * page), size > 1);
    MPI(MPI_Win_detach(win, own));
    munmap(own, page);
    munmap(own + 2 * page, page);
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
    operations(win);
    again(win);
    if (!reference) { /* looks at no table of what is attached */
        meanwhile(win);
        unmapped(win);
    }
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
