/* Calls of the system for a file, counted exactly (common/faults.h sees what a tool that is loaded first would see). arg "cyclic": the
 * collective access of small interleaved pieces. */
#define _GNU_SOURCE
#include "faults.h"
#include "files.h"

static char name[NAME_BYTES];
static unsigned char *own;
enum { LARGE = 1 << 20 };

/* Calls since the last time: all that are not named here are zero. */
static long expected[CALLS];
static const char *const NAMES[CALLS] = {"open", "close", "fstat", "write", "read", "fsync", "ftruncate", "fallocate", "lock", "fcntl",
                                         "mmap", "madvise", "unlink"};

static void check_calls(int line, const char *what)
{
    for (int i = 0; i < CALLS; i++)
        if (calls(i) != expected[i])
            check_failed(__FILE__, line, "%s: %ld calls of %s, expected %ld", what, calls(i), NAMES[i], expected[i]);
    memset(expected, 0, sizeof expected);
    all_works();
}

#define NONE(call) do { all_works(); MPI(call); check_calls(__LINE__, #call); } while (0)
#define COUNTED(call, kind, times) do { all_works(); MPI(call); expected[kind] = (times); check_calls(__LINE__, #call); } while (0)

static MPI_File opened(MPI_Comm comm, int mode)
{
    MPI_File file = MPI_FILE_NULL;
    MPI(MPI_Barrier(comm));
    all_works();
    MPI(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file));
    CHECK(calls(OPEN) >= 1 && calls(OPEN) <= 2);
    CHECK_INT(calls(FSTAT), 1);
    expected[OPEN] = calls(OPEN);
    expected[FSTAT] = 1;
    check_calls(__LINE__, "MPI_File_open");
    return file;
}

static void independent(MPI_File file, MPI_Offset from)
{
    MPI_Offset offset;
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype holes, vector;
    MPI_Group group;
    MPI_Info info;
    MPI_Aint extent;
    int flag;
    char datarep[MPI_MAX_DATAREP_STRING];
    static const int lengths[] = {1, 8, 4096, LARGE};
    for (int i = 0; i < 4; i++) {
        COUNTED(MPI_File_write_at(file, from, own, lengths[i], MPI_BYTE, &status), WRITE, 1);
        COUNTED(MPI_File_read_at(file, from, own, lengths[i], MPI_BYTE, &status), READ, 1);
        NONE(MPI_File_seek(file, from, MPI_SEEK_SET));
        COUNTED(MPI_File_write(file, own, lengths[i], MPI_BYTE, &status), WRITE, 1);
        NONE(MPI_File_seek(file, -lengths[i], MPI_SEEK_CUR));
        COUNTED(MPI_File_read(file, own, lengths[i], MPI_BYTE, &status), READ, 1);
        all_works();
        MPI(MPI_File_iwrite_at(file, from, own, lengths[i], MPI_BYTE, &request));
        MPI(MPI_Wait(&request, &status));
        CHECK(calls(WRITE) <= 1); /* none, if it goes by another way than pwrite */
        expected[WRITE] = calls(WRITE);
        check_calls(__LINE__, "MPI_File_iwrite_at");
    }
    NONE(MPI_File_write_at(file, from, own, 0, MPI_BYTE, &status));
    NONE(MPI_File_read_at(file, from, own, 0, MPI_BYTE, &status));
    /* Memory with holes is one call, too. */
    MPI(MPI_Type_vector(500, 100, 200, MPI_BYTE, &holes));
    MPI(MPI_Type_commit(&holes));
    COUNTED(MPI_File_write_at(file, from, own, 1, holes, &status), WRITE, 1);
    COUNTED(MPI_File_read_at(file, from, own, 1, holes, &status), READ, 1);
    MPI(MPI_Type_free(&holes));
    /* What is only asked, or set. */
    MPI(MPI_Type_vector(1000, 4, 16, MPI_BYTE, &vector));
    MPI(MPI_Type_commit(&vector));
    NONE(MPI_File_set_view(file, from, MPI_BYTE, vector, "native", MPI_INFO_NULL));
    NONE(MPI_File_get_position(file, &offset));
    NONE(MPI_File_get_byte_offset(file, 3333, &offset));
    NONE(MPI_File_get_position_shared(file, &offset));
    NONE(MPI_File_get_type_extent(file, MPI_INT, &extent));
    NONE(MPI_File_get_amode(file, &flag));
    NONE(MPI_File_get_atomicity(file, &flag));
    MPI_Datatype etype, filetype;
    NONE(MPI_File_get_view(file, &offset, &etype, &filetype, datarep));
    MPI(MPI_Type_free(&filetype));
    NONE(MPI_File_get_group(file, &group));
    MPI(MPI_Group_free(&group));
    NONE(MPI_File_get_info(file, &info));
    NONE(MPI_File_set_info(file, info));
    MPI(MPI_Info_free(&info));
    NONE(MPI_File_seek(file, 1 << 20, MPI_SEEK_SET));
    NONE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    NONE(MPI_File_set_atomicity(file, 1));
    NONE(MPI_File_set_atomicity(file, 0));
    COUNTED(MPI_File_get_size(file, &offset), FSTAT, 1);
    MPI(MPI_Type_free(&vector));
}

/* The shared pointer: one call of the system an access. */
static void shared(MPI_File file)
{
    MPI_Status status;
    barrier();
    NONE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 10; i++)
        COUNTED(MPI_File_write_shared(file, own, 8, MPI_BYTE, &status), WRITE, 1);
    barrier();
    NONE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < 10; i++)
        COUNTED(MPI_File_read_shared(file, own, 8, MPI_BYTE, &status), READ, 1);
    barrier();
    COUNTED(MPI_File_write_ordered(file, own, 100, MPI_BYTE, &status), WRITE, 1);
    barrier();
}

/* Large contiguous pieces are written by each rank, in as many calls as alone; no locks. */
static void collective(MPI_File file)
{
    MPI_Status status;
    COUNTED(MPI_File_write_at_all(file, (MPI_Offset) rank * LARGE, own, LARGE, MPI_BYTE, &status), WRITE, 1);
    COUNTED(MPI_File_read_at_all(file, (MPI_Offset) rank * LARGE, own, LARGE, MPI_BYTE, &status), READ, 1);
    NONE(MPI_File_write_at_all(file, 0, own, 0, MPI_BYTE, &status));
    all_works();
    MPI(MPI_File_sync(file));
    CHECK(calls(FSYNC) <= 1);
    expected[FSYNC] = calls(FSYNC);
    check_calls(__LINE__, "MPI_File_sync");
}

/* All ranks' calls of a kind. */
static long of_all(enum call call)
{
    long mine = calls(call), all;
    MPI(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

/* 16 bytes of each rank in turn: as many calls as there are windows of 1 MB, and a few. */
static void cyclic(MPI_File file)
{
    enum { PIECE = 16, EACH = 2 << 20, WINDOW = 1 << 20, FEW = 8 };
    MPI_Datatype piece, type;
    MPI_Status status;
    long windows = ((long) size * EACH + WINDOW - 1) / WINDOW, most = windows + FEW + size;
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, PIECE * size, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_File_set_view(file, (MPI_Offset) PIECE * rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
    all_works();
    for (int i = 0; i < 2; i++) {
        fill(own, EACH, (uint64_t) (rank + 10 * i));
        barrier();
        all_works();
        MPI(MPI_File_write_at_all(file, 0, own, EACH, MPI_BYTE, &status));
        CHECK_MOVED(status, EACH);
        CHECK(of_all(WRITE) <= most);
        CHECK_INT(calls(LOCK), 0);
        CHECK(of_all(READ) == 0);
        all_works();
        MPI(MPI_File_read_at_all(file, 0, own, EACH, MPI_BYTE, &status));
        CHECK_PATTERN(own, EACH, (uint64_t) (rank + 10 * i));
        CHECK(of_all(READ) <= most);
        CHECK_INT(calls(LOCK), 0);
        all_works();
    }
    MPI(MPI_Type_free(&piece));
    MPI(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "budget");
    own = malloc(2 * LARGE);
    memset(own, 1, 2 * LARGE);
    watch(name);
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
    MPI_File file = opened(MPI_COMM_WORLD, mode);
    if (argc > 1 && !strcmp(argv[1], "cyclic"))
        cyclic(file);
    else {
        independent(file, (MPI_Offset) rank * LARGE);
        shared(file);
        collective(file);
    }
    barrier();
    all_works();
    COUNTED(MPI_File_close(&file), CLOSE, 1);
    for (int i = 0; i < 3; i++) {
        file = opened(MPI_COMM_SELF, MPI_MODE_RDONLY);
        COUNTED(MPI_File_close(&file), CLOSE, 1);
    }
    barrier();
    if (rank == 0) {
        all_works();
        COUNTED(MPI_File_delete(name, MPI_INFO_NULL), UNLINK, 1);
    }
    free(own);
    return finish();
}
