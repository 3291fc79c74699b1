/* Ranks that nobody waits for run ahead of the others, for as long as there is room, through operations of ever other kinds, roots
 * and sizes: what they gave must still be there when the slowest comes to it. The slow one is made so by messages. */
#include "check.h"

enum { ROUNDS = 700, WORDS = 3000, RANKS = 64 };

static int mine[WORDS], result[WORDS * RANKS], counts[RANKS];

/* The element that a rank has at a place in a round. */
static int element(int round, int who, int at)
{
    return round * 31 + who * 7 + at;
}

static void prepare(int round, int count)
{
    for (int i = 0; i < count; i++)
        mine[i] = element(round, rank, i);
}

/* The sum of all ranks' elements. */
static int sum(int round, int at)
{
    return size * element(round, 0, at) + 7 * (size * (size - 1) / 2);
}

/* Sizes around those at which data no longer fits into a line, a unit, a piece. */
static int length(int round)
{
    static const int words[] = {1, 1, 2, 12, 13, 1, 256, 257, 1, 1, 100, 1024, 3000, 1, 0, 7};
    return words[round * 5 % 16];
}

/* left * 2 + right * 3 + ...: neither commutative nor blind to a lost operand; associative as products of matrices are. */
static void affine(void *in, void *inout, int *length, MPI_Datatype *type)
{
    unsigned *left = in, *right = inout;
    (void)type;
    for (int i = 0; i < *length; i++, left += 2, right += 2) {
        right[1] = left[0] * right[1] + left[1];
        right[0] = left[0] * right[0];
    }
}

/* Only `root` gets something: MPI_Reduce_scatter with empty blocks. */
static void to_one(int round, int root, int count, int in_place)
{
    for (int r = 0; r < size; r++)
        counts[r] = r == root ? count : 0;
    prepare(round, count);
    if (in_place)
        MPI(MPI_Reduce_scatter(MPI_IN_PLACE, mine, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    else
        MPI(MPI_Reduce_scatter(mine, result, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count && rank == root; i++)
        CHECK_INT((in_place ? mine : result)[i], sum(round, i));
}

/* Every other rank gets something, of ever other lengths. */
static void to_some(int round, int count)
{
    int before = 0, all = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = (r + round) % 2 ? 0 : 1 + (count + r) % 150;
        before += r < rank ? counts[r] : 0;
        all += counts[r];
    }
    if (all > WORDS)
        return;
    prepare(round, all);
    MPI(MPI_Reduce_scatter(mine, result, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < counts[rank]; i++)
        CHECK_INT(result[i], sum(round, before + i));
}

/* Every third rank gives nothing. */
static void from_some(int round, int count)
{
    int places[RANKS], place = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = (r + round) % 3 ? (count + r) % 40 : 0;
        places[r] = place;
        place += counts[r];
    }
    prepare(round, counts[rank]);
    MPI(MPI_Allgatherv(mine, counts[rank], MPI_INT, result, counts, places, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK_INT(result[places[r] + i], element(round, r, i));
}

static void rooted(int round, int root, int count)
{
    int part = count / size;
    prepare(round, count);
    switch (round % 4) {
    case 0:
        MPI(MPI_Bcast(mine, count, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            CHECK_INT(mine[i], element(round, root, i));
        break;
    case 1:
        MPI(MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, rank == root ? mine : NULL, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
        for (int i = 0; i < count && rank == root; i++)
            CHECK_INT(mine[i], sum(round, i));
        break;
    case 2:
        MPI(MPI_Gather(mine, count, MPI_INT, result, count, MPI_INT, root, MPI_COMM_WORLD));
        for (int r = 0; r < size && rank == root; r++)
            for (int i = 0; i < count; i++)
                CHECK_INT(result[r * count + i], element(round, r, i));
        break;
    default:
        MPI(MPI_Scatter(mine, part, MPI_INT, result, part, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < part; i++)
            CHECK_INT(result[i], element(round, root, rank * part + i));
    }
}

/* Everybody gives and takes. */
static void together(int round, int count)
{
    count %= 500;
    prepare(round, count);
    MPI(MPI_Allreduce(mine, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        CHECK_INT(result[i], sum(round, i));
    MPI(MPI_Allgather(mine, count, MPI_INT, result, count, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        CHECK_INT(result[(size - 1) * count + i], element(round, size - 1, i));
}

static void in_order(int round, int root, MPI_Op op, MPI_Datatype pair)
{
    unsigned own[2] = {2 * rank + 3, round + rank}, got[2] = {0, 0}, want[2] = {1, 0};
    for (int r = 0; r < size; r++)
        counts[r] = r == root;
    MPI(MPI_Reduce_scatter(own, got, counts, pair, op, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++) {
        want[1] = want[0] * (unsigned)(round + r) + want[1];
        want[0] *= 2 * r + 3;
    }
    if (rank == root) {
        CHECK_INT(got[0], want[0]);
        CHECK_INT(got[1], want[1]);
    }
}

/* One rank comes to its operations only after the others have passed them: it waits for messages that they send on their way.
 * No program may rely on that; this library lets ranks run so far ahead. */
static void held_back(int slow, int rounds, int longest)
{
    int sender = (slow + 1) % size;
    if (rank == slow && size > 1)
        for (int i = 0; i < rounds; i += 8)
            MPI(MPI_Recv(NULL, 0, MPI_INT, sender, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < rounds; i++) {
        if (rank == sender && size > 1 && i % 8 == 0)
            MPI(MPI_Send(NULL, 0, MPI_INT, slow, i, MPI_COMM_WORLD));
        to_one(i, slow, 1 + i * 7 % longest, 0);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Datatype pair;
    MPI_Op op;
    start(&argc, &argv);
    int rounds = slow() ? 60 : ROUNDS;
    MPI(MPI_Type_contiguous(2, MPI_UNSIGNED, &pair));
    MPI(MPI_Type_commit(&pair));
    MPI(MPI_Op_create(affine, 0, &op));
    /* One root for long, another one, and each in turn. */
    for (int root = 0; root < size; root += size > 4 ? 3 : 1)
        for (int i = 0; i < rounds / 4; i++)
            to_one(i, root, 1 + i % 12, i % 2);
    for (int i = 0; i < rounds; i++)
        rooted(4 * i + i / 100 % 4, size - 1, length(i));
    for (int i = 0; i < rounds; i++)
        rooted(i, i % size, length(i));
    for (int i = 0; i < rounds; i++)
        in_order(i, i / 70 % size, op, pair);
    /* All kinds after each other. */
    for (int i = 0; i < rounds; i++) {
        int count = length(i / 3);
        switch (i * 7 % 11) {
        case 0:
            to_one(i, i / 50 % size, count, i % 3 == 0);
            break;
        case 1:
        case 2:
            to_some(i, count);
            break;
        case 3:
        case 4:
            from_some(i, count);
            break;
        case 5:
            together(i, count);
            break;
        case 6:
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            break;
        case 7:
            in_order(i, i % size, op, pair);
            break;
        default:
            rooted(i, i / 60 % size, count);
        }
    }
    for (int who = 0; who < size && who < 3 && !reference; who++) {
        held_back(who, 48, 12);
        held_back(who, 12, 20);
    }
    MPI(MPI_Op_free(&op));
    MPI(MPI_Type_free(&pair));
    return finish();
}
