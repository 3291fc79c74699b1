/* Whose error handler the functions of files and windows call. Functions of files without an open file have the handler that
 * is set on MPI_FILE_NULL, by default MPI_ERRORS_RETURN (MPI 5.0, 14.7); MPI_Win_create has the communicator's. */
#include "check.h"

static int comm_calls, file_calls, last_class;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    last_class = check_class_of(*code);
    comm_calls++;
}

static void on_file(MPI_File *file, int *code, ...)
{
    CHECK(*file == MPI_FILE_NULL);
    last_class = check_class_of(*code);
    file_calls++;
}

static void called(int by_comm, int by_file)
{
    CHECK_INT(comm_calls, by_comm);
    CHECK_INT(file_calls, by_file);
    comm_calls = file_calls = 0;
}

static void fail_on_files(int by_file)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset size;
    int amode;
    CHECK(MPI_File_open(MPI_COMM_WORLD, "/no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    called(0, by_file);
    CHECK(MPI_File_open(MPI_COMM_SELF, "/no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    called(0, by_file);
    CHECK(MPI_File_delete("/no/such/directory/file", MPI_INFO_NULL) != MPI_SUCCESS);
    called(0, by_file);
    file = MPI_FILE_NULL;
    CHECK(MPI_File_get_size(file, &size) != MPI_SUCCESS);
    called(0, by_file);
    CHECK(MPI_File_get_amode(file, &amode) != MPI_SUCCESS);
    called(0, by_file);
    CHECK(MPI_File_close(&file) != MPI_SUCCESS);
    called(0, by_file);
}

int main(int argc, char **argv)
{
    MPI_Errhandler comm_handler, file_handler, found;
    MPI_Win win;
    int memory[4];
    start(&argc, &argv);

    /* With the default handlers nothing of files is fatal. */
    fail_on_files(0);
    MPI(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == MPI_ERRORS_RETURN);

    MPI(MPI_Comm_create_errhandler(on_comm, &comm_handler));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler));
    fail_on_files(0);
    MPI(MPI_File_create_errhandler(on_file, &file_handler));
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, file_handler));
    if (!reference) /* MPICH 4.0.2 clears the code of failed calls behind a handler. */
        fail_on_files(1);
    MPI(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_AMODE));
    CHECK_INT(last_class, MPI_ERR_AMODE);
    called(0, 1);

    /* Windows: no handler but the communicator's before there is a window. */
    CHECK(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win) != MPI_SUCCESS);
    called(1, 0);
    CHECK(MPI_Win_fence(0, MPI_WIN_NULL) != MPI_SUCCESS);
    called(1, 0);

    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MPI(MPI_Errhandler_free(&file_handler));
    MPI(MPI_Errhandler_free(&comm_handler));
    return finish();
}
