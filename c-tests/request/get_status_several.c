/* MPI_Request_get_status_any, _all and _some (MPI 4.1): as Testany, Testall and Testsome, but the requests stay. */
#include "check.h"

enum { COUNT = 4 };

int main(int argc, char **argv)
{
    MPI_Request requests[COUNT], kept[COUNT], none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[COUNT];
    int in[COUNT] = {0}, value = 1, flag = 77, index = 77, outcount = 77, indices[COUNT];
    start(&argc, &argv);
    spoil(&status);
    MPI(MPI_Request_get_status_any(2, none, &index, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_EMPTY_STATUS(status);
    MPI(MPI_Request_get_status_any(0, none, &index, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 1);
    CHECK_INT(index, MPI_UNDEFINED);
    flag = 77;
    MPI(MPI_Request_get_status_all(2, none, &flag, statuses));
    CHECK_INT(flag, 1);
    CHECK_EMPTY_STATUS(statuses[1]);
    MPI(MPI_Request_get_status_all(0, none, &flag, statuses));
    CHECK_INT(flag, 1);
    MPI(MPI_Request_get_status_some(2, none, &outcount, indices, statuses));
    CHECK_INT(outcount, MPI_UNDEFINED);

    for (int i = 0; i < COUNT; i++)
        MPI(MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &requests[i]));
    memcpy(kept, requests, sizeof kept);
    MPI(MPI_Request_get_status_any(COUNT, requests, &index, &flag, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    CHECK_INT(flag, 0);
    MPI(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, statuses));
    CHECK_INT(outcount, 0);

    MPI(MPI_Send(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++) {
        do
            MPI(MPI_Request_get_status_any(COUNT, requests, &index, &flag, &status));
        while (!flag);
        CHECK_INT(index, 2);
        CHECK_STATUS(status, rank, 2, 4);
    }
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
    do
        MPI(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, statuses));
    while (outcount < 2);
    CHECK_INT(outcount, 2);
    CHECK_INT(indices[0] + indices[1], 2);
    for (int k = 0; k < 2; k++)
        CHECK_STATUS(statuses[k], rank, indices[k], 4);
    MPI(MPI_Request_get_status_some(COUNT, requests, &outcount, indices, MPI_STATUSES_IGNORE));
    CHECK_INT(outcount, 2);
    MPI(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    CHECK_INT(flag, 0);
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
    MPI(MPI_Send(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    do
        MPI(MPI_Request_get_status_all(COUNT, requests, &flag, statuses));
    while (!flag);
    for (int i = 0; i < COUNT; i++) {
        CHECK_STATUS(statuses[i], rank, i, 4);
        CHECK(requests[i] == kept[i]);
    }
    MPI(MPI_Waitall(COUNT, requests, statuses));
    for (int i = 0; i < COUNT; i++)
        CHECK_STATUS(statuses[i], rank, i, 4);
    return finish();
}
