/* Whether the node is oversubscribed: one answer for all its ranks, in every communicator, by the cores that all of them may use.
 * With the argument "pin" each rank is bound to one and the same core before MPI_Init, as taskset would. Collective operations of the
 * whole job and of a pair split off from it, on both sides of what the answer decides. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <string.h>

#define MOST (256 << 10)
#define MASK_WORDS ((int) (sizeof(cpu_set_t) / sizeof(long)))

static long long read_variable(const char *name)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    long long value = -1;
    int index, count, provided;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, &index));
    MPI(MPI_T_pvar_session_create(&session));
    MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    MPI(MPI_T_pvar_read(session, handle, &value));
    MPI(MPI_T_pvar_handle_free(session, &handle));
    MPI(MPI_T_pvar_session_free(&session));
    MPI(MPI_T_finalize());
    return value;
}

/* The cores that the ranks may use together, or those that the least CPU quota grants, if that is less. */
static double cores_of_all(void)
{
    cpu_set_t mine, all;
    double quota = CPU_SETSIZE, least, period;
    FILE *limit = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (limit) {
        if (fscanf(limit, "%lf %lf", &quota, &period) == 2)
            quota /= period;
        fclose(limit);
    }
    CPU_ZERO(&mine);
    CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
    MPI(MPI_Allreduce(&mine, &all, MASK_WORDS, MPI_LONG, MPI_BOR, MPI_COMM_WORLD));
    MPI(MPI_Allreduce(&quota, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    return CPU_COUNT(&all) < least ? CPU_COUNT(&all) : least;
}

static int data[MOST], sum[MOST], all[16 * (MOST / 8)];

static void collectives(MPI_Comm comm)
{
    int me, ranks;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &ranks));
    for (int round = 0; round < (slow() ? 2 : 6); round++)
        for (int count = 1; count <= MOST; count *= count < 1000 ? 8 : 64) {
            int root = round % ranks, part = count < MOST / 8 ? count : MOST / 8;
            MPI(MPI_Barrier(comm));
            for (int i = 0; i < count; i++)
                data[i] = i + me;
            MPI(MPI_Allreduce(data, sum, count, MPI_INT, MPI_SUM, comm));
            CHECK_INT(sum[count - 1], ranks * (count - 1) + ranks * (ranks - 1) / 2);
            MPI(MPI_Reduce(data, sum, count, MPI_INT, MPI_MAX, root, comm));
            if (me == root)
                CHECK_INT(sum[0], ranks - 1);
            MPI(MPI_Allgather(data, part, MPI_INT, all, part, MPI_INT, comm));
            CHECK_INT(all[(ranks - 1) * part], ranks - 1);
            MPI(MPI_Alltoall(all, part / 2, MPI_INT, sum, part / 2, MPI_INT, comm));
            MPI(MPI_Bcast(data, count, MPI_INT, root, comm));
            CHECK_INT(data[0], root);
            MPI_Request request;
            MPI(MPI_Iallreduce(data, sum, part, MPI_INT, MPI_SUM, comm, &request));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK_INT(sum[0], ranks * root);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "pin") == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        /* Where core 0 may not be used, each keeps the cores that it has. */
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            perror("core 0");
    }
    start(&argc, &argv);
    double cores = cores_of_all();
    long long here = read_variable("oversubscribed"), least, most;
    MPI(MPI_Allreduce(&here, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD));
    MPI(MPI_Allreduce(&here, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD));
    CHECK(least == most);
    CHECK_INT((int) here, size > cores);
    collectives(MPI_COMM_WORLD);

    /* A pair has the cores that its node has left: the answer is the node's. */
    MPI_Comm pair;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair));
    collectives(pair);
    MPI(MPI_Comm_free(&pair));
    CHECK(read_variable("oversubscribed") == here);
    return finish();
}
