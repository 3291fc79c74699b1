/* With OXMPI_CHECK_SIGNATURES: a receive into a type that names a byte twice fails with MPI_ERR_TYPE, in all kinds of receives;
 * such a type can be sent.
 */
#include "wrong.h"

int main(int argc, char **argv)
{
    int out[8] = {0, 1, 2, 3, 4, 5, 6, 7}, in[32] = {0};
    MPI_Datatype vector, list, inside, far;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    start(&argc, &argv);
    return_errors();
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI(MPI_Type_vector(3, 2, 1, MPI_INT, &vector));
    MPI(MPI_Type_indexed(3, (int[]) {2, 1, 1}, (int[]) {0, 5, 1}, MPI_INT, &list));
    MPI(MPI_Type_vector(3, 1, 3, MPI_INT, &far));
    MPI(MPI_Type_create_resized(far, 0, sizeof(int), &inside));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Type_commit(&list));
    MPI(MPI_Type_commit(&inside));

    ERROR(MPI_Recv(in, 1, vector, from, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "datatype", "displacement 4");
    ERROR(MPI_Irecv(in, 1, list, from, 1, MPI_COMM_WORLD, &request), MPI_ERR_TYPE, "datatype", "displacement 4");
    ERROR(MPI_Recv_init(in, 1, list, from, 1, MPI_COMM_WORLD, &request), MPI_ERR_TYPE, "datatype", "displacement 4");
    ERROR(MPI_Sendrecv(out, 6, MPI_INT, to, 1, in, 1, vector, from, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "recvtype", "displacement 4");
    ERROR(MPI_Sendrecv_replace(in, 1, vector, to, 1, from, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "datatype", "displacement 4");
    ERROR(MPI_Recv(in, 4, inside, from, 1, MPI_COMM_WORLD, &status), MPI_ERR_TYPE, "4 of datatype", "displacement 12");
    MPI(MPI_Isend(out, 6, MPI_INT, to, 2, MPI_COMM_WORLD, &request));
    MPI(MPI_Mprobe(from, 2, MPI_COMM_WORLD, &message, &status));
    ERROR(MPI_Mrecv(in, 1, vector, &message, &status), MPI_ERR_TYPE, "datatype", "displacement 4");
    MPI(MPI_Mrecv(in, 6, MPI_INT, &message, &status));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

    /* what lies in each other without a byte in common, and a type that is sent */
    MPI(MPI_Sendrecv(out, 8, MPI_INT, to, 3, in, 3, inside, from, 3, MPI_COMM_WORLD, &status));
    CHECK(in[0] == 0 && in[3] == 1 && in[6] == 2 && in[1] == 3 && in[2] == 6);
    MPI(MPI_Sendrecv(out, 1, vector, to, 4, in, 6, MPI_INT, from, 4, MPI_COMM_WORLD, &status));
    CHECK(in[0] == 0 && in[1] == 1 && in[2] == 1 && in[5] == 3);
    MPI(MPI_Recv(in, 0, vector, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Type_free(&list));
    MPI(MPI_Type_free(&far));
    MPI(MPI_Type_free(&inside));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
