/* The last rank is killed at some time while it does puts of many pieces, or accumulates, that the others offer it: they end in an error, and wait for
 * nobody. args: after how many microseconds, how many elements an accumulate has (none: puts). */
#define _GNU_SOURCE
#include "lost_rank.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { BYTES = 64 << 10, PIECES = 256 };

static void die(int signal)
{
    (void) signal;
    raise(SIGKILL);
}

static void test_until_death(long microseconds)
{
    struct itimerval when = {{0, 0}, {0, microseconds}};
    MPI_Request request;
    int is_over;
    if (signal(SIGALRM, die) == SIG_ERR || setitimer(ITIMER_REAL, &when, NULL) != 0)
        exit(2);
    MPI(MPI_Irecv(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &request));
    for (;;)
        MPI(MPI_Test(&request, &is_over, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static double values[BYTES / 8];
    start(&argc, &argv);
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win win;
    MPI_Info info;
    MPI_Datatype type;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", "no"));
    MPI(MPI_Win_create(memory, BYTES, 1, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Type_vector(PIECES, 1, 8, MPI_DOUBLE, &type));
    MPI(MPI_Type_commit(&type));
    name_window(win);
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1)
        test_until_death(argc > 1 ? atol(argv[1]) : 2000);
    int code, elements = argc > 2 ? atoi(argv[2]) : 0;
    do {
        if (elements == 0)
            code = MPI_Put(values, PIECES, MPI_DOUBLE, size - 1, 0, 1, type, win);
        else
            code = MPI_Accumulate(values, elements, MPI_DOUBLE, size - 1, 0, elements, MPI_DOUBLE, MPI_SUM, win);
        int flushed = MPI_Win_flush(size - 1, win);
        code = code ? code : flushed;
    } while (code == MPI_SUCCESS);
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    code = MPI_Get(values, PIECES, MPI_DOUBLE, size - 1, 0, 1, type, win);
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    usleep(300000); /* mpiexec finds the death before the end of one that has found it by itself */
    end_of_others();
}
