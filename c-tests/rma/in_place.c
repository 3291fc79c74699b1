/* Memory that a program gives to windows is shared in place: by itself when it is used much, at once with the info key oxmpi_share, and
 * never where that is not safe. Nothing else changes: content, edges of pages, atomicity, forks, what is left when the window is gone. */
#include "near.h"
#include "private_window.h"
#include "process.h"
#include <pthread.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 12, BYTES = PAGES * PAGE + 200, WORDS = BYTES / 8 };

static char fixed[BYTES + PAGE];

/* Whether some of the memory has pages that other processes share. */
static int has_shared_pages(const void *base, size_t bytes)
{
    uintptr_t first = (uintptr_t) base, last = first + bytes - 1;
    char line[512], access[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, access) == 3 && from <= last && first < to)
            found |= access[3] == 's';
    }
    fclose(maps);
    return found;
}

static int64_t pattern(int of, int at)
{
    return of * 1000003 + at;
}

static void fill_in(int64_t *cells)
{
    for (int i = 0; i < WORDS; i++)
        cells[i] = pattern(rank, i);
}

static void is_filled(const int64_t *cells)
{
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(cells[i], pattern(rank, i));
}

/* All ranks add to all words of all ranks, in pieces that cross pages and by single elements, and read what they have put at the edges. */
static void operations(MPI_Win win, int64_t *cells)
{
    static int64_t many[WORDS], got[WORDS];
    int64_t one = 1, old;
    for (int i = 0; i < WORDS; i++)
        many[i] = i;
    for (int r = 0; r < size; r++) {
        MPI(MPI_Accumulate(many, WORDS, MPI_INT64_T, r, 0, WORDS, MPI_INT64_T, MPI_SUM, win));
        for (int at = 0; at < WORDS; at += 37)
            MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, r, 8 * at, MPI_SUM, win));
        MPI(MPI_Accumulate(&one, 1, MPI_INT64_T, r, 8 * (WORDS - 1), 1, MPI_INT64_T, MPI_SUM, win));
    }
    settle(win);
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(cells[i], pattern(rank, i) + (int64_t) size * (i + (i % 37 == 0) + (i == WORDS - 1)));
    for (int r = 0; r < size; r++) {
        MPI(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, got, WORDS, MPI_INT64_T, r, 0, WORDS, MPI_INT64_T, MPI_NO_OP, win));
        MPI(MPI_Win_flush(r, win));
        for (int i = 0; i < WORDS; i++)
            CHECK_INT(got[i], pattern(r, i) + (int64_t) size * (i + (i % 37 == 0) + (i == WORDS - 1)));
    }
    settle(win);
    /* every third word, over all pages and their edges, of the right neighbor */
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Datatype third;
    MPI(MPI_Type_vector(WORDS / 3, 1, 3, MPI_INT64_T, &third));
    MPI(MPI_Type_commit(&third));
    for (int i = 0; i < WORDS; i++)
        many[i] = pattern(rank, -i);
    MPI(MPI_Put(many, WORDS / 3, MPI_INT64_T, right, 0, 1, third, win));
    memset(got, 0, sizeof got);
    settle(win);
    MPI(MPI_Get(got, WORDS / 3, MPI_INT64_T, right, 0, 1, third, win));
    MPI(MPI_Win_flush(right, win));
    for (int i = 0; i < WORDS / 3; i++) {
        CHECK_INT(got[i], pattern(rank, -i));
        CHECK_INT(cells[3 * i], pattern(left, -i));
    }
    MPI(MPI_Type_free(&third));
    settle(win);
    fill_in(cells);
    settle(win);
}

/* Uses a window until all memory that this process wants to reach is shared, at most so often. */
static void use(MPI_Win win, int times)
{
    int64_t value = 0;
    for (int i = 0; i < times && strcmp(told(win, "oxmpi_private_access"), "shared"); i++)
        for (int k = 0; k < 500; k++) {
            int r = k % size, at = 8 * (k % WORDS);
            MPI(MPI_Get(&value, 1, MPI_INT64_T, r, at, 1, MPI_INT64_T, win));
            MPI(MPI_Win_flush(r, win));
            CHECK_INT(value, pattern(r, k % WORDS));
        }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* A child has memory of its own, with what the parent had in it; a program that is run changes nothing. */
static void forks(MPI_Win win, int64_t *cells)
{
    int code;
    pid_t child = fork();
    if (child == 0) {
        int bad = has_shared_pages(cells, BYTES) ? 2 : 0;
        for (int i = 0; i < WORDS && !bad; i++)
            bad = cells[i] != pattern(rank, i);
        memset(cells, 7, BYTES);
        if (fork() == 0)
            _exit(0);
        _exit(wait(&code) > 0 && code == 0 ? bad : 3);
    }
    CHECK(child > 0 && waitpid(child, &code, 0) == child);
    CHECK_INT(code, 0);
    is_filled(cells);
    CHECK_INT(system("true"), 0);
    settle(win);
    is_filled(cells);
    settle(win);
}

static void used_much(const char *name, char *base, int can_share)
{
    int64_t *cells = (int64_t *) base;
    MPI_Win win = window_of(base, BYTES, NULL);
    fill_in(cells);
    settle(win);
    CHECK(strcmp(told(win, "oxmpi_private_access"), "shared") != 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    use(win, can_share ? 100000 : 50);
    if (size > 1 && (!strcmp(told(win, "oxmpi_private_access"), "shared")) != can_share)
        check_failed(__FILE__, __LINE__, "%s: reached by %s", name, told(win, "oxmpi_private_access"));
    is_filled(cells);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    operations(win, cells);
    if (can_share)
        forks(win, cells);
    end(&win);
    CHECK(!has_shared_pages(base, BYTES));
    is_filled(cells);
}

static void at_once(char *base)
{
    int64_t *cells = (int64_t *) base;
    fill_in(cells);
    MPI_Win win = window_of(base, BYTES, "now"), other = window_of(base + PAGE, BYTES - 2 * PAGE, "now"), none = window_of(base, BYTES, "no");
    CHECK_STRING(told(win, "oxmpi_private_access"), size > 1 ? "shared" : "none");
    CHECK_STRING(told(other, "oxmpi_private_access"), size > 1 ? "shared" : "none");
    CHECK(strcmp(told(none, "oxmpi_private_access"), "shared") != 0);
    operations(win, cells);
    end(&win);
    /* the other one still has it */
    CHECK(size == 1 || has_shared_pages(base + PAGE, BYTES - 2 * PAGE));
    int64_t sent = 77 + rank, got = 0;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI(MPI_Put(&sent, 1, MPI_INT64_T, right, 3 * PAGE, 1, MPI_INT64_T, other));
    settle(other);
    CHECK_INT(*(int64_t *) (base + 4 * PAGE), 77 + left);
    end(&other);
    CHECK(!has_shared_pages(base, BYTES));
    MPI(MPI_Get(&got, 1, MPI_INT64_T, right, 4 * PAGE, 1, MPI_INT64_T, none));
    settle(none);
    CHECK_INT(got, 77 + rank);
    end(&none);
}

static void *sleeps(void *until)
{
    char byte;
    CHECK(read(*(int *) until, &byte, 1) == 0);
    return NULL;
}

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opens;
    int is_open, there;
};

static void *waits(void *of)
{
    struct gate *gate = of;
    pthread_mutex_lock(&gate->mutex);
    gate->there++;
    while (!gate->is_open)
        pthread_cond_wait(&gate->opens, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return NULL;
}

/* Threads that wait for others, as those of OpenMP and BLAS do, keep nothing from being shared. */
static void idle_threads(char *base)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    pthread_t threads[3];
    MPI_Win win;
    for (int t = 0; t < 3; t++)
        CHECK(pthread_create(&threads[t], NULL, waits, &gate) == 0);
    for (int there = 0; there < 3;) {
        usleep(5000);
        pthread_mutex_lock(&gate.mutex);
        there = gate.there;
        pthread_mutex_unlock(&gate.mutex);
    }
    fill_in((int64_t *) base);
    win = window_of(base, BYTES, NULL);
    use(win, 100000);
    CHECK_STRING(told(win, "oxmpi_private_access"), size > 1 ? "shared" : "none");
    operations(win, (int64_t *) base);
    end(&win);
    CHECK(!has_shared_pages(base, BYTES));
    pthread_mutex_lock(&gate.mutex);
    gate.is_open = 1;
    pthread_cond_broadcast(&gate.opens);
    pthread_mutex_unlock(&gate.mutex);
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
}

/* Another thread could write while the pages change, when a window becomes shared or when it ends. */
static void other_threads(char *base)
{
    int ends[2];
    pthread_t thread;
    MPI_Win win;
    fill_in((int64_t *) base);
    CHECK(pipe(ends) == 0);
    CHECK(pthread_create(&thread, NULL, sleeps, &ends[0]) == 0);
    win = window_of(base, BYTES, "now");
    CHECK(strcmp(told(win, "oxmpi_private_access"), "shared") != 0);
    operations(win, (int64_t *) base);
    end(&win);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);

    CHECK(pipe(ends) == 0);
    win = window_of(base, BYTES, "now");
    CHECK_STRING(told(win, "oxmpi_private_access"), size > 1 ? "shared" : "none");
    CHECK(pthread_create(&thread, NULL, sleeps, &ends[0]) == 0);
    end(&win);
    is_filled((int64_t *) base);
    /* it is shared still, and a new window over it begins so */
    win = window_of(base, BYTES, "now");
    CHECK_STRING(told(win, "oxmpi_private_access"), size > 1 ? "shared" : "none");
    operations(win, (int64_t *) base);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    end(&win);
    CHECK(!has_shared_pages(base, BYTES));
    is_filled((int64_t *) base);
}

static void dynamic(char *base)
{
    int64_t *cells = (int64_t *) base, value = 5, got;
    MPI_Aint own, *all = malloc((size_t) size * sizeof *all);
    MPI_Win win;
    MPI_Info info;
    int right = (rank + 1) % size;
    fill_in(cells);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", "now"));
    MPI(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    for (int round = 0; round < 3; round++) {
        MPI(MPI_Win_attach(win, base, BYTES));
        CHECK(size == 1 || has_shared_pages(base, BYTES));
        MPI(MPI_Get_address(base, &own));
        MPI(MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
        MPI(MPI_Win_lock_all(0, win));
        for (int at = 0; at < WORDS; at += 11) {
            MPI_Aint there = MPI_Aint_add(all[right], 8 * at);
            MPI(MPI_Fetch_and_op(&value, &got, MPI_INT64_T, right, there, MPI_SUM, win));
            MPI(MPI_Win_flush(right, win));
            CHECK_INT(got, pattern(right, at));
            MPI(MPI_Put(&got, 1, MPI_INT64_T, right, there, 1, MPI_INT64_T, win));
        }
        settle(win);
        is_filled(cells);
        MPI(MPI_Win_unlock_all(win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_detach(win, base));
        CHECK(!has_shared_pages(base, BYTES));
        is_filled(cells);
    }
    MPI(MPI_Win_free(&win));
    free(all);
}

/* Nothing grows, and memory that was given back is used anew. */
static void in_turn(char *base, int times)
{
    long before = 0;
    for (int i = 0; i < times; i++) {
        if (i == times / 10)
            before = resident_bytes();
        MPI_Win win = window_of(base, BYTES, "now");
        end(&win);
    }
    long grown = resident_bytes() - before;
    if (grown > 128 << 10)
        check_failed(__FILE__, __LINE__, "%d windows took %ld bytes", times, grown);
    CHECK(!has_shared_pages(base, BYTES));
}

/* Deeper frames are in use, so the kernel is what reaches it. */
static void on_the_stack(void)
{
    char memory[BYTES + 8];
    char *base = memory + 8 - (uintptr_t) memory % 8;
    used_much("stack", base, 0);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    char *heap = malloc(BYTES + 24), *mapped = mmap(NULL, BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *first = malloc(BYTES), *big = malloc(400 * PAGE);
    used_much("malloc", heap + 16, 1);
    used_much("static", fixed + 8 - (uintptr_t) fixed % 8, 1);
    used_much("mmap", mapped, 1);
    used_much("middle", big + 16 + 100 * PAGE, 1);
    on_the_stack();
    at_once(first);
    idle_threads(mapped);
    other_threads(mapped);
    dynamic(heap + 16);
    in_turn(first, argc > 1 ? atoi(argv[1]) : 300);
    munmap(mapped, BYTES + PAGE);
    free(heap), free(first), free(big);
    return finish();
}
