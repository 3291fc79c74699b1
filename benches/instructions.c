/* Calls for benches/instructions.py: messages of 8 bytes, of which rank 0 sends batches that fit into the ring, and rank 1 receives each
 * batch after it has come; or as many collective operations on 8 bytes. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 16 };

static void collective(const char *name, int times)
{
    double out[2] = {1, 2}, in[2];
    int rank, counts[2] = {0, 1};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    if (!strcmp(name, "allreduce_init"))
        MPI_Allreduce_init(out, in, 1, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < times; i++)
        if (!strcmp(name, "barrier"))
            MPI_Barrier(world);
        else if (!strcmp(name, "bcast"))
            MPI_Bcast(in, 1, MPI_DOUBLE, i % 2, world);
        else if (!strcmp(name, "allreduce"))
            MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world);
        else if (!strcmp(name, "reduce_scatter"))
            MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, world);
        else if (!strcmp(name, "alltoall"))
            MPI_Alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, world);
        else if (!strcmp(name, "gather"))
            MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, i % 2, world);
        else if (!strcmp(name, "scatter"))
            MPI_Scatter(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, i % 2, world);
        else if (!strcmp(name, "scan"))
            MPI_Scan(out, in, 1, MPI_DOUBLE, MPI_SUM, world);
        else if (!strcmp(name, "iallreduce")) {
            MPI_Iallreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, world, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (!strcmp(name, "allreduce_init")) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else
            MPI_Abort(world, 2);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int rank, batches = argc > 1 ? atoi(argv[1]) : 100;
    double data = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2 && strcmp(argv[2], "messages")) {
        collective(argv[2], batches);
        batches = 0;
    }
    for (int i = 0; i < batches; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            for (int j = 0; j < BATCH; j++)
                MPI_Send(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else {
            usleep(2000);
            for (int j = 0; j < BATCH; j++)
                MPI_Recv(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
