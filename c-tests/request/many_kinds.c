/* 2,000 requests of mixed kinds created, completed and freed in shuffled order, again and again: slots are reused. */
#include "check.h"

enum { COUNT = 1000, ROUNDS = 15 };

int main(int argc, char **argv)
{
    static MPI_Request requests[2 * COUNT];
    static int in[COUNT], out[COUNT], order[2 * COUNT];
    uint64_t state = 99;
    start(&argc, &argv);
    for (int round = 0; round < (slow() ? 2 : ROUNDS); round++) {
        for (int i = 0; i < COUNT; i++) {
            out[i] = i * round;
            in[i] = -1;
            if (i % 3 == 0) {
                MPI(MPI_Recv_init(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
                MPI(MPI_Start(&requests[i]));
            } else {
                MPI(MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
            }
        }
        for (int i = 0; i < COUNT; i++)
            MPI((i % 2 ? MPI_Isend : MPI_Issend)(&out[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[COUNT + i]));
        for (int i = 0; i < 2 * COUNT; i++)
            order[i] = i;
        for (int i = 2 * COUNT - 1; i > 0; i--) {
            int k = (int) (next_random(&state) % (i + 1)), swap = order[i];
            order[i] = order[k], order[k] = swap;
        }
        for (int i = 0; i < 2 * COUNT; i++) {
            int k = order[i];
            MPI_Status status;
            MPI(MPI_Wait(&requests[k], &status));
            if (k < COUNT) {
                CHECK_STATUS(status, rank, k, 4);
                CHECK_INT(in[k], k * round);
                if (k % 3 == 0)
                    MPI(MPI_Request_free(&requests[k]));
            }
            CHECK(requests[k] == MPI_REQUEST_NULL);
        }
    }
    return finish();
}
