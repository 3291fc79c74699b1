/* Files with a process that has died: collective calls end, with MPIX_ERR_PROC_FAILED or without an error, and those of one process alone work. The same
 * of a file that is opened by those who are left. args: how the last rank dies. */
#include "failing.h"

enum { BYTES = 5000 };
static char out[BYTES], in[BYTES];
static int failures;

static void ends(int code, const char *call)
{
    int class = code == MPI_SUCCESS ? MPI_SUCCESS : check_class_of(code);
    if (class != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED)
        check_failed(__FILE__, __LINE__, "error class %d of %s", class, call);
    failures += class != MPI_SUCCESS;
}

#define ENDS(call) ends(call, #call)

static void check_data(MPI_File file, int me)
{
    fill(out, BYTES, me);
    memset(in, 0, BYTES);
    MPI(MPI_File_write_at(file, (MPI_Offset) me * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI(MPI_File_read_at(file, (MPI_Offset) me * BYTES, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, BYTES, me);
}

int main(int argc, char **argv)
{
    MPI_File file, other;
    MPI_Comm left;
    MPI_Request request;
    MPI_Offset offset;
    char path[200], second[210];
    int pid = getpid(), me;
    start_failing(&argc, &argv);
    MPI(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "%s/oxmpi-files-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", pid);
    snprintf(second, sizeof second, "%s-2", path);
    MPI(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI(MPI_File_write_at_all(file, (MPI_Offset) rank * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI(MPI_File_sync(file));
    last_is_dead(argv[1]);
    check_data(file, rank);
    MPI(MPI_File_iwrite_at(file, (MPI_Offset) rank * BYTES, out, BYTES, MPI_BYTE, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_File_get_size(file, &offset));
    ENDS(MPI_File_write_at_all(file, (MPI_Offset) rank * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    ENDS(MPI_File_read_at_all(file, (MPI_Offset) rank * BYTES, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    ENDS(MPI_File_write_all(file, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    ENDS(MPI_File_read_all(file, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    int code = MPI_File_iwrite_at_all(file, (MPI_Offset) rank * BYTES, out, BYTES, MPI_BYTE, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    ENDS(code);
    code = MPI_File_write_at_all_begin(file, (MPI_Offset) rank * BYTES, out, BYTES, MPI_BYTE);
    if (code == MPI_SUCCESS)
        code = MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    ENDS(code);
    ENDS(MPI_File_write_shared(file, out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    ENDS(MPI_File_write_ordered(file, out, 8, MPI_BYTE, MPI_STATUS_IGNORE));
    ENDS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ENDS(MPI_File_set_size(file, 100 * BYTES));
    ENDS(MPI_File_preallocate(file, 100 * BYTES));
    ENDS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    ENDS(MPI_File_set_atomicity(file, 1));
    ENDS(MPI_File_sync(file));
    CHECK(failures > 0);
    ENDS(MPI_File_close(&file));
    MPI(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    MPI(MPI_Comm_rank(left, &me));
    MPI(MPI_File_open(left, second, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &other));
    fill(out, BYTES, me + 50);
    MPI(MPI_File_write_at_all(other, (MPI_Offset) me * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI(MPI_File_read_at_all(other, (MPI_Offset) me * BYTES, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_PATTERN(in, BYTES, me + 50);
    check_data(other, me);
    MPI(MPI_File_close(&other));
    MPI(MPI_Barrier(left));
    MPI(MPI_Comm_free(&left));
    if (rank == 0)
        unlink(path);
    return finish();
}
