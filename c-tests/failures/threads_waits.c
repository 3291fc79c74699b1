/* Threads of each survivor wait in different calls when the last rank dies, while another one agrees: waits for processes that live go on, those from anybody are
 * told, and what one thread is told ends no call of another. Once the failure is acknowledged all wait for messages that come. And when the
 * communicator is revoked in the end, each is told of that. Arguments: how the last rank dies. */
#include "failing.h"
#include "threads.h"
#include <stdatomic.h>

enum { RECEIVES, RECEIVES_LATE, PROBES, WAITS, WAITS_FOR_ALL, TESTS, ANY, SENDS, MEETS, CALLS };
/* Where a thread is: it has begun; what is known to be dead is acknowledged; it may end. */
static atomic_int begun, acknowledged, told;
static MPI_Comm comm, half;
static int next, before;

/* A tag for each. */
static int tag_of(int call)
{
    return 10 + call;
}

/* From a process that lives, which sends after all have been told: no error before. */
static void got(int code, int from, const int *number)
{
    MPI(code);
    CHECK_INT(*number, 100 + from);
}

static void *run(void *argument)
{
    int me = (int) (intptr_t) argument, number[2] = {0, 0}, flag = 0, code = MPI_SUCCESS, tag = tag_of(me);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;
    begun++;
    switch (me) {
    case RECEIVES:
        got(MPI_Recv(number, 1, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE), before, number);
        break;
    case RECEIVES_LATE:
        usleep(20000);
        got(MPI_Recv(number, 1, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE), before, number);
        break;
    case PROBES:
        MPI(MPI_Mprobe(before, tag, comm, &message, MPI_STATUS_IGNORE));
        got(MPI_Mrecv(number, 1, MPI_INT, &message, MPI_STATUS_IGNORE), before, number);
        break;
    case WAITS:
        MPI(MPI_Irecv(number, 1, MPI_INT, before, tag, comm, requests));
        got(MPI_Wait(requests, MPI_STATUS_IGNORE), before, number);
        break;
    case WAITS_FOR_ALL:
        /* One is from the dead, the other one comes. */
        MPI(MPI_Irecv(number, 1, MPI_INT, last, tag, comm, &requests[0]));
        MPI(MPI_Irecv(number + 1, 1, MPI_INT, before, tag, comm, &requests[1]));
        CHECK_INT(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
        FAILED(statuses[0].MPI_ERROR);
        if (requests[1] != MPI_REQUEST_NULL) {
            CHECK_INT(statuses[1].MPI_ERROR, MPI_ERR_PENDING);
            MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        }
        CHECK_INT(number[1], 100 + before);
        return NULL;
    case TESTS:
        MPI(MPI_Irecv(number, 1, MPI_INT, before, tag, comm, requests));
        while (!flag && !code)
            code = MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
        got(code, before, number);
        break;
    case ANY:
        MPI(MPI_Irecv(number, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, requests));
        PENDING(MPI_Wait(requests, MPI_STATUS_IGNORE));
        FAILED(MPI_Recv(number + 1, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE));
        FAILED(MPI_Probe(MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE));
        told++;
        while (!acknowledged)
            usleep(200);
        got(MPI_Wait(requests, MPI_STATUS_IGNORE), before, number);
        return NULL;
    case SENDS:
        /* Received after all have been told. */
        MPI(MPI_Ssend(&rank, 1, MPI_INT, next, tag, comm));
        break;
    default:
        /* One comes late. */
        while (rank == 0 && !acknowledged)
            usleep(200);
        MPI(MPI_Barrier(half));
    }
    return NULL;
}

static void *is_revoked(void *argument)
{
    int me = (int) (intptr_t) argument, x = 0, flag = 0, code = MPI_SUCCESS;
    MPI_Request request;
    const int class = MPIX_ERR_REVOKED;
    begun++;
    switch (me) {
    case RECEIVES: case RECEIVES_LATE: CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE), class); break;
    case PROBES: CHECK_CLASS(MPI_Probe(before, 1, comm, MPI_STATUS_IGNORE), class); break;
    case ANY: CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE), class); break;
    case SENDS: CHECK_CLASS(MPI_Ssend(&x, 1, MPI_INT, next, 2, comm), class); break;
    case TESTS: case WAITS: case WAITS_FOR_ALL:
        code = MPI_Irecv(&x, 1, MPI_INT, before, 1, comm, &request);
        if (!code && me == TESTS)
            while (!flag && !code)
                code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        else if (!code)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_CLASS(code, class);
        break;
    default:
        /* Agreement does not mind. */
        flag = 5;
        MPI(MPIX_Comm_agree(comm, &flag));
        CHECK_INT(flag, 5);
    }
    return NULL;
}

static void start_threads(pthread_t *threads, void *(*function)(void *))
{
    begun = 0;
    for (intptr_t i = 0; i < CALLS; i++)
        CHECK(!pthread_create(&threads[i], NULL, function, (void *) i));
    while (begun < CALLS)
        usleep(200);
}

static void join_threads(pthread_t *threads)
{
    for (int i = 0; i < CALLS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
    pthread_t threads[CALLS];
    int flag = 3, number;
    MPI_Comm living;
    start_multiple(&argc, &argv);
    last = size - 1;
    next = (rank + 1) % last, before = (rank + last - 1) % last;
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == last, 0, &half));
    MPI(MPI_Comm_dup(half, &living));
    if (rank != last)
        start_threads(threads, run);
    last_dies(argv[1]);
    /* Of this thread: the threads that wait are told by themselves. */
    FAILED(MPIX_Comm_agree(comm, &flag));
    CHECK_INT(flag, 3);
    while (!told)
        usleep(200);
    /* Nobody sends, or acknowledges, before all threads of all ranks have been told. */
    MPI(MPI_Barrier(living));
    MPI(MPIX_Comm_failure_ack(comm));
    MPI(MPIX_Comm_agree(comm, &flag));
    acknowledged = 1;
    number = 100 + rank;
    for (int call = 0; call < SENDS; call++)
        MPI(MPI_Send(&number, 1, MPI_INT, next, tag_of(call), comm));
    MPI(MPI_Recv(&number, 1, MPI_INT, before, tag_of(SENDS), comm, MPI_STATUS_IGNORE));
    CHECK_INT(number, before);
    join_threads(threads);
    start_threads(threads, is_revoked);
    MPI(MPI_Barrier(living));
    if (rank == 0)
        MPI(MPIX_Comm_revoke(comm));
    join_threads(threads);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Barrier(living));
    MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_free(&living));
    return finish();
}
