/* Long buffered sends are kept in the attached memory while it has room in one piece, so that no message takes new memory; data stays right
 * whatever the order in which messages leave, and the program's own data may change at once. */
#include "check.h"
#include <sys/resource.h>

enum { BYTES = 1 << 20, MESSAGES = 6, ROUNDS = 30 };

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv)
{
    const int odd = BYTES - 4097;
    start(&argc, &argv);
    int room = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), bytes;
    char *space = malloc((size_t) room), *data = malloc(BYTES), *in = malloc(BYTES);
    void *detached;
    long before = 0;
    memset(space, 1, (size_t) room);
    memset(in, 1, BYTES);
    MPI(MPI_Buffer_attach(space, room));
    for (int round = 0; round < ROUNDS; round++) {
        if (round == 5)
            before = faults();
        if (rank == 0) {
            for (int i = 0; i < MESSAGES; i++) {
                int length = (i + round) % 2 ? BYTES : odd;
                fill(data, (size_t) length, (uint64_t) (round * 10 + i));
                MPI(MPI_Bsend(data, length, MPI_BYTE, 1, i, MPI_COMM_WORLD));
                memset(data, 0xff, BYTES);
            }
            MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Bsend(NULL, 0, MPI_BYTE, 1, 101, MPI_COMM_WORLD));
        } else if (rank == 1) {
            for (int i = 0; i < MESSAGES; i++) {
                int tag = (i * 5 + round) % MESSAGES, length = (tag + round) % 2 ? BYTES : odd;
                MPI(MPI_Recv(in, BYTES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_PATTERN(in, (size_t) length, (uint64_t) (round * 10 + tag));
            }
            MPI(MPI_Send(NULL, 0, MPI_BYTE, 0, 100, MPI_COMM_WORLD));
            MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 101, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    /* A copy in new memory takes a fault for each of its 256 pages. */
    if (rank == 0 && !reference) {
        long taken = faults() - before;
        if (taken > (ROUNDS - 5) * MESSAGES * 32)
            printf("%ld page faults\n", taken);
        CHECK(taken <= (ROUNDS - 5) * MESSAGES * 32);
    }
    MPI(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == space);
    CHECK_INT(bytes, room);
    free(space);
    free(data);
    free(in);
    finish();
    return 0;
}
