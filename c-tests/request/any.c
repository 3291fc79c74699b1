/* MPI_Waitany and MPI_Testany: null and inactive ones among active ones, all null, no requests, every index once. */
#include "check.h"

enum { COUNT = 9 };

int main(int argc, char **argv)
{
    MPI_Request requests[COUNT], inactive;
    MPI_Status status;
    int values[COUNT], index, flag, value = 0, other, seen[COUNT];
    start(&argc, &argv);
    MPI(MPI_Recv_init(&other, 1, MPI_INT, rank, 500, MPI_COMM_WORLD, &inactive));

    index = 77;
    spoil(&status);
    MPI(MPI_Waitany(0, NULL, &index, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_EMPTY_STATUS(status);
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    requests[2] = inactive;
    index = 77;
    spoil(&status);
    MPI(MPI_Waitany(3, requests, &index, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_EMPTY_STATUS(status);
    index = flag = 77;
    spoil(&status);
    MPI(MPI_Testany(3, requests, &index, &flag, &status));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_INT(flag, 1);
    if (!reference) /* MPICH 4.0.2 leaves it as it was */
        CHECK_EMPTY_STATUS(status);
    MPI(MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 1);
    CHECK_INT(index, MPI_UNDEFINED);

    for (int test = 0; test < 2; test++) {
        for (int i = 0; i < COUNT; i++) {
            requests[i] = i == 4 ? MPI_REQUEST_NULL : i == 6 ? inactive : 0;
            seen[i] = values[i] = 0;
            if (i != 4 && i != 6)
                MPI(MPI_Irecv(&values[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
        }
        MPI(MPI_Testany(COUNT, requests, &index, &flag, &status));
        CHECK_INT(flag, 0);
        CHECK_INT(index, MPI_UNDEFINED);
        /* one by one: exactly the one that was sent to */
        for (int i = COUNT - 1; i >= 0; i--) {
            if (i == 4 || i == 6)
                continue;
            value = 100 + i;
            MPI(MPI_Send(&value, 1, MPI_INT, rank, i, MPI_COMM_WORLD));
            index = -5;
            flag = 0;
            if (test)
                while (!flag)
                    MPI(MPI_Testany(COUNT, requests, &index, &flag, &status));
            else
                MPI(MPI_Waitany(COUNT, requests, &index, &status));
            CHECK_INT(index, i);
            CHECK_STATUS(status, rank, i, 4);
            CHECK(requests[i] == MPI_REQUEST_NULL);
            CHECK_INT(values[i], 100 + i);
            CHECK_INT(seen[i]++, 0);
        }
        CHECK(requests[6] == inactive);
        MPI(MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE));
        CHECK_INT(index, MPI_UNDEFINED);
    }
    /* a persistent one that ends becomes inactive and keeps its handle */
    MPI(MPI_Start(&inactive));
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 500, MPI_COMM_WORLD));
    requests[1] = inactive;
    requests[0] = MPI_REQUEST_NULL;
    MPI(MPI_Waitany(2, requests, &index, &status));
    CHECK_INT(index, 1);
    CHECK_STATUS(status, rank, 500, 4);
    CHECK(requests[1] == inactive);
    MPI(MPI_Request_free(&inactive));
    return finish();
}
