/* Split collective operations: of several files at once, beside accesses of the same file, with a rank that comes late, every kind, and the
 * wrong ends and beginnings. */
#include "files.h"

static char name[NAME_BYTES], other_name[NAME_BYTES + 8];
enum { EACH = 4000, KINDS = 6 };

static MPI_Offset own_place(void)
{
    return (MPI_Offset) rank * EACH;
}

static int begin(MPI_File file, int kind, void *buffer)
{
    switch (kind) {
    case 0:
        return MPI_File_write_at_all_begin(file, own_place(), buffer, EACH, MPI_BYTE);
    case 1:
        return MPI_File_write_all_begin(file, buffer, EACH, MPI_BYTE);
    case 2:
        return MPI_File_write_ordered_begin(file, buffer, EACH, MPI_BYTE);
    case 3:
        return MPI_File_read_at_all_begin(file, own_place(), buffer, EACH, MPI_BYTE);
    case 4:
        return MPI_File_read_all_begin(file, buffer, EACH, MPI_BYTE);
    default:
        return MPI_File_read_ordered_begin(file, buffer, EACH, MPI_BYTE);
    }
}

static int end(MPI_File file, int kind, void *buffer, MPI_Status *status)
{
    switch (kind) {
    case 0:
        return MPI_File_write_at_all_end(file, buffer, status);
    case 1:
        return MPI_File_write_all_end(file, buffer, status);
    case 2:
        return MPI_File_write_ordered_end(file, buffer, status);
    case 3:
        return MPI_File_read_at_all_end(file, buffer, status);
    case 4:
        return MPI_File_read_all_end(file, buffer, status);
    default:
        return MPI_File_read_ordered_end(file, buffer, status);
    }
}

static void pointers(MPI_File file)
{
    MPI(MPI_File_seek(file, own_place(), MPI_SEEK_SET));
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

static void each_kind(MPI_File file)
{
    static unsigned char own[EACH], found[EACH];
    MPI_Status status;
    MPI_Offset at;
    for (int kind = 0; kind < KINDS; kind++) {
        int reads = kind >= 3;
        uint64_t seed = (uint64_t) (1 + 10 * (reads ? 2 : kind) + rank);
        fill(own, EACH, seed);
        pointers(file);
        spoil(&status);
        MPI(begin(file, kind, reads ? found : own));
        MPI(end(file, kind, reads ? found : own, &status));
        CHECK_MOVED(status, EACH);
        if (reads)
            CHECK_PATTERN(found, EACH, seed);
        barrier();
        CHECK_INT(file_read(name, found, EACH, own_place()), EACH);
        CHECK_PATTERN(found, EACH, seed);
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, own_place() + (kind % 3 == 1 ? EACH : 0));
        MPI(MPI_File_get_position_shared(file, &at));
        CHECK_INT(at, kind % 3 == 2 ? (long long) size * EACH : 0);
        /* Nothing on most ranks. */
        pointers(file);
        MPI(begin(file, kind, reads ? found : own));
        MPI(end(file, kind, reads ? found : own, MPI_STATUS_IGNORE));
        barrier();
    }
}

/* Every end but the right one is refused, and so is a second beginning; the one that is active goes on. */
static void wrong_ones(MPI_File file)
{
    static unsigned char own[EACH], more[EACH];
    MPI_Status status;
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK_CLASS(end(file, kind, own, &status), MPI_ERR_OTHER);
        pointers(file);
        MPI(begin(file, kind, own));
        for (int second = 0; second < KINDS; second++) {
            CHECK_CLASS(begin(file, second, more), MPI_ERR_OTHER);
            if (second != kind)
                CHECK_CLASS(end(file, second, own, &status), MPI_ERR_OTHER);
        }
        MPI_File copy = file;
        CHECK_CLASS(MPI_File_close(&copy), MPI_ERR_OTHER);
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_OTHER);
        CHECK_CLASS(MPI_File_set_size(file, 5), MPI_ERR_OTHER);
        CHECK_CLASS(MPI_File_sync(file), MPI_ERR_OTHER);
        MPI(end(file, kind, own, &status));
        CHECK_MOVED(status, EACH);
        CHECK_CLASS(end(file, kind, own, &status), MPI_ERR_OTHER);
    }
    barrier();
}

/* Independent and nonblocking accesses between the two calls, a split operation of another file inside, ranks that come late. */
static void beside(MPI_File file)
{
    static unsigned char own[EACH], others[EACH], third[EACH], found[EACH];
    MPI_Offset behind = (MPI_Offset) size * EACH + own_place();
    MPI_File other = file_open(MPI_COMM_WORLD, other_name, MPI_MODE_RDWR | MPI_MODE_CREATE), again;
    MPI_Request request;
    MPI_Status status;
    int token = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t seed = (uint64_t) (1000 + 10 * round + rank);
        fill(own, EACH, seed);
        fill(others, EACH, seed + 300);
        fill(third, EACH, seed + 600);
        again = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
        /* The last rank begins when the first one tells it: the others may not depend on it before they end. */
        if (rank == size - 1 && size > 1)
            MPI(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank == 0 && size > 1)
            MPI(MPI_Send(&token, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD));
        MPI(MPI_File_write_at_all_begin(file, own_place(), own, EACH, MPI_BYTE));
        MPI(MPI_File_write_at_all_begin(other, own_place(), others, EACH, MPI_BYTE));
        MPI(MPI_File_iwrite_at(file, behind, third, EACH, MPI_BYTE, &request));
        MPI(MPI_File_read_at_all_begin(again, 0, found, 0, MPI_BYTE));
        MPI(MPI_File_get_position(file, &(MPI_Offset) {0}));
        MPI(MPI_Wait(&request, &status));
        CHECK_MOVED(status, EACH);
        MPI(MPI_File_read_at(file, behind, found, EACH, MPI_BYTE, &status));
        CHECK_PATTERN(found, EACH, seed + 600);
        MPI(MPI_File_read_at_all_end(again, found, &status));
        MPI(MPI_File_write_at_all_end(other, others, &status));
        CHECK_MOVED(status, EACH);
        MPI(MPI_File_write_at_all_end(file, own, &status));
        CHECK_MOVED(status, EACH);
        MPI(MPI_File_close(&again));
        CHECK_INT(file_read(name, found, EACH, own_place()), EACH);
        CHECK_PATTERN(found, EACH, seed);
        CHECK_INT(file_read(other_name, found, EACH, own_place()), EACH);
        CHECK_PATTERN(found, EACH, seed + 300);
    }
    MPI(MPI_File_close(&other));
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "split");
    snprintf(other_name, sizeof other_name, "%s.other", name);
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    each_kind(file);
    wrong_ones(file);
    beside(file);
    MPI(MPI_File_close(&file));
    barrier();
    if (rank == 0) {
        unlink(name);
        unlink(other_name);
    }
    return finish();
}
