/* Types are freed while other types, pending and persistent requests, and received contents still use them. */
#include "check.h"

enum { N = 60000 };
static int out[3 * N], in[3 * N];

int main(int argc, char **argv)
{
    MPI_Datatype inner, outer, other;
    MPI_Request requests[4];
    MPI_Status statuses[2];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 20; round++) {
        int count = round % 2 ? N : 5;
        for (int i = 0; i < 3 * N; i++) {
            out[i] = rank * 1000 + i + round;
            in[i] = -1;
        }
        MPI(MPI_Type_vector(1, 1, 1, MPI_INT, &inner));
        MPI(MPI_Type_create_resized(inner, 0, 3 * sizeof(int), &outer));
        MPI(MPI_Type_free(&inner));
        MPI(MPI_Type_commit(&outer));
        MPI(MPI_Irecv(in, count, outer, from, 0, MPI_COMM_WORLD, &requests[0]));
        MPI(MPI_Isend(out, count, outer, to, 0, MPI_COMM_WORLD, &requests[1]));
        MPI(MPI_Recv_init(in + 1, count, outer, from, 1, MPI_COMM_WORLD, &requests[2]));
        MPI(MPI_Send_init(out + 1, count, outer, to, 1, MPI_COMM_WORLD, &requests[3]));
        MPI(MPI_Type_free(&outer));
        CHECK(outer == MPI_DATATYPE_NULL);
        for (int i = 0; i < 300; i++) { /* what would come into its place */
            MPI(MPI_Type_contiguous(i, MPI_CHAR, &other));
            MPI(MPI_Type_commit(&other));
            MPI(MPI_Type_free(&other));
        }
        MPI(MPI_Waitall(2, requests, statuses));
        for (int again = 0; again < 2; again++) {
            MPI(MPI_Startall(2, requests + 2));
            MPI(MPI_Waitall(2, requests + 2, statuses));
        }
        MPI(MPI_Request_free(&requests[2]));
        MPI(MPI_Request_free(&requests[3]));
        for (int i = 0; i < 3 * count; i++)
            CHECK_INT(in[i], i % 3 == 2 ? -1 : from * 1000 + i + round);
    }
    return finish();
}
