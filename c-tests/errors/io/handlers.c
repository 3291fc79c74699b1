/* Error handlers of files, and every function with MPI_FILE_NULL and with a file that is closed. arg: "fatal" and "abort" end the job by an
 * error of a file. */
#include "files.h"
#include "wrong.h"

static char name[NAME_BYTES];
static int called, seen_class;
static MPI_File seen;

static void handler(MPI_File *file, int *code, ...)
{
    called++;
    seen = *file;
    seen_class = check_class_of(*code);
}

/* A handler of the program's own may change the code's class, make new ones, and call MPI. */
static int new_class;
static void inventive(MPI_File *file, int *code, ...)
{
    int own;
    (void) file;
    (void) code;
    called++;
    MPI(MPI_Add_error_class(&new_class));
    MPI(MPI_Add_error_code(new_class, &own));
    MPI(MPI_Add_error_string(own, "a class of the handler"));
    MPI(MPI_Barrier(MPI_COMM_SELF));
}

#define EACH_FUNCTION(file) do { \
        TRY(MPI_File_close, &copy); \
        TRY(MPI_File_set_size, file, 1); \
        TRY(MPI_File_preallocate, file, 1); \
        TRY(MPI_File_get_size, file, &offset); \
        TRY(MPI_File_get_group, file, &group); \
        TRY(MPI_File_get_amode, file, &number); \
        TRY(MPI_File_set_info, file, MPI_INFO_NULL); \
        TRY(MPI_File_get_info, file, &info); \
        TRY(MPI_File_set_view, file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); \
        TRY(MPI_File_get_view, file, &offset, &type, &type, text); \
        TRY(MPI_File_read_at, file, 0, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_read_at_all, file, 0, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write_at, file, 0, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write_at_all, file, 0, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_iread_at, file, 0, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iwrite_at, file, 0, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iread_at_all, file, 0, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iwrite_at_all, file, 0, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_read, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_read_all, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write_all, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_iread, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iwrite, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iread_all, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iwrite_all, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_seek, file, 0, MPI_SEEK_SET); \
        TRY(MPI_File_get_position, file, &offset); \
        TRY(MPI_File_get_byte_offset, file, 0, &offset); \
        TRY(MPI_File_read_shared, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write_shared, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_iread_shared, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_iwrite_shared, file, buffer, 1, MPI_BYTE, &request); \
        TRY(MPI_File_read_ordered, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_write_ordered, file, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_seek_shared, file, 0, MPI_SEEK_SET); \
        TRY(MPI_File_get_position_shared, file, &offset); \
        TRY(MPI_File_read_at_all_begin, file, 0, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_read_at_all_end, file, buffer, &status); \
        TRY(MPI_File_write_at_all_begin, file, 0, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_write_at_all_end, file, buffer, &status); \
        TRY(MPI_File_read_all_begin, file, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_read_all_end, file, buffer, &status); \
        TRY(MPI_File_write_all_begin, file, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_write_all_end, file, buffer, &status); \
        TRY(MPI_File_read_ordered_begin, file, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_read_ordered_end, file, buffer, &status); \
        TRY(MPI_File_write_ordered_begin, file, buffer, 1, MPI_BYTE); \
        TRY(MPI_File_write_ordered_end, file, buffer, &status); \
        TRY(MPI_File_get_type_extent, file, MPI_INT, &extent); \
        TRY(MPI_File_set_atomicity, file, 1); \
        TRY(MPI_File_get_atomicity, file, &number); \
        TRY(MPI_File_sync, file); \
        TRY(MPI_File_write_at_c, file, 0, buffer, 1, MPI_BYTE, &status); \
        TRY(MPI_File_read_all_c, file, buffer, 1, MPI_BYTE, &status); \
    } while (0)

/* The class, the function's name in the text, and that the handler of MPI_FILE_NULL was called once. */
#define TRY(function, ...) do { \
        int before = called, code_ = function(__VA_ARGS__); \
        check_class(__FILE__, __LINE__, #function, code_, MPI_ERR_FILE); \
        check_error_text(__FILE__, __LINE__, code_, #function, "fh", NULL); \
        CHECK_INT(called, before + 1); \
        CHECK(seen == MPI_FILE_NULL); \
        CHECK_INT(seen_class, MPI_ERR_FILE); \
    } while (0)

static void no_file(MPI_File file)
{
    char buffer[8], text[MPI_MAX_DATAREP_STRING];
    MPI_File copy = file;
    MPI_Offset offset;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Status status;
    MPI_Request request;
    MPI_Aint extent;
    int number;
    EACH_FUNCTION(file);
}

static void inherited(void)
{
    MPI_Errhandler own, found;
    MPI_File one, two;
    MPI(MPI_File_create_errhandler(handler, &own));
    one = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    MPI(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == own);
    MPI(MPI_Errhandler_free(&found));
    /* Files that are open keep theirs. */
    called = 0;
    CHECK_CLASS(MPI_File_seek(one, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_INT(called, 0);
    two = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    CHECK_CLASS(MPI_File_seek(two, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_INT(called, 1);
    CHECK(seen == two);
    CHECK_INT(seen_class, MPI_ERR_ARG);
    /* Of opening and deleting: the handler of MPI_FILE_NULL. */
    MPI_File none;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &none), MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(called, 2);
    CHECK(seen == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_delete("/no/such", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(called, 3);
    /* By hand. */
    MPI(MPI_File_call_errhandler(two, MPI_ERR_NO_SPACE));
    CHECK_INT(called, 4);
    CHECK(seen == two);
    CHECK_INT(seen_class, MPI_ERR_NO_SPACE);
    MPI(MPI_File_call_errhandler(one, MPI_ERR_NO_SPACE));
    CHECK_INT(called, 4);
    no_file(MPI_FILE_NULL);
    /* The handler is freed, and used by what has it. */
    MPI(MPI_Errhandler_free(&own));
    called = 0;
    CHECK_CLASS(MPI_File_seek(two, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_INT(called, 1);
    MPI(MPI_File_close(&two));
    no_file((MPI_File) (void *) &own);
    MPI_File closed = one;
    MPI(MPI_File_close(&one));
    no_file(closed);
    MPI(MPI_File_create_errhandler(inventive, &own));
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    MPI(MPI_Errhandler_free(&own));
    called = 0;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &none), MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(called, 1);
    CHECK(new_class > MPI_ERR_LASTCODE);
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    /* Those of communicators are not for files. */
    MPI_Errhandler of_comm;
    MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_comm));
    MPI(MPI_Errhandler_free(&of_comm));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_File file;
    start(&argc, &argv);
    return_errors();
    file_name(name, "handlers");
    if (!strcmp(what, "fatal") || !strcmp(what, "abort")) {
        file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
        unlink(name);
        MPI(MPI_File_set_errhandler(file, !strcmp(what, "fatal") ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_ABORT));
        MPI_File_seek(file, -1, MPI_SEEK_SET);
        printf("still here\n");
        return 0;
    }
    inherited();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
