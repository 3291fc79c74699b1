/* MPI_Request_free of active sends and receives: they still end; of persistent and inactive ones. */
#include "check.h"

enum { COUNT = 50, BYTES = 100000 };

int main(int argc, char **argv)
{
    static unsigned char out[COUNT][BYTES], in[BYTES];
    start(&argc, &argv);
    if (rank == 0) {
        MPI_Request request;
        for (int i = 0; i < COUNT; i++) {
            int bytes = i % 3 == 0 ? 10 : i % 3 == 1 ? 5000 : BYTES;
            fill(out[i], bytes, i);
            MPI((i & 1 ? MPI_Isend : MPI_Issend)(out[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
            MPI(MPI_Request_free(&request));
            CHECK(request == MPI_REQUEST_NULL);
        }
        /* When the answer is there all of them have been received. */
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        /* a started persistent send may be freed too, and so may an inactive one */
        MPI(MPI_Send_init(out[2], BYTES, MPI_BYTE, 1, 1001, MPI_COMM_WORLD, &request));
        MPI(MPI_Start(&request));
        MPI(MPI_Request_free(&request));
        MPI(MPI_Send_init(out[2], BYTES, MPI_BYTE, 1, 1001, MPI_COMM_WORLD, &request));
        MPI(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        /* a freed receive ends as well: the second message comes after the first is in place */
        static volatile int value = 0;
        MPI(MPI_Irecv((void *) &value, 1, MPI_INT, 1, 1002, MPI_COMM_WORLD, &request));
        MPI(MPI_Request_free(&request));
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 1002, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(value, 4711);
    } else if (rank == 1) {
        MPI_Status status;
        int value = 4711;
        for (int i = COUNT - 1; i >= 0; i--) {
            int bytes = i % 3 == 0 ? 10 : i % 3 == 1 ? 5000 : BYTES;
            MPI(MPI_Recv(in, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, 0, i, bytes);
            CHECK_PATTERN(in, bytes, i);
        }
        MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 1000, MPI_COMM_WORLD));
        MPI(MPI_Recv(in, BYTES, MPI_BYTE, 0, 1001, MPI_COMM_WORLD, &status));
        CHECK_PATTERN(in, BYTES, 2);
        MPI(MPI_Send(&value, 1, MPI_INT, 0, 1002, MPI_COMM_WORLD));
        MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 1002, MPI_COMM_WORLD));
    }
    return finish();
}
