/* With OXMPI_CHECK_SIGNATURES: a receive that does not fit what was sent fails with MPI_ERR_TYPE and both signatures; everything else
 * goes on as without, counts and probes included.
 */
#include "wrong.h"

int main(int argc, char **argv)
{
    int numbers[1000] = {1, 2, 3}, in[1000];
    float reals[1000];
    double wide[4] = {1.5};
    MPI_Status status, statuses[2];
    MPI_Request request, two[2];
    MPI_Message message;
    MPI_Datatype record, vector;
    int count;
    start(&argc, &argv);
    return_errors();
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 8}, (MPI_Datatype[]) {MPI_INT, MPI_DOUBLE}, &record));
    MPI(MPI_Type_commit(&record));
    MPI(MPI_Type_vector(3, 1, 2, MPI_INT, &vector));
    MPI(MPI_Type_commit(&vector));
    for (int n = 1; n <= 1000; n += 333) { /* short and long */
        MPI(MPI_Isend(numbers, n, MPI_INT, to, 1, MPI_COMM_WORLD, &request));
        ERROR(MPI_Recv(reals, n, MPI_FLOAT, from, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "MPI_FLOAT x", "MPI_INT x");
        MPI(MPI_Get_count(&status, MPI_FLOAT, &count));
        CHECK_INT(count, n);
        MPI(MPI_Wait(&request, &status));
        MPI(MPI_Irecv(reals, n, MPI_FLOAT, from, 2, MPI_COMM_WORLD, &two[0]));
        MPI(MPI_Isend(numbers, n, MPI_INT, to, 2, MPI_COMM_WORLD, &two[1]));
        CHECK_CLASS(MPI_Waitall(2, two, statuses), MPI_ERR_IN_STATUS);
        CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TYPE);
    }
    ERROR(MPI_Sendrecv(wide, 1, record, to, 3, in, 4, MPI_INT, from, 3, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "MPI_INT x 1, MPI_DOUBLE x 1",
          "MPI_INT x 4");

    /* what fits */
    MPI(MPI_Sendrecv(numbers, 3, MPI_INT, to, 4, in, 1, vector, from, 4, MPI_COMM_WORLD, &status));
    CHECK(in[0] == 1 && in[2] == 2 && in[4] == 3);
    MPI(MPI_Get_count(&status, vector, &count));
    CHECK_INT(count, 1);
    MPI(MPI_Sendrecv(numbers, 3, MPI_INT, to, 4, in, 900, MPI_INT, from, 4, MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 3);
    MPI(MPI_Sendrecv(numbers, 4, MPI_INT, to, 5, in, 900, MPI_PACKED, from, 5, MPI_COMM_WORLD, &status));
    CHECK_INT(in[1], 2);
    MPI(MPI_Sendrecv(numbers, 0, MPI_INT, to, 6, reals, 5, MPI_FLOAT, from, 6, MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_FLOAT, &count));
    CHECK_INT(count, 0);
    MPI(MPI_Sendrecv_replace(numbers, 3, MPI_INT, to, 7, from, 7, MPI_COMM_WORLD, &status));
    CHECK_INT(numbers[2], 3);
    MPI(MPI_Isend(numbers, 3, MPI_INT, to, 8, MPI_COMM_WORLD, &request));
    MPI(MPI_Mprobe(from, 8, MPI_COMM_WORLD, &message, &status));
    CHECK_STATUS(status, from, 8, 12);
    MPI(MPI_Mrecv(in, 3, MPI_INT, &message, &status));
    CHECK_STATUS(status, from, 8, 12);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(in, 3, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    MPI(MPI_Isend(numbers, 3, MPI_INT, to, 9, MPI_COMM_WORLD, &request));
    CHECK_CLASS(MPI_Recv(in, 2, MPI_INT, from, 9, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Type_free(&record));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
