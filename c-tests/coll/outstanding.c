/* 64 nonblocking operations on 64 communicators at once, with computation between looks, completed in an order of each rank's
 * own; then many on one communicator. */
#include "check.h"

enum { MANY = 64 };

static double work(int amount)
{
    volatile double x = 1;
    for (int i = 0; i < amount; i++)
        x = x * 1.000001 + 1e-9;
    return x;
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[MANY];
    static MPI_Request requests[MANY];
    static int in[MANY][50], out[MANY][50];
    start(&argc, &argv);
    for (int c = 0; c < MANY; c++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
    for (int round = 0; round < (slow() ? 2 : 10); round++) {
        for (int c = 0; c < MANY; c++)
            for (int i = 0; i < 50; i++)
                in[c][i] = rank + c + i + round, out[c][i] = -1;
        /* Each rank begins them in an order of its own: they are on different communicators. */
        for (int k = 0; k < MANY; k++) {
            int c = (k * (2 * rank + 1) + round) % MANY;
            if (c % 2)
                MPI(MPI_Iallreduce(in[c], out[c], 50, MPI_INT, MPI_SUM, comms[c], &requests[c]));
            else {
                memcpy(out[c], in[c], sizeof in[c]);
                MPI(MPI_Ibcast(out[c], 50, MPI_INT, c % size, comms[c], &requests[c]));
            }
            work(100 * rank);
        }
        int left = MANY;
        for (int turn = 0; left > 0; turn++) {
            int c = (turn * 5 + rank * 11) % MANY, flag;
            work(200);
            if (requests[c] == MPI_REQUEST_NULL)
                continue;
            MPI(MPI_Test(&requests[c], &flag, MPI_STATUS_IGNORE));
            left -= flag;
        }
        for (int c = 0; c < MANY; c++)
            for (int i = 0; i < 50; i++)
                CHECK_INT(out[c][i], c % 2 ? size * (size - 1) / 2 + size * (c + i + round) : c % size + c + i + round);
    }
    /* A test of any request makes progress of all operations: what this rank tests completes only when another operation, which it
     * never looks at, has completed on rank 0. */
    for (int round = 0; round < 5; round++) {
        MPI_Request operation, message;
        int sum, flag = 0, from = rank, token = -1;
        MPI(MPI_Iallreduce(&from, &sum, 1, MPI_INT, MPI_SUM, comms[round], &operation));
        if (rank == 0) {
            MPI(MPI_Wait(&operation, MPI_STATUS_IGNORE));
            for (int r = 1; r < size; r++)
                MPI(MPI_Send(&sum, 1, MPI_INT, r, round, MPI_COMM_WORLD));
        } else {
            MPI(MPI_Irecv(&token, 1, MPI_INT, 0, round, MPI_COMM_WORLD, &message));
            while (!flag)
                MPI(MPI_Test(&message, &flag, MPI_STATUS_IGNORE));
            CHECK_INT(token, size * (size - 1) / 2);
            MPI(MPI_Wait(&operation, MPI_STATUS_IGNORE));
        }
        CHECK_INT(sum, size * (size - 1) / 2);
    }
    /* One communicator: all begin in the same order, and end as they like. Blocking ones go between. */
    for (int c = 0; c < MANY; c++) {
        int sum;
        in[c][0] = rank * c;
        MPI(MPI_Iallreduce(in[c], out[c], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[c]));
        MPI(MPI_Allreduce(&c, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, c * size);
    }
    if (rank % 2)
        MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    else
        for (int c = MANY - 1; c >= 0; c--)
            MPI(MPI_Wait(&requests[c], MPI_STATUS_IGNORE));
    for (int c = 0; c < MANY; c++)
        CHECK_INT(out[c][0], size * (size - 1) / 2 * c);
    /* Freed while operations are under way. */
    for (int c = 0; c < MANY; c++) {
        MPI(MPI_Ibarrier(comms[c], &requests[c]));
        MPI(MPI_Comm_free(&comms[c]));
    }
    MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    return finish();
}
