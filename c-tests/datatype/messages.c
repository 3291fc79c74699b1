/* Messages of derived types between neighbours: every way of sending, short to large, holes on either side or both, and nothing but
 * the data is written. The data is typed as packed bytes on the side without holes.
 */
#include "typemap.h"

enum way { BLOCKING, SYNCHRONOUS, BUFFERED, READY, NONBLOCKING, SENDRECV, PERSISTENT, PROBED, WAYS };

struct side {
    const struct typed *of;
    int count;
    struct room room;
};

static void transfer(enum way way, struct side *out, struct side *in, int to, int from, MPI_Status *status)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype sent = out->of->type, received = in->of->type;
    unsigned char *source = out->room.origin, *target = in->room.origin;
    int bytes;
    switch (way) {
    case SENDRECV:
        MPI(MPI_Sendrecv(source, out->count, sent, to, 1, target, in->count, received, from, 1, MPI_COMM_WORLD, status));
        return;
    case PERSISTENT:
        MPI(MPI_Send_init(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0]));
        MPI(MPI_Recv_init(target, in->count, received, from, 1, MPI_COMM_WORLD, &requests[1]));
        for (int i = 0; i < 2; i++) {
            MPI(MPI_Startall(2, requests));
            MPI(MPI_Waitall(2, requests, statuses));
        }
        *status = statuses[1];
        MPI(MPI_Request_free(&requests[0]));
        MPI(MPI_Request_free(&requests[1]));
        return;
    case PROBED:
        MPI(MPI_Isend(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0]));
        MPI(MPI_Probe(from, 1, MPI_COMM_WORLD, status));
        MPI(MPI_Get_count(status, MPI_PACKED, &bytes));
        CHECK_INT(bytes, typed_size(in->of) * (size_t) in->count);
        MPI(MPI_Recv(target, in->count, received, from, 1, MPI_COMM_WORLD, status));
        MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        return;
    default:
        break;
    }
    MPI(MPI_Irecv(target, in->count, received, from, 1, MPI_COMM_WORLD, &requests[1]));
    if (way == READY) /* the receiver is ready when its word has come */
        MPI(MPI_Sendrecv(NULL, 0, MPI_BYTE, from, 2, NULL, 0, MPI_BYTE, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    switch (way) {
    case SYNCHRONOUS: MPI(MPI_Issend(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0])); break;
    case BUFFERED: MPI(MPI_Ibsend(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0])); break;
    case READY: MPI(MPI_Irsend(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0])); break;
    case BLOCKING:
        MPI(MPI_Send(source, out->count, sent, to, 1, MPI_COMM_WORLD));
        requests[0] = MPI_REQUEST_NULL;
        break;
    default: MPI(MPI_Isend(source, out->count, sent, to, 1, MPI_COMM_WORLD, &requests[0])); break;
    }
    MPI(MPI_Waitall(2, requests, statuses));
    *status = statuses[1];
    if (way == BUFFERED) { /* there is room for one message: it has to be gone before the next */
        void *detached;
        int detached_bytes;
        MPI(MPI_Buffer_detach(&detached, &detached_bytes));
        MPI(MPI_Buffer_attach(detached, detached_bytes));
    }
}

/* A message from each rank to the next, in a ring. */
static void round_of(const char *what, enum way way, const struct typed *out_type, int out_count, const struct typed *in_type, int in_count)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, number = -1;
    size_t bytes = typed_size(out_type) * (size_t) out_count;
    struct side out = {out_type, out_count, room_for(out_type, out_count)};
    struct side in = {in_type, in_count, room_for(in_type, in_count)};
    struct room expected = room_for(in_type, in_count);
    unsigned char *sent = malloc(bytes + 1);
    MPI_Status status;
    fill(sent, bytes, (uint64_t) rank + bytes);
    memset(out.room.memory, 0x11, out.room.bytes);
    map_unpack(out_type, out_count, &out.room, sent);
    memset(in.room.memory, 0xee, in.room.bytes);
    memset(expected.memory, 0xee, expected.bytes);
    fill(sent, bytes, (uint64_t) from + bytes);
    map_unpack(in_type, in_count, &expected, sent);
    transfer(way, &out, &in, to, from, &status);
    if (memcmp(in.room.memory, expected.memory, expected.bytes))
        check_failed(__FILE__, __LINE__, "%s, way %d, %zu bytes: arrived wrong", what, (int) way, bytes);
    MPI(MPI_Get_count(&status, in_type->type, &number));
    CHECK_INT(number, in_count);
    CHECK_INT(status.MPI_SOURCE, from);
    free(out.room.memory);
    free(in.room.memory);
    free(expected.memory);
    free(sent);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    size_t most = argc > 1 && !slow() ? (size_t) atoi(argv[1]) : 20000;
    struct typed byte = typed_basic(MPI_CHAR), packed = typed_basic(MPI_PACKED), real = typed_basic(MPI_DOUBLE), number = typed_basic(MPI_INT);
    struct typed column = typed_vector(100, 1, 3, &real);
    struct typed plane = typed_hvector(5, 1, 3000, &column);
    struct typed record = typed_struct(3, (int[]) {1, 3, 1}, (MPI_Aint[]) {0, 8, 32}, (struct typed[]) {number, real, byte});
    struct typed types[] = {
        typed_contiguous(3, &number), typed_vector(4, 1, 2, &real), typed_vector(3, 8, 16, &real), typed_vector(5, 1, -2, &number),
        typed_indexed(5, (int[]) {1, 7, 2, 3, 5}, (int[]) {0, 2, 11, 20, 30}, &real), typed_indexed_block(4, 3, (int[]) {9, 0, 4, 14}, &number),
        typed_resized(-8, 40, &number), typed_dup(&record), typed_dup(&plane),
        typed_subarray(3, (int[]) {8, 9, 10}, (int[]) {3, 4, 5}, (int[]) {1, 2, 3}, MPI_ORDER_FORTRAN, &real)};
    const int buffer_bytes = (int) most + 100000;
    void *buffer = malloc((size_t) buffer_bytes);
    MPI(MPI_Buffer_attach(buffer, buffer_bytes));
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        MPI(MPI_Type_commit(&types[t].type));
        for (size_t bytes = 1; bytes <= most; bytes *= 13) {
            int count = (int) (bytes / typed_size(&types[t])) + 1, all = count * (int) typed_size(&types[t]);
            for (enum way way = 0; way < WAYS; way++) {
                round_of("both with holes", way, &types[t], count, &types[t], count);
                if (bytes > 100000 && way != NONBLOCKING)
                    continue;
                round_of("into bytes", way, &types[t], count, &packed, all);
                round_of("from bytes", way, &packed, all, &types[t], count);
            }
        }
    }
    MPI(MPI_Buffer_detach(&buffer, &(int) {0}));
    free(buffer);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        typed_free(&types[t]);
    typed_free(&record);
    typed_free(&plane);
    typed_free(&column);
    return finish();
}
