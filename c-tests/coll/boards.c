/* Staging areas: more communicators than there is memory for, made and freed again and again, of all and
 * of some ranks; operations follow each other closely with ever other roots and sizes, also those that go in many pieces. */
#include "check.h"

enum { LIVE = 300, LARGE = 200000 };

static int data[LARGE], result[LARGE];

static void use(MPI_Comm comm, int rounds, int seed)
{
    int me, n;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &n));
    for (int i = 0; i < rounds; i++) {
        int value = me + seed + i, sum = -1, root = (seed + i) % n;
        MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, n * (n - 1) / 2 + n * (seed + i));
        MPI(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_MAX, root, comm));
        if (me == root)
            CHECK_INT(sum, n - 1 + seed + i);
        MPI(MPI_Bcast(&value, 1, MPI_INT, root, comm));
        CHECK_INT(value, root + seed + i);
        MPI(MPI_Barrier(comm));
    }
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[LIVE];
    MPI_Comm part;
    start(&argc, &argv);
    int live = slow() ? 20 : LIVE;
    for (int round = 0; round < 3; round++) {
        for (int c = 0; c < live; c++)
            MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]));
        for (int c = 0; c < live; c++)
            use(comms[c], 3, c);
        for (int c = 0; c < live; c++)
            MPI(MPI_Comm_free(&comms[c]));
    }
    for (int round = 0; round < (slow() ? 3 : 100); round++) {
        MPI(MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % 3, rank * (round % 2 ? 1 : -1), &part));
        use(part, 4, round);
        MPI(MPI_Comm_free(&part));
    }
    /* Roots run ahead of the others as far as they may. */
    for (int i = 0; i < (slow() ? 20 : 1000); i++) {
        int value = rank == 0 ? i : -1, all = -1;
        MPI(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
        CHECK_INT(value, i);
        MPI(MPI_Reduce(&value, &all, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD));
        if (rank == size - 1)
            CHECK_INT(all, i * size);
    }
    for (int count = 1; count <= LARGE; count = count * 5 / 2 + 1)
        for (int root = 0; root < size; root++) {
            for (int i = 0; i < count; i++)
                data[i] = rank + i + root;
            MPI(MPI_Allreduce(data, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            for (int i = 0; i < count; i++)
                if (result[i] != size * (size - 1) / 2 + size * (i + root)) {
                    check_failed(__FILE__, __LINE__, "element %d of %d is %d", i, count, result[i]);
                    break;
                }
            MPI(MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD));
            for (int i = 0; i < count; i++)
                if (data[i] != 2 * root + i) {
                    check_failed(__FILE__, __LINE__, "element %d of %d is %d", i, count, data[i]);
                    break;
                }
        }
    return finish();
}
