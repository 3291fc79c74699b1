/* MPI_Waitsome and MPI_Testsome: every request reported once, with its status; none active: MPI_UNDEFINED. */
#include "check.h"

enum { COUNT = 12 };

int main(int argc, char **argv)
{
    MPI_Request requests[COUNT], inactive;
    MPI_Status statuses[COUNT];
    int values[COUNT], indices[COUNT], outcount, value = 0, other;
    start(&argc, &argv);
    MPI(MPI_Recv_init(&other, 1, MPI_INT, rank, 500, MPI_COMM_WORLD, &inactive));
    outcount = 77;
    MPI(MPI_Waitsome(0, NULL, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    outcount = 77;
    MPI(MPI_Testsome(0, NULL, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    requests[0] = MPI_REQUEST_NULL;
    requests[1] = inactive;
    MPI(MPI_Waitsome(2, requests, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);
    MPI(MPI_Testsome(2, requests, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK_INT(outcount, MPI_UNDEFINED);

    for (int how = 0; how < 4; how++) {
        int left = COUNT - 1, seen[COUNT] = {0};
        for (int i = 0; i < COUNT; i++) {
            requests[i] = MPI_REQUEST_NULL;
            values[i] = -1;
            if (i != 5)
                MPI(MPI_Irecv(&values[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
        }
        MPI(MPI_Testsome(COUNT, requests, &outcount, indices, statuses));
        CHECK_INT(outcount, 0);
        for (int step = 0; step < 3; step++) {
            int sent = 0;
            for (int i = step; i < COUNT; i += 3) {
                if (i == 5)
                    continue;
                sent++;
                value = 10 * i;
                MPI(MPI_Send(&value, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
            }
            for (int got = 0; got < sent;) {
                MPI_Status *where = how & 2 ? MPI_STATUSES_IGNORE : statuses;
                if (how & 1)
                    MPI(MPI_Testsome(COUNT, requests, &outcount, indices, where));
                else
                    MPI(MPI_Waitsome(COUNT, requests, &outcount, indices, where));
                CHECK(outcount >= (how & 1 ? 0 : 1) && outcount <= sent - got);
                for (int k = 0; k < outcount; k++) {
                    int i = indices[k];
                    CHECK(i >= 0 && i < COUNT && i % 3 == step);
                    CHECK_INT(seen[i]++, 0);
                    CHECK(requests[i] == MPI_REQUEST_NULL);
                    CHECK_INT(values[i], 10 * i);
                    if (!(how & 2))
                        CHECK_STATUS(statuses[k], rank, i, 4);
                }
                got += outcount;
                left -= outcount;
            }
        }
        CHECK_INT(left, 0);
        MPI(MPI_Waitsome(COUNT, requests, &outcount, indices, statuses));
        CHECK_INT(outcount, MPI_UNDEFINED);
    }
    MPI(MPI_Request_free(&inactive));
    return finish();
}
