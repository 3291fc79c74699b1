/* Get_count and Get_elements of received messages: whole, partial and of types whose size does not divide. */
#include "check.h"

int main(int argc, char **argv)
{
    static char data[4096], in[4096];
    MPI_Status status;
    int count, elements;
    start(&argc, &argv);
    for (int bytes = 0; bytes <= 48; bytes++) {
        MPI(MPI_Sendrecv(data, bytes, MPI_BYTE, rank, 1, in, sizeof in, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &status));
        MPI(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK_INT(count, bytes);
        MPI(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, bytes % 4 ? MPI_UNDEFINED : bytes / 4);
        MPI(MPI_Get_count(&status, MPI_DOUBLE, &count));
        CHECK_INT(count, bytes % 8 ? MPI_UNDEFINED : bytes / 8);
        /* a pair of double and int: 12 bytes of data, two elements */
        MPI(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
        CHECK_INT(count, bytes % 12 ? MPI_UNDEFINED : bytes / 12);
        MPI(MPI_Get_elements(&status, MPI_DOUBLE_INT, &elements));
        if (bytes % 12 == 0)
            CHECK_INT(elements, bytes / 12 * 2);
        else if (bytes % 12 == 8)
            CHECK_INT(elements, bytes / 12 * 2 + 1);
        MPI(MPI_Get_elements(&status, MPI_INT, &elements));
        if (bytes % 4 == 0)
            CHECK_INT(elements, bytes / 4);
    }
    return finish();
}
