/* Atomic mode: what ranks write over each other, with holes, is all of one or all of another for whoever reads: with explicit offsets, both
 * pointers, collective and nonblocking calls, through several handles of the file, and after the view has changed. */
#include "files.h"

enum { PIECES = 200 };

static char name[NAME_BYTES];

static void is_whole(const int *values, int line)
{
    for (int i = 1; i < PIECES; i++)
        if (values[i] != values[0]) {
            check_failed(__FILE__, line, "value %d is %d, the first is %d", i, values[i], values[0]);
            break;
        }
}

static void set_view(MPI_File file, int stride)
{
    MPI_Datatype filetype;
    MPI(MPI_Type_create_resized(MPI_INT, 0, 4 * stride, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&filetype));
}

/* One round: the even ranks write, the others read and then write. `form` is how. */
static void access_by(MPI_File file, int *values, int writes, int form)
{
    MPI_Status status;
    MPI_Request request;
    switch (form) {
    case 0:
        MPI(writes ? MPI_File_write_at(file, 0, values, PIECES, MPI_INT, &status)
                   : MPI_File_read_at(file, 0, values, PIECES, MPI_INT, &status));
        break;
    case 1:
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI(writes ? MPI_File_write(file, values, PIECES, MPI_INT, &status) : MPI_File_read(file, values, PIECES, MPI_INT, &status));
        break;
    case 2:
        MPI(writes ? MPI_File_iwrite_at(file, 0, values, PIECES, MPI_INT, &request)
                   : MPI_File_iread_at(file, 0, values, PIECES, MPI_INT, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    case 3:
        MPI(writes ? MPI_File_write_at_all(file, 0, values, PIECES, MPI_INT, &status)
                   : MPI_File_read_at_all(file, 0, values, PIECES, MPI_INT, &status));
        break;
    default:
        MPI(writes ? MPI_File_iwrite_at_all(file, 0, values, PIECES, MPI_INT, &request)
                   : MPI_File_iread_at_all(file, 0, values, PIECES, MPI_INT, &request));
        MPI(MPI_Wait(&request, &status));
    }
    CHECK_MOVED(status, 4 * PIECES);
}

static void rounds_of(MPI_File file, MPI_File own, int form, int rounds)
{
    int values[PIECES], is_collective = form > 2;
    for (int round = 1; round <= rounds; round++) {
        if (is_collective || rank % 2) {
            access_by(round % 2 || is_collective ? file : own, values, 0, form);
            is_whole(values, __LINE__);
        }
        for (int i = 0; i < PIECES; i++)
            values[i] = rank * 100000 + round;
        access_by(file, values, 1, form);
    }
}

/* The first access of each round begins anew, so that records lie over each other. */
static void by_shared_pointer(MPI_File file, int rounds)
{
    int values[PIECES];
    MPI_Status status;
    for (int round = 1; round <= rounds; round++) {
        MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        for (int i = 0; i < PIECES; i++)
            values[i] = rank * 100000 + round;
        MPI(MPI_File_write_shared(file, values, PIECES, MPI_INT, &status));
        CHECK_MOVED(status, 4 * PIECES);
        MPI(MPI_File_read_at(file, 0, values, PIECES, MPI_INT, &status));
        is_whole(values, __LINE__);
        MPI(MPI_File_write_ordered(file, values, PIECES, MPI_INT, &status));
    }
}

int main(int argc, char **argv)
{
    int rounds, flag, zeros[PIECES] = { 0 };
    MPI_File file, own;
    start(&argc, &argv);
    rounds = slow() || reference ? 20 : argc > 1 ? atoi(argv[1]) : 200;
    file_name(name, "atomic");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    own = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    MPI(MPI_File_set_size(file, PIECES * 16));
    MPI(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_File_set_atomicity(file, 1));
    MPI(MPI_File_set_atomicity(own, 1));
    MPI(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 1);
    for (int stride = 3; stride <= 4; stride++) {
        set_view(file, stride);
        set_view(own, stride);
        if (rank == 0)
            MPI(MPI_File_write_at(file, 0, zeros, PIECES, MPI_INT, MPI_STATUS_IGNORE));
        barrier();
        for (int form = 0; form < 5; form++) {
            rounds_of(file, own, form, form > 2 ? rounds / 4 : rounds);
            barrier();
        }
        by_shared_pointer(file, rounds / 4);
        barrier();
    }
    MPI(MPI_File_close(&own));
    MPI(MPI_File_close(&file));
    return finish();
}
