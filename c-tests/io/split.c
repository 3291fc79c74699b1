/* Split collective operations: all six kinds with small and large data, on several handles at once, with accesses of other kinds and late
 * ranks in between. */
#include "files.h"

static char name[NAME_BYTES], other_name[NAME_BYTES];
enum { LARGE = 50000 };

static int value_of(int r, int round, int i)
{
    return (r * 10 + round) * 100000 + i;
}

static void make(int *values, int count, int round)
{
    for (int i = 0; i < count; i++)
        values[i] = value_of(rank, round, i);
}

static void check(const int *values, int count, int r, int round)
{
    for (int i = 0; i < count; i++)
        if (values[i] != value_of(r, round, i)) {
            check_failed(__FILE__, __LINE__, "value %d of rank %d in round %d is %d", i, r, round, values[i]);
            break;
        }
}

static void kinds(int count)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset at;
    int *own = malloc(3 * (size_t) count * 4), *found = malloc(3 * (size_t) count * 4), extra = 77, seen = 0, error;
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI(MPI_File_set_size(file, 0));
    for (int round = 0; round < 3; round++)
        make(own + round * count, count, round);
    MPI(MPI_File_write_at_all_begin(file, rank * count, own, count, MPI_INT));
    /* Other accesses may come in between. */
    MPI(MPI_File_write_at(file, 3 * size * count + rank, &extra, 1, MPI_INT, &status));
    if (!reference) {
        error = MPI_File_read_all_begin(file, found, count, MPI_INT);
        CHECK_CLASS(error, MPI_ERR_OTHER);
    }
    MPI(MPI_File_write_at_all_end(file, own, &status));
    CHECK_MOVED(status, 4 * count);
    MPI(MPI_File_seek(file, (size + rank) * count, MPI_SEEK_SET));
    MPI(MPI_File_write_all_begin(file, own + count, count, MPI_INT));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, (size + rank + 1) * count);
    MPI(MPI_File_read_at(file, 3 * size * count + rank, &seen, 1, MPI_INT, &status));
    CHECK_INT(seen, 77);
    MPI(MPI_File_write_all_end(file, own + count, MPI_STATUS_IGNORE));
    MPI(MPI_File_seek_shared(file, 2 * size * count, MPI_SEEK_SET));
    MPI(MPI_File_write_ordered_begin(file, own + 2 * count, count, MPI_INT));
    MPI(MPI_File_write_ordered_end(file, own + 2 * count, &status));
    CHECK_MOVED(status, 4 * count);
    barrier();
    int next = (rank + 1) % size;
    MPI(MPI_File_read_at_all_begin(file, next * count, found, count, MPI_INT));
    MPI(MPI_File_read_at_all_end(file, found, &status));
    CHECK_MOVED(status, 4 * count);
    check(found, count, next, 0);
    MPI(MPI_File_seek(file, (size + next) * count, MPI_SEEK_SET));
    MPI(MPI_File_read_all_begin(file, found, count, MPI_INT));
    MPI(MPI_File_read_all_end(file, found, &status));
    check(found, count, next, 1);
    MPI(MPI_File_seek_shared(file, 2 * size * count, MPI_SEEK_SET));
    MPI(MPI_File_read_ordered_begin(file, found, count, MPI_INT));
    MPI(MPI_File_read_ordered_end(file, found, &status));
    CHECK_MOVED(status, 4 * count);
    check(found, count, rank, 2);
    barrier();
    /* Nothing for some ranks, and the end of the file for others. */
    MPI(MPI_File_read_at_all_begin(file, 3 * size * count + size - 1, found, rank % 2 ? 0 : count, MPI_INT));
    MPI(MPI_File_read_at_all_end(file, found, &status));
    CHECK_MOVED(status, rank % 2 ? 0 : 4);
    MPI(MPI_File_close(&file));
    free(own);
    free(found);
}

/* On two handles at once with a request on a third, begun late by one rank, which first waits for messages of the others. */
static void several(int count)
{
    MPI_File files[3];
    MPI_Request request;
    MPI_Datatype type;
    int *own = malloc(3 * (size_t) count * 4), *found = malloc((size_t) count * 4), token = 0;
    for (int i = 0; i < 3; i++) {
        files[i] = file_open(MPI_COMM_WORLD, i == 2 ? other_name : name, MPI_MODE_RDWR | MPI_MODE_CREATE);
        make(own + i * count, count, i);
    }
    if (rank == 0 && !reference) /* where to begin is to wait for the others, as it may */
        for (int r = 1; r < size; r++)
            MPI(MPI_Recv(&token, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI(MPI_Type_contiguous(count, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_File_write_at_all_begin(files[0], (MPI_Offset) 4 * rank * count, own, 1, type));
    MPI(MPI_File_write_at_all_begin(files[1], (MPI_Offset) 4 * (size + rank) * count, own + count, 1, type));
    MPI(MPI_Type_free(&type));
    MPI(MPI_File_iwrite_at_all(files[2], (MPI_Offset) 4 * rank * count, own + 2 * count, count, MPI_INT, &request));
    if (rank > 0 && !reference)
        MPI(MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
    MPI(MPI_File_write_at_all_end(files[1], own + count, MPI_STATUS_IGNORE));
    MPI(MPI_File_write_at_all_end(files[0], own, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) {
        off_t at = (off_t) 4 * ((i == 1 ? size : 0) + rank) * count;
        CHECK_INT(file_read(i == 2 ? other_name : name, found, (size_t) count * 4, at), count * 4);
        check(found, count, rank, i);
        MPI(MPI_File_close(&files[i]));
    }
    free(own);
    free(found);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "split");
    snprintf(other_name, sizeof other_name, "%.*s-other", NAME_BYTES - 10, name);
    kinds(5);
    kinds(LARGE);
    several(5);
    several(LARGE);
    barrier();
    if (rank == 0) {
        unlink(name);
        unlink(other_name);
    }
    return finish();
}
