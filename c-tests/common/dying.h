/* Processes that die leave nothing of theirs half done: the others have left every call that they need them for. */
#ifndef OXMPI_DYING_H
#define OXMPI_DYING_H

#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>

/* Called by all of a communicator. Those that are to die return when all others have left this call. A barrier is not enough: what a process sends in it
 * may not have left its memory when it returns, and dies with it. So the others say so in memory that all have, for which nobody needs MPI. */
static CHECK_UNUSED void before_deaths(MPI_Comm comm, int dies)
{
    enum { MAPPED, LEFT };
    char name[200];
    int me, ranks, number = !dies, survivors, flag;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &ranks));
    snprintf(name, sizeof name, "%s/c-test-dying-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int file = me == 0 ? mkstemp(name) : -1;
    if (me == 0)
        CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    MPI(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm));
    if (me != 0)
        file = open(name, O_RDWR);
    int *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (count == MAP_FAILED) {
        check_failed(__FILE__, __LINE__, "%s cannot be mapped", name);
        MPI_Abort(MPI_COMM_WORLD, 96);
        return;
    }
    close(file);
    if (__atomic_add_fetch(&count[MAPPED], 1, __ATOMIC_SEQ_CST) == ranks)
        unlink(name);
    int code = MPI_Allreduce(&number, &survivors, 1, MPI_INT, MPI_SUM, comm);
    /* After an error another one of those that are to die has died already, so all others have left. */
    if (!dies)
        MPI(code);
    if (!dies)
        __atomic_add_fetch(&count[LEFT], 1, __ATOMIC_SEQ_CST);
    while (dies && code == MPI_SUCCESS && __atomic_load_n(&count[LEFT], __ATOMIC_SEQ_CST) < survivors) {
        /* What it has sent is to leave. */
        MPI(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        usleep(100);
    }
    munmap(count, 4096);
}

/* Whether all of a communicator share memory. What a process stores there outlives it; what it sends over a fabric may die with it. */
static CHECK_UNUSED int shares_memory(MPI_Comm comm)
{
    MPI_Comm here;
    int ranks, near, all;
    MPI(MPI_Comm_size(comm, &ranks));
    MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    MPI(MPI_Comm_size(here, &near));
    MPI(MPI_Comm_free(&here));
    near = near == ranks;
    MPI(MPI_Allreduce(&near, &all, 1, MPI_INT, MPI_MIN, comm));
    return all;
}

#endif
