/* Wrong arguments of functions of files: classes and texts; an error of one rank is an error of the same class on all, and nobody waits. */
#include "files.h"
#include "wrong.h"

static char name[NAME_BYTES];

static void opening(void)
{
    MPI_File file = MPI_FILE_NULL;
    int last = size - 1, create = MPI_MODE_CREATE | MPI_MODE_RDWR;
    ERROR(MPI_File_open(MPI_COMM_NULL, name, create, MPI_INFO_NULL, &file), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_File_open(freed_comm(), name, create, MPI_INFO_NULL, &file), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "amode", "1");
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "amode", "10");
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "amode", "3");
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "amode", NULL);
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE, NULL, NULL);
    if (reference) /* which crashes, or takes them */
        return;
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, 512 | create, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "amode", "521");
    ERROR(MPI_File_open(MPI_COMM_WORLD, NULL, create, MPI_INFO_NULL, &file), MPI_ERR_ARG, "filename", "NULL");
    ERROR(MPI_File_open(MPI_COMM_WORLD, "", create, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE, "filename", "empty");
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, create, freed_info(), &file), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_File_open(MPI_COMM_WORLD, name, create, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "fh", "NULL");
    ERROR(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE, "filename", "/tmp");
    ERROR(MPI_File_open(MPI_COMM_WORLD, "/dev/null/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE, "filename", NULL);
    /* On one rank only. */
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, rank == last ? 0 : create, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, rank == last ? NULL : name, create, MPI_INFO_NULL, &file), MPI_ERR_ARG);
    CHECK_INT(file_size(name), -1);
    if (size > 1) {
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, create | (rank == last ? MPI_MODE_APPEND : 0), MPI_INFO_NULL, &file),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, rank == last ? "/no/such" : name, create | MPI_MODE_EXCL, MPI_INFO_NULL, &file),
                    MPI_ERR_NO_SUCH_FILE);
        barrier();
        CHECK_INT(file_size(name), -1); /* made by this call, and removed */
        barrier();
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, rank == last ? "/dev/null" : "/dev/zero", MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                    MPI_ERR_NOT_SAME);
    }
    CHECK(file == MPI_FILE_NULL);
}

static void handles(void)
{
    MPI_File file = MPI_FILE_NULL, closed;
    MPI_Offset offset;
    int value = 0, flag;
    ERROR(MPI_File_get_size(file, &offset), MPI_ERR_FILE, "fh", "MPI_FILE_NULL");
    ERROR(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE, "fh", "MPI_FILE_NULL");
    ERROR(MPI_File_close(&file), MPI_ERR_FILE, "fh", "MPI_FILE_NULL");
    if (reference)
        return;
    closed = file = file_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR);
    MPI(MPI_File_close(&file));
    ERROR(MPI_File_get_atomicity(closed, &flag), MPI_ERR_FILE, "fh", "no open file");
    ERROR(MPI_File_get_size((MPI_File) (void *) &value, &offset), MPI_ERR_FILE, "fh", "no open file");
    ERROR(MPI_File_delete(NULL, MPI_INFO_NULL), MPI_ERR_ARG, "filename", "NULL");
    ERROR(MPI_File_delete("/tmp", MPI_INFO_NULL), MPI_ERR_BAD_FILE, "filename", "/tmp");
    ERROR(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "filename", name);
}

static void accesses(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR), reader, writer;
    MPI_Offset offset;
    MPI_Datatype loose;
    MPI_Request request;
    int value = 0, last = rank == size - 1;
    MPI(MPI_Type_contiguous(2, MPI_INT, &loose));
    reader = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    writer = file_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY);
    ERROR(MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT, "count", "-1");
    ERROR(MPI_File_read(file, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "datatype", NULL);
    ERROR(MPI_File_read_at(file, -4, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, "offset", "-4");
    ERROR(MPI_File_seek(file, 0, 77), MPI_ERR_ARG, "whence", "77");
    ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "offset", "-1");
    ERROR(MPI_File_write_at(reader, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY, NULL, NULL);
    ERROR(MPI_File_read_at(writer, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS, NULL, NULL);
    if (!reference) {
        ERROR(MPI_File_read_at(file, 0, &value, 1, loose, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "datatype", "commit");
        ERROR(MPI_File_read_at(file, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "buf", "NULL");
        ERROR(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, NULL), MPI_ERR_ARG, "request", "NULL");
        ERROR(MPI_File_iread_at(writer, 0, &value, 1, MPI_INT, &request), MPI_ERR_ACCESS, "fh", NULL);
        ERROR(MPI_File_write_at(file, 0, (void *) 16, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "buf", name);
        ERROR(MPI_File_write_at(file, INT64_MAX, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_ARG, "offset", NULL);
        ERROR(MPI_File_get_byte_offset(file, -1, &offset), MPI_ERR_ARG, "offset", "-1");
        ERROR(MPI_File_set_size(file, -1), MPI_ERR_ARG, "size", "-1");
        ERROR(MPI_File_set_size(reader, 5), MPI_ERR_READ_ONLY, "fh", name);
        ERROR(MPI_File_preallocate(reader, 5), MPI_ERR_READ_ONLY, "fh", name);
        /* On one rank only: all have the error, none waits. */
        CHECK_CLASS(MPI_File_write_at_all(file, 0, &value, last ? -1 : 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
        CHECK_CLASS(MPI_File_read_all(file, &value, 1, last ? MPI_DATATYPE_NULL : MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_write_ordered(file, last ? NULL : &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
        MPI(MPI_File_get_position_shared(file, &offset));
        CHECK_INT(offset, 0);
        /* Told where it is found, and to the other ranks at the end. */
        CHECK_CLASS(MPI_File_write_at_all_begin(file, last ? -1 : 0, &value, 1, MPI_INT), last ? MPI_ERR_ARG : MPI_SUCCESS);
        CHECK_CLASS(MPI_File_write_at_all_end(file, &value, MPI_STATUS_IGNORE), last ? MPI_ERR_OTHER : MPI_ERR_ARG);
        int error = MPI_File_iwrite_all(file, &value, last ? -1 : 1, MPI_INT, &request);
        CHECK_CLASS(error, last ? MPI_ERR_COUNT : MPI_SUCCESS);
        if (!error)
            CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
        error = MPI_File_iread_at_all(file, 0, &value, 1, MPI_INT, last ? NULL : &request);
        CHECK_CLASS(error, last ? MPI_ERR_ARG : MPI_SUCCESS);
        if (!error)
            CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        if (size > 1) {
            CHECK_CLASS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
            CHECK_CLASS(MPI_File_set_atomicity(file, last), MPI_ERR_NOT_SAME);
            CHECK_CLASS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        }
        MPI(MPI_File_write_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    MPI(MPI_Type_free(&loose));
    MPI(MPI_File_close(&file));
    MPI(MPI_File_close(&reader));
    MPI(MPI_File_close(&writer));
}

static void split(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    int value = 0, other = 0;
    MPI_Status status;
    if (!reference)
        ERROR(MPI_File_read_all_end(file, &value, &status), MPI_ERR_OTHER, NULL, NULL);
    MPI(MPI_File_write_all_begin(file, &value, 1, MPI_INT));
    if (!reference) {
        ERROR(MPI_File_write_at_all_end(file, &value, &status), MPI_ERR_OTHER, "fh", "MPI_File_write_all_begin");
        ERROR(MPI_File_read_all_begin(file, &value, 1, MPI_INT), MPI_ERR_OTHER, "fh", "MPI_File_write_all_begin");
        ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_OTHER, "fh", "MPI_File_write_all_end");
        ERROR(MPI_File_write_all_end(file, &other, &status), MPI_ERR_BUFFER, "buf", "MPI_File_write_all_begin");
        if (!ignores_null_status)
            ERROR(MPI_File_write_all_end(file, &value, NULL), MPI_ERR_ARG, "status", "NULL");
        MPI_File copy = file;
        ERROR(MPI_File_close(&copy), MPI_ERR_OTHER, "fh", "MPI_File_write_all_end");
        MPI(MPI_File_write_at(file, 8, &value, 1, MPI_INT, &status));
    }
    MPI(MPI_File_write_all_end(file, &value, &status));
    CHECK_MOVED(status, 4);
    MPI(MPI_File_close(&file));
}

static void views(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI_Datatype backwards, twice, loose, odd;
    int last = rank == size - 1;
    MPI(MPI_Type_vector(2, 1, -2, MPI_INT, &backwards));
    MPI(MPI_Type_commit(&backwards));
    MPI(MPI_Type_vector(3, 2, 1, MPI_INT, &twice));
    MPI(MPI_Type_commit(&twice));
    MPI(MPI_Type_contiguous(2, MPI_INT, &loose));
    MPI(MPI_Type_contiguous(6, MPI_BYTE, &odd));
    MPI(MPI_Type_commit(&odd));
    ERROR(MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG, "disp", "-1");
    ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP, "datarep", "nonsense");
    if (!reference) {
        ERROR(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE, "etype", NULL);
        ERROR(MPI_File_set_view(file, 0, MPI_INT, loose, "native", MPI_INFO_NULL), MPI_ERR_TYPE, "filetype", "commit");
        ERROR(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL), MPI_ERR_ARG, "filetype", "ascending");
        ERROR(MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL), MPI_ERR_ARG, "filetype", "twice");
        ERROR(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_ARG, "filetype", "6 bytes");
        ERROR(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG, "disp", NULL);
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, last ? backwards : MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
        if (size > 1) {
            CHECK_CLASS(MPI_File_set_view(file, 0, last ? MPI_DOUBLE : MPI_INT, last ? MPI_DOUBLE : MPI_INT, "native", MPI_INFO_NULL),
                        MPI_ERR_NOT_SAME);
            CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "internal" : "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
        }
    }
    MPI(MPI_File_close(&file));
    if (!reference) { /* what is only read may be shown twice */
        file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
        MPI(MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
        MPI(MPI_File_close(&file));
    }
    MPI(MPI_Type_free(&backwards));
    MPI(MPI_Type_free(&twice));
    MPI(MPI_Type_free(&loose));
    MPI(MPI_Type_free(&odd));
}

/* No space, for one rank's data only: its status says what was written, and all have the class. */
static void full(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Request request;
    enum { LARGE = 1 << 20 };
    char *large = calloc(LARGE, 1);
    int value = 0, other = 0, last = rank == size - 1;
    ERROR(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_NO_SPACE, "fh", "/dev/full");
    CHECK_MOVED(status, 0);
    CHECK_CLASS(MPI_File_write_at_all(file, 0, &value, last, MPI_INT, &status), MPI_ERR_NO_SPACE);
    CHECK_CLASS(MPI_File_write_ordered(file, &value, last, MPI_INT, &status), MPI_ERR_NO_SPACE);
    MPI(MPI_File_write_all_begin(file, last ? &value : NULL, last, MPI_INT));
    CHECK_CLASS(MPI_File_write_all_end(file, last ? &value : &other, &status), MPI_ERR_NO_SPACE);
    CHECK_MOVED(status, 0);
    MPI(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    MPI(MPI_File_iwrite_at(file, 0, large, LARGE, MPI_CHAR, &request));
    ERROR(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE, "MPI_File_iwrite_at", "/dev/full");
    MPI(MPI_File_iwrite_all(file, large, last ? LARGE : 0, MPI_CHAR, &request));
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE);
    MPI(MPI_File_read_at_all(file, 0, &value, 1, MPI_INT, &status));
    CHECK_MOVED(status, 4);
    MPI(MPI_File_close(&file));
    free(large);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    file_name(name, "errors");
    opening();
    handles();
    barrier();
    accesses();
    split();
    views();
    if (!reference) /* MPICH tries to lock the device */
        full();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
