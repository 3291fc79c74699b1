/* MPI_Cancel of sends: each is either cancelled, and no receive or probe ever meets it, or it is received whole, and its status says
 * which. MPI_Wait returns in any case. All ranks send to the next one at once; one rank alone sends to itself. */
#include "check.h"

enum { MB = 1 << 20, FIRST = 1, SECOND = 2 };

static const int all_sizes[] = {0, 1, 100, 1000, 16383, 16384, 16385, 65535, 65536, 65537, MB, 20 * MB};
static unsigned char *out, *in;
static int to, from;
/* Each part has one of its own: the others may be ahead. */
static int tag = 100;
static uint64_t state;

/* What each rank says to its receiver. */
static int told(int mine)
{
    int other = -1;
    MPI(MPI_Sendrecv(&mine, 1, MPI_INT, to, 99, &other, 1, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return other;
}

static int is_cancelled(MPI_Status *status)
{
    int cancelled = -1;
    MPI(MPI_Test_cancelled(status, &cancelled));
    CHECK(cancelled == 0 || cancelled == 1);
    return cancelled;
}

static int wait_for(MPI_Request *request)
{
    MPI_Status status;
    spoil(&status);
    MPI(MPI_Wait(request, &status));
    return is_cancelled(&status);
}

static int finds(int what)
{
    int flag = -1;
    MPI(MPI_Iprobe(from, what, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    return flag;
}

/* A message of the rank before, if it was not cancelled. */
static void receive_unless(int cancelled, int bytes)
{
    MPI_Status status;
    if (cancelled) {
        CHECK_INT(finds(tag), 0);
        return;
    }
    memset(in, 0xee, (size_t) bytes);
    MPI(MPI_Recv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status));
    CHECK_STATUS(status, from, tag, bytes);
    CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 1000 + tag));
}

/* Nobody receives: a synchronous send has to be cancelled. */
static void not_received(int bytes, int synchronous)
{
    MPI_Request request;
    tag++;
    fill(out, (size_t) bytes, (uint64_t) (rank * 1000 + tag));
    if (synchronous)
        MPI(MPI_Issend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    else
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    MPI(MPI_Cancel(&request));
    CHECK(request != MPI_REQUEST_NULL);
    int cancelled = wait_for(&request);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(cancelled || !synchronous);
    memset(out, 0xdd, (size_t) bytes);
    receive_unless(told(cancelled), bytes);
}

static void look_around(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        (void) finds(98);
}

/* A receive and MPI_Cancel are after the same message; a second one follows for the receive, or for the next one. */
static void raced(int round, int bytes)
{
    MPI_Request send, receive = MPI_REQUEST_NULL;
    unsigned before = (unsigned) next_random(&state) % 8, after = (unsigned) next_random(&state) % 8;
    int early = next_random(&state) % 3 == 0;
    tag++;
    fill(out, (size_t) bytes, (uint64_t) (rank * 10 + FIRST));
    if (round % 3)
        MPI(MPI_Issend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &send));
    else
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &send));
    memset(in, 0xee, (size_t) bytes);
    if (early)
        MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &receive));
    look_around(before);
    MPI(MPI_Cancel(&send));
    look_around(after);
    if (!early)
        MPI(MPI_Irecv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, &receive));
    int cancelled = wait_for(&send);
    fill(out, (size_t) bytes, (uint64_t) (rank * 10 + SECOND));
    MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &send));
    CHECK_INT(wait_for(&receive), 0);
    if (!told(cancelled)) {
        CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 10 + FIRST));
        MPI(MPI_Recv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 10 + SECOND));
    CHECK_INT(wait_for(&send), 0);
    CHECK_INT(finds(tag), 0);
}

/* A matched probe has the message: it is too late. */
static void probed(int bytes)
{
    MPI_Request send, receive;
    MPI_Message message;
    tag++;
    fill(out, (size_t) bytes, (uint64_t) rank);
    MPI(MPI_Issend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &send));
    MPI(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    (void) told(0);
    MPI(MPI_Sendrecv(NULL, 0, MPI_INT, from, 97, NULL, 0, MPI_INT, to, 97, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Cancel(&send));
    look_around(3);
    MPI(MPI_Imrecv(in, bytes, MPI_BYTE, &message, &receive));
    CHECK_INT(wait_for(&receive), 0);
    CHECK_INT(wait_for(&send), 0);
    CHECK_PATTERN(in, (size_t) bytes, (uint64_t) from);
}

/* Started, cancelled, started again and received. */
static void persistent(int bytes)
{
    MPI_Request request;
    tag++;
    MPI(MPI_Ssend_init(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 6; round++) {
        fill(out, (size_t) bytes, (uint64_t) (rank * 1000 + tag));
        MPI(MPI_Start(&request));
        if (round % 3 < 2) {
            MPI(MPI_Cancel(&request));
            CHECK_INT(wait_for(&request), 1);
        }
        CHECK(request != MPI_REQUEST_NULL);
        if (!told(round % 3 < 2))
            receive_unless(0, bytes);
        CHECK_INT(wait_for(&request), 0);
    }
    CHECK_INT(finds(tag), 0);
    MPI(MPI_Request_free(&request));
}

/* Those in the middle of many, in the one order and the other; calls for several requests say it too. */
static void many(int bytes, int reverse)
{
    enum { MANY = 60 };
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    int cancelled[MANY], others[MANY];
    tag++;
    fill(out, (size_t) bytes, (uint64_t) (rank * 1000 + tag));
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Isend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Cancel(&requests[reverse ? MANY - 1 - i : i]));
    MPI(MPI_Waitall(MANY, requests, statuses));
    for (int i = 0; i < MANY; i++)
        cancelled[i] = is_cancelled(&statuses[i]);
    MPI(MPI_Sendrecv(cancelled, MANY, MPI_INT, to, 96, others, MANY, MPI_INT, from, 96, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++)
        if (!others[i])
            receive_unless(0, bytes);
    CHECK_INT(finds(tag), 0);
}

/* Of three the middle one is cancelled: the others come in order. */
static void in_the_middle(int bytes)
{
    MPI_Request requests[3];
    MPI_Status status;
    int flag = 0;
    tag++;
    for (int i = 0; i < 3; i++) {
        fill(out + i * bytes, (size_t) bytes, (uint64_t) (rank * 10 + i));
        MPI(MPI_Issend(out + i * bytes, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[i]));
    }
    MPI(MPI_Cancel(&requests[1]));
    while (!flag)
        MPI(MPI_Request_get_status(requests[1], &flag, &status));
    CHECK_INT(is_cancelled(&status), 1);
    CHECK_INT(wait_for(&requests[1]), 1);
    (void) told(0);
    for (int i = 0; i < 3; i += 2) {
        MPI(MPI_Recv(in, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_PATTERN(in, (size_t) bytes, (uint64_t) (from * 10 + i));
    }
    CHECK_INT(wait_for(&requests[0]), 0);
    CHECK_INT(wait_for(&requests[2]), 0);
    CHECK_INT(finds(tag), 0);
}

/* The receiver is in another call meanwhile; then in MPI_Finalize. */
static void busy_elsewhere(int bytes)
{
    MPI_Request request;
    if (rank == 0) {
        MPI(MPI_Issend(out, bytes, MPI_BYTE, to, 95, MPI_COMM_WORLD, &request));
        MPI(MPI_Cancel(&request));
        CHECK_INT(wait_for(&request), 1);
    }
}

/* The receiver finds the message in a loop, from before MPI_Cancel on, and calls nothing else. */
static void found_again(int bytes)
{
    MPI_Request request;
    tag++;
    if (rank == 0) {
        MPI(MPI_Issend(out, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        MPI(MPI_Recv(NULL, 0, MPI_INT, to, 92, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_Cancel(&request));
        CHECK_INT(wait_for(&request), 1);
    } else if (rank == 1) {
        while (!finds(tag))
            ;
        MPI(MPI_Send(NULL, 0, MPI_INT, from, 92, MPI_COMM_WORLD));
        while (finds(tag))
            ;
    }
}

int main(int argc, char **argv)
{
    MPI_Request request;
    start(&argc, &argv);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    state = (uint64_t) rank * 77 + 5;
    out = malloc(20 * MB);
    in = malloc(20 * MB);
    memset(out, 1, 20 * MB);
    int sizes = (int) (sizeof all_sizes / sizeof all_sizes[0]) - (slow() ? 3 : 0);
    for (int i = 0; i < sizes; i++) {
        int bytes = all_sizes[i];
        not_received(bytes, 0);
        not_received(bytes, 1);
        probed(bytes);
        persistent(bytes);
        if (bytes <= MB) {
            many(bytes, 0);
            many(bytes, 1);
            in_the_middle(bytes);
        }
        for (int round = 0; round < (bytes <= MB && !slow() ? 30 : 3); round++)
            raced(round, bytes);
        if (size > 1)
            found_again(bytes);
        busy_elsewhere(bytes);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* freed, and nobody is told what becomes of it: it goes all the same */
    MPI(MPI_Issend(out, 1000, MPI_BYTE, to, 94, MPI_COMM_WORLD, &request));
    MPI(MPI_Cancel(&request));
    MPI(MPI_Request_free(&request));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    while (finds(94))
        ;
    MPI(MPI_Issend(out, MB, MPI_BYTE, to, 93, MPI_COMM_WORLD, &request));
    MPI(MPI_Cancel(&request));
    MPI(MPI_Request_free(&request));
    busy_elsewhere(1000);
    int ended = finish();
    free(in);
    free(out);
    return ended;
}
