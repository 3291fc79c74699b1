/* The last rank is killed within an accumulate: what it adds comes to an end that cannot be read. It has the locks of that target memory
 * then: the others are told so by every operation on it, and by none on other memory. arg: kind of the window's memory (windows.h). */
#define _GNU_SOURCE
#include "lost_rank.h"
#include "windows.h"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* Locks are for pieces of 64 KB; of private memory those of 128 KB are held at once. */
enum { READABLE = 64 << 10, BYTES = 512 << 10, LAST = BYTES / (int) sizeof(long) - 1 };

static struct window w;

static void die(int signal)
{
    (void) signal;
    raise(SIGKILL);
}

static void add_until_death(void)
{
    char *all = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, READABLE, PROT_READ | PROT_WRITE) != 0 || signal(SIGSEGV, die) == SIG_ERR)
        exit(2);
    MPI_Accumulate(all, BYTES / sizeof(long), MPI_LONG, 0, window_at(&w, 0, 0), BYTES / sizeof(long), MPI_LONG, MPI_SUM, w.win);
    exit(3);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long one = 1, old = 5;
    w = window_make(argc > 1 ? (enum window_kind) atoi(argv[1]) : ALLOCATED, BYTES, sizeof(long));
    name_window(w.win);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1)
        add_until_death();
    /* The lock may not be lost yet, or not even taken: both end. */
    MPI_Aint lost = window_at(&w, 0, READABLE), last = window_at(&w, 0, LAST * (MPI_Aint) sizeof(long));
    int code;
    do
        code = MPI_Accumulate(&one, 1, MPI_LONG, 0, lost, 1, MPI_LONG, MPI_SUM, w.win);
    while (code == MPI_SUCCESS);
    IS_LOSS(code, MPIX_ERR_PROC_FAILED, "MPI_Accumulate");
    /* What a call returns an error for does not wait. The first one after a flush waits for nothing. */
    MPI(MPI_Win_flush(0, w.win));
    IS_LOSS(MPI_Accumulate(&one, 1, MPI_LONG, 0, lost, 1, MPI_LONG, MPI_REPLACE, w.win), MPIX_ERR_PROC_FAILED, "MPI_Accumulate");
    MPI(MPI_Win_flush(0, w.win));
    IS_LOSS(MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, lost, 1, MPI_LONG, MPI_NO_OP, w.win), MPIX_ERR_PROC_FAILED,
            "MPI_Get_accumulate");
    MPI(MPI_Win_flush(0, w.win));
    IS_LOSS(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, lost, MPI_SUM, w.win), MPIX_ERR_PROC_FAILED, "MPI_Fetch_and_op");
    MPI(MPI_Win_flush(0, w.win));
    IS_LOSS(MPI_Compare_and_swap(&one, &old, &old, MPI_LONG, 0, lost, w.win), MPIX_ERR_PROC_FAILED, "MPI_Compare_and_swap");
    CHECK_INT((int) old, 5);
    /* What is not accumulated needs no lock, nor does other memory need that one. */
    MPI(MPI_Get(&old, 1, MPI_LONG, 0, lost, 1, MPI_LONG, w.win));
    for (int i = 0; i < 100; i++)
        MPI(MPI_Accumulate(&one, 1, MPI_LONG, 0, last, 1, MPI_LONG, MPI_SUM, w.win));
    end_of_others();
}
