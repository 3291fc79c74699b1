/* Threads exchange numbered messages on several communicators at once: on each, messages of one sender with one tag come in order,
 * whichever communicators the others use, and one call waits for requests of all of them. Communicators come and go meanwhile.
 * With an argument, some have the ranks of one node only. */
#include "threads.h"

enum { THREADS = 4, COMMS = 5, LONG = 70000 };

static MPI_Comm comms[THREADS][COMMS];
static int rounds;

static int length(int round, int k)
{
    static const int sizes[] = {8, 0, 100, 3000, 20, 12000, LONG};
    return sizes[(round + k) % 7];
}

static int seed(int from, int me, int k, int round)
{
    return from * 1000 + me * 100 + k * 10 + round;
}

/* Waits for all of the requests in one of several ways. */
static void wait_for(int count, MPI_Request *requests, int round)
{
    int done = 0, index, flag = 0, some, indices[4 * COMMS];
    switch (round % 5) {
    case 0:
        MPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = 0; i < count; i++) {
            MPI(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
            CHECK(index >= 0 && index < count);
        }
        break;
    case 2:
        while (done < count) {
            MPI(MPI_Waitsome(count, requests, &some, indices, MPI_STATUSES_IGNORE));
            done += some;
        }
        break;
    case 3:
        while (!flag)
            MPI(MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE));
        break;
    case 4:
        while (done < count) {
            MPI(MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE));
            done += flag && index != MPI_UNDEFINED;
        }
        break;
    }
    for (int i = 0; i < count; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL);
}

static void *run(void *number)
{
    int me = (int) (intptr_t) number, own[COMMS], to[COMMS], from[COMMS];
    for (int k = 0; k < COMMS; k++) {
        int members;
        MPI(MPI_Comm_rank(comms[me][k], &own[k]));
        MPI(MPI_Comm_size(comms[me][k], &members));
        to[k] = (own[k] + 1) % members;
        from[k] = (own[k] + members - 1) % members;
    }
    unsigned char *out[2 * COMMS], *in[2 * COMMS];
    MPI_Request requests[4 * COMMS], kept[2 * COMMS];
    for (int i = 0; i < 2 * COMMS; i++) {
        out[i] = malloc(LONG);
        in[i] = malloc(LONG);
    }
    for (int round = 0; round < rounds; round++) {
        int count = 0;
        /* Two messages on each communicator with one tag: they must not change places. */
        for (int i = 0; i < 2 * COMMS; i++) {
            int bytes = length(round, i / 2 + i % 2), k = i / 2;
            fill(out[i], bytes, seed(own[k], me, i, round));
            if ((round + i) % 3 == 0)
                MPI(MPI_Irecv(in[i], LONG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[me][k], &requests[count++]));
            else
                MPI(MPI_Irecv(in[i], LONG, MPI_BYTE, from[k], round % 7, comms[me][k], &requests[count++]));
        }
        for (int i = 0; i < 2 * COMMS; i++) {
            int bytes = length(round, i / 2 + i % 2);
            MPI(MPI_Isend(out[i], bytes, MPI_BYTE, to[i / 2], round % 7, comms[me][i / 2], &requests[count++]));
        }
        wait_for(count, requests, round + me);
        for (int i = 0; i < 2 * COMMS; i++)
            CHECK_PATTERN(in[i], length(round, i / 2 + i % 2), seed(from[i / 2], me, i, round));
    }
    /* Requests outlive their communicators, and persistent ones of several are started in one call. */
    for (int k = 0; k < COMMS; k++) {
        MPI(MPI_Recv_init(in[k], LONG, MPI_BYTE, from[k], 1, comms[me][k], &kept[k]));
        MPI(MPI_Send_init(out[k], 50 + k, MPI_BYTE, to[k], 1, comms[me][k], &kept[COMMS + k]));
    }
    for (int round = 0; round < 3; round++) {
        MPI(MPI_Startall(2 * COMMS, kept));
        MPI(MPI_Waitall(2 * COMMS, kept, MPI_STATUSES_IGNORE));
    }
    for (int k = 0; k < COMMS; k++) {
        int cancelled;
        MPI_Status status;
        MPI(MPI_Start(&kept[k]));
        MPI(MPI_Cancel(&kept[k]));
        MPI(MPI_Wait(&kept[k], &status));
        MPI(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled);
        MPI(MPI_Request_free(&kept[k]));
        MPI(MPI_Request_free(&kept[COMMS + k]));
        fill(out[k], LONG, k);
        MPI(MPI_Irecv(in[k], LONG, MPI_BYTE, from[k], 2, comms[me][k], &requests[k]));
        MPI(MPI_Issend(out[k], k % 2 ? LONG : 10, MPI_BYTE, to[k], 2, comms[me][k], &requests[COMMS + k]));
        MPI(MPI_Comm_free(&comms[me][k]));
    }
    wait_for(2 * COMMS, requests, me);
    for (int i = 0; i < 2 * COMMS; i++) {
        free(out[i]);
        free(in[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    rounds = slow() ? 5 : 60;
    for (int again = 0; again < 3; again++) {
        for (int me = 0; me < THREADS; me++)
            for (int k = 0; k < COMMS; k++)
                if (argc > 1 && k % 2 == 0)
                    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comms[me][k]));
                else if (k == 1)
                    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[me][k]));
                else
                    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[me][k]));
        run_threads(again % 2 ? 2 : THREADS, run);
        for (int me = again % 2 ? 2 : THREADS; me < THREADS; me++)
            for (int k = 0; k < COMMS; k++)
                MPI(MPI_Comm_free(&comms[me][k]));
    }
    return finish();
}
