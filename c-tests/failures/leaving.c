/* Messages to a process whose senders are in MPI_Finalize by then: all of them come, whatever way they go, and a wait for one more ends with an error
 * when the last one has. The news that a rank is in MPI_Finalize may overtake its messages. Arguments: "named" or "any". */
#include "failing.h"

enum { MESSAGES = 40, MOST = 300000 };
static char buffer[MOST];

static int bytes_of(int number)
{
    static const int bytes[] = {0, 8, 3000, 70000, MOST, 100};
    return bytes[number % 6];
}

int main(int argc, char **argv)
{
    MPI_Status status;
    int next[64] = {0}, code;
    start_failing(&argc, &argv);
    int any = !strcmp(argv[1], "any");
    if (rank > 0) {
        static MPI_Request requests[MESSAGES];
        static char out[6][MOST];
        for (int i = 0; i < MESSAGES; i++) {
            if (i < 6)
                fill(out[i], bytes_of(i), i);
            MPI(MPI_Isend(out[i % 6], bytes_of(i), MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]));
        }
        MPI(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        return finish();
    }
    for (int i = 0; i < MESSAGES * last; i++) {
        int from = any ? MPI_ANY_SOURCE : 1 + i % last;
        MPI(MPI_Recv(buffer, MOST, MPI_CHAR, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        from = status.MPI_SOURCE;
        CHECK_STATUS(status, from, next[from], bytes_of(next[from]));
        CHECK_PATTERN(buffer, bytes_of(next[from]), next[from] % 6);
        next[from]++;
        if (i % 50 == 0)
            usleep(2000);
    }
    /* Nothing more comes, and none has failed. */
    for (int i = 0; i < 3; i++) {
        code = MPI_Recv(buffer, MOST, MPI_CHAR, any ? MPI_ANY_SOURCE : last, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_INT(check_class_of(code), MPI_ERR_OTHER);
    }
    CHECK_INT(failed_of(MPI_COMM_WORLD), 0);
    return finish();
}
