/* Every send mode, blocking, nonblocking and persistent, against every way to receive. */
#include "check.h"

enum { SIZES = 4, MODES = 4, FORMS = 3, RECEIVES = 5 };
static const int sizes[SIZES] = {0, 1, 1000, 70000};
static unsigned char out[70000], in[70000];

static void send(int mode, int form, int bytes, int to, int tag)
{
    MPI_Request request;
    int (*const blocking[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    int (*const immediate[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    int (*const persistent[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    if (mode == 3) /* ready: the receiver says that its receive is posted */
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, to, 4000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    fill(out, bytes, tag);
    if (form == 0) {
        MPI(blocking[mode](out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD));
    } else {
        if (form == 1) {
            MPI(immediate[mode](out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        } else {
            MPI(persistent[mode](out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
            MPI(MPI_Start(&request));
        }
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (form == 2) {
            CHECK(request != MPI_REQUEST_NULL);
            MPI(MPI_Request_free(&request));
        }
        CHECK(request == MPI_REQUEST_NULL);
    }
}

static void receive(int mode, int how, int bytes, int from, int tag)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    memset(in, 0, sizeof in);
    spoil(&status);
    /* A ready send needs its receive first: those that begin with a probe are not for it. */
    if (mode == 3 && how > 2)
        how = 0;
    switch (how) {
    case 0:
    case 1:
        MPI(MPI_Irecv(in, sizeof in, MPI_BYTE, how ? MPI_ANY_SOURCE : from, tag, MPI_COMM_WORLD, &request));
        break;
    case 2:
        MPI(MPI_Recv_init(in, sizeof in, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request));
        MPI(MPI_Start(&request));
        break;
    case 3:
        MPI(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status));
        CHECK_STATUS(status, from, tag, bytes);
        MPI(MPI_Mrecv(in, bytes, MPI_BYTE, &message, &status));
        CHECK(message == MPI_MESSAGE_NULL);
        break;
    case 4:
        MPI(MPI_Recv(in, sizeof in, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        break;
    }
    if (mode == 3)
        MPI(MPI_Send(NULL, 0, MPI_BYTE, from, 4000, MPI_COMM_WORLD));
    if (how < 3) {
        while (how == 1 && !flag)
            MPI(MPI_Test(&request, &flag, &status));
        if (how != 1)
            MPI(MPI_Wait(&request, &status));
        if (how == 2)
            MPI(MPI_Request_free(&request));
    }
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_STATUS(status, from, tag, bytes);
    CHECK_PATTERN(in, bytes, tag);
}

int main(int argc, char **argv)
{
    /* Nothing tells the sender that a buffered message has left: room for all of them. */
    const int room = FORMS * RECEIVES * (SIZES * MPI_BSEND_OVERHEAD + 71001 + 64);
    int buffer_bytes = room, tag = 0;
    void *buffer;
    start(&argc, &argv);
    buffer = malloc(buffer_bytes);
    MPI(MPI_Buffer_attach(buffer, buffer_bytes));
    for (int sender = 0; sender < 2; sender++)
        for (int mode = 0; mode < MODES; mode++)
            for (int form = 0; form < FORMS; form++)
                for (int how = 0; how < RECEIVES; how++)
                    for (int s = 0; s < SIZES; s++) {
                        tag++;
                        if (rank == sender)
                            send(mode, form, sizes[s], 1 - sender, tag);
                        if (rank == 1 - sender)
                            receive(mode, how, sizes[s], sender, tag);
                    }
    MPI(MPI_Buffer_detach(&buffer, &buffer_bytes));
    CHECK_INT(buffer_bytes, room);
    free(buffer);
    return finish();
}
