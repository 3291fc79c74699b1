/* Every size from 0 to 4200 bytes, three messages in flight each. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char out[3][4300], in[3][4300];
    start(&argc, &argv);
    for (int bytes = 0; rank < 2 && bytes <= 4200; bytes += slow() ? 97 : 1) {
        MPI_Request requests[6];
        MPI_Status statuses[6];
        for (int i = 0; i < 3; i++) {
            in[i][bytes] = 0x77;
            MPI(MPI_Irecv(in[i], bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]));
        }
        for (int i = 0; i < 3; i++) {
            fill(out[i], bytes, bytes * 7 + i * 3 + rank);
            MPI(MPI_Isend(out[i], bytes, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[3 + i]));
        }
        MPI(MPI_Waitall(6, requests, statuses));
        for (int i = 0; i < 3; i++) {
            CHECK_STATUS(statuses[i], 1 - rank, i, bytes);
            CHECK_PATTERN(in[i], bytes, bytes * 7 + i * 3 + (1 - rank));
            CHECK_INT(in[i][bytes], 0x77);
        }
    }
    return finish();
}
