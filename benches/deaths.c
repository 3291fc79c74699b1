/* One rank kills itself while the others wait for it: the time from the kill until the call of each of them returns its error. And what it takes
   to agree, to revoke, and to shrink when that rank is known to be dead.
   usage: deaths FILE WHAT    what all know goes through FILE; WHAT: recv, barrier, fence, ibarrier, agree, revoke or shrink
   Prints a line `nanoseconds` for each that is left, on standard output. */
#include <fcntl.h>
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { AGREEMENTS = 200 };

/* In the file: the time of the kill or the revocation; how many have come to a place where all meet without MPI, and when the last one came. */
static volatile struct {
    long since, last;
    int come[2];
} *shared;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void meet(int place, int count)
{
    long time = now();
    if (__atomic_add_fetch(&shared->come[place], 1, __ATOMIC_SEQ_CST) == count)
        __atomic_store_n(&shared->last, time, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&shared->come[place], __ATOMIC_SEQ_CST) < count)
        usleep(100);
}

static void until_one_is_known_dead(void)
{
    for (int failed = 0, flag; !failed; usleep(100)) {
        MPI_Group group;
        /* Some look for deaths in calls that communicate only. */
        MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        MPIX_Comm_get_failed(MPI_COMM_WORLD, &group);
        MPI_Group_size(group, &failed);
        if (group != MPI_GROUP_EMPTY)
            MPI_Group_free(&group);
    }
}

/* Nanoseconds of one agreement. */
static long agree(void)
{
    int flag = 1;
    for (int i = 0; i < 20; i++)
        MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    long begin = now();
    for (int i = 0; i < AGREEMENTS; i++)
        MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    return (now() - begin) / AGREEMENTS;
}

static long shrink(int count)
{
    MPI_Comm new;
    until_one_is_known_dead();
    meet(0, count);
    long begin = now();
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &new) != MPI_SUCCESS)
        return -1;
    long end = now();
    /* The last one has not been there before. */
    return end - (begin > shared->last ? shared->last : begin);
}

int main(int argc, char **argv)
{
    int rank, size, code = MPI_SUCCESS, buffer = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argv[2];
    int file = open(argv[1], O_RDWR), revokes = strcmp(what, "revoke") == 0, agrees = strcmp(what, "agree") == 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win window = MPI_WIN_NULL;
    if (strcmp(what, "fence") == 0) {
        MPI_Win_create(&buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (agrees) {
        printf("%ld\n", agree());
        MPI_Finalize();
        return 0;
    }
    if (rank == size - 1) {
        usleep(50000); /* Until the others sleep. */
        shared->since = now();
        if (!revokes)
            raise(SIGKILL);
        MPIX_Comm_revoke(MPI_COMM_WORLD);
        meet(1, size);
        _exit(0);
    }
    long told;
    if (strcmp(what, "shrink") == 0) {
        told = shrink(size - 1);
        code = told < 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
    } else {
        if (strcmp(what, "recv") == 0 || revokes) {
            code = MPI_Recv(&buffer, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (strcmp(what, "barrier") == 0) {
            code = MPI_Barrier(MPI_COMM_WORLD);
        } else if (strcmp(what, "fence") == 0) {
            code = MPI_Win_fence(0, window);
        } else {
            MPI_Request request;
            code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
            if (code == MPI_SUCCESS)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        told = now() - shared->since;
    }
    if (code == MPI_SUCCESS)
        printf("no error\n");
    else
        printf("%ld\n", told);
    fflush(stdout);
    meet(1, revokes ? size : size - 1); /* Nobody sees another death. */
    _exit(0); /* MPI_Finalize has members that are dead. */
}
