/* Random pairs exchange messages of random size, round after round: all ranks compute the same pairing. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char out[70000], in[70000];
    uint64_t state = 4242;
    int partner[256], order[256];
    start(&argc, &argv);
    for (int round = 0; round < (slow() ? 5 : 200); round++) {
        for (int i = 0; i < size; i++)
            order[i] = i;
        for (int i = size - 1; i > 0; i--) {
            int k = (int) (next_random(&state) % (i + 1)), swap = order[i];
            order[i] = order[k], order[k] = swap;
        }
        for (int i = 0; i < size; i++)
            partner[order[i]] = (i ^ 1) < size ? order[i ^ 1] : MPI_PROC_NULL;
        int bytes = (int) (next_random(&state) % (round % 5 ? 300 : 70000)), peer = partner[rank];
        MPI_Status status;
        fill(out, bytes, rank + round);
        MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, peer, round, in, sizeof in, MPI_BYTE, peer, round, MPI_COMM_WORLD, &status));
        if (peer != MPI_PROC_NULL) {
            CHECK_STATUS(status, peer, round, bytes);
            CHECK_PATTERN(in, bytes, peer + round);
        }
    }
    return finish();
}
