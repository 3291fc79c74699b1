/* The last rank ends as a target that nobody waits for: what it had in memory of the node stays there for the others, what it had in memory of
 * its own is an error that names it, and both end their epochs as usual. */
#include "lost_rank.h"
#include "process.h"

enum { LONGS = 1000 };

/* An access to memory that went with its process. */
static void is_gone(int code, const char *function)
{
    char text[MPI_MAX_ERROR_STRING], wanted[60];
    int length, class;
    MPI(MPI_Error_class(code, &class));
    CHECK_INT(class, MPIX_ERR_PROC_FAILED);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "memory of target rank %d", size - 1);
    if (!strstr(text, wanted) || !strstr(text, "has ended") || !strstr(text, lost_object) || !strstr(text, function))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int dying = size - 1, pid = (int) getpid();
    long *of_node, *own = malloc(LONGS * sizeof *own), values[LONGS], result = -1, one = 1, seven = 7;
    MPI_Win node, private;
    MPI(MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &of_node, &node));
    MPI(MPI_Win_create(own, LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &private));
    name_window(private);
    for (int i = 0; i < LONGS; i++)
        own[i] = of_node[i] = i + 1000 * rank;
    MPI(MPI_Bcast(&pid, 1, MPI_INT, dying, MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(0, private));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == dying)
        raise(SIGKILL);
    while (!strchr("?ZX", state_of(pid)))
        usleep(100);
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, dying, 0, node));
    MPI(MPI_Get(values, LONGS, MPI_LONG, dying, 0, LONGS, MPI_LONG, node));
    MPI(MPI_Win_flush(dying, node));
    for (int i = 0; i < LONGS - size; i++)
        CHECK_INT(values[i], i + 1000 * dying);
    MPI(MPI_Put(&seven, 1, MPI_LONG, dying, LONGS - 1 - rank, 1, MPI_LONG, node));
    MPI(MPI_Accumulate(&seven, 1, MPI_LONG, dying, LONGS - 1 - rank, 1, MPI_LONG, MPI_SUM, node));
    MPI(MPI_Fetch_and_op(&one, &result, MPI_LONG, dying, LONGS - 1 - rank, MPI_SUM, node));
    MPI(MPI_Win_unlock(dying, node));
    CHECK_INT(result, 14);
    is_gone(MPI_Put(values, LONGS, MPI_LONG, dying, 0, LONGS, MPI_LONG, private), "MPI_Put");
    /* The first one after a flush waits for nothing. */
    MPI(MPI_Win_flush(dying, private));
    is_gone(MPI_Get(values, 1, MPI_LONG, dying, 0, 1, MPI_LONG, private), "MPI_Get");
    MPI(MPI_Win_flush(dying, private));
    is_gone(MPI_Accumulate(values, 1, MPI_LONG, dying, 0, 1, MPI_LONG, MPI_SUM, private), "MPI_Accumulate");
    MPI(MPI_Win_flush(dying, private));
    is_gone(MPI_Fetch_and_op(&one, &result, MPI_LONG, dying, 0, MPI_SUM, private), "MPI_Fetch_and_op");
    MPI(MPI_Compare_and_swap(&one, &one, &result, MPI_LONG, dying, 0, private));
    is_gone(MPI_Win_flush_local(dying, private), "MPI_Win_flush_local");
    /* The epoch goes on with the others, and ends. */
    int next = (rank + 1) % dying;
    MPI(MPI_Get(values, 1, MPI_LONG, next, 5, 1, MPI_LONG, private));
    MPI(MPI_Win_flush_all(private));
    CHECK_INT(values[0], 5 + 1000 * next);
    MPI(MPI_Win_unlock_all(private));
    end_of_others();
}
