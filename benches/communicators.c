/* Making and freeing communicators, time of one in µs: MPI_Comm_dup, MPI_Comm_idup (64 outstanding), MPI_Comm_split in two,
 * and MPI_Comm_create_group of the lower half and of two ranks (from 4 ranks on), against the algorithm that a user can write
 * with older functions: recursive merging of intercommunicators (Dinan et al., EuroMPI 2011). */
#include "bench.h"

static void dup_one(long n, void *what)
{
    (void)what;
    for (long i = 0; i < n; i++) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        MPI_Comm_free(&made);
    }
}

enum { OUTSTANDING = 64 };

static void idup_many(long n, void *what)
{
    (void)what;
    for (long i = 0; i < n; i++) {
        MPI_Comm made[OUTSTANDING];
        MPI_Request requests[OUTSTANDING];
        for (int k = 0; k < OUTSTANDING; k++)
            MPI_Comm_idup(MPI_COMM_WORLD, &made[k], &requests[k]);
        MPI_Waitall(OUTSTANDING, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < OUTSTANDING; k++)
            MPI_Comm_free(&made[k]);
    }
}

static void split_one(long n, void *what)
{
    (void)what;
    for (long i = 0; i < n; i++) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, bench_rank % 2, bench_rank, &made);
        MPI_Comm_free(&made);
    }
}

static void create_group(long n, void *what)
{
    MPI_Group group = *(MPI_Group *)what;
    if (group == MPI_GROUP_NULL)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Comm made;
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made);
        MPI_Comm_free(&made);
    }
}

/* Ranks 0 to size - 1 of MPI_COMM_WORLD: neighbours of each level join their communicators of the level below. */
static MPI_Comm merge(int size, int tag)
{
    MPI_Comm now;
    MPI_Comm_dup(MPI_COMM_SELF, &now);
    for (int width = 1; width < size; width *= 2) {
        int block = bench_rank / width, lower = block % 2 == 0;
        int other = (lower ? block + 1 : block - 1) * width;
        if (other >= size)
            continue;
        MPI_Comm both, merged;
        MPI_Intercomm_create(now, 0, MPI_COMM_WORLD, other, tag, &both);
        MPI_Intercomm_merge(both, !lower, &merged);
        MPI_Comm_free(&both);
        MPI_Comm_free(&now);
        now = merged;
    }
    return now;
}

static void merge_group(long n, void *what)
{
    int size = *(int *)what;
    if (bench_rank >= size)
        return;
    for (long i = 0; i < n; i++) {
        MPI_Comm made = merge(size, 7);
        MPI_Comm_free(&made);
    }
}

static void measure(const char *series, bench_body *body, void *what, double budget, int each)
{
    double seconds = bench_measure(body, what, budget);
    if (bench_rank == 0)
        bench_result(series, -1, seconds / each * 1e6, "us", "lower");
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv);
    double budget = bench_argument(argc, argv, 1, 0.2);
    measure("dup", dup_one, NULL, budget, 1);
    measure("idup64", idup_many, NULL, budget, OUTSTANDING);
    measure("split", split_one, NULL, budget, 1);
    for (int size = 2; bench_size >= 4; size = bench_size / 2) {
        MPI_Group world, group = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        int range[1][3] = {{0, size - 1, 1}};
        if (bench_rank < size)
            MPI_Group_range_incl(world, 1, range, &group);
        measure(size == 2 ? "create_group2" : "create_group", create_group, &group, budget, 1);
        measure(size == 2 ? "merge2" : "merge", merge_group, &size, budget, 1);
        if (bench_rank < size)
            MPI_Group_free(&group);
        MPI_Group_free(&world);
        if (size == bench_size / 2)
            break;
    }
    MPI_Finalize();
    return 0;
}
