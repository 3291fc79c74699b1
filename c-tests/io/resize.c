/* Sizes that change: what grows is zero, what is cut off is gone, pointers and views stay, and one rank's error is all ranks'. */
#include "files.h"

static char name[NAME_BYTES];
enum { EACH = 10000 };

static long long bytes_of(MPI_File file)
{
    MPI_Offset bytes = -1;
    MPI(MPI_File_get_size(file, &bytes));
    return bytes;
}

static void check_zeros(MPI_Offset from, long bytes)
{
    static unsigned char found[EACH];
    while (bytes > 0) {
        long now = bytes < EACH ? bytes : EACH;
        CHECK_INT(file_read(name, found, (size_t) now, from), now);
        for (long i = 0; i < now; i++)
            if (found[i]) {
                CHECK_INT(found[i], 0);
                return;
            }
        from += now;
        bytes -= now;
    }
}

/* Each size after each other one. */
static void sizes(MPI_File file, int allocates)
{
    static const MPI_Offset all[] = {0, 1, 4095, 4096, 4097, 100000, 65536, (MPI_Offset) 1 << 20};
    enum { NUMBER = sizeof all / sizeof *all };
    static unsigned char text[1 << 20], found[1 << 20];
    fill(text, sizeof text, 9);
    for (int from = 0; from < NUMBER; from++)
        for (int to = 0; to < NUMBER; to++) {
            MPI(MPI_File_set_size(file, 0));
            MPI(MPI_File_set_size(file, all[from]));
            check_zeros(0, (long) all[from]);
            barrier();
            if (rank == 0)
                MPI(MPI_File_write_at(file, 0, text, (int) all[from], MPI_BYTE, MPI_STATUS_IGNORE));
            barrier();
            if (allocates)
                MPI(MPI_File_preallocate(file, all[to]));
            else
                MPI(MPI_File_set_size(file, all[to]));
            MPI_Offset expected = allocates && all[to] < all[from] ? all[from] : all[to], kept = expected < all[from] ? expected : all[from];
            CHECK_INT(bytes_of(file), expected);
            CHECK_INT(file_read(name, found, (size_t) kept, 0), kept);
            CHECK(!memcmp(found, text, (size_t) kept));
            check_zeros(kept, (long) (expected - kept));
            barrier();
            if (!allocates) { /* what was cut off does not come back */
                MPI(MPI_File_set_size(file, all[from]));
                check_zeros(kept, (long) (all[from] - kept));
                barrier();
            }
        }
}

/* Pointers and views are as they were, though the file ends before them. */
static void with_views(MPI_File file)
{
    enum { PIECE = 8 };
    unsigned char own[10 * PIECE], found[10 * PIECE];
    MPI_Datatype piece, cyclic;
    MPI_Offset at;
    MPI_Status status;
    MPI_File sequence;
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, PIECE * size, &cyclic));
    MPI(MPI_Type_commit(&cyclic));
    MPI(MPI_File_set_size(file, 0));
    MPI(MPI_File_set_view(file, PIECE * rank, MPI_BYTE, cyclic, "native", MPI_INFO_NULL));
    fill(own, sizeof own, (uint64_t) rank);
    MPI(MPI_File_write(file, own, sizeof own, MPI_BYTE, &status));
    MPI(MPI_File_seek_shared(file, 17, MPI_SEEK_SET));
    barrier();
    MPI(MPI_File_set_size(file, 3 * PIECE * size));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, sizeof own);
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 17);
    MPI(MPI_File_read(file, found, 5, MPI_BYTE, &status));
    CHECK_MOVED(status, 0);
    MPI(MPI_File_read_at(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, 3 * PIECE);
    CHECK(!memcmp(found, own, 3 * PIECE));
    MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 3 * PIECE);
    barrier();
    MPI(MPI_File_set_size(file, 10 * PIECE * size));
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, (long) sizeof found);
    CHECK(!memcmp(found, own, 3 * PIECE));
    for (size_t i = 3 * PIECE; i < sizeof found; i++)
        CHECK_INT(found[i], 0);
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&piece));
    MPI(MPI_Type_free(&cyclic));
    barrier();
    /* Errors: of all ranks, and the size stays. */
    long long before = bytes_of(file);
    if (size > 1) {
        CHECK_CLASS(MPI_File_set_size(file, 100 + rank), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_preallocate(file, before + 100 + rank), MPI_ERR_NOT_SAME);
    }
    CHECK_CLASS(MPI_File_set_size(file, rank == size - 1 ? -1 : 5), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_preallocate(file, -5), MPI_ERR_ARG);
    CHECK_INT(bytes_of(file), before);
    MPI_File reader = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    CHECK_CLASS(MPI_File_set_size(reader, 5), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(reader, 5), MPI_ERR_READ_ONLY);
    CHECK_INT(bytes_of(reader), before);
    MPI(MPI_File_close(&reader));
    sequence = file_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    CHECK_CLASS(MPI_File_set_size(sequence, 5), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_preallocate(sequence, 5), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(bytes_of(sequence), before);
    MPI(MPI_File_close(&sequence));
    /* Far beyond what there is, also where preallocating means to write zeros; some file systems know no largest size. */
    CHECK(MPI_File_preallocate(file, INT64_MAX) != MPI_SUCCESS);
    CHECK_INT(bytes_of(file), before);
    barrier();
    int code = MPI_File_set_size(file, INT64_MAX);
    CHECK_INT(bytes_of(file), code ? before : INT64_MAX);
    barrier();
    MPI(MPI_File_set_size(file, (MPI_Offset) 1 << 40));
    CHECK_INT(bytes_of(file), (long long) 1 << 40);
    barrier();
    MPI(MPI_File_set_size(file, 0));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "resize");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    sizes(file, 0);
    sizes(file, 1);
    with_views(file);
    MPI(MPI_File_close(&file));
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
