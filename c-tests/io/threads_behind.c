/* Threads and what goes on behind their calls: collective accesses in a file of each thread's own, records of all threads by one pointer, and
 * messages while another thread is inside of a write. */
#include "interposed_pwrite.h"
#include "threads.h"

enum { THREADS = 8, RECORDS = 6, BYTES = 100000 };

static char name[NAME_BYTES];
static MPI_Comm comms[THREADS];
static MPI_File one;
static volatile sig_atomic_t is_inside, may_go;

static void *with_own_file(void *number)
{
    int thread = (int) (intptr_t) number;
    char own[NAME_BYTES + 30];
    unsigned char *data = malloc(BYTES), *found = malloc(BYTES);
    MPI_Request requests[2];
    MPI_File file;
    snprintf(own, sizeof own, "%s-%d", name, thread);
    file = file_open(comms[thread], own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < (slow() ? 1 : 4); i++) {
        int bytes = i % 2 ? BYTES : 100, other = (rank + 1) % size;
        uint64_t seed = (uint64_t) (thread * 10 + i) * 64;
        fill(data, (size_t) bytes, seed + (uint64_t) rank);
        MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) rank * bytes, data, bytes, MPI_BYTE, &requests[0]));
        MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        MPI(MPI_File_read_at_all(file, (MPI_Offset) rank * bytes, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_PATTERN(found, (size_t) bytes, seed + (uint64_t) rank);
        MPI(MPI_File_iread_at_all(file, (MPI_Offset) other * bytes, found, bytes, MPI_BYTE, &requests[0]));
        MPI(MPI_Ibarrier(comms[thread], &requests[1]));
        MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_PATTERN(found, (size_t) bytes, seed + (uint64_t) other);
        MPI(MPI_Barrier(comms[thread]));
    }
    MPI(MPI_File_close(&file));
    free(data);
    free(found);
    return NULL;
}

/* Each record has a place of its own, by whichever thread and of whatever size. */
static void *by_pointer(void *number)
{
    int thread = (int) (intptr_t) number, ints = BYTES / 4;
    int *records = malloc((size_t) RECORDS * BYTES);
    MPI_Request requests[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < ints; j++)
            records[i * ints + j] = thread * RECORDS + i;
        if (i % 3)
            MPI(MPI_File_iwrite(one, records + i * ints, ints, MPI_INT, &requests[i]));
        else
            MPI(MPI_File_write(one, records + i * ints, ints, MPI_INT, MPI_STATUS_IGNORE));
        if (i % 3 == 0)
            requests[i] = MPI_REQUEST_NULL;
    }
    MPI(MPI_Waitall(RECORDS, requests, MPI_STATUSES_IGNORE));
    free(records);
    return NULL;
}

static void records(void)
{
    char own[NAME_BYTES + 30];
    int seen[THREADS * RECORDS] = { 0 }, *found = malloc(BYTES);
    snprintf(own, sizeof own, "%s-of-%d", name, rank);
    one = file_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    run_threads(THREADS, by_pointer);
    CHECK_INT(file_size(own), (long long) THREADS * RECORDS * BYTES);
    for (int i = 0; i < THREADS * RECORDS; i++) {
        file_read(own, found, BYTES, (off_t) i * BYTES);
        for (int j = 1; j < BYTES / 4; j++)
            if (found[j] != found[0]) {
                check_failed(__FILE__, __LINE__, "record %d is torn", i);
                break;
            }
        CHECK(found[0] >= 0 && found[0] < THREADS * RECORDS && !seen[found[0]]++);
    }
    MPI(MPI_File_close(&one));
    free(found);
}

static void stay_inside(void)
{
    is_inside = 1;
    while (!may_go)
        usleep(100);
}

/* The write of the first thread ends after the second one's messages, which come while it is inside. */
static void *write_or_talk(void *number)
{
    int token = rank, all = 0, bytes = BYTES;
    if ((intptr_t) number == 0) {
        char *data = calloc(1, (size_t) bytes);
        MPI(MPI_File_write_at(one, (MPI_Offset) rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        free(data);
        return NULL;
    }
    while (!is_inside)
        usleep(100);
    for (int i = 0; i < 20; i++)
        MPI(MPI_Allreduce(&token, &all, 1, MPI_INT, MPI_SUM, comms[1]));
    CHECK_INT(all, size * (size - 1) / 2);
    MPI(MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 8, &all, 1, MPI_INT, (rank + size - 1) % size, 8, comms[1], MPI_STATUS_IGNORE));
    CHECK_INT(all, (rank + size - 1) % size);
    may_go = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    file_name(name, "behind");
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, with_own_file);
    records();
    one = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int atomic = 0; atomic < 2; atomic++) {
        MPI(MPI_File_set_atomicity(one, atomic));
        is_inside = may_go = 0;
        before_writes = stay_inside;
        run_threads(2, write_or_talk);
        before_writes = NULL;
    }
    MPI(MPI_File_close(&one));
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish();
}
