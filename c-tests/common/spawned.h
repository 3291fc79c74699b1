/* For programs that spawn themselves: children know by their parent that they are children, and print no closing line. What fails in
 * them is heard by their parents when they part. */
#ifndef OXMPI_SPAWNED_H
#define OXMPI_SPAWNED_H

#include "process.h"

enum { MOST_CHILDREN = 64 };

static MPI_Comm parent = MPI_COMM_NULL;
static int is_child = 0;
static CHECK_UNUSED char *program = NULL;

static CHECK_UNUSED void meet_parent(char *path)
{
    program = path;
    MPI(MPI_Comm_get_parent(&parent));
    is_child = parent != MPI_COMM_NULL;
}

static CHECK_UNUSED void start_family(int *argc, char ***argv)
{
    start(argc, argv);
    meet_parent((*argv)[0]);
}

/* Children of all ranks of comm, by rank 0; words end with NULL. */
static CHECK_UNUSED MPI_Comm spawn(MPI_Comm comm, int count, char **words)
{
    MPI_Comm children = MPI_COMM_NULL;
    int codes[MOST_CHILDREN], number = -1;
    for (int i = 0; i < MOST_CHILDREN; i++)
        codes[i] = -7;
    MPI(MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, comm, &children, codes));
    for (int i = 0; i < MOST_CHILDREN; i++)
        CHECK_INT(codes[i], i < count ? MPI_SUCCESS : -7);
    MPI(MPI_Comm_remote_size(children, &number));
    CHECK_INT(number, count);
    return children;
}

/* Both sides of an intercommunicator hear of each other's failures, and disconnect. */
static CHECK_UNUSED void part(MPI_Comm *comm)
{
    int mine = check_failures, theirs = -1;
    MPI(MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, *comm));
    if (theirs)
        check_failed(__FILE__, __LINE__, "the other side has %d failures", theirs);
    MPI(MPI_Comm_disconnect(comm));
    CHECK(*comm == MPI_COMM_NULL);
}

/* Whether the process is gone, or nobody has waited for its end yet. */
static CHECK_UNUSED int has_ended(int pid)
{
    return strchr("?ZX", state_of(pid)) != NULL;
}

/* The watchdog ends it. */
static CHECK_UNUSED void wait_for_end(int pid)
{
    while (!has_ended(pid)) {
        CHECK_HERE;
        usleep(5000);
    }
}

static CHECK_UNUSED int finish_family(void)
{
    if (is_child && parent != MPI_COMM_NULL)
        part(&parent);
    MPI(MPI_Finalize());
    if (is_child)
        return check_failures ? 95 : 0;
    return conclude();
}

/* Every rank of this side to every rank of the other, and back; `from` and `to` are the seeds of the sides. */
static CHECK_UNUSED void exchange(MPI_Comm comm, int bytes, int from, int to)
{
    int others, mine;
    MPI_Status status;
    MPI(MPI_Comm_remote_size(comm, &others));
    MPI(MPI_Comm_rank(comm, &mine));
    MPI_Request *requests = malloc(others * sizeof *requests);
    char *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    fill(out, bytes, from + mine);
    for (int i = 0; i < others; i++)
        MPI(MPI_Isend(out, bytes, MPI_BYTE, i, 40 + mine, comm, &requests[i]));
    for (int i = 0; i < others; i++) {
        memset(in, 0, bytes + 1);
        spoil(&status);
        MPI(MPI_Recv(in, bytes + 1, MPI_BYTE, i, 40 + i, comm, &status));
        CHECK_STATUS(status, i, 40 + i, bytes);
        CHECK_PATTERN(in, bytes, to + i);
    }
    for (int i = 0; i < others; i++)
        MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    free(requests);
    free(out);
    free(in);
}

/* What each side of two worlds is called in exchange. */
static CHECK_UNUSED void talk(MPI_Comm comm, int bytes, int as_child)
{
    exchange(comm, bytes, as_child ? 1000 : 0, as_child ? 0 : 1000);
}

#endif
