/* For programs in which the last rank dies: the others go on, and end with MPI_Finalize. */
#include "dying.h"
#include <mpi-ext.h>
#include <unistd.h>

static int last;

/* Errors are returned. */
static CHECK_UNUSED void start_failing(int *argc, char ***argv)
{
    start(argc, argv);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    last = size - 1;
}

/* The last rank dies when all others have been here, in a way by the word: by a signal, or by exit without MPI_Finalize. */
static CHECK_UNUSED void last_dies(const char *how)
{
    before_deaths(MPI_COMM_WORLD, rank == last);
    if (rank != last)
        return;
    if (!strcmp(how, "exit"))
        _exit(0);
    raise(SIGKILL);
}

/* As above; and returns when this process knows of it. */
static CHECK_UNUSED void last_is_dead(const char *how)
{
    int failed = 0;
    last_dies(how);
    while (!failed) {
        MPI_Group group;
        MPI(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group));
        MPI(MPI_Group_size(group, &failed));
        if (group != MPI_GROUP_EMPTY)
            MPI(MPI_Group_free(&group));
        usleep(1000);
    }
}

/* The ranks of MPI_COMM_WORLD that a group has, as bits. */
static CHECK_UNUSED int ranks_of(MPI_Group group)
{
    MPI_Group world;
    int count, bits = 0;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_size(group, &count));
    for (int i = 0; i < count; i++) {
        int r;
        MPI(MPI_Group_translate_ranks(group, 1, &i, world, &r));
        bits |= 1 << r;
    }
    MPI(MPI_Group_free(&world));
    return bits;
}

/* Those ranks of a group that is used no more. */
static CHECK_UNUSED int ranks_once(MPI_Group group)
{
    int bits = ranks_of(group);
    if (group != MPI_GROUP_EMPTY)
        MPI(MPI_Group_free(&group));
    return bits;
}

static CHECK_UNUSED int failed_of(MPI_Comm comm)
{
    MPI_Group group;
    MPI(MPIX_Comm_get_failed(comm, &group));
    return ranks_once(group);
}

static CHECK_UNUSED int acked_of(MPI_Comm comm)
{
    MPI_Group group;
    MPI(MPIX_Comm_failure_get_acked(comm, &group));
    return ranks_once(group);
}

#define FAILED(call) CHECK_CLASS(call, MPIX_ERR_PROC_FAILED)
#define PENDING(call) CHECK_CLASS(call, MPIX_ERR_PROC_FAILED_PENDING)
