/* With OXMPI_CHECK=buffers: a send buffer that changes before its request is completed, and a receive buffer that has bytes of another one
 * in use, fail with MPI_ERR_BUFFER, and the text says of which call. What is right stays right.
 */
#include "wrong.h"

enum { N = 40000 };
static int out[N], in[N], more[N];
static int to, from;

static MPI_Request begin_send(int count, int tag)
{
    MPI_Request request;
    MPI(MPI_Isend(out, count, MPI_INT, to, tag, MPI_COMM_WORLD, &request));
    return request;
}

static MPI_Request begin_receive(int *buffer, int count, int tag)
{
    MPI_Request request;
    MPI(MPI_Irecv(buffer, count, MPI_INT, from, tag, MPI_COMM_WORLD, &request));
    return request;
}

static void take(int tag)
{
    MPI(MPI_Recv(more, N, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Short ones, which have left when the call returns, and long ones. */
static void changed(void)
{
    int counts[] = {1, 100, 5000, N}, flag;
    MPI_Request request, two[2];
    MPI_Status statuses[2];
    for (int at = 0; at < 4; at++) {
        int count = counts[at];
        request = begin_send(count, 1);
        CHECK(request != MPI_REQUEST_NULL);
        out[count - 1]++;
        take(1);
        ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "the send buffer of MPI_Isend at in_use.c:", "tag 1, MPI_COMM_WORLD) has changed");
        CHECK(request == MPI_REQUEST_NULL);
    }
    request = begin_send(5, 2);
    out[4]++;
    take(2);
    int code = MPI_SUCCESS;
    for (flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPI_ERR_BUFFER);

    two[0] = begin_receive(in, N, 3);
    two[1] = begin_send(7, 3);
    out[6]++;
    ERROR(MPI_Waitall(2, two, statuses), MPI_ERR_BUFFER, "28 bytes", "has changed");
    CHECK(two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL);
    CHECK_STATUS(statuses[0], from, 3, 28);

    /* it is what it was again */
    request = begin_send(100, 4);
    out[3]++;
    out[3]--;
    take(4);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* What lies in the holes of a type is not sent. */
static void holes(void)
{
    MPI_Datatype vector;
    MPI_Request request, other;
    MPI(MPI_Type_vector(50, 1, 2, MPI_INT, &vector));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Isend(out, 1, vector, to, 5, MPI_COMM_WORLD, &request));
    out[1]++;
    MPI(MPI_Irecv(out + 1, 1, vector, from, 5, MPI_COMM_WORLD, &other));
    MPI(MPI_Wait(&other, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Isend(out, 1, vector, to, 5, MPI_COMM_WORLD, &request));
    out[2]++;
    take(5);
    ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "200 bytes", "has changed");
    MPI(MPI_Type_free(&vector));
}

static void overlapping(void)
{
    MPI_Request request, second;
    request = begin_receive(in, 10, 6);
    ERROR(MPI_Irecv(in + 9, 10, MPI_INT, from, 6, MPI_COMM_WORLD, &second), MPI_ERR_BUFFER, "the receive buffer overlaps the receive buffer of MPI_Irecv at in_use.c:",
          "4 bytes from");
    ERROR(MPI_Isend(in, 1, MPI_INT, to, 6, MPI_COMM_WORLD, &second), MPI_ERR_BUFFER, "the send buffer overlaps the receive buffer", "which is not completed");
    ERROR(MPI_Send(in, 1, MPI_INT, to, 6, MPI_COMM_WORLD), MPI_ERR_BUFFER, "the send buffer overlaps the receive buffer", "which is not completed");
    ERROR(MPI_Recv(in + 3, 1, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "the receive buffer overlaps the receive buffer",
          "which is not completed");
    /* beside it, and nothing at all */
    second = begin_receive(in + 10, 10, 66);
    MPI(MPI_Send(out, 10, MPI_INT, to, 66, MPI_COMM_WORLD));
    MPI(MPI_Send(in, 0, MPI_INT, to, 666, MPI_COMM_WORLD));
    MPI(MPI_Recv(in, 0, MPI_INT, from, 666, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Recv(in, 10, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&second, MPI_STATUS_IGNORE));
    MPI(MPI_Send(out, 10, MPI_INT, to, 6, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* it is the program's again */
    request = begin_receive(in, 10, 7);
    MPI(MPI_Send(out, 10, MPI_INT, to, 7, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));

    /* two sends from one buffer */
    request = begin_send(10, 8);
    second = begin_send(10, 8);
    ERROR(MPI_Irecv(out, 10, MPI_INT, from, 8, MPI_COMM_WORLD, &(MPI_Request) {0}), MPI_ERR_BUFFER, "the receive buffer overlaps the send buffer of MPI_Isend",
          "40 bytes from");
    take(8);
    take(8);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&second, MPI_STATUS_IGNORE));

    ERROR(MPI_Sendrecv(out, 10, MPI_INT, to, 9, out + 9, 10, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_BUFFER,
          "send and receive buffer overlap", "4 bytes");
    MPI(MPI_Sendrecv_replace(out, 10, MPI_INT, to, 9, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void persistent(void)
{
    MPI_Request send, receive;
    MPI(MPI_Send_init(out, 10, MPI_INT, to, 10, MPI_COMM_WORLD, &send));
    MPI(MPI_Recv_init(in, 10, MPI_INT, from, 10, MPI_COMM_WORLD, &receive));
    for (int round = 0; round < 3; round++) {
        out[0] = round; /* not started */
        in[0] = -1;
        MPI(MPI_Start(&send));
        MPI(MPI_Startall(1, &receive));
        ERROR(MPI_Send(in, 1, MPI_INT, to, 10, MPI_COMM_WORLD), MPI_ERR_BUFFER, "the receive buffer of MPI_Recv_init", "which is not completed");
        MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        CHECK_INT(in[0], round);
        if (round == 1)
            out[5]++;
        if (round == 1)
            ERROR(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "the send buffer of MPI_Send_init", "has changed");
        else
            MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));
}

/* A partition is in use from MPI_Pready on, and one that has arrived is the program's. */
static void partitioned(void)
{
    MPI_Request requests[2];
    int flag;
    MPI(MPI_Psend_init(out, 4, 10, MPI_INT, to, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    MPI(MPI_Precv_init(in, 4, 10, MPI_INT, from, 11, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; round++) {
        MPI(MPI_Startall(2, requests));
        for (int part = 0; part < 4; part++) {
            out[10 * part] = round;
            MPI(MPI_Pready(part, requests[0]));
        }
        for (flag = 0; !flag;)
            MPI(MPI_Parrived(requests[1], 0, &flag));
        in[0] = 17;
        MPI(MPI_Sendrecv(in, 1, MPI_INT, to, 11, more, 1, MPI_INT, from, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_INT(more[0], 17);
        if (round == 0) {
            MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            continue;
        }
        out[39]++;
        ERROR(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_BUFFER, "the send buffer of MPI_Psend_init", "has changed");
    }
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_Request_free(&requests[1]));
}

static void collective(void)
{
    MPI_Request request, second;
    MPI(MPI_Iallreduce(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    out[99]++;
    ERROR(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "the send buffer of MPI_Iallreduce at in_use.c:", "has changed");
    /* in place, and a root's buffer that others do not have */
    MPI(MPI_Iallreduce(MPI_IN_PLACE, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    MPI(MPI_Igather(out, 1, MPI_INT, rank == 0 ? more : in, 1, MPI_INT, 0, MPI_COMM_WORLD, &second));
    MPI(MPI_Wait(&second, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    request = begin_receive(in, 10, 12);
    ERROR(MPI_Ibcast(in + 9, 2, MPI_INT, 0, MPI_COMM_WORLD, &second), MPI_ERR_BUFFER, "overlaps the receive buffer of MPI_Irecv", "4 bytes from");
    MPI(MPI_Wait(&second, MPI_STATUS_IGNORE));
    ERROR(MPI_Bcast(in + 9, 2, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "overlaps the receive buffer of MPI_Irecv", "4 bytes from");
    MPI(MPI_Send(out, 10, MPI_INT, to, 12, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Requests that the program lets go of, or knows to be complete. */
static void known(void)
{
    MPI_Request request;
    int flag = 0;
    request = begin_send(10, 13);
    MPI(MPI_Request_free(&request));
    out[0]++;
    take(13);
    request = begin_receive(in, 10, 14);
    MPI(MPI_Send(out, 10, MPI_INT, to, 14, MPI_COMM_WORLD));
    while (!flag)
        MPI(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    MPI(MPI_Send(in, 1, MPI_INT, to, 14, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    take(14);
    request = begin_receive(in, 10, 15);
    MPI(MPI_Cancel(&request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Send(in, 1, MPI_INT, to, 15, MPI_COMM_WORLD));
    take(15);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    to = (rank + 1) % size, from = (rank + size - 1) % size;
    changed();
    holes();
    overlapping();
    persistent();
    partitioned();
    collective();
    known();
    return finish();
}
