/* Routes of collective operations: the lines that OXMPI_SHOW=routes writes are in the list, for several sizes, numbers of ranks and
 * settings. The counters of MPI_T say how many took each route; the argument is that of all MPI_Allreduce. */
#include "check.h"

enum { LONGEST = 8192, ROUNDS = 3 };

static const char *const routes[] = {"collectives_staged", "collectives_by_messages", "collectives_two_levels"};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle counters[3];
static long data[LONGEST], result[LONGEST], all[16 * LONGEST];

static unsigned long counted(int route)
{
    unsigned long number = 99999999;
    MPI(MPI_T_pvar_read(session, counters[route], &number));
    return number;
}

static void begin_to_count(void)
{
    int provided, index, count;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < 3; i++) {
        MPI(MPI_T_pvar_get_index(routes[i], MPI_T_PVAR_CLASS_COUNTER, &index));
        MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &counters[i], &count));
        CHECK_INT(count, 1);
        MPI(MPI_T_pvar_start(session, counters[i]));
    }
}

static void check_result(int count)
{
    for (int i = 0; i < count; i++)
        CHECK_INT(result[i], (long) size * (size - 1) / 2 + (long) i * size);
}

/* Allreduce: blocking, each time counted on its route; then nonblocking. */
static void reduce(int count, int expected)
{
    MPI_Request request;
    unsigned long before[3];
    for (int i = 0; i < 3; i++)
        before[i] = counted(i);
    for (int round = 0; round < ROUNDS; round++) {
        MPI(MPI_Allreduce(data, result, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        check_result(count);
    }
    for (int i = 0; i < 3; i++)
        CHECK_INT(counted(i) - before[i], size > 1 && i == expected ? ROUNDS : 0);
    MPI(MPI_Iallreduce(data, result, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_result(count);
    for (int i = 0; i < 3; i++)
        CHECK_INT(counted(i) - before[i], size > 1 && i == expected ? ROUNDS + 1 : 0);
}

int main(int argc, char **argv)
{
    MPI_Comm alone;
    int expected = argc > 1 ? atoi(argv[1]) : 0;
    start(&argc, &argv);
    begin_to_count();
    for (int i = 0; i < LONGEST; i++)
        data[i] = rank + i;
    for (int count = 1; count <= LONGEST; count *= 8192)
        reduce(count, expected);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Bcast(result, LONGEST, MPI_LONG, 0, MPI_COMM_WORLD));
    check_result(LONGEST);
    MPI(MPI_Gather(result, LONGEST, MPI_LONG, all, LONGEST, MPI_LONG, 0, MPI_COMM_WORLD));
    if (rank == 0)
        for (int i = 0; i < size * LONGEST; i++)
            CHECK_INT(all[i], result[i % LONGEST]);
    /* Nothing goes anywhere. */
    unsigned long before = counted(0) + counted(1) + counted(2);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &alone));
    MPI(MPI_Barrier(alone));
    MPI(MPI_Allreduce(data, result, 1, MPI_LONG, MPI_SUM, alone));
    CHECK_INT(result[0], data[0]);
    MPI(MPI_Comm_free(&alone));
    CHECK_INT(counted(0) + counted(1) + counted(2), before);
    for (int i = 0; i < 3; i++)
        MPI(MPI_T_pvar_handle_free(session, &counters[i]));
    MPI(MPI_T_pvar_session_free(&session));
    MPI(MPI_T_finalize());
    return finish();
}
