/* Threads with one file: the individual and the shared pointer give each record a place of its own; explicit offsets, also in atomic mode;
 * each thread with a file of its own. */
#include "files.h"
#include "threads.h"

enum { THREADS = 4, RECORDS = 100, BYTES = 64 };

static char name[NAME_BYTES];
static MPI_File one;
static int atomic_mode;

static int record_of(int thread, int i)
{
    return (rank * THREADS + thread) * RECORDS + i;
}

static void *by_pointer(void *number)
{
    int thread = (int) (intptr_t) number, record[BYTES / 4];
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < BYTES / 4; j++)
            record[j] = record_of(thread, i);
        MPI(MPI_File_write_shared(one, record, BYTES / 4, MPI_INT, MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void *with_offsets(void *number)
{
    int thread = (int) (intptr_t) number, record[BYTES / 4], found[BYTES / 4];
    MPI_Status status;
    for (int i = 0; i < RECORDS; i++) {
        MPI_Offset at = (MPI_Offset) record_of(thread, i) * BYTES;
        for (int j = 0; j < BYTES / 4; j++)
            record[j] = ~record_of(thread, i);
        MPI(MPI_File_write_at(one, at, record, BYTES / 4, MPI_INT, &status));
        MPI(MPI_File_read_at(one, at, found, BYTES / 4, MPI_INT, &status));
        CHECK_MOVED(status, BYTES);
        CHECK(!memcmp(found, record, BYTES));
    }
    return NULL;
}

static void *with_own_file(void *number)
{
    char own[NAME_BYTES + 30] = "";
    snprintf(own, sizeof own, "%s-%d-%d", name, rank, (int) (intptr_t) number);
    for (int i = 0; i < 20; i++) {
        MPI_File file = file_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        MPI(MPI_File_write(file, own, 30, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_close(&file));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int all, found[BYTES / 4], *seen;
    start_multiple(&argc, &argv);
    file_name(name, "threads");
    all = size * THREADS * RECORDS;
    seen = calloc((size_t) all, sizeof *seen);
    one = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    run_threads(THREADS, by_pointer);
    barrier();
    CHECK_INT(file_size(name), (long long) all * BYTES);
    for (int i = 0; i < all; i++) {
        file_read(name, found, BYTES, (off_t) i * BYTES);
        for (int j = 1; j < BYTES / 4; j++)
            CHECK_INT(found[j], found[0]);
        CHECK(found[0] >= 0 && found[0] < all && !seen[found[0]]++);
    }
    for (atomic_mode = 0; atomic_mode < 2; atomic_mode++) {
        barrier();
        MPI(MPI_File_set_atomicity(one, atomic_mode));
        run_threads(THREADS, with_offsets);
    }
    run_threads(THREADS, with_own_file);
    MPI(MPI_File_close(&one));
    free(seen);
    return finish();
}
