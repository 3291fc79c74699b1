/* MPI_Alltoall of data that takes several pieces where ranks share cores, and odd numbers of bytes: plain, in place, with holes on
 * either side; again and again, so that ranks are ahead of each other, and on communicators that come and go. */
#include "check.h"

enum { MOST = 150001, LENGTHS = 4 };

static MPI_Comm comm;
static int me, n;

static unsigned char from_to(int from, int to, int turn, int i)
{
    return (unsigned char)(from * 31 + to * 7 + turn * 3 + i + i / 251);
}

/* Elements of `bytes` bytes each that lie `apart` bytes from each other, for or from each rank. */
static void put(unsigned char *data, int bytes, int apart, int turn)
{
    for (int r = 0; r < n; r++)
        for (int i = 0; i < bytes; i++)
            data[((size_t)r * bytes + i) * apart] = from_to(me, r, turn, i);
}

static void expect(const unsigned char *data, int bytes, int apart, int turn, const char *what)
{
    for (int r = 0; r < n; r++)
        for (int i = 0; i < bytes; i++) {
            const unsigned char *at = data + ((size_t)r * bytes + i) * apart;
            if (*at != from_to(r, me, turn, i) || (apart > 1 && at[1] != 0xee)) {
                check_failed(__FILE__, __LINE__, "%s: byte %d of %d from rank %d is wrong", what, i, bytes, r);
                return;
            }
        }
}

static void exchange(int bytes, MPI_Datatype spread, unsigned char *out, unsigned char *into, int turn)
{
    size_t all = (size_t)2 * n * bytes;
    memset(into, 0xee, all);
    put(out, bytes, 1, turn);
    MPI(MPI_Alltoall(out, bytes, MPI_BYTE, into, bytes, MPI_BYTE, comm));
    expect(into, bytes, 1, turn, "plain");
    put(into, bytes, 1, turn + 1);
    MPI(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, into, bytes, MPI_BYTE, comm));
    expect(into, bytes, 1, turn + 1, "in place");
    memset(into, 0xee, all);
    put(out, bytes, 1, turn + 2);
    MPI(MPI_Alltoall(out, bytes, MPI_BYTE, into, bytes, spread, comm));
    expect(into, bytes, 2, turn + 2, "holes in what comes");
    put(into, bytes, 2, turn + 3);
    MPI(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, into, bytes, spread, comm));
    expect(into, bytes, 2, turn + 3, "holes, in place");
    memset(out, 0xee, all);
    put(out, bytes, 2, turn + 4);
    MPI(MPI_Alltoall(out, bytes, spread, into, bytes, MPI_BYTE, comm));
    expect(into, bytes, 1, turn + 4, "holes in what goes");
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype spread; /* a byte and a hole */
    MPI(MPI_Type_create_resized(MPI_BYTE, 0, 2, &spread));
    MPI(MPI_Type_commit(&spread));
    int most = size > 8 ? MOST / 2 : MOST;
    unsigned char *out = malloc((size_t)2 * size * most), *into = malloc((size_t)2 * size * most);
    int lengths[LENGTHS] = {20001, 40, most, 65536};
    for (int round = 0; round < 3; round++) {
        if (round == 1) /* of fewer ranks, and in another order */
            MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
        else
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_size(comm, &n));
        for (int turn = 0; turn < (slow() ? 1 : 3); turn++)
            for (int l = 0; l < LENGTHS; l++)
                exchange(slow() ? (lengths[l] + 7) / 8 : lengths[l], spread, out, into, turn + l);
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_Type_free(&spread));
    free(out);
    free(into);
    return finish();
}
