/* The shared file pointer: every record once, in one piece; ordered accesses in the order of the ranks; two files have two pointers. */
#include "files.h"

static char name[NAME_BYTES];
enum { RECORDS = 60, BYTES = 24 };

static void records(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR), other;
    int record[BYTES / 4], *seen = calloc((size_t) size * RECORDS, sizeof *seen), found[BYTES / 4];
    MPI_Datatype type;
    MPI_Offset at;
    MPI_Status status;
    MPI_Request request;
    MPI(MPI_Type_contiguous(BYTES / 4, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL));
    other = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < BYTES / 4; j++)
            record[j] = rank * RECORDS + i;
        if (i % 3) {
            MPI(MPI_File_write_shared(file, record, 1, type, &status));
        } else {
            MPI(MPI_File_iwrite_shared(file, record, 1, type, &request));
            MPI(MPI_Wait(&request, &status));
        }
        CHECK_MOVED(status, BYTES);
    }
    barrier();
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, size * RECORDS);
    MPI(MPI_File_get_position_shared(other, &at));
    if (!reference) /* MPICH has one pointer for both */
        CHECK_INT(at, 0);
    CHECK_INT(file_size(name), size * RECORDS * BYTES);
    for (int i = 0; i < size * RECORDS; i++) {
        file_read(name, found, BYTES, (off_t) i * BYTES);
        for (int j = 1; j < BYTES / 4; j++)
            CHECK_INT(found[j], found[0]);
        CHECK(found[0] >= 0 && found[0] < size * RECORDS && !seen[found[0]]++);
    }
    barrier();
    /* Each record is read by one rank. */
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int own = 0, all = 0;
    for (;;) {
        MPI(MPI_File_read_shared(file, found, 1, type, &status));
        if (!moved(&status))
            break;
        own++;
    }
    MPI(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(all, size * RECORDS);
    MPI(MPI_Type_free(&type));
    MPI(MPI_File_close(&other));
    MPI(MPI_File_close(&file));
    free(seen);
}

static void ordered(int split)
{
    MPI_File file;
    MPI_Status status;
    MPI_Offset at;
    int own[100], found[100], before = 0, all = 0, number = (rank * 7) % 5; /* zero on some */
    for (int i = 0; i < 100; i++)
        own[i] = 1000 * rank + i;
    for (int r = 0; r < size; r++) {
        before += r < rank ? (r * 7) % 5 : 0;
        all += (r * 7) % 5;
    }
    barrier();
    if (rank == 0)
        unlink(name);
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 5; i++) {
        if (split) {
            MPI(MPI_File_write_ordered_begin(file, own, number, MPI_INT));
            MPI(MPI_File_write_ordered_end(file, own, &status));
        } else {
            MPI(MPI_File_write_ordered(file, own, number, MPI_INT, &status));
        }
        CHECK_MOVED(status, number * 4);
    }
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 5 * all);
    barrier();
    for (int i = 0; i < 5; i++) {
        file_read(name, found, sizeof found, 8 + 4 * (i * all + before));
        CHECK(!memcmp(found, own, (size_t) number * 4));
    }
    MPI(MPI_File_seek_shared(file, -2 * all, MPI_SEEK_CUR));
    memset(found, 0, sizeof found);
    if (split) {
        MPI(MPI_File_read_ordered_begin(file, found, number, MPI_INT));
        MPI(MPI_File_read_ordered_end(file, found, &status));
    } else {
        MPI(MPI_File_read_ordered(file, found, number, MPI_INT, &status));
    }
    CHECK_MOVED(status, number * 4);
    CHECK(!memcmp(found, own, (size_t) number * 4));
    barrier();
    if (!reference) { /* MPICH refuses an empty file */
        MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, 5 * all);
    }
    MPI(MPI_File_close(&file));
}

/* Accesses of one rank alone between those of all, without waiting: what a rank writes just before it comes counts for all. */
static void mixed(int split)
{
    enum { ROUNDS = 40 };
    int records = 2 * ROUNDS * size, found, *seen = calloc((size_t) records, sizeof *seen);
    MPI_File file;
    MPI_Offset at;
    barrier();
    if (rank == 0)
        unlink(name);
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < ROUNDS; i++) {
        int alone = (2 * i * size) + rank, together = alone + size;
        if (rank == i % size)
            usleep(300); /* the others are in the call below */
        if (split) {
            MPI(MPI_File_write_ordered_begin(file, &together, 1, MPI_INT));
            MPI(MPI_File_write_shared(file, &alone, 1, MPI_INT, MPI_STATUS_IGNORE));
            MPI(MPI_File_write_ordered_end(file, &together, MPI_STATUS_IGNORE));
        } else {
            MPI(MPI_File_write_shared(file, &alone, 1, MPI_INT, MPI_STATUS_IGNORE));
            MPI(MPI_File_write_ordered(file, &together, 1, MPI_INT, MPI_STATUS_IGNORE));
        }
    }
    barrier();
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, records);
    for (int i = 0; i < records; i++) {
        file_read(name, &found, sizeof found, (off_t) i * 4);
        CHECK(found >= 0 && found < records && !seen[found]++);
    }
    MPI(MPI_File_close(&file));
    free(seen);
}

static void sequential(void)
{
    MPI_File file;
    MPI_Offset at;
    char byte = (char) ('a' + rank);
    barrier();
    if (rank == 0)
        unlink(name);
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    MPI(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    if (!reference)
        CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    MPI(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
    barrier();
    CHECK_INT(file_size(name), 2 * size);
    file_read(name, &byte, 1, size + rank);
    CHECK_INT(byte, 'a' + rank);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "shared");
    records();
    ordered(0);
    ordered(1);
    mixed(0);
    mixed(1);
    sequential();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
