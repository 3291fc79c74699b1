/* Messages of 8 B to 1 MB around the ring and between random pairs, every byte checked. tests/environment/ runs it on 32
 * ranks where something is missing. */
#include "check.h"

enum { smallest = 8, largest = 1 << 20, rounds = 24 };

static unsigned char *out, *in;

static void send_and_receive(int to, size_t bytes, int from, size_t expected, int tag)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    uint64_t mine = (uint64_t) tag * 1000 + (uint64_t) rank, theirs = (uint64_t) tag * 1000 + (uint64_t) from;
    fill(out, bytes, mine);
    memset(in, 0, expected);
    MPI(MPI_Irecv(in, (int) expected, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Isend(out, (int) bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Waitall(2, requests, statuses));
    CHECK_STATUS(statuses[0], from, tag, (int) expected);
    CHECK_PATTERN(in, expected, theirs);
    CHECK_PATTERN(out, bytes, mine);
}

/* A token that is raised at every station: blocking calls, one message at a time. */
static void token(int bytes)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    uint64_t stations = 0;
    if (rank == 0) {
        fill(out, (size_t) bytes, (uint64_t) bytes);
        memcpy(out, &stations, sizeof stations);
        MPI(MPI_Send(out, bytes, MPI_BYTE, right, bytes, MPI_COMM_WORLD));
    }
    MPI(MPI_Recv(in, bytes, MPI_BYTE, left, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memcpy(&stations, in, sizeof stations);
    CHECK_INT(stations, rank == 0 ? size - 1 : rank - 1);
    if (rank == 0) {
        CHECK_INT(memcmp(in + 8, out + 8, (size_t) bytes - 8), 0);
    } else {
        stations++;
        memcpy(in, &stations, sizeof stations);
        MPI(MPI_Send(in, bytes, MPI_BYTE, right, bytes, MPI_COMM_WORLD));
    }
}

/* The same permutation and sizes on every rank, from the same seed. */
static void random_pairs(uint64_t *seed, int tag, size_t most)
{
    int *to = malloc(sizeof(int) * (size_t) size), from = 0;
    size_t *bytes = malloc(sizeof(size_t) * (size_t) size);
    for (int i = 0; i < size; i++) {
        to[i] = i;
        /* Every order of magnitude as often as another. */
        bytes[i] = (size_t) smallest << (next_random(seed) % 18);
        bytes[i] += next_random(seed) % bytes[i];
        if (bytes[i] > most)
            bytes[i] = most;
    }
    for (int i = size - 1; i > 0; i--) {
        int j = (int) (next_random(seed) % (uint64_t) (i + 1)), kept = to[i];
        to[i] = to[j];
        to[j] = kept;
    }
    while (to[from] != rank)
        from++;
    send_and_receive(to[rank], bytes[rank], from, bytes[from], tag);
    free(to);
    free(bytes);
}

int main(int argc, char **argv)
{
    uint64_t seed = 20;
    start(&argc, &argv);
    size_t most = slow() ? 100000 : largest;
    out = malloc(largest);
    in = malloc(largest);
    for (size_t bytes = smallest; bytes <= most; bytes *= 2)
        send_and_receive((rank + 1) % size, bytes, (rank + size - 1) % size, bytes, (int) bytes);
    for (int bytes = smallest; size > 1 && (size_t) bytes <= most; bytes *= 8)
        token(bytes);
    for (int round = 0; round < rounds; round++)
        random_pairs(&seed, 5000000 + round, most);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    free(in);
    free(out);
    return finish();
}
