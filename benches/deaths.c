/* One rank kills itself while the others wait for it: the time from the kill until the call of each of them returns its error.
   usage: deaths FILE WHAT    the time of the kill goes through FILE; WHAT: recv, barrier, fence or ibarrier
   Prints a line `nanoseconds` for each that is left, on standard output. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, size, code = MPI_SUCCESS, buffer = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int file = open(argv[1], O_RDWR);
    volatile long *killed = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win window = MPI_WIN_NULL;
    if (strcmp(argv[2], "fence") == 0) {
        MPI_Win_create(&buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        usleep(50000); /* Until the others sleep. */
        *killed = now();
        raise(SIGKILL);
    }
    if (strcmp(argv[2], "recv") == 0) {
        code = MPI_Recv(&buffer, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(argv[2], "barrier") == 0) {
        code = MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(argv[2], "fence") == 0) {
        code = MPI_Win_fence(0, window);
    } else {
        MPI_Request request;
        code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    long told = now() - *killed;
    if (code == MPI_SUCCESS)
        printf("no error\n");
    else
        printf("%ld\n", told);
    fflush(stdout);
    _exit(0); /* MPI_Finalize has members that are dead. */
}
