/* args: rounds seed. Random traffic between all pairs (self included) from a seeded plan that all ranks compute: sizes,
 * tags, modes and orders differ each round; each message carries a pattern of its pair, round and number. */
#include "check.h"

enum { MOST = 40 };

struct message {
    int bytes, tag, mode;
    uint64_t seed;
};

static struct message plan(uint64_t seed, int round, int from, int to, int number)
{
    static const int scale[] = {0, 1, 16, 64, 64, 300, 300, 2500, 9000, 70000};
    uint64_t state = seed * 1000003 + round * 7919 + from * 104729 + to * 1299709 + number * 15485863;
    struct message message;
    int most = scale[next_random(&state) % 10];
    message.bytes = most ? (int) (next_random(&state) % (most * 2)) : 0;
    message.tag = (int) (next_random(&state) % 3);
    message.mode = (int) (next_random(&state) % 4);
    message.seed = next_random(&state);
    return message;
}

static int amount(uint64_t seed, int round, int from, int to)
{
    uint64_t state = seed + round * 31337 + from * 17 + to * 65537;
    return (int) (next_random(&state) % 8);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50;
    uint64_t seed = argc > 2 ? (uint64_t) atoll(argv[2]) : 1;
    start(&argc, &argv);
    if (slow())
        rounds = 3;
    for (int round = 0; round < rounds; round++) {
        MPI_Request *requests = malloc(16 * (size_t) size * sizeof *requests);
        void **buffers = malloc(16 * (size_t) size * sizeof *buffers);
        int count = 0, expected = 0, got = 0;
        uint64_t state = seed + 999 * round + rank;
        int style = (int) (next_random(&state) % 3), *done = calloc((size_t) size * 3, sizeof *done);
        for (int from = 0; from < size; from++)
            expected += amount(seed, round, from, rank);
        /* style 0: all receives posted first, per source in the plan's order */
        void **inbox = malloc(8 * (size_t) size * sizeof *inbox);
        MPI_Request *posted = malloc(8 * (size_t) size * sizeof *posted);
        struct message *wanted = malloc(8 * (size_t) size * sizeof *wanted);
        int *sources = malloc(8 * (size_t) size * sizeof *sources), posts = 0;
        if (style == 0)
            for (int from = 0; from < size; from++)
                for (int n = 0; n < amount(seed, round, from, rank); n++) {
                    struct message m = plan(seed, round, from, rank, n);
                    inbox[posts] = malloc(m.bytes + 1);
                    wanted[posts] = m;
                    sources[posts] = from;
                    MPI(MPI_Irecv(inbox[posts], m.bytes, MPI_BYTE, from, m.tag, MPI_COMM_WORLD, &posted[posts]));
                    posts++;
                }
        int begin = (int) (next_random(&state) % size);
        for (int k = 0; k < size; k++) {
            int to = (begin + k) % size;
            for (int n = 0; n < amount(seed, round, rank, to); n++) {
                struct message m = plan(seed, round, rank, to, n);
                buffers[count] = malloc(m.bytes + 1);
                fill(buffers[count], m.bytes, m.seed);
                if (m.mode == 0)
                    MPI(MPI_Issend(buffers[count], m.bytes, MPI_BYTE, to, m.tag, MPI_COMM_WORLD, &requests[count]));
                else
                    MPI(MPI_Isend(buffers[count], m.bytes, MPI_BYTE, to, m.tag, MPI_COMM_WORLD, &requests[count]));
                count++;
            }
        }
        if (style == 0) {
            while (got < posts) {
                int index;
                MPI_Status status;
                MPI(MPI_Waitany(posts, posted, &index, &status));
                CHECK(index >= 0 && index < posts);
                CHECK_STATUS(status, sources[index], wanted[index].tag, wanted[index].bytes);
                CHECK_PATTERN(inbox[index], wanted[index].bytes, wanted[index].seed);
                free(inbox[index]);
                got++;
            }
        }
        while (got < expected) {
            MPI_Status status;
            MPI_Message message;
            int bytes, flag = 0;
            void *in;
            if (style == 1)
                MPI(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status));
            else
                while (!flag)
                    MPI(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
            MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
            in = malloc(bytes + 1);
            MPI(MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
            /* it is the next of the plan with its source and tag */
            int *nth = &done[status.MPI_SOURCE * 3 + status.MPI_TAG], seen = 0, n;
            struct message m = {0, 0, 0, 0};
            for (n = 0; n < amount(seed, round, status.MPI_SOURCE, rank); n++) {
                m = plan(seed, round, status.MPI_SOURCE, rank, n);
                if (m.tag == status.MPI_TAG && seen++ == *nth)
                    break;
            }
            ++*nth;
            CHECK(n < amount(seed, round, status.MPI_SOURCE, rank));
            CHECK_INT(bytes, m.bytes);
            if (bytes == m.bytes)
                CHECK_PATTERN(in, bytes, m.seed);
            free(in);
            got++;
        }
        MPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < count; i++)
            free(buffers[i]);
        free(buffers), free(requests), free(done), free(inbox), free(posted), free(wanted), free(sources);
        /* Wildcards must not see the next round. */
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
