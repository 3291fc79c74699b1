/* A rank dies before its n-th collective operation. Each of the others gets an error within so many calls, through its error handler, and
 * so do those that wait for a rank which has given up. From the fourth call on operations may go through shared memory: then each
 * further call fails too. A communicator of the survivors works. args: operation, n, bytes, the rank that dies if it is not the last
 * one. For mpiexec with -disable-auto-cleanup. */
#include "dying.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MOST (1 << 20)
/* A rank that waits for nobody may be so many operations ahead. */
#define ENOUGH 200
/* The first operation that may go through shared memory. */
#define SHARED 4

static char in[MOST * 4], out[MOST * 4], text[MPI_MAX_ERROR_STRING];
static const char *what;
static int count, raised, dying;
static MPI_Comm comm;

static void handler(MPI_Comm *c, int *code, ...)
{
    (void) c;
    (void) code;
    raised++;
}

static int call(int number)
{
    int root = 0, ranks[16], each = count / size;
    for (int i = 0; i < size; i++)
        ranks[i] = each;
    if (!strcmp(what, "barrier"))
        return MPI_Barrier(comm);
    if (!strcmp(what, "bcast"))
        return MPI_Bcast(in, count, MPI_CHAR, (size - 1 - number % 2), comm);
    if (!strcmp(what, "gather"))
        return MPI_Gather(out, each, MPI_CHAR, in, each, MPI_CHAR, root, comm);
    if (!strcmp(what, "scatter"))
        return MPI_Scatter(out, each, MPI_CHAR, in, each, MPI_CHAR, size - 1, comm);
    /* Small ones staged, large ones by messages: rank 0 gives up in the first, and the next one's root waits for it. */
    if (!strcmp(what, "mixed"))
        return number % 2 ? MPI_Reduce(out, in, 8, MPI_CHAR, MPI_MAX, 0, comm)
                          : MPI_Gather(out, each, MPI_CHAR, in, each, MPI_CHAR, 1, comm);
    if (!strcmp(what, "allgather"))
        return MPI_Allgather(out, count, MPI_CHAR, in, count, MPI_CHAR, comm);
    if (!strcmp(what, "alltoall"))
        return MPI_Alltoall(out, count, MPI_CHAR, in, count, MPI_CHAR, comm);
    if (!strcmp(what, "reduce"))
        return MPI_Reduce(out, in, count, MPI_CHAR, MPI_MAX, root, comm);
    if (!strcmp(what, "allreduce"))
        return MPI_Allreduce(out, in, count, MPI_CHAR, MPI_MAX, comm);
    if (!strcmp(what, "reduce_scatter"))
        return MPI_Reduce_scatter(out, in, ranks, MPI_CHAR, MPI_MAX, comm);
    return MPI_Scan(out, in, count, MPI_CHAR, MPI_MAX, comm);
}

static void is_loss(int code)
{
    char wanted[60];
    int length;
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", dying);
    CHECK(strstr(text, wanted) != NULL);
}

int main(int argc, char **argv)
{
    int last_call, calls, code = MPI_SUCCESS;
    MPI_Errhandler errors;
    what = argc > 1 ? argv[1] : "barrier";
    last_call = argc > 2 ? atoi(argv[2]) : 10;
    count = argc > 3 ? atoi(argv[3]) : 8;
    start(&argc, &argv);
    dying = argc > 4 ? atoi(argv[4]) : size - 1;
    MPI(MPI_Comm_create_errhandler(handler, &errors));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, errors));
    int is_near = shares_memory(MPI_COMM_WORLD);
    for (calls = 1; calls < last_call + ENOUGH; calls++) {
        if (rank == dying && calls == last_call)
            raise(SIGKILL);
        int before = raised;
        code = call(calls);
        CHECK_INT(raised, before + (code != MPI_SUCCESS));
        if (code != MPI_SUCCESS) {
            is_loss(code);
            /* What it sent over a fabric in the call before may have died with it. */
            CHECK(calls >= last_call - !is_near);
            /* Messages need all ranks to make the same calls. */
            if (calls >= SHARED)
                break;
        }
    }
    /* Nobody waits for ranks that only give to others. */
    if (code != MPI_SUCCESS)
        for (int i = 0; i < 3; i++) {
            int before = raised;
            is_loss(MPI_Barrier(comm));
            CHECK_INT(raised, before + 1);
        }
    else
        CHECK(!strcmp(what, "scan") && rank < dying);
    /* The others can go on without it. */
    if (size > 2) {
        MPI_Comm rest;
        MPI_Group all, some;
        int one = 1, sum = 0;
        MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
        MPI(MPI_Group_excl(all, 1, &dying, &some));
        MPI(MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &rest));
        for (int i = 0; i < 10; i++) {
            MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, rest));
            CHECK_INT(sum, size - 1);
        }
    }
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
