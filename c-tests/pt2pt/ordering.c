/* Messages between a pair do not overtake each other, whatever their sizes, modes and tags, and
 * whether the receiver is there first or late. */
#include "check.h"

enum { COUNT = 400 };

static int bytes_of(int i)
{
    static const int sizes[] = {4, 60, 3000, 4, 70000, 9000, 4, 200000, 40};
    return sizes[i % 9];
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int late = 0; late < 2; late++) {
        if (rank == 0) {
            unsigned char *buffers = calloc(COUNT, 1);
            MPI_Request *requests = malloc(COUNT * sizeof *requests);
            char **data = malloc(COUNT * sizeof *data);
            for (int i = 0; i < COUNT; i++) {
                data[i] = malloc(bytes_of(i));
                memset(data[i], i & 0x7f, bytes_of(i));
                memcpy(data[i], &i, sizeof i);
                if (i % 5 == 3)
                    MPI(MPI_Issend(data[i], bytes_of(i), MPI_BYTE, 1, i % 2, MPI_COMM_WORLD, &requests[i]));
                else
                    MPI(MPI_Isend(data[i], bytes_of(i), MPI_BYTE, 1, i % 2, MPI_COMM_WORLD, &requests[i]));
            }
            if (late)
                MPI(MPI_Ssend(NULL, 0, MPI_BYTE, 1, 99, MPI_COMM_WORLD));
            MPI(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
            for (int i = 0; i < COUNT; i++)
                free(data[i]);
            free(data);
            free(requests);
            free(buffers);
        } else if (rank == 1) {
            static char in[200000];
            MPI_Status status;
            int next[2] = {0, 1};
            if (late)
                MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < COUNT; i++) {
                int number = -1;
                /* a quarter with each way to name the message; next[tag]: the next number with that tag */
                int lower = next[0] < next[1] ? 0 : 1;
                int any_tag = i % 4 & 1, any_source = i % 4 & 2;
                int want = any_tag ? lower : i % 3 == 0 && next[1] < COUNT ? 1 : next[0] < COUNT ? 0 : 1;
                if (next[want] >= COUNT)
                    want = 1 - want;
                MPI(MPI_Recv(in, sizeof in, MPI_BYTE, any_source ? MPI_ANY_SOURCE : 0, any_tag ? MPI_ANY_TAG : want,
                             MPI_COMM_WORLD, &status));
                memcpy(&number, in, sizeof number);
                CHECK_INT(number, next[want]);
                CHECK_STATUS(status, 0, want, bytes_of(number));
                CHECK_INT(in[bytes_of(number) - 1], bytes_of(number) == 4 ? in[3] : (number & 0x7f));
                next[want] += 2;
            }
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
