/* How the victim dies, and what all ranks know of it: a page of a file that all have mapped. */
#ifndef KILLED_DEATH_H
#define KILLED_DEATH_H

#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

enum { MOST_RANKS = 64, MOST_ROUNDS = MOST_RANKS };
/* An error so many nanoseconds after the death or the call is late. */
#define LATE 2000000000u

/* When the victim dies: in front of a call; behind it (of a request: while it is under way); after some microseconds; when somebody
 * touches a page of its buffer; in its n-th call of a user-defined operation; when it yields its core, goes to sleep, or copies from
 * another process for the n-th time. */
enum death { BEFORE, BEHIND, TIMER, PAGE, FUNCTION, YIELDS, SLEEPS, COPIES, DEATHS };
static const char *const death_names[] = {"before", "behind", "timer", "page", "function", "yields", "sleeps", "copies"};

/* Nanoseconds at which the victims have died; how many ranks are ready for a round, and through with it; what they have found. */
struct board {
    volatile uint64_t died_at[MOST_ROUNDS];
    int ready[MOST_ROUNDS], through[MOST_ROUNDS], ended;
    int failures, errors, late;
    /* Calls of MPIX_Comm_revoke. */
    int revoked[MOST_ROUNDS];
    uint64_t longest;
};
static struct board *board;
static int round_now;
/* What this rank does, and since when. */
static char doing[300] = "the start";
static uint64_t entered, run_delay;

static inline int below(uint64_t *random, int limit)
{
    return (int) (next_random(random) % (uint64_t) limit);
}

static inline uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/* Which of some names an argument is. */
static inline int find_name(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return i;
    fprintf(stderr, "killed: %s is no name here\n", name);
    exit(2);
}

/* A call may take so long. */
static inline void restart_watchdog(void)
{
    const char *seconds = getenv("C_SUITE_WATCHDOG");
    alarm(seconds ? (unsigned) atoi(seconds) : 45);
}

/* Nanoseconds for which this thread has waited for a core. */
static inline uint64_t waited_for_core(void)
{
    unsigned long long run = 0, waited = 0;
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &run, &waited) != 2)
        waited = 0;
    if (file)
        fclose(file);
    return waited;
}

/* Before a call of which `doing` says what it is. */
static inline void begin_call(int traces)
{
    if (traces)
        fprintf(stderr, "[rank %d] %.6f %s\n", rank, (double) nanoseconds() / 1e9, doing);
    restart_watchdog();
    run_delay = waited_for_core();
    entered = nanoseconds();
}

/* The call has returned an error because of the death: how long that took. */
static inline void note_time(void)
{
    uint64_t now = nanoseconds(), died = board->died_at[round_now], longest = board->longest;
    uint64_t since = entered > died ? entered : died;
    uint64_t taken = died && now > since ? now - since : 0;
    while (taken > longest && !__atomic_compare_exchange_n(&board->longest, &longest, taken, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (taken > LATE) {
        __atomic_fetch_add(&board->late, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "[rank %d] LATE: %.2f s, of which it waited %.2f s for a core: %s\n", rank, (double) taken / 1e9,
                (double) (waited_for_core() - run_delay) / 1e9, doing);
    }
}

/* This many survivors are through; nobody needs MPI for it. */
static inline void wait_for_others(int *counter, int survivors)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
    snprintf(doing, sizeof doing, "outside of MPI, until all others are through");
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < survivors)
        usleep(300);
}

/* The end of a survivor; the last one prints the sums. Returns whether it is that. */
static inline int end_survivor(int seed, int rounds, int survivors)
{
    __atomic_fetch_add(&board->failures, check_failures, __ATOMIC_SEQ_CST);
    if (__atomic_add_fetch(&board->ended, 1, __ATOMIC_SEQ_CST) != survivors)
        return 0;
    fprintf(stderr, "killed: %s, seed %d, %d rounds, %d errors, the longest %.0f ms, %d late\n",
            board->failures ? "failed" : "all was right", seed, rounds, board->errors, (double) board->longest / 1e6, board->late);
    return 1;
}

/* Of all files; nothing is left in it. */
static inline const char *folder(void)
{
    const char *named = getenv("TMPDIR");
    return named ? named : "/tmp";
}

static inline void share_board_of(MPI_Comm all)
{
    char name[200];
    int rank;
    MPI(MPI_Comm_rank(all, &rank));
    snprintf(name, sizeof name, "%s/killed-XXXXXX", folder());
    int file = rank == 0 ? mkstemp(name) : -1;
    if (rank == 0 && (file < 0 || ftruncate(file, sizeof *board)))
        check_failed(__FILE__, __LINE__, "%s: %s", name, strerror(errno));
    MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all));
    if (rank != 0)
        file = open(name, O_RDWR);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(board != MAP_FAILED);
    close(file);
    MPI(MPI_Barrier(all));
    if (rank == 0)
        unlink(name);
}

static inline void share_board(void)
{
    share_board_of(MPI_COMM_WORLD);
}

static void die(void)
{
    board->died_at[round_now] = nanoseconds();
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static void die_of(int signal_number)
{
    (void) signal_number;
    die();
}

static void die_in(int microseconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec when = {.it_value = {microseconds / 1000000, microseconds % 1000000 * 1000L}};
    timer_t timer;
    signal(SIGUSR2, die_of);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        die();
}

/* Whoever touches this page of a buffer in this process ends it. Of the kernel, which copies for others, this is an error. */
static inline void die_at_page(char *buffer, size_t bytes, uint64_t *random)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE), pages = bytes / page;
    char *where = buffer + (pages ? (size_t) below(random, (int) pages) * page : 0);
    signal(SIGSEGV, die_of);
    if (mprotect(where, page, PROT_NONE))
        die();
}

/* Of these system calls, so many more are left out until the process dies: as if a signal had interrupted a sleep. */
static volatile int calls_left;

static void trapped(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *at = context;
    long result = info->si_syscall == SYS_sched_yield ? 0 : info->si_syscall == SYS_process_vm_readv ? -EPERM : -EINTR;
    (void) signal_number;
    if (--calls_left <= 0)
        die();
#if defined(__x86_64__)
    at->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
    at->uc_mcontext.regs[0] = (unsigned long long) result;
#else
    (void) at;
    (void) result;
    die();
#endif
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

static inline void die_in_system(enum death death, int calls)
{
    /* The low half of the futex operation is first in memory on the processors that we know. */
    struct sock_filter sleeps[] = {LOAD(nr),           IS(SYS_futex, 1, 0),    RETURN(SECCOMP_RET_ALLOW),
                                   LOAD(args[1]),      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
                                   IS(FUTEX_WAIT, 1, 0), IS(FUTEX_WAIT_BITSET, 0, 1), RETURN(SECCOMP_RET_TRAP),
                                   RETURN(SECCOMP_RET_ALLOW)};
    unsigned number = death == YIELDS ? SYS_sched_yield : SYS_process_vm_readv;
    struct sock_filter one[] = {LOAD(nr), IS(number, 0, 1), RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof one / sizeof *one, one};
    if (death == SLEEPS)
        filter = (struct sock_fprog) {sizeof sleeps / sizeof *sleeps, sleeps};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    calls_left = calls;
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        die();
}

#endif
