/* Long messages, which a fabric takes straight from the sender's buffer into the receiver's: with holes on either side, cut short,
 * synchronous, probed, from any source, freed, cancelled, persistent, several at once in both directions, and in order with short ones.
 * Rank 0 and the last one. arg "fabric": the counters say which went straight and which were copied. */
#include "check.h"

enum { LONGEST = 3 << 20, MANY = 12, SLACK = 20000 };

static unsigned char *out, *in;
static int peer, counts_bytes;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counters[2];
static unsigned long before[2];

static unsigned long counted(int which)
{
    unsigned long number = 0;
    MPI(MPI_T_pvar_read(session, counters[which], &number));
    return number;
}

static void begin_to_count(void)
{
    static const char *const names[] = {"net_bytes_straight", "net_bytes_copied"};
    int provided, index, count;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < 2; i++) {
        MPI(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index));
        MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &counters[i], &count));
        MPI(MPI_T_pvar_start(session, counters[i]));
    }
}

static void mark(void)
{
    for (int i = 0; counts_bytes && i < 2; i++)
        before[i] = counted(i);
}

/* Since the mark so many bytes went straight, and so many were copied, and what short messages have. */
static void check_counted(unsigned long straight, unsigned long copied)
{
    if (!counts_bytes)
        return;
    CHECK_INT(counted(0) - before[0], straight);
    unsigned long found = counted(1) - before[1];
    CHECK(copied <= found && found < copied + SLACK);
}

static void send_long(int bytes, int tag)
{
    fill(out, bytes, tag);
    MPI(MPI_Send(out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD));
    memset(out, 0xee, bytes);
}

static void receive_long(int source, int bytes, int tag)
{
    MPI_Status status;
    memset(in, 0xcc, bytes + 8);
    MPI(MPI_Recv(in, LONGEST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, peer, tag, bytes);
    CHECK_PATTERN(in, bytes, tag);
    for (int i = 0; i < 8; i++)
        CHECK_INT(in[bytes + i], 0xcc);
}

static void each_way(void)
{
    static const int sizes[] = {70000, 65537, 1 << 20, LONGEST - 8};
    for (int s = 0; s < 4; s++)
        for (int turn = 0; turn < 2; turn++) {
            mark();
            if (turn == !rank)
                send_long(sizes[s], s);
            else
                receive_long(turn ? MPI_ANY_SOURCE : peer, sizes[s], s);
            check_counted(sizes[s], 0);
        }
}

/* Blocks of 4 of each 8 bytes. */
static void holes(void)
{
    enum { BLOCKS = 50000, BYTES = 4 * BLOCKS };
    MPI_Datatype type;
    MPI(MPI_Type_vector(BLOCKS, 4, 8, MPI_BYTE, &type));
    MPI(MPI_Type_commit(&type));
    for (int kind = 1; kind < 4; kind++) {
        mark();
        if (!rank) {
            fill(out, 2 * BYTES, kind);
            MPI(MPI_Send(out, kind & 1 ? 1 : BYTES, kind & 1 ? type : MPI_BYTE, peer, kind, MPI_COMM_WORLD));
        } else {
            memset(in, 0xcc, 2 * BYTES);
            MPI(MPI_Recv(in, kind & 2 ? 1 : BYTES, kind & 2 ? type : MPI_BYTE, peer, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            fill(out, 2 * BYTES, kind);
            for (int i = 0; i < BYTES; i++) {
                int from = kind & 1 ? i / 4 * 8 + i % 4 : i, to = kind & 2 ? i / 4 * 8 + i % 4 : i;
                if (in[to] != out[from]) {
                    CHECK_INT(in[to], out[from]);
                    break;
                }
            }
            if (kind & 2)
                CHECK_INT(in[4], 0xcc);
        }
        check_counted(0, BYTES);
    }
    MPI(MPI_Type_free(&type));
}

static void cut_short(void)
{
    static const int rooms[] = {0, 1, 100, 65536, 500000};
    MPI_Status status;
    for (int r = 0; r < 5; r++) {
        mark();
        if (!rank) {
            send_long(1 << 20, r);
        } else {
            memset(in, 0xcc, 1 << 20);
            ERROR(MPI_Recv(in, rooms[r], MPI_BYTE, peer, r, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE, "truncated", "1048576");
            CHECK_STATUS(status, peer, r, rooms[r]);
            CHECK_PATTERN(in, rooms[r], r);
            CHECK_INT(in[rooms[r]], 0xcc);
        }
        check_counted(rooms[r], 0);
    }
}

static void modes(void)
{
    enum { BYTES = 200000 };
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int flag = 0, count;
    if (!rank) {
        fill(out, BYTES, 1);
        /* Synchronous: not over before the receive, which the other begins when it has heard a later message. */
        MPI(MPI_Issend(out, BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request));
        MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        MPI(MPI_Send(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, &status));
        /* Matched by a probe first. */
        MPI(MPI_Ssend(out, BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD));
        /* Freed. */
        MPI(MPI_Isend(out, BYTES, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request));
        MPI(MPI_Request_free(&request));
        MPI(MPI_Recv(NULL, 0, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        /* Cancelled, or received where the receive is there. */
        for (int there = 0; there < 2; there++) {
            if (there)
                MPI(MPI_Recv(NULL, 0, MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Isend(out, BYTES, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &request));
            MPI(MPI_Cancel(&request));
            MPI(MPI_Wait(&request, &status));
            MPI(MPI_Test_cancelled(&status, &flag));
            if (!reference)
                CHECK_INT(flag, !there);
            if (there && flag)
                MPI(MPI_Send(out, BYTES, MPI_BYTE, peer, 5, MPI_COMM_WORLD));
            MPI(MPI_Send(NULL, 0, MPI_BYTE, peer, 6, MPI_COMM_WORLD));
        }
        return;
    }
    MPI(MPI_Recv(NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    receive_long(MPI_ANY_SOURCE, BYTES, 1);
    MPI(MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status));
    CHECK_STATUS(status, peer, 1, BYTES);
    MPI(MPI_Mrecv(in, LONGEST, MPI_BYTE, &message, &status));
    CHECK_STATUS(status, peer, 1, BYTES);
    CHECK_PATTERN(in, BYTES, 1);
    MPI(MPI_Probe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, BYTES);
    receive_long(peer, BYTES, 1);
    MPI(MPI_Send(NULL, 0, MPI_BYTE, peer, 3, MPI_COMM_WORLD));
    MPI(MPI_Recv(NULL, 0, MPI_BYTE, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!reference) {
        MPI(MPI_Iprobe(peer, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    memset(in, 0xcc, BYTES);
    MPI(MPI_Irecv(in, LONGEST, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(NULL, 0, MPI_BYTE, peer, 4, MPI_COMM_WORLD));
    MPI(MPI_Wait(&request, &status));
    CHECK_STATUS(status, peer, 5, BYTES);
    CHECK_PATTERN(in, BYTES, 1);
    MPI(MPI_Recv(NULL, 0, MPI_BYTE, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Several at once in both directions, short ones between them, waited for from the last; persistent. */
static void several(void)
{
    enum { BYTES = 200000 };
    MPI_Request requests[4 * MANY];
    int marks[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        fill(out + i * BYTES, BYTES, 10 * rank + i);
        marks[i] = 100 * rank + i;
        MPI(MPI_Send_init(out + i * BYTES, BYTES, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[i]));
        MPI(MPI_Send_init(&marks[i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[MANY + i]));
        MPI(MPI_Recv_init(in + i * BYTES, BYTES, MPI_BYTE, peer, 7, MPI_COMM_WORLD, &requests[2 * MANY + i]));
        MPI(MPI_Recv_init(&marks[MANY + i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[3 * MANY + i]));
    }
    for (int round = 0; round < 3; round++) {
        memset(in, 0xcc, MANY * BYTES);
        for (int i = 0; i < MANY; i++) {
            MPI(MPI_Start(&requests[i]));
            MPI(MPI_Start(&requests[MANY + i]));
        }
        for (int i = 0; i < MANY; i++) {
            MPI(MPI_Start(&requests[2 * MANY + i]));
            MPI(MPI_Start(&requests[3 * MANY + i]));
        }
        for (int i = 4 * MANY - 1; i >= 0; i--)
            MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY; i++) {
            CHECK_PATTERN(in + i * BYTES, BYTES, 10 * peer + i);
            CHECK_INT(marks[MANY + i], 100 * peer + i);
        }
    }
    for (int i = 0; i < 4 * MANY; i++)
        MPI(MPI_Request_free(&requests[i]));
    fill(out, BYTES, rank);
    MPI(MPI_Sendrecv_replace(out, BYTES, MPI_BYTE, peer, 8, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(out, BYTES, peer);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    counts_bytes = argc > 1 && !strcmp(argv[1], "fabric");
    out = malloc(LONGEST + 8);
    in = malloc(LONGEST + 8);
    peer = rank ? 0 : size - 1;
    if (rank == 0 || rank == size - 1) {
        if (counts_bytes)
            begin_to_count();
        each_way();
        holes();
        cut_short();
        modes();
        several();
    }
    if (rank == 0 || rank == size - 1)
        free(out), free(in);
    return finish();
}
