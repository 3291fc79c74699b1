/* Memory of a window that shares pages with other variables of its process is shared in place, too, where the user says so: the other variables stay the process's
 * own, a child of a fork has its own of all, whatever other ranks and threads do meanwhile, and nothing of it is left behind. */
#include "near.h"
#include "private_window.h"
#include "process.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 4, ARENA = PAGES * PAGE };

/* What a mapping of some of the memory has in /proc/self/maps: 's' if it is shared, 'f' if it is a private one of a file, 'p' else. */
static int kind_of(const void *base, size_t bytes)
{
    uintptr_t first = (uintptr_t) base, last = first + bytes - 1;
    char line[512], access[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 'p';
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        unsigned long inode;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %lu", &from, &to, access, &inode) != 4 || from > last || first >= to)
            continue;
        if (access[3] == 's')
            found = 's';
        else if (inode != 0 && found == 'p')
            found = 'f';
    }
    fclose(maps);
    return found;
}

static unsigned char other(int at)
{
    return (unsigned char) (at * 7 + rank + 1);
}

/* All that is not the window's is what this process has stored there. */
static void others_are_there(const unsigned char *arena, int from, int bytes)
{
    for (int at = 0; at < ARENA; at++)
        if ((at < from || at >= from + bytes) && arena[at] != other(at))
            check_failed(__FILE__, __LINE__, "byte %d is %d", at, arena[at]);
}

/* Every operation, by all ranks at all words of all ranks. */
static void operations(MPI_Win win, int64_t *cells, int words)
{
    int64_t one = 1, old, sent, got, compared;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t *all = calloc((size_t) words, sizeof *all);
    memset(cells, 0, 8 * (size_t) words);
    settle(win);
    for (int r = 0; r < size; r++)
        for (int at = 0; at < words; at += 1 + words / 9) {
            MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, r, 8 * at, 1, MPI_INT64_T, MPI_SUM, win));
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, r, 8 * at, MPI_SUM, win));
            do {
                MPI(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &compared, 1, MPI_INT64_T, r, 8 * at, 1, MPI_INT64_T, MPI_NO_OP, win));
                MPI(MPI_Win_flush(r, win));
                sent = compared + 1;
                MPI(MPI_Compare_and_swap(&sent, &compared, &old, MPI_INT64_T, r, 8 * at, win));
                MPI(MPI_Win_flush(r, win));
            } while (old != compared);
        }
    settle(win);
    for (int at = 0; at < words; at++)
        CHECK_INT(cells[at], at % (1 + words / 9) ? 0 : 3 * size);
    settle(win);
    /* single words, then all, then those with gaps */
    for (int at = 0; at < words; at++) {
        sent = 1000 * rank + at;
        MPI(MPI_Put(&sent, 1, MPI_INT64_T, right, 8 * at, 1, MPI_INT64_T, win));
        if (at % 3 == 0) {
            MPI(MPI_Win_flush(right, win));
            MPI(MPI_Get(&got, 1, MPI_INT64_T, right, 8 * at, 1, MPI_INT64_T, win));
            MPI(MPI_Win_flush(right, win));
            CHECK_INT(got, sent);
        }
    }
    settle(win);
    for (int at = 0; at < words; at++)
        CHECK_INT(cells[at], 1000 * left + at);
    settle(win);
    for (int at = 0; at < words; at++)
        all[at] = -1000 * rank - at;
    MPI(MPI_Put(all, words, MPI_INT64_T, right, 0, words, MPI_INT64_T, win));
    settle(win);
    memset(all, 0, 8 * (size_t) words);
    MPI(MPI_Get(all, words, MPI_INT64_T, right, 0, words, MPI_INT64_T, win));
    MPI(MPI_Win_flush(right, win));
    for (int at = 0; at < words; at++) {
        CHECK_INT(all[at], -1000 * rank - at);
        CHECK_INT(cells[at], -1000 * left - at);
    }
    settle(win);
    if (words > 2) {
        MPI_Datatype ends;
        MPI(MPI_Type_vector(2, 1, words - 1, MPI_INT64_T, &ends));
        MPI(MPI_Type_commit(&ends));
        int64_t two[2] = {5 + rank, 6 + rank}, back[2];
        MPI(MPI_Put(two, 2, MPI_INT64_T, right, 0, 1, ends, win));
        MPI(MPI_Win_flush(right, win));
        MPI(MPI_Get(back, 2, MPI_INT64_T, right, 0, 1, ends, win));
        MPI(MPI_Accumulate(two, 2, MPI_INT64_T, right, 0, 1, ends, MPI_SUM, win));
        settle(win);
        CHECK_INT(back[1], two[1]);
        CHECK_INT(cells[0], 2 * (5 + left));
        CHECK_INT(cells[1], -1000 * left - 1);
        CHECK_INT(cells[words - 1], 2 * (6 + left));
        MPI(MPI_Type_free(&ends));
    }
    settle(win);
    free(all);
}

/* The child has its own pages from its first instruction on, and writes to all of them. */
static void fork_once(unsigned char *arena, int from, int bytes)
{
    int code = 0;
    pid_t child = fork();
    if (child == 0) {
        int bad = kind_of(arena, ARENA) == 's' ? 2 : 0;
        for (int at = 0; at < ARENA && !bad; at++)
            bad = (at < from || at >= from + bytes) && arena[at] != other(at);
        memset(arena, 99, ARENA);
        _exit(bad);
    }
    CHECK(child > 0 && waitpid(child, &code, 0) == child);
    CHECK_INT(code, 0);
    others_are_there(arena, from, bytes);
}

/* Gets words until all memory is shared that this process reaches. */
static void use(MPI_Win win, int words)
{
    int64_t value;
    for (int i = 0; size > 1 && i < 100000 && strcmp(told(win, "oxmpi_private_access"), "shared"); i++)
        for (int k = 0; k < 300; k++) {
            MPI(MPI_Get(&value, 1, MPI_INT64_T, k % size, 8 * (k % words), 1, MPI_INT64_T, win));
            MPI(MPI_Win_flush(k % size, win));
        }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static void at(int from, int bytes, const char *hint, int is_by_price)
{
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    int64_t *cells = (int64_t *) (arena + from);
    int words = bytes / 8, whole = (from + bytes) / PAGE * PAGE - (from + PAGE - 1) / PAGE * PAGE > 0;
    for (int i = 0; i < ARENA; i++)
        arena[i] = other(i);
    MPI_Win win = window_of(cells, bytes, hint);
    if (is_by_price) {
        operations(win, cells, words);
        use(win, words);
    }
    if (size > 1) {
        CHECK_STRING(told(win, "oxmpi_private_access"), "shared");
        CHECK_INT(kind_of(arena + from, 8), 's');
        CHECK_INT(kind_of(arena + from + bytes - 8, 8), 's');
    }
    operations(win, cells, words);
    others_are_there(arena, from, bytes);
    for (int round = 0; round < 2; round++) {
        fork_once(arena, from, bytes);
        if (!whole)
            CHECK_INT(kind_of(arena, ARENA), 'p');
        if (from % PAGE)
            CHECK_INT(kind_of(arena + from, 8), 'p');
        if ((from + bytes) % PAGE)
            CHECK_INT(kind_of(arena + from + bytes - 8, 8), 'p');
        settle(win);
        operations(win, cells, words);
        if (!whole) {
            use(win, words);
            CHECK_INT(kind_of(arena + from, 8), size > 1 ? 's' : 'p');
        }
        operations(win, cells, words);
    }
    others_are_there(arena, from, bytes);
    end(&win);
    CHECK_INT(kind_of(arena, ARENA), 'p');
    others_are_there(arena, from, bytes);
    free(arena);
}

/* Edges stay the process's own where nobody has asked for them. */
static void unasked(const char *hint)
{
    static const int places[][2] = {{104, 8}, {PAGE - 24, 48}, {PAGE - 96, PAGE + 200}, {64, 3 * PAGE}, {PAGE, 2 * PAGE}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char *arena = aligned_alloc(PAGE, ARENA);
        int from = places[i][0], bytes = places[i][1], words = bytes / 8;
        int first = (from + PAGE - 1) / PAGE * PAGE, end_of = (from + bytes) / PAGE * PAGE;
        for (int k = 0; k < ARENA; k++)
            arena[k] = other(k);
        MPI_Win win = window_of(arena + from, bytes, hint);
        operations(win, (int64_t *) (arena + from), words);
        for (int k = 0, all = 0; size > 1 && end_of > first && !all && k < 100000; k++) {
            int64_t value;
            for (int n = 0; n < 300; n++) {
                MPI(MPI_Get(&value, 1, MPI_INT64_T, n % size, 8 * (n % words), 1, MPI_INT64_T, win));
                MPI(MPI_Win_flush(n % size, win));
            }
            int is_shared = kind_of(arena + first, (size_t) (end_of - first)) == 's';
            MPI(MPI_Allreduce(&is_shared, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD));
        }
        settle(win);
        operations(win, (int64_t *) (arena + from), words);
        others_are_there(arena, from, bytes);
        if (size > 1 && end_of > first)
            CHECK_INT(kind_of(arena + first, (size_t) (end_of - first)), 's');
        if (from % PAGE)
            CHECK_INT(kind_of(arena + from, 8), 'p');
        if ((from + bytes) % PAGE)
            CHECK_INT(kind_of(arena + from + bytes - 8, 8), 'p');
        fork_once(arena, from, bytes);
        CHECK(size == 1 || end_of <= first || kind_of(arena + first, 8) == 's');
        end(&win);
        CHECK_INT(kind_of(arena, ARENA), 'p');
        free(arena);
    }
}

/* Processes fork while all ranks add to their counters, and share them again and again: nothing is lost. */
static void storm(int rounds)
{
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    int64_t *counter = (int64_t *) (arena + 200), one = 1, old, mine = 0, sum = 0;
    for (int i = 0; i < ARENA; i++)
        arena[i] = other(i);
    memset(counter, 0, 16);
    MPI_Win win = window_of(counter, 16, "edges-now");
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 400; i++) {
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, (rank + i) % size, 0, MPI_SUM, win));
            MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, MPI_SUM, win));
            mine++;
        }
        fork_once(arena, 200, 16);
    }
    settle(win);
    MPI(MPI_Allreduce(counter, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, mine * size);
    if (rank == 0)
        CHECK_INT(counter[1], mine * size);
    settle(win);
    end(&win);
    CHECK_INT(kind_of(arena, ARENA), 'p');
    free(arena);
}

static struct counting {
    atomic_int *word, stops;
    int counted;
} counting;

static void *counts(void *of)
{
    struct counting *it = of;
    while (!atomic_load(&it->stops)) {
        atomic_fetch_add(it->word, 1);
        it->counted++;
    }
    return NULL;
}

/* Another thread writes to a variable on a page that is an edge: such a page is not shared; one that is shared already becomes the process's own
 * before a fork, and no store is lost. */
static void threads(void)
{
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    int64_t *cells = (int64_t *) (arena + PAGE - 80), *plain = malloc(64);
    int words = 20, code;
    pthread_t thread;
    memset(arena, 0, ARENA);
    memset(plain, 0, 64);
    counting.word = (atomic_int *) (arena + 2 * PAGE - 64);
    CHECK(pthread_create(&thread, NULL, counts, &counting) == 0);
    MPI_Win none = window_of(plain, 64, "edges-now"), win = window_of(cells, 8 * words, "edges-now");
    CHECK(strcmp(told(win, "oxmpi_private_access"), "shared") != 0);
    operations(win, cells, words);
    end(&win);
    end(&none);
    atomic_store(&counting.stops, 1);
    pthread_join(thread, NULL);

    atomic_store(&counting.stops, 0);
    win = window_of(cells, 8 * words, "edges-now");
    CHECK_INT(kind_of(cells, 8 * (size_t) words), size > 1 ? 's' : 'p');
    CHECK(pthread_create(&thread, NULL, counts, &counting) == 0);
    operations(win, cells, words);
    for (int round = 0; round < 3; round++) {
        pid_t child = fork();
        if (child == 0)
            _exit(kind_of(arena, ARENA) == 's');
        CHECK(child > 0 && waitpid(child, &code, 0) == child);
        CHECK_INT(code, 0);
        CHECK(kind_of(arena, ARENA) != 's');
        settle(win);
        operations(win, cells, words);
    }
    atomic_store(&counting.stops, 1);
    pthread_join(thread, NULL);
    CHECK_INT(atomic_load(counting.word), counting.counted);
    use(win, words);
    CHECK_INT(kind_of(cells, 8 * (size_t) words), size > 1 ? 's' : 'p');
    operations(win, cells, words);
    end(&win);
    CHECK_INT(kind_of(arena, ARENA), 'p');
    CHECK_INT(atomic_load(counting.word), counting.counted);
    free(plain);
    free(arena);
}

/* Windows over neighbors in one page, one of which ends first. */
static void neighbors(void)
{
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    int64_t *cells = (int64_t *) arena;
    for (int i = 0; i < ARENA; i++)
        arena[i] = other(i);
    MPI_Win one = window_of(cells + 2, 80, "edges-now"), two = window_of(cells + 20, 160, "edges-now"), across = window_of(cells + 500, 160, "edges-now");
    CHECK(size == 1 || kind_of(arena, PAGE) == 's');
    operations(one, cells + 2, 10);
    operations(two, cells + 20, 20);
    operations(across, cells + 500, 20);
    fork_once(arena, 16, 500 * 8 + 160 - 16);
    operations(two, cells + 20, 20);
    end(&one);
    operations(two, cells + 20, 20);
    operations(across, cells + 500, 20);
    end(&two);
    operations(across, cells + 500, 20);
    end(&across);
    CHECK_INT(kind_of(arena, ARENA), 'p');
    free(arena);
}

static int64_t fixed[5] = {1, 2, 3, 4, 5}, zeros[3];

/* Variables of the program, on pages that were a file's. */
static void variables(void)
{
    MPI_Win one = window_of(fixed + 1, 24, "edges-now"), two = window_of(zeros, sizeof zeros, "edges-now");
    if (size > 1) {
        CHECK_STRING(told(one, "oxmpi_private_access"), "shared");
        CHECK_STRING(told(two, "oxmpi_private_access"), "shared");
    }
    operations(one, fixed + 1, 3);
    operations(two, zeros, 3);
    CHECK(fork() > 0 || (_exit(0), 0));
    CHECK(wait(NULL) > 0);
    operations(two, zeros, 3);
    operations(one, fixed + 1, 3);
    end(&one);
    operations(two, zeros, 3);
    end(&two);
    CHECK(kind_of(fixed, sizeof fixed) != 's' && kind_of(zeros, sizeof zeros) != 's');
    CHECK_INT(fixed[0], 1);
    CHECK_INT(fixed[4], 5);
    fixed[0] = 1;
}

/* Memory on the same page as that of windows which come and go stays with the kernel; no access to it is lost when the page changes. */
static void beside(int times)
{
    MPI_Comm half;
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    int64_t one = 1, old, *cells = (int64_t *) arena, mine = 0, sum, stop = 0;
    memset(arena, 0, ARENA);
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank >= 2, rank, &half));
    MPI_Win win = window_of(cells, 16, "no");
    if (rank < 2) {
        for (int i = 0; i < times; i++) {
            MPI_Info info;
            MPI_Win other;
            MPI(MPI_Info_create(&info));
            MPI(MPI_Info_set(info, "oxmpi_share", "edges-now"));
            MPI(MPI_Win_create(cells + 100, 80, 1, info, half, &other));
            MPI(MPI_Info_free(&info));
            MPI(MPI_Win_free(&other));
        }
        stop = 1;
        if (rank == 0)
            MPI(MPI_Accumulate(&stop, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, MPI_REPLACE, win));
    } else
        for (int64_t stopped = 0; !stopped; mine++) {
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win));
            MPI(MPI_Fetch_and_op(NULL, &stopped, MPI_INT64_T, 0, 8, MPI_NO_OP, win));
            MPI(MPI_Win_flush(0, win));
        }
    settle(win);
    MPI(MPI_Reduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        CHECK_INT(cells[0], sum);
    end(&win);
    MPI(MPI_Comm_free(&half));
    free(arena);
}

/* Attached memory of a few bytes, several pieces on a page. */
static void attached(void)
{
    enum { NODES = 40 };
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t *nodes[NODES], value, got;
    MPI_Aint own[NODES], there[NODES];
    MPI_Win win;
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", "edges-now"));
    MPI(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Win_lock_all(0, win));
    for (int i = 0; i < NODES; i++) {
        nodes[i] = malloc(i % 8 == 5 ? 5000 : 100);
        *nodes[i] = 100 * rank + i;
        MPI(MPI_Win_attach(win, nodes[i], i % 8 == 5 ? 5000 : 100));
        MPI(MPI_Get_address(nodes[i], &own[i]));
    }
    CHECK(size == 1 || kind_of(nodes[0], 8) == 's');
    MPI(MPI_Sendrecv(own, NODES, MPI_AINT, left, 0, there, NODES, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < NODES; i++) {
            MPI(MPI_Get(&got, 1, MPI_INT64_T, right, there[i], 1, MPI_INT64_T, win));
            MPI(MPI_Win_flush(right, win));
            CHECK_INT(got, 100 * right + i + 3 * round);
            value = 1;
            MPI(MPI_Fetch_and_op(&value, &got, MPI_INT64_T, right, there[i], MPI_SUM, win));
            MPI(MPI_Win_flush(right, win));
            value = got + 2;
            MPI(MPI_Put(&value, 1, MPI_INT64_T, right, there[i], 1, MPI_INT64_T, win));
            MPI(MPI_Win_flush(right, win));
            value = got + 3;
            MPI(MPI_Put(&value, 1, MPI_INT64_T, right, there[i], 1, MPI_INT64_T, win));
        }
        MPI(MPI_Win_flush_all(win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        int code;
        pid_t child = fork();
        if (child == 0)
            _exit(kind_of(nodes[0], 8) == 's' || *nodes[1] != 100 * rank + 1 + 3 * (round + 1));
        CHECK(child > 0 && waitpid(child, &code, 0) == child);
        CHECK_INT(code, 0);
        CHECK_INT(kind_of(nodes[0], 8), 'p');
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = 0; i < NODES; i++) {
        MPI(MPI_Win_detach(win, nodes[i]));
        CHECK_INT(*nodes[i], 100 * rank + i + 9);
    }
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < NODES; i++) {
        CHECK_INT(kind_of(nodes[i], 8), 'p');
        free(nodes[i]);
    }
    MPI(MPI_Win_free(&win));
}

/* Nothing grows. */
static void in_turn(int times)
{
    long before = 0;
    unsigned char *arena = aligned_alloc(PAGE, ARENA);
    for (int i = 0; i < times; i++) {
        if (i == times / 10)
            before = resident_bytes();
        MPI_Win win = window_of(arena + 8 + i % 3000, 100 + i % 5000, "edges-now");
        if (i % 64 == 7)
            CHECK(system("true") == 0);
        end(&win);
    }
    long grown = resident_bytes() - before;
    if (grown > 128 << 10)
        check_failed(__FILE__, __LINE__, "%d windows took %ld bytes", times, grown);
    CHECK_INT(kind_of(arena, ARENA), 'p');
    free(arena);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int times = argc > 1 ? atoi(argv[1]) : 200;
    const char *setting = getenv("OXMPI_SHARE_WINDOWS");
    static const int places[][2] = {{104, 8},         {PAGE - 24, 48},   {PAGE - 96, PAGE + 200}, {PAGE, 400},
                                    {PAGE - 400, 400}, {64, 3 * PAGE},    {PAGE + 8, PAGE - 16},   {16, 2 * PAGE - 16}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        at(places[i][0], places[i][1], "edges-now", 0);
        if (i < 3)
            at(places[i][0], places[i][1], setting ? NULL : "edges", 1);
    }
    unasked("now");
    unasked(setting ? "auto" : NULL);
    variables();
    neighbors();
    beside(times);
    attached();
    storm(times / 20);
    threads();
    in_turn(times);
    return finish();
}
