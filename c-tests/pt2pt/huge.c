/* One message of more than 2^31 bytes and elements: the count of the status, and both its ends and middle. */
#include "check.h"

int main(int argc, char **argv)
{
    const MPI_Count bytes = 2147483648ll + 4097;
    MPI_Count count = -1;
    int small = 0;
    MPI_Status status;
    start(&argc, &argv);
    unsigned char *data = rank < 2 ? malloc(bytes) : NULL;
    static const MPI_Count places[] = {0, 1, 65536, 1073741824, 2147483646, 2147483647, 2147483648ll, 2147483648ll + 4096};
    if (rank == 0) {
        memset(data, 1, bytes);
        for (int i = 0; i < 8; i++)
            data[places[i]] = (unsigned char) (100 + i);
        MPI(MPI_Send_c(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI(MPI_Recv_c(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status));
        MPI(MPI_Get_count_c(&status, MPI_BYTE, &count));
        CHECK_INT(count, bytes);
        /* does not fit an int */
        MPI(MPI_Get_count(&status, MPI_BYTE, &small));
        CHECK_INT(small, MPI_UNDEFINED);
        MPI_Count sum = 0, expected = bytes - 8;
        for (int i = 0; i < 8; i++) {
            CHECK_INT(data[places[i]], 100 + i);
            expected += 100 + i;
        }
        for (MPI_Count i = 0; i < bytes; i++)
            sum += data[i];
        CHECK_INT(sum, expected);
    }
    free(data);
    return finish();
}
