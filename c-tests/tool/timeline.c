// Calls of all kinds, so many of each, for a timeline to show. Each message of a sender has its own size, so that the ends of an arrow
// can be compared. On 4 ranks; the counts are in tests/timeline/main.rs.
#include "threads.h"

static char buffer[1 << 20];
static char other[1 << 20];

// Messages of one tag whose receives are posted in order and completed in another one.
static void nonblocking(void)
{
    enum { COUNT = 8 };
    MPI_Request requests[COUNT];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        // Some are long: those take an answer.
        int bytes = 1 + i + (i % 3 == 0 ? 300000 : 0);
        if (rank == 0)
            MPI_Isend(buffer, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &requests[i]);
        else if (rank == 1)
            MPI_Irecv(other + 1000 * i, sizeof other - 1000 * i, MPI_BYTE, i % 2 ? 0 : MPI_ANY_SOURCE, i % 4 ? 5 : MPI_ANY_TAG,
                MPI_COMM_WORLD, &requests[i]);
    }
    if (rank > 1)
        return;
    for (int i = COUNT - 1; i >= COUNT / 2; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Waitall(COUNT / 2, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Request requests[2];
    if (rank == 2) {
        MPI_Send_init(buffer, 21, MPI_BYTE, 3, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(buffer, 22, MPI_BYTE, 3, 2, MPI_COMM_WORLD, &requests[1]);
    } else if (rank == 3) {
        MPI_Recv_init(other, 100, MPI_BYTE, 2, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(other + 100, 100, MPI_BYTE, 2, 2, MPI_COMM_WORLD, &requests[1]);
    } else {
        return;
    }
    for (int i = 0; i < 5; i++) {
        if (i % 2) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// Matched probes take messages before receives that are posted later.
static void probes(void)
{
    if (rank == 0) {
        for (int i = 0; i < 4; i++)
            MPI_Send(buffer, 31 + i, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Message first, second;
        MPI_Request request;
        int found = 0;
        MPI_Mprobe(0, 6, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
        while (!found)
            MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &found, &second, MPI_STATUS_IGNORE);
        MPI_Recv(other, 100, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Imrecv(other, 100, MPI_BYTE, &second, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(other, 100, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mrecv(other, 100, MPI_BYTE, &first, MPI_STATUS_IGNORE);
    }
}

// Two communicators that have one context id.
static void halves(void)
{
    MPI_Comm half;
    int own;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half \"of\" them");
    MPI_Comm_rank(half, &own);
    for (int i = 0; i < 6; i++) {
        int bytes = 41 + i + 10 * (rank % 2);
        if (own == 0)
            MPI_Ssend(buffer, bytes, MPI_BYTE, 1, 7, half);
        else
            MPI_Recv(other, 100, MPI_BYTE, 0, 7, half, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(half);
    MPI_Comm_free(&half);
}

static void exchanges(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(buffer, 61 + i, MPI_BYTE, right, 8, other, 1000, MPI_BYTE, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(buffer, 71, MPI_BYTE, right, 8, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(buffer, 72, MPI_BYTE, MPI_PROC_NULL, 8, other, 1000, MPI_BYTE, MPI_PROC_NULL, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Isendrecv(buffer, 73, MPI_BYTE, right, 9, other, 1000, MPI_BYTE, left, 9, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// A receive that takes no message does not take the place of one that does.
static void cancelled(void)
{
    if (rank == 1) {
        MPI_Request request;
        MPI_Irecv(other, 100, MPI_BYTE, 0, 10, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(buffer, 81, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(other, 100, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *sender(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++)
        MPI_Send(buffer, 101 + i, MPI_BYTE, rank ^ 1, 11, MPI_COMM_WORLD);
    return NULL;
}

// One thread sends, one receives.
static void threads(void)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, sender, NULL), 0);
    for (int i = 0; i < 20; i++)
        MPI_Recv(other, 1000, MPI_BYTE, rank ^ 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

static void collectives(void)
{
    int sum, one = 1;
    MPI_Request request;
    for (int i = 0; i < 5; i++)
        MPI_Bcast(buffer, 100, MPI_INT, i % size, MPI_COMM_WORLD);
    for (int i = 0; i < 7; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(sum, size);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // Rank 2 comes late.
    if (rank == 2)
        usleep(60000);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Rank 3 sends late, rank 2 is late to receive.
static void late(void)
{
    if (rank == 3) {
        usleep(50000);
        MPI_Send(buffer, 91, MPI_BYTE, 2, 12, MPI_COMM_WORLD);
        MPI_Ssend(buffer, 92, MPI_BYTE, 2, 12, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(other, 100, MPI_BYTE, 3, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(50000);
        MPI_Recv(other, 100, MPI_BYTE, 3, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    nonblocking();
    persistent();
    probes();
    halves();
    exchanges();
    cancelled();
    threads();
    collectives();
    late();
    return finish();
}
