/* Nonblocking accesses, small ones and large ones: pointers move at the call, statuses, any order of completion, requests that are freed,
 * together with messages; collective ones in the order of their calls, and waited for in any. */
#include "files.h"

enum { SMALL = 200, LARGE = 1 << 18 };

static char name[NAME_BYTES];

static MPI_File fresh(MPI_Comm comm)
{
    MPI_File file = file_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_set_size(file, 0));
    MPI(MPI_Barrier(comm));
    return file;
}

static void wait_one(MPI_Request *request, long long expected)
{
    MPI_Status status;
    MPI(MPI_Wait(request, &status));
    CHECK_MOVED(status, expected);
    CHECK(*request == MPI_REQUEST_NULL);
}

/* Many at once on one handle, of all sizes, in any order. */
static void many(void)
{
    enum { MANY = 64 };
    MPI_File file = fresh(MPI_COMM_WORLD);
    MPI_Request requests[MANY];
    MPI_Status status, statuses[MANY];
    MPI_Offset at;
    unsigned char *data = malloc((size_t) MANY * LARGE), *found = malloc(LARGE);
    size_t before = 0, lengths[MANY];
    int indices[MANY], done;
    MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < MANY; i++) {
        lengths[i] = i % 3 ? (size_t) (slow() ? 1000 : LARGE) >> i % 7 : SMALL;
        fill(data + before, lengths[i], rank * MANY + i);
        before += lengths[i];
    }
    at = (MPI_Offset) before * rank;
    MPI(MPI_File_seek(file, at, MPI_SEEK_SET));
    before = 0;
    for (int i = 0; i < MANY; i++) {
        MPI_Offset now;
        MPI(MPI_File_iwrite(file, data + before, (int) lengths[i], MPI_BYTE, &requests[i]));
        before += lengths[i];
        MPI(MPI_File_get_position(file, &now));
        CHECK_INT(now, at + (MPI_Offset) before);
    }
    for (int i = 0; i < MANY; i++) {
        int index = -1;
        MPI(MPI_Waitany(MANY, requests, &index, &status));
        CHECK(index >= 0 && index < MANY);
        CHECK_MOVED(status, (long long) lengths[index]);
    }
    before = 0;
    for (int i = 0; i < MANY; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        CHECK_INT(file_read(name, found, lengths[i], at + (off_t) before), (long long) lengths[i]);
        CHECK_PATTERN(found, lengths[i], rank * MANY + i);
        before += lengths[i];
    }
    memset(data, 0, (size_t) MANY * LARGE);
    before = 0;
    for (int i = 0; i < MANY; i++) {
        MPI(MPI_File_iread_at(file, at + (MPI_Offset) before, data + before, (int) lengths[i], MPI_BYTE, &requests[i]));
        before += lengths[i];
    }
    for (int left = MANY; left > 0; left -= done) {
        MPI(MPI_Testsome(MANY, requests, &done, indices, statuses));
        for (int i = 0; i < done; i++)
            CHECK_MOVED(statuses[i], (long long) lengths[indices[i]]);
    }
    before = 0;
    for (int i = 0; i < MANY; i++) {
        CHECK_PATTERN(data + before, lengths[i], rank * MANY + i);
        before += lengths[i];
    }
    MPI(MPI_File_close(&file));
    free(data);
    free(found);
}

/* Beside messages in one call; reads that meet the end of the file. */
static void with_messages(int bytes)
{
    MPI_File file = fresh(MPI_COMM_WORLD);
    MPI_Request requests[5];
    MPI_Status statuses[5];
    unsigned char *own = malloc((size_t) bytes), *found = malloc((size_t) bytes), *beyond = malloc((size_t) bytes);
    int next = (rank + 1) % size, last = (rank + size - 1) % size, sent = rank, came = -1, flag;
    fill(own, (size_t) bytes, (uint64_t) rank);
    MPI(MPI_File_iwrite_at(file, (MPI_Offset) rank * bytes, own, bytes, MPI_BYTE, &requests[0]));
    MPI(MPI_Irecv(&came, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &requests[1]));
    MPI(MPI_Isend(&sent, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[2]));
    MPI(MPI_Waitall(3, requests, statuses));
    CHECK_INT(came, last);
    CHECK_MOVED(statuses[0], bytes);
    CHECK_STATUS(statuses[1], last, 5, 4);
    barrier();
    MPI(MPI_File_iread_at(file, (MPI_Offset) last * bytes, found, bytes, MPI_BYTE, &requests[0]));
    MPI(MPI_File_iread_at(file, (MPI_Offset) size * bytes - bytes / 2, beyond, bytes, MPI_BYTE, &requests[1]));
    MPI(MPI_File_iread_at(file, (MPI_Offset) size * bytes + 5, beyond, bytes, MPI_BYTE, &requests[2]));
    requests[3] = MPI_REQUEST_NULL;
    MPI(MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]));
    do
        MPI(MPI_Testall(5, requests, &flag, statuses));
    while (!flag);
    CHECK_MOVED(statuses[0], bytes);
    CHECK_MOVED(statuses[1], bytes / 2);
    CHECK_MOVED(statuses[2], 0);
    CHECK_PATTERN(found, (size_t) bytes, (uint64_t) last);
    MPI(MPI_File_close(&file));
    free(own);
    free(found);
    free(beyond);
}

/* A request that is freed is an access that is done all the same; what is cancelled is not; a status can be had before. */
static void odd_ends(int bytes)
{
    MPI_File file = fresh(MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Status status;
    MPI_Datatype type, view;
    unsigned char *own = malloc((size_t) bytes), *found = malloc(4 * (size_t) bytes);
    int flag;
    fill(own, (size_t) bytes, (uint64_t) rank);
    MPI(MPI_File_iwrite_at(file, (MPI_Offset) rank * bytes, own, bytes, MPI_BYTE, &request));
    MPI(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    MPI(MPI_File_close(&file)); /* after it */
    CHECK_INT(file_read(name, found, (size_t) bytes, (off_t) rank * bytes), bytes);
    CHECK_PATTERN(found, (size_t) bytes, (uint64_t) rank);
    barrier();
    file = fresh(MPI_COMM_WORLD);
    MPI(MPI_File_iwrite_at(file, (MPI_Offset) rank * bytes, own, bytes, MPI_BYTE, &request));
    if (!reference)
        MPI(MPI_Cancel(&request));
    do
        MPI(MPI_Request_get_status(request, &flag, &status));
    while (!flag);
    CHECK_MOVED(status, bytes);
    CHECK(request != MPI_REQUEST_NULL);
    do
        MPI(MPI_Test(&request, &flag, &status));
    while (!flag);
    CHECK_MOVED(status, bytes);
    MPI(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 0);
    barrier();
    /* Types are the program's to free, and the view to change, while it goes on. */
    MPI(MPI_Type_vector(bytes / 4, 1, 2, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &view));
    MPI(MPI_Type_commit(&view));
    MPI(MPI_File_set_view(file, 4 * rank, MPI_INT, view, "native", MPI_INFO_NULL));
    int *holes = malloc(2 * (size_t) bytes), *seen = calloc((size_t) size, (size_t) bytes);
    for (int i = 0; i < bytes / 2; i++)
        holes[i] = i % 2 ? -1 : rank * bytes + i;
    MPI(MPI_File_iwrite_at(file, 0, holes, 1, type, &request));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Type_free(&view));
    if (!reference)
        MPI(MPI_File_set_view(file, 99, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    wait_one(&request, bytes);
    barrier();
    CHECK_INT(file_read(name, seen, (size_t) size * bytes, 0), (long long) size * bytes);
    for (int i = 0; i < size * bytes / 4; i++)
        if (seen[i] != (i % size) * bytes + i / size * 2) {
            check_failed(__FILE__, __LINE__, "value %d is %d", i, seen[i]);
            break;
        }
    MPI(MPI_File_close(&file));
    free(own);
    free(found);
    free(holes);
    free(seen);
}

/* The shared pointer moves at the call: each record has a place of its own. */
static void by_shared_pointer(int ints)
{
    enum { RECORDS = 12 };
    MPI_File file = fresh(MPI_COMM_WORLD);
    MPI_Request requests[RECORDS];
    MPI_Offset at, before = -1;
    int *records = malloc(RECORDS * (size_t) ints * 4), *found = malloc((size_t) ints * 4), *seen = calloc(RECORDS, (size_t) size * 4);
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < RECORDS; i++) {
        for (int j = 0; j < ints; j++)
            records[i * ints + j] = rank * RECORDS + i;
        MPI(MPI_File_iwrite_shared(file, records + i * ints, ints, MPI_INT, &requests[i]));
        MPI(MPI_File_get_position_shared(file, &at));
        if (!reference)
            CHECK(at > before && at >= (i + 1) * ints);
        before = at;
    }
    MPI(MPI_Waitall(RECORDS, requests, MPI_STATUSES_IGNORE));
    barrier();
    MPI(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, size * RECORDS * ints);
    for (int i = 0; i < size * RECORDS; i++) {
        CHECK_INT(file_read(name, found, (size_t) ints * 4, (off_t) i * ints * 4), ints * 4);
        for (int j = 1; j < ints; j++)
            if (found[j] != found[0]) {
                check_failed(__FILE__, __LINE__, "record %d is torn: %d and %d", i, found[0], found[j]);
                break;
            }
        CHECK(found[0] >= 0 && found[0] < size * RECORDS && !seen[found[0]]++);
    }
    barrier();
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MPI(MPI_File_iread_shared(file, found, ints, MPI_INT, &requests[0]));
    wait_one(&requests[0], ints * 4);
    CHECK_INT(found[ints - 1], found[0]);
    MPI(MPI_File_close(&file));
    free(records);
    free(found);
    free(seen);
}

/* Collective ones: several on one handle, in the order of the calls, beside blocking ones and those of the communicator. */
static void collective(int bytes)
{
    enum { ROUNDS = 6 };
    MPI_Comm comm;
    MPI_File file;
    MPI_Request requests[2 * ROUNDS];
    MPI_Offset at;
    unsigned char *own = malloc((size_t) bytes * ROUNDS), *found = malloc((size_t) bytes * ROUNDS);
    int flag;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    file = fresh(comm);
    MPI(MPI_File_seek(file, (MPI_Offset) rank * bytes * ROUNDS, MPI_SEEK_SET));
    for (int i = 0; i < ROUNDS; i++) {
        fill(own + (size_t) i * bytes, (size_t) bytes, rank * ROUNDS + i);
        MPI(MPI_File_iwrite_all(file, own + (size_t) i * bytes, bytes, MPI_BYTE, &requests[2 * i]));
        MPI(MPI_Ibarrier(comm, &requests[2 * i + 1]));
    }
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, (MPI_Offset) (rank + 1) * bytes * ROUNDS);
    MPI(MPI_Comm_free(&comm));
    for (int i = 2 * ROUNDS - 1; i >= 0; i--)
        if (i % 2)
            MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        else
            wait_one(&requests[i], bytes);
    barrier();
    /* Each has read what another one wrote, with a blocking call behind calls that may go on. */
    int other = (rank + 1) % size;
    at = (MPI_Offset) other * bytes * ROUNDS;
    for (int i = 0; i < ROUNDS - 1; i++)
        MPI(MPI_File_iread_at_all(file, at + (MPI_Offset) i * bytes, found + (size_t) i * bytes, bytes, MPI_BYTE, &requests[i]));
    MPI(MPI_File_read_at_all(file, at + (MPI_Offset) (ROUNDS - 1) * bytes, found + (size_t) (ROUNDS - 1) * bytes, bytes, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    CHECK_PATTERN(found + (size_t) (ROUNDS - 1) * bytes, (size_t) bytes, other * ROUNDS + ROUNDS - 1);
    do
        MPI(MPI_Testall(ROUNDS - 1, requests, &flag, MPI_STATUSES_IGNORE));
    while (!flag);
    for (int i = 0; i < ROUNDS - 1; i++)
        CHECK_PATTERN(found + (size_t) i * bytes, (size_t) bytes, other * ROUNDS + i);
    /* What changes the file for all comes after what has begun, here with different amounts. */
    barrier();
    MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) rank * bytes * ROUNDS, own, rank % 2 ? bytes : 1, MPI_BYTE, &requests[0]));
    MPI(MPI_File_set_size(file, 7));
    wait_one(&requests[0], rank % 2 ? bytes : 1);
    CHECK_INT(file_size(name), 7);
    barrier();
    MPI(MPI_File_iwrite_at_all(file, 0, own, rank == 0 ? bytes : 0, MPI_BYTE, &requests[0]));
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_File_close(&file));
    barrier();
    CHECK_INT(file_size(name), bytes);
    free(own);
    free(found);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "nonblocking");
    many();
    with_messages(SMALL);
    with_messages(LARGE);
    odd_ends(SMALL);
    odd_ends(slow() ? 4096 : LARGE);
    by_shared_pointer(10);
    by_shared_pointer(30000);
    collective(SMALL);
    collective(LARGE);
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
