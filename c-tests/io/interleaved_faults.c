/* What goes wrong in collective accesses of pieces that lie between each other: a limit of the file's size, devices that are full or empty,
 * wrong arguments of one rank, a file that cannot be read on one. All ranks return, with an error of one class, and with the counts of what is in
 * the file. */
#include "files.h"
#include <signal.h>
#include <sys/resource.h>

enum { PIECE = 24, PIECES = 30000, LIMIT = 700001 };
static char name[NAME_BYTES];
static unsigned char bytes[PIECE * PIECES], found[PIECE * PIECES];

static void cyclic(MPI_File file)
{
    MPI_Datatype piece, filetype;
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, PIECE * size, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, (MPI_Offset) PIECE * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_Type_free(&piece));
}

/* Bytes of a rank's in front of a position. */
static long below_position(int of, long position)
{
    long turn = PIECE * size, rest = position % turn - PIECE * of;
    return position / turn * PIECE + (rest < 0 ? 0 : rest > PIECE ? PIECE : rest);
}

/* As far as a limit, which all ranks have; what is in front of it is in the file. */
static void limited(void)
{
    struct rlimit old, lower;
    MPI_Status status;
    long end = (long) PIECE * PIECES * size, limit = end < LIMIT ? end / 2 + 7 : LIMIT;
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    cyclic(file);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    lower = old;
    lower.rlim_cur = (rlim_t) limit;
    /* What the library makes for itself first is no file of the program's. */
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    setrlimit(RLIMIT_FSIZE, &lower);
    fill(bytes, sizeof bytes, (uint64_t) rank);
    spoil(&status);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), MPI_ERR_IO);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_MOVED(status, below_position(rank, limit));
    /* Later calls work; what was written is read. */
    spoil(&status);
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    long there = moved(&status);
    CHECK(there >= below_position(rank, limit));
    CHECK_PATTERN(found, (size_t) below_position(rank, limit), (uint64_t) rank);
    MPI(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof bytes);
    barrier();
    CHECK_INT(file_size(name), end);
    MPI(MPI_File_close(&file));
}

static void devices(void)
{
    MPI_Status status;
    MPI_File file = file_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR);
    cyclic(file);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_MOVED(status, 0);
    CHECK_CLASS(MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_MOVED(status, 0);
    memset(found, 9, sizeof found);
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof found);
    CHECK(found[0] == 0 && found[sizeof found - 1] == 0);
    MPI(MPI_File_close(&file));
    file = file_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR);
    cyclic(file);
    MPI(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof bytes);
    MPI(MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof bytes);
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    MPI(MPI_File_close(&file));
}

/* One rank has a wrong argument, or nothing; what the others have is written and read. */
static void arguments(void)
{
    MPI_Status status;
    int is_last = rank == size - 1;
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    cyclic(file);
    for (int turn = 0; turn < 4; turn++) {
        int count = is_last && turn % 2 ? -1 : (int) sizeof bytes;
        fill(bytes, sizeof bytes, (uint64_t) (rank + 100 * turn));
        spoil(&status);
        int code = MPI_File_write_at_all(file, 0, bytes, count, MPI_BYTE, &status);
        CHECK_CLASS(code, turn % 2 ? MPI_ERR_COUNT : MPI_SUCCESS);
        if (count > 0)
            CHECK_MOVED(status, sizeof bytes);
        memset(found, 0, sizeof found);
        spoil(&status);
        code = MPI_File_read_at_all(file, 0, found, count, MPI_BYTE, &status);
        CHECK_CLASS(code, turn % 2 ? MPI_ERR_COUNT : MPI_SUCCESS);
        if (count > 0) {
            /* The last bytes of all are the last rank's. */
            CHECK_MOVED(status, sizeof bytes);
            CHECK_PATTERN(found, sizeof found, (uint64_t) (rank + 100 * turn));
        }
        /* Nothing on one rank is no error. */
        MPI(MPI_File_read_at_all(file, 0, found, is_last ? 0 : (int) sizeof bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, is_last ? 0 : (long) sizeof bytes);
        MPI(MPI_File_write_at_all(file, 0, bytes, is_last ? 0 : (int) sizeof bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, is_last ? 0 : (long) sizeof bytes);
    }
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    file_name(name, "faults");
    limited();
    barrier();
    devices();
    arguments();
    return finish();
}
