/* args: what. The last rank is killed while it holds what the others need: the lock of the node's heap (heap), locks of accumulate
 * operations (accumulate), the table of a dynamic window (dynamic), that of a file's atomic mode (atomic), or the helper of its memory
 * (helper). Rank 1, which needs it again and again, gets an error; nobody waits for ever. Three ranks.
 *
 * Nothing in the library stops the last rank at the right place: rank 0 stops it anywhere (SIGSTOP), as often as it takes, until rank 1
 * gets no further, and then kills it. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>

enum { PIECES = 1500, PIECE = 16, LONGS = 2000, TRIES = 100000 };

/* What the ranks tell each other behind MPI's back. */
static struct shared {
    volatile long turns;
    volatile int killed, over;
} *shared;

static const char *what;
static MPI_Win window;
static MPI_File file;
static char *piece;
static MPI_Aint first;
static int expected = MPIX_ERR_PROC_FAILED;

static int is(const char *kind)
{
    return strcmp(what, kind) == 0;
}

static void share(void)
{
    char name[500] = "";
    int descriptor = -1;
    if (rank == 0) {
        snprintf(name, sizeof name, "%s/holder-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        descriptor = mkstemp(name);
        CHECK(descriptor >= 0 && ftruncate(descriptor, sizeof *shared) == 0);
    }
    MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank)
        descriptor = open(name, O_RDWR);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    CHECK(shared != MAP_FAILED);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(name);
}

/* What both need. */
static void prepare(void)
{
    char name[500];
    static long memory[LONGS];
    static char pieces[PIECES * 2 * PIECE];
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (is("heap"))
        expected = MPI_ERR_NO_MEM;
    if (is("accumulate") || is("helper"))
        MPI(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    if (is("dynamic")) {
        MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        piece = pieces;
        for (int i = 0; i < PIECES && rank == size - 1; i++)
            MPI(MPI_Win_attach(window, piece + 2 * i * PIECE, PIECE));
        MPI(MPI_Get_address(piece + 2 * (PIECES - 1) * PIECE, &first));
        MPI(MPI_Bcast(&first, 1, MPI_AINT, size - 1, MPI_COMM_WORLD));
    }
    if (is("atomic")) {
        snprintf(name, sizeof name, "%s/holder", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        MPI(MPI_File_set_atomicity(file, 1));
        if (rank == 0)
            unlink(name);
    } else if (!is("heap")) {
        MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
        MPI(MPI_Win_lock_all(0, window));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static int use_heap(void)
{
    char *base;
    MPI_Win own;
    int code = MPI_Win_allocate(300000, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &own);
    return code == MPI_SUCCESS ? MPI_Win_free(&own) : code;
}

static int accumulate(void)
{
    static long ones[LONGS];
    int code = MPI_Accumulate(ones, LONGS, MPI_LONG, 0, 0, LONGS, MPI_LONG, MPI_SUM, window);
    return code == MPI_SUCCESS ? MPI_Win_flush(0, window) : code;
}

static int write_byte(MPI_Offset at)
{
    char byte = 'x';
    return MPI_File_write_at(file, at, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
}

/* The last rank, until it is killed. */
static void hold(void)
{
    for (;;) {
        if (is("heap")) {
            MPI(use_heap());
        } else if (is("accumulate")) {
            MPI(accumulate());
        } else if (is("dynamic")) {
            /* All others in the table move. */
            MPI(MPI_Win_detach(window, piece));
            MPI(MPI_Win_attach(window, piece, PIECE));
        } else if (is("atomic")) {
            MPI(write_byte(0));
        } else {
            pause();
        }
    }
}

/* One that needs what the last rank holds now and then. */
static int need(void)
{
    char bytes[PIECE];
    int last = size - 1;
    if (is("heap"))
        return use_heap();
    if (is("accumulate"))
        return accumulate();
    if (is("atomic"))
        return write_byte(1000);
    int code = is("dynamic") ? MPI_Get(bytes, PIECE, MPI_BYTE, last, first, PIECE, MPI_BYTE, window)
                             : MPI_Get(bytes, 1, MPI_BYTE, last, 0, 1, MPI_BYTE, window);
    return code == MPI_SUCCESS ? MPI_Win_flush(last, window) : code;
}

static void need_again_and_again(void)
{
    int code;
    long after = 0;
    do {
        code = need();
        shared->turns++;
        after += shared->killed;
        /* Rank 0 was wrong about what was held: the machine was that slow. */
    } while (code == MPI_SUCCESS && after < 10000);
    if (code != MPI_SUCCESS)
        CHECK_CLASS(code, expected);
    shared->over = 1;
}

static char state_of(int pid)
{
    char path[60], text[1000] = "", *end;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *stat = fopen(path, "r");
    if (!stat)
        return 'X';
    size_t length = fread(text, 1, sizeof text - 1, stat);
    fclose(stat);
    text[length] = 0;
    end = strrchr(text, ')');
    return end && end[1] ? end[2] : '?';
}

/* Whether rank 1 gets further within two seconds. */
static int goes_on(void)
{
    long turns = shared->turns;
    for (int i = 0; i < 2000; i++) {
        /* One may have been under way. */
        if (shared->turns >= turns + 2)
            return 1;
        usleep(i < 100 ? 10 : 1000);
    }
    return 0;
}

static int victim;

/* It may be stopped, and is nobody's who would kill it. */
static void watchdog_of_both(int signal_number)
{
    kill(victim, SIGKILL);
    check_watchdog_fired(signal_number);
}

static void stop_and_kill(int pid)
{
    victim = pid;
    signal(SIGALRM, watchdog_of_both);
    uint64_t seed = (uint64_t) getpid();
    int is_held = 0;
    for (int i = 0; i < TRIES && !is_held; i++) {
        usleep((useconds_t) (next_random(&seed) % 300));
        kill(pid, SIGSTOP);
        while (state_of(pid) != 'T')
            usleep(10);
        is_held = !goes_on();
        if (!is_held)
            kill(pid, SIGCONT);
    }
    CHECK(is_held);
    shared->killed = 1;
    kill(pid, SIGKILL);
    while (!shared->over)
        usleep(1000);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    what = argc > 1 ? argv[1] : "heap";
    int pid = getpid();
    share();
    prepare();
    MPI(MPI_Bcast(&pid, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    if (rank == size - 1)
        hold();
    if (rank == 1)
        need_again_and_again();
    else
        stop_and_kill(pid);
    if (!check_failures)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
