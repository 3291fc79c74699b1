/* A message longer than the receive buffer: MPI_ERR_TRUNCATE from every way to receive, MPI_ERR_IN_STATUS from
 * the ways that end several requests; nothing is written behind the buffer; the next message is whole. */
#include "check.h"

static unsigned char out[100000], in[100000];

static void after(int bytes, int limit, int tag)
{
    (void) bytes;
    for (int i = limit; i < limit + 200; i++)
        CHECK_INT(in[i], 0xcc);
    MPI_Status status;
    MPI(MPI_Recv(in, sizeof in, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, 0, tag, 10);
    CHECK_PATTERN(in, 10, tag);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {9, 50, 1001, 10000, 99000};
    int tag = 0;
    start(&argc, &argv);
    return_errors();
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int how = 0; how < 9; how++)
            for (int late = 0; late < 2; late++) {
                int bytes = sizes[s], limit = s == 0 ? 0 : bytes / 2;
                tag++;
                if (rank == 0) {
                    MPI_Request requests[2];
                    fill(out, bytes, 1);
                    unsigned char next[10];
                    fill(next, 10, tag);
                    if (!late)
                        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 5000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                    MPI(MPI_Isend(out, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[0]));
                    MPI(MPI_Isend(next, 10, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[1]));
                    if (late)
                        MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 5000, MPI_COMM_WORLD));
                    /* The sender is not to blame: it sees success. */
                    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
                } else if (rank == 1) {
                    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
                    MPI_Status statuses[2], status;
                    MPI_Message message;
                    int index = -1, flag = 0, outcount = -1, indices[2];
                    memset(in, 0xcc, sizeof in);
                    if (late)
                        MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 5000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                    if (how == 0 || how >= 7) {
                        if (!late)
                            MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 5000, MPI_COMM_WORLD));
                        if (how == 0) {
                            CHECK_CLASS(MPI_Recv(in, limit, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
                            CHECK_INT(status.MPI_SOURCE, 0);
                            CHECK_INT(status.MPI_TAG, tag);
                        } else {
                            MPI(MPI_Mprobe(0, tag, MPI_COMM_WORLD, &message, &status));
                            CHECK_STATUS(status, 0, tag, bytes);
                            if (how == 7) {
                                CHECK_CLASS(MPI_Mrecv(in, limit, MPI_BYTE, &message, &status), MPI_ERR_TRUNCATE);
                            } else {
                                MPI(MPI_Imrecv(in, limit, MPI_BYTE, &message, &requests[0]));
                                CHECK_CLASS(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
                            }
                            CHECK(message == MPI_MESSAGE_NULL || reference);
                        }
                        after(bytes, limit, tag);
                        continue;
                    }
                    MPI(MPI_Irecv(in, limit, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &requests[0]));
                    if (!late)
                        MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 5000, MPI_COMM_WORLD));
                    spoil(&status);
                    switch (how) {
                    case 1:
                        CHECK_CLASS(MPI_Wait(&requests[0], &status), MPI_ERR_TRUNCATE);
                        CHECK_INT(status.MPI_SOURCE, 0);
                        CHECK_INT(status.MPI_TAG, tag);
                        break;
                    case 2: {
                        int code = MPI_SUCCESS;
                        while (!flag && code == MPI_SUCCESS)
                            code = MPI_Test(&requests[0], &flag, &status);
                        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
                        break;
                    }
                    case 3:
                        CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
                        CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
                        CHECK_INT(statuses[0].MPI_SOURCE, 0);
                        CHECK_INT(statuses[0].MPI_TAG, tag);
                        CHECK_INT(statuses[1].MPI_ERROR, MPI_SUCCESS);
                        break;
                    case 4: {
                        int code = MPI_SUCCESS;
                        while (!flag && code == MPI_SUCCESS)
                            code = MPI_Testall(2, requests, &flag, statuses);
                        CHECK_CLASS(code, MPI_ERR_IN_STATUS);
                        CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
                        break;
                    }
                    case 5:
                        CHECK_CLASS(MPI_Waitany(2, requests, &index, &status), MPI_ERR_TRUNCATE);
                        CHECK_INT(index, 0);
                        break;
                    case 6:
                        CHECK_CLASS(MPI_Waitsome(2, requests, &outcount, indices, statuses), MPI_ERR_IN_STATUS);
                        CHECK_INT(outcount, 1);
                        CHECK_INT(indices[0], 0);
                        CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
                        break;
                    }
                    CHECK(requests[0] == MPI_REQUEST_NULL);
                    after(bytes, limit, tag);
                }
            }
    return finish();
}
