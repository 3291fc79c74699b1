/* Sends of up to 64 KB to processes of another job are complete before these receive, and leave the program its buffers: what comes is
 * what was sent, in order. Children and parents do so at once. args: the number of children. */
#include "spawned.h"

enum { MOST = 65536, MESSAGES = 40 };

static const int sizes[] = {16385, 32768, 50001, MOST};
static unsigned char out[MESSAGES][MOST], in[MOST];

static int bytes_of(int message) { return sizes[message % (int) (sizeof sizes / sizeof *sizes)]; }

static void exchange_early(MPI_Comm inter, int seed, int from)
{
    MPI_Request requests[MESSAGES];
    int others;
    MPI(MPI_Comm_remote_size(inter, &others));
    for (int other = 0; other < others; other++) {
        for (int i = 0; i < MESSAGES; i++) {
            fill(out[i], bytes_of(i), seed + i);
            MPI(MPI_Isend(out[i], bytes_of(i), MPI_BYTE, other, 3, inter, &requests[i]));
        }
        MPI(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        memset(out, 0xEE, sizeof out);
    }
    for (int other = 0; other < others; other++)
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Status status;
            MPI(MPI_Recv(in, MOST, MPI_BYTE, other, 3, inter, &status));
            CHECK_STATUS(status, other, 3, bytes_of(i));
            CHECK_PATTERN(in, bytes_of(i), from + i);
        }
}

int main(int argc, char **argv)
{
    start_family(&argc, &argv);
    if (is_child) {
        exchange_early(parent, 200, 100);
        return finish_family();
    }
    char *words[] = {argv[1], NULL};
    MPI_Comm children = spawn(MPI_COMM_WORLD, atoi(argv[1]), words);
    exchange_early(children, 100, 200);
    part(&children);
    return finish_family();
}
