/* Wrong arguments of partitioned communication. */
#include "wrong.h"


int main(int argc, char **argv)
{
    int values[4] = {1, 2, 3, 4}, more[4], flag, list[3] = {0, 1, 1};
    MPI_Request send, receive, plain, null = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Datatype open;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Type_contiguous(2, MPI_INT, &open));
    ERROR(MPI_Psend_init(values, -1, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_ARG, "partitions", "-1");
    ERROR(MPI_Psend_init(values, 2, -3, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_COUNT, "count", "-3");
    ERROR(MPI_Psend_init(values, 1000000, (MPI_Count) 1 << 60, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_COUNT, "count", NULL);
    ERROR(MPI_Psend_init(values, 2, 2, MPI_DATATYPE_NULL, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Psend_init(values, 2, 1, open, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_Psend_init(values, 2, 2, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_RANK, "dest", number(size));
    ERROR(MPI_Psend_init(values, 2, 2, MPI_INT, rank, -5, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_TAG, "tag", "-5");
    ERROR(MPI_Psend_init(values, 2, 2, MPI_INT, rank, 0, MPI_COMM_NULL, MPI_INFO_NULL, &send), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Psend_init(NULL, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send), MPI_ERR_BUFFER, "buf", NULL);
    ERROR(MPI_Psend_init(values, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, freed_info(), &send), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Psend_init(values, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Precv_init(values, -1, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive), MPI_ERR_ARG, "partitions", "-1");
    ERROR(MPI_Precv_init(values, 2, 2, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive), MPI_ERR_RANK, "source", NULL);
    ERROR(MPI_Precv_init(values, 2, 2, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &receive), MPI_ERR_TAG, "tag", NULL);
    ERROR(MPI_Precv_init(NULL, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive), MPI_ERR_BUFFER, "buf", NULL);
    ERROR(MPI_Precv_init(values, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "request", NULL);

    /* what is none of these */
    MPI(MPI_Irecv(more, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &plain));
    ERROR(MPI_Pready(0, plain), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Pready(0, null), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST, "request", NULL);
    MPI(MPI_Cancel(&plain));
    MPI(MPI_Wait(&plain, MPI_STATUS_IGNORE));

    MPI(MPI_Psend_init(values, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    MPI(MPI_Precv_init(more, 2, 2, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    ERROR(MPI_Pready(0, send), MPI_ERR_REQUEST, "request", NULL); /* not started */
    MPI(MPI_Start(&send));
    MPI(MPI_Start(&receive));
    ERROR(MPI_Start(&receive), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Pready(2, send), MPI_ERR_ARG, "partition", "2");
    ERROR(MPI_Pready(-1, send), MPI_ERR_ARG, "partition", "-1");
    ERROR(MPI_Pready_range(1, 2, send), MPI_ERR_ARG, "partition_high", "2");
    ERROR(MPI_Pready_range(1, 0, send), MPI_ERR_ARG, "partition_low", "1");
    ERROR(MPI_Pready_list(-1, list, send), MPI_ERR_ARG, "length", "-1");
    ERROR(MPI_Pready_list(2, NULL, send), MPI_ERR_ARG, "array_of_partitions", NULL);
    ERROR(MPI_Pready(0, receive), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Parrived(receive, 2, &flag), MPI_ERR_ARG, "partition", "2");
    ERROR(MPI_Parrived(receive, 0, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Cancel(&receive), MPI_ERR_REQUEST, "request", NULL);
    ERROR(MPI_Request_free(&send), MPI_ERR_REQUEST, "request", NULL); /* active */
    ERROR(MPI_Pready_list(3, list, send), MPI_ERR_ARG, "array_of_partitions", "1"); /* one of them twice */
    MPI(MPI_Pready(0, send));
    ERROR(MPI_Pready(0, send), MPI_ERR_ARG, "partition", "0"); /* twice */
    ERROR(MPI_Pready_range(0, 1, send), MPI_ERR_ARG, "partition", "0");
    MPI(MPI_Pready(1, send));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&receive, &status));
    CHECK_INT(more[3], 4);
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));

    /* more than the receiver has room for; and a receive that no send belongs to */
    MPI(MPI_Psend_init(values, 2, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    MPI(MPI_Precv_init(more, 1, 3, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    more[3] = -7;
    MPI(MPI_Start(&send));
    MPI(MPI_Start(&receive));
    MPI(MPI_Pready_range(0, 1, send));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    ERROR(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE, NULL, NULL);
    CHECK_INT(more[2], 3);
    CHECK_INT(more[3], -7);
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));
    MPI(MPI_Precv_init(more, 1, 3, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    MPI(MPI_Request_free(&receive));
    MPI(MPI_Type_free(&open));
    return finish();
}
