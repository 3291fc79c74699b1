/* Sendrecv and Sendrecv_replace around a ring and to pairs, different types and counts on both sides, wildcards, large. */
#include "check.h"

enum { LARGE = 400000 };

int main(int argc, char **argv)
{
    int *out = malloc(LARGE * sizeof *out), *in = malloc(LARGE * sizeof *in);
    MPI_Status status;
    start(&argc, &argv);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int count = 0; count <= LARGE; count = count ? count * 10 : 4) {
        for (int i = 0; i < count; i++)
            out[i] = rank * 1000003 + i, in[i] = -1;
        spoil(&status);
        MPI(MPI_Sendrecv(out, count, MPI_INT, right, count % 1000, in, count, MPI_INT, left, count % 1000, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, left, count % 1000, count * 4);
        for (int i = 0; i < count; i++)
            if (in[i] != left * 1000003 + i) {
                CHECK_INT(in[i], left * 1000003 + i);
                break;
            }
        /* in place, with wildcards: only one message is on its way to each rank in this step */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Sendrecv_replace(out, count, MPI_INT, left, 5, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, right, 5, count * 4);
        for (int i = 0; i < count; i++)
            if (out[i] != right * 1000003 + i) {
                CHECK_INT(out[i], right * 1000003 + i);
                break;
            }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* send 2 ints and receive 3 bytes: nothing in common but the ring */
    char bytes[8] = "xxxxxxx";
    int numbers[2] = {rank, rank + 1};
    int even = rank % 2 == 0;
    if (size % 2 == 0) {
        if (even) {
            MPI(MPI_Sendrecv(numbers, 2, MPI_INT, right, 1, bytes, 8, MPI_CHAR, right, 2, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, right, 2, 3);
            CHECK(!memcmp(bytes, "abcxxxx", 7));
        } else {
            MPI(MPI_Sendrecv("abc", 3, MPI_CHAR, left, 2, numbers, 2, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, left, 1, 8);
            CHECK_INT(numbers[1], left + 1);
        }
    }
    /* a send to a plain receive, and a receive from a plain send */
    if (size > 1 && rank == 0) {
        MPI(MPI_Sendrecv(numbers, 1, MPI_INT, 1, 3, in, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(in[0], 77);
    } else if (rank == 1) {
        int value = 77;
        MPI(MPI_Recv(in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
    }
    free(out);
    free(in);
    return finish();
}
