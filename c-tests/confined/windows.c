/* Operations on windows over memory that only its owner can address, while the owner sleeps outside of MPI: where the kernel refuses to
 * copy, a thread of the owner does. Memory that is not mapped is an error. tests/environment/ forbids what the kernel offers.
 * arg: which ranks are processes that others may not trace, as those of set-user-id programs: odd, all. */
#include "windows.h"
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 8 };

static struct window w;
static int target;

static void operations(void)
{
    int64_t *mine = malloc(BYTES), *back = malloc(BYTES), value = 5, old = -1, none = 0;
    MPI_Datatype vector;
    for (int i = 0; i < WORDS; i++)
        mine[i] = 3 * i + rank;
    MPI(MPI_Put(mine, WORDS, MPI_INT64_T, target, window_at(&w, target, 0), WORDS, MPI_INT64_T, w.win));
    MPI(MPI_Win_flush(target, w.win));
    MPI(MPI_Accumulate(mine, WORDS, MPI_INT64_T, target, window_at(&w, target, 0), WORDS, MPI_INT64_T, MPI_SUM, w.win));
    MPI(MPI_Win_flush(target, w.win));
    MPI(MPI_Get(back, WORDS, MPI_INT64_T, target, window_at(&w, target, 0), WORDS, MPI_INT64_T, w.win));
    MPI(MPI_Win_flush(target, w.win));
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(back[i], 2 * mine[i]);
    MPI(MPI_Type_vector(5000, 1, 3, MPI_INT64_T, &vector));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Put(mine, 5000, MPI_INT64_T, target, window_at(&w, target, 8), 1, vector, w.win));
    MPI(MPI_Win_flush(target, w.win));
    MPI(MPI_Get_accumulate(mine, 5000, MPI_INT64_T, back, 5000, MPI_INT64_T, target, window_at(&w, target, 8), 1, vector, MPI_MAX, w.win));
    MPI(MPI_Win_flush(target, w.win));
    for (int i = 0; i < 5000; i++)
        CHECK_INT(back[i], mine[i]);
    MPI(MPI_Put(&none, 1, MPI_INT64_T, target, window_at(&w, target, 0), 1, MPI_INT64_T, w.win));
    MPI(MPI_Win_flush(target, w.win));
    MPI(MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, window_at(&w, target, 0), MPI_SUM, w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK_INT(old, 0);
    MPI(MPI_Compare_and_swap(&none, &value, &old, MPI_INT64_T, target, window_at(&w, target, 0), w.win));
    MPI(MPI_Win_flush(target, w.win));
    CHECK_INT(old, 5);
    MPI(MPI_Type_free(&vector));
    free(mine), free(back);
}

/* All ranks on one counter. */
static void counter(void)
{
    int64_t one = 1, old, *cells = (int64_t *) w.base;
    if (rank == 0)
        cells[0] = 0;
    window_settle(&w);
    for (int i = 0; i < 300; i++)
        MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, window_at(&w, 0, 0), MPI_SUM, w.win));
    window_settle(&w);
    if (rank == 0)
        CHECK_INT(cells[0], 300 * size);
    window_settle(&w);
}

/* The target has unmapped a page of its window: an error at the origin, and nothing else. */
static void unmapped(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 4 * (size_t) page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), byte = 1;
    MPI_Win win;
    MPI(MPI_Win_create(memory, 4 * page, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK(munmap(memory + 2 * page, (size_t) page) == 0);
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (target != rank) {
        CHECK_CLASS(MPI_Put(&byte, 1, MPI_CHAR, target, 2 * page + 5, 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
        /* The first one after a flush waits for nothing, a further one for a flush. */
        MPI(MPI_Win_flush(target, win));
        CHECK_CLASS(MPI_Get(&byte, 1, MPI_CHAR, target, 3 * page - 1, 1, MPI_CHAR, win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_flush(target, win));
        CHECK_CLASS(MPI_Accumulate(&byte, 1, MPI_CHAR, target, 2 * page, 1, MPI_CHAR, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_flush(target, win));
        CHECK_CLASS(MPI_Fetch_and_op(&byte, &byte, MPI_CHAR, target, 2 * page, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    }
    byte = (char) rank;
    MPI(MPI_Put(&byte, 1, MPI_CHAR, target, 3 * page, 1, MPI_CHAR, win));
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(memory[3 * page], (char) ((rank + size - 1) % size));
    MPI(MPI_Win_free(&win));
    munmap(memory, 4 * (size_t) page);
}

/* Root may trace what it likes, unless it gives that up. */
static void hide(int from_others)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    CHECK(syscall(SYS_capget, &header, sets) == 0);
    sets[0].effective &= ~(1u << CAP_SYS_PTRACE);
    CHECK(syscall(SYS_capset, &header, sets) == 0);
    if (from_others)
        CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
}

/* The window says whether all of its memory is reached by the kernel. */
static void says_how(int hidden)
{
    char value[40] = "";
    int flag, room = sizeof value;
    MPI_Info info;
    struct window private = window_make(PRIVATE, 8, 1);
    MPI(MPI_Win_get_info(private.win, &info));
    MPI(MPI_Info_get_string(info, "oxmpi_private_access", &room, value, &flag));
    MPI(MPI_Info_free(&info));
    CHECK_STRING(value, hidden ? "helper" : "kernel");
    window_free(&private);
}

int main(int argc, char **argv)
{
    const char *number = getenv("PMI_RANK"), *hidden = argc > 1 ? argv[1] : "";
    if (*hidden)
        hide(!strcmp(hidden, "all") || (number && atoi(number) % 2));
    start(&argc, &argv);
    if (*hidden && size > 1)
        says_how(rank % 2 == 0 || size > 2 || !strcmp(hidden, "all"));
    target = (rank + 1) % size;
    static const enum window_kind kinds[] = {PRIVATE, DYNAMIC, ALLOCATED};
    for (int k = 0; k < 3; k++) {
        w = window_make(kinds[k], BYTES, 1);
        /* one half after the other, so that the targets of each are busy elsewhere */
        for (int half = 0; half < 2; half++) {
            char name[64];
            struct stat about;
            int process = (int) getpid();
            MPI(MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD));
            snprintf(name, sizeof name, "/tmp/oxmpi-windows-%d-%d-%d", process, k, half);
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (rank % 2 == half) {
                operations();
                /* the right neighbour waits for this rank's file */
                char own[80];
                snprintf(own, sizeof own, "%s-%d", name, rank);
                fclose(fopen(own, "w"));
            }
            if (size > 1 && rank % 2 != half) {
                int left = (rank + size - 1) % size;
                if (left % 2 == half) {
                    char theirs[80];
                    snprintf(theirs, sizeof theirs, "%s-%d", name, left);
                    while (stat(theirs, &about) != 0)
                        rest();
                }
            }
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (rank % 2 == half) {
                char own[80];
                snprintf(own, sizeof own, "%s-%d", name, rank);
                unlink(own);
            }
        }
        counter();
        window_free(&w);
    }
    unmapped();
    return finish();
}
