/* Ranks write bytes of one file that lie between each other, at the same time and in different ways, without any order: each for itself,
 * all together, by two handles, one without holes beside others with them. Every byte of every rank is there at the end. args: [rounds] */
#include "files.h"

static char name[NAME_BYTES];
enum { MOST = 300000 };
static unsigned char bytes[MOST], found[MOST];

static unsigned char value(int of, long i, int round)
{
    return (unsigned char) (of * 37 + i * 11 + i / 256 + round * 5);
}

static void show(MPI_File file, MPI_Offset at, int piece, int turn)
{
    MPI_Datatype one, filetype;
    MPI(MPI_Type_contiguous(piece, MPI_BYTE, &one));
    MPI(MPI_Type_create_resized(one, 0, (MPI_Aint) piece * turn, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, at, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&one));
    MPI(MPI_Type_free(&filetype));
}

/* Pieces in turn; how each rank writes is its own affair, but in the collective ways. */
static void in_turn(MPI_File file, int piece, int pieces, int way, int round)
{
    MPI_Status status;
    int count = piece * pieces, alone = way == 0 || (way == 2 && rank % 2);
    for (int i = 0; i < count; i++)
        bytes[i] = value(rank, i, round);
    show(file, (MPI_Offset) piece * rank, piece, size);
    if (alone)
        MPI(MPI_File_write_at(file, 0, bytes, count, MPI_BYTE, &status));
    /* Those that have written take part with nothing. */
    if (way != 0)
        MPI(MPI_File_write_at_all(file, 0, bytes, alone ? 0 : count, MPI_BYTE, &status));
    if (way == 0 || !alone)
        CHECK_MOVED(status, count);
    barrier();
    file_read(name, found, (size_t) count * (size_t) size > MOST ? MOST : (size_t) count * (size_t) size, 0);
    for (long at = 0; at < (long) count * size && at < MOST; at++) {
        long turn = at / piece;
        int of = (int) (turn % size);
        unsigned char wanted = value(of, turn / size * piece + at % piece, round);
        if (found[at] != wanted) {
            check_failed(__FILE__, __LINE__, "way %d, pieces of %d: byte %ld is %d, rank %d has written %d", way, piece, at, found[at], of, wanted);
            break;
        }
    }
    barrier();
}

/* One rank writes one run at a time between the pieces of the others, who write all of theirs at once. */
static void beside(MPI_File file, MPI_File own, int piece, int pieces, int round)
{
    MPI_Status status;
    int count = piece * pieces, turn = 2 * piece;
    for (int i = 0; i < count; i++)
        bytes[i] = value(rank, i, round);
    /* Ranks of even numbers have the first halves of turns, each its part of the turns; of odd numbers the second ones. */
    MPI_Offset from = (MPI_Offset) (rank / 2) * turn * pieces + (rank % 2) * piece;
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (rank % 2)
        for (int i = 0; i < pieces; i++)
            MPI(MPI_File_write_at(file, from + (MPI_Offset) i * turn, bytes + i * piece, piece, MPI_BYTE, &status));
    else {
        show(own, from, piece, 2);
        MPI(MPI_File_write_at(own, 0, bytes, count, MPI_BYTE, &status));
        CHECK_MOVED(status, count);
    }
    barrier();
    for (int of = 0; of < size; of++) {
        long first = (long) (of / 2) * turn * pieces + (of % 2) * piece;
        long got = file_read(name, found, (size_t) turn * (size_t) pieces, first);
        for (long i = 0; i < count; i++) {
            long at = i / piece * turn + i % piece;
            if (at >= got || found[at] != value(of, i, round)) {
                check_failed(__FILE__, __LINE__, "pieces of %d: byte %ld of rank %d is %d", piece, i, of, found[at]);
                break;
            }
        }
    }
    barrier();
}

int main(int argc, char **argv)
{
    static const int pieces[] = {1, 3, 16, 100, 513, 4095};
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    if (slow())
        rounds = 2;
    file_name(name, "neighbours");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File own = file_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY);
    for (int round = 0; round < rounds && !check_failures; round++)
        for (int which = 0; which < 6; which++) {
            int piece = pieces[which], count = MOST / size / piece / (1 + round % 5);
            count = count < 2000 ? count : 2000;
            for (int way = 0; way < 3; way++)
                in_turn(file, piece, count, way, round);
            beside(file, own, piece, count / 2, round);
        }
    MPI(MPI_File_close(&own));
    MPI(MPI_File_close(&file));
    return finish();
}
