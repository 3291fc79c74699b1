/* Persistent collectives: started again and again with new data, in an order of each rank's own, mixed with messages; types and
 * operations freed after the request was made. */
#include "check.h"

enum { MANY = 12, COUNT = 300 };

static void first(void *left, void *right, int *count, MPI_Datatype *type)
{
    int *l = left, *r = right;
    (void) type;
    for (int i = 0; i < *count; i++)
        r[2 * i] = l[2 * i];
}

int main(int argc, char **argv)
{
    static int in[MANY][COUNT], out[MANY][COUNT], data[2 * COUNT], result[2 * COUNT];
    MPI_Request requests[MANY], mixed[2], twice;
    MPI_Datatype type, resized;
    MPI_Op op;
    MPI_Status status;
    int flag;
    start(&argc, &argv);
    for (int k = 0; k < MANY; k++)
        if (k % 3 == 0)
            MPI(MPI_Allreduce_init(in[k], out[k], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]));
        else if (k % 3 == 1)
            MPI(MPI_Bcast_init(out[k], COUNT, MPI_INT, k % size, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]));
        else
            MPI(MPI_Scan_init(in[k], out[k], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[k]));
    MPI(MPI_Test(&requests[0], &flag, &status)); /* inactive: complete, and empty */
    if (!reference) /* MPICH 4.0.2 says that it is not complete */
        CHECK_INT(flag, 1);
    for (int round = 0; round < 20; round++) {
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < COUNT; i++) {
                in[k][i] = rank + k + i + round;
                out[k][i] = k % 3 == 1 && rank == k % size ? in[k][i] : -1;
            }
        if (round % 3 == 2)
            MPI(MPI_Startall(MANY, requests));
        else
            for (int k = 0; k < MANY; k++)
                MPI(MPI_Start(&requests[(k + rank * round) % MANY]));
        MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < MANY; k++)
            for (int i = 0; i < COUNT; i++) {
                int all = size * (size - 1) / 2 + size * (k + i + round), some = rank * (rank + 1) / 2 + (rank + 1) * (k + i + round);
                CHECK_INT(out[k][i], k % 3 == 0 ? all : k % 3 == 1 ? k % size + k + i + round : some);
            }
    }
    for (int k = 0; k < MANY; k++) {
        CHECK(requests[k] != MPI_REQUEST_NULL);
        MPI(MPI_Request_free(&requests[k]));
    }
    MPI(MPI_Type_contiguous(1, MPI_INT, &type));
    MPI(MPI_Type_create_resized(type, 0, 2 * sizeof(int), &resized));
    MPI(MPI_Type_commit(&resized));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Op_create(first, 0, &op));
    MPI(MPI_Allreduce_init(data, result, COUNT, resized, op, MPI_COMM_WORLD, MPI_INFO_NULL, &twice));
    MPI(MPI_Type_free(&resized));
    MPI(MPI_Op_free(&op));
    for (int i = 0; i < 500; i++) { /* enough for a library that gives freed types back */
        MPI(MPI_Type_vector(2, 1, 3, MPI_INT, &type));
        MPI(MPI_Type_free(&type));
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            data[2 * i] = rank + i + round;
            data[2 * i + 1] = result[2 * i + 1] = 5;
            result[2 * i] = -1;
        }
        MPI(MPI_Start(&twice));
        MPI(MPI_Wait(&twice, MPI_STATUS_IGNORE));
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT(result[2 * i], i + round);
            CHECK_INT(result[2 * i + 1], 5);
        }
    }
    MPI(MPI_Request_free(&twice));
    MPI(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &mixed[0]));
    MPI(MPI_Recv_init(data, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &mixed[1]));
    for (int round = 0; round < 5; round++) {
        MPI(MPI_Startall(2, mixed));
        MPI(MPI_Send(&round, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD));
        MPI(MPI_Waitall(2, mixed, MPI_STATUSES_IGNORE));
        CHECK_INT(data[0], round);
    }
    MPI(MPI_Request_free(&mixed[0]));
    MPI(MPI_Request_free(&mixed[1]));
    return finish();
}
