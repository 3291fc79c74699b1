/* What has begun goes on while the program calls nothing of MPI: a file is complete before its requests are waited for. And no call that
 * begins something waits for another rank. */
#include "files.h"
#include <sched.h>

enum { BYTES = 4 << 20 };

static char name[NAME_BYTES], other_name[NAME_BYTES];
static unsigned char *own;

/* Without a call of MPI: returns when the file has this byte at an offset. */
static void await_byte(const char *file, off_t at, unsigned char expected)
{
    int descriptor = open(file, O_RDONLY);
    unsigned char byte = 0;
    CHECK(descriptor >= 0);
    while (pread(descriptor, &byte, 1, at) != 1 || byte != expected)
        sched_yield();
    close(descriptor);
}

/* The file's bytes are written in ascending order: the last one is there when all are. */
static void independent(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Request request;
    MPI_Status status;
    MPI(MPI_File_iwrite_at(file, (MPI_Offset) rank * BYTES, own, BYTES, MPI_BYTE, &request));
    await_byte(name, (off_t) (rank + 1) * BYTES - 1, own[BYTES - 1]);
    MPI(MPI_Wait(&request, &status));
    CHECK_MOVED(status, BYTES);
    MPI(MPI_File_close(&file));
}

/* No rank enters MPI until all have seen what all wrote. */
static void collective(void)
{
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    barrier();
    if (rank == 0)
        unlink(name);
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) rank * BYTES, own, BYTES, MPI_BYTE, &request));
    for (int r = 0; r < size; r++)
        await_byte(name, (off_t) (r + 1) * BYTES - 1, (unsigned char) (r + 1));
    MPI(MPI_Wait(&request, &status));
    CHECK_MOVED(status, BYTES);
    MPI(MPI_File_close(&file));
}

/* Each rank waits for a message that the one before it sends when it has begun: so nobody has waited in the call. */
static void chain(int bytes)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI_Request request;
    int token = 0;
    for (int back = 0; back < 2; back++) {
        int from = back ? rank + 1 : rank - 1, to = back ? rank - 1 : rank + 1;
        if (from >= 0 && from < size)
            MPI(MPI_Recv(&token, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) rank * bytes, own, bytes, MPI_BYTE, &request));
        if (to >= 0 && to < size)
            MPI(MPI_Send(&token, 1, MPI_INT, to, 3, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (from >= 0 && from < size)
            MPI(MPI_Recv(&token, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_File_write_at_all_begin(file, (MPI_Offset) rank * bytes, own, bytes, MPI_BYTE));
        if (to >= 0 && to < size)
            MPI(MPI_Send(&token, 1, MPI_INT, to, 3, MPI_COMM_WORLD));
        MPI(MPI_File_write_at_all_end(file, own, MPI_STATUS_IGNORE));
    }
    MPI(MPI_File_close(&file));
}

/* Two files in another order on every other rank; and what has nothing to do with other ranks does not wait for them. */
static void orders(void)
{
    MPI_File files[2], self;
    MPI_Request requests[2], alone;
    MPI_Status status;
    char own_name[NAME_BYTES + 20];
    int token = 0;
    files[0] = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    files[1] = file_open(MPI_COMM_WORLD, other_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    snprintf(own_name, sizeof own_name, "%s-%d", name, rank);
    self = file_open(MPI_COMM_SELF, own_name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < 2; i++) {
        int one = (rank + i) % 2;
        /* The last rank begins when all others have ended an access of their own behind the first. */
        if (i == 0 && rank == size - 1)
            for (int r = 0; r < size - 1; r++)
                MPI(MPI_Recv(&token, 1, MPI_INT, r, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_File_iwrite_at_all(files[one], (MPI_Offset) rank * BYTES, own, BYTES, MPI_BYTE, &requests[one]));
        if (i == 0) {
            MPI(MPI_File_iwrite_at(self, 0, own, BYTES, MPI_BYTE, &alone));
            MPI(MPI_Wait(&alone, &status));
            CHECK_MOVED(status, BYTES);
            MPI(MPI_File_iwrite_at(files[one], (MPI_Offset) (size + rank) * BYTES, own, BYTES, MPI_BYTE, &alone));
            MPI(MPI_Wait(&alone, &status));
            CHECK_MOVED(status, BYTES);
            if (rank < size - 1)
                MPI(MPI_Send(&token, 1, MPI_INT, size - 1, 4, MPI_COMM_WORLD));
        }
    }
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&self));
    MPI(MPI_File_close(&files[0]));
    MPI(MPI_File_close(&files[1]));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    own = malloc(BYTES);
    memset(own, rank + 1, BYTES);
    file_name(name, "progress");
    snprintf(other_name, sizeof other_name, "%.*s-other", NAME_BYTES - 10, name);
    independent();
    collective();
    chain(100);
    chain(BYTES);
    if (size > 1)
        orders();
    barrier();
    if (rank == 0)
        unlink(name);
    free(own);
    return finish();
}
