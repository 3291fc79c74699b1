/* Accesses to files by a process that gets no more memory: MPI_ERR_NO_MEM on all ranks, and the same calls go well when there is some
 * again. First all without memory, because what an access has had stays the thread's. */
#include "../common/files.h"
#include "../common/little_memory.h"

enum { BYTES = 1 << 20, EACH = 16, SPARSE = 3 };

static unsigned char *memory;
static MPI_Datatype holes, apart, doubles;

static void accesses(MPI_File file, int has_memory)
{
    MPI_Status status;
    MPI_Request request;
    int code;
#define TRY(call) do { if (has_memory) MPI(call); else NO_MEMORY(call); } while (0)
    /* The file without holes, memory with them. */
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (rank == 0) {
        TRY(MPI_File_write_at(file, 0, memory, 1, holes, &status));
        if (has_memory)
            CHECK_MOVED(status, BYTES);
        TRY(MPI_File_read_at(file, 0, memory, 1, holes, &status));
        TRY(MPI_File_write_shared(file, memory, 1, holes, &status));
    }
    barrier();
    TRY(MPI_File_write_at_all(file, 0, memory, 1, holes, &status));
    TRY(MPI_File_read_ordered(file, memory, 1, holes, &status));
    /* The file with holes that are read along. */
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, apart, "native", MPI_INFO_NULL));
    if (rank == 0)
        TRY(MPI_File_read_at(file, 0, memory, BYTES, MPI_BYTE, &status));
    barrier();
    if (rank == 0)
        TRY(MPI_File_write_at(file, 0, memory, 1, holes, &status));
    barrier();
    /* Converted. */
    MPI(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL));
    TRY(MPI_File_write_at_all(file, 0, memory, BYTES / 8, MPI_DOUBLE, &status));
    if (rank == 0)
        TRY(MPI_File_read_at(file, 0, memory, BYTES / 8, MPI_DOUBLE, &status));
    barrier();
    /* All ranks together, pieces in turn. */
    MPI(MPI_File_set_view(file, EACH * rank, MPI_BYTE, doubles, "native", MPI_INFO_NULL));
    if (has_memory) {
        MPI(MPI_File_write_all(file, memory, 1, holes, &status));
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI(MPI_File_read_all(file, memory, 1, holes, &status));
    }
    /* Behind the call: told where it ends. Last, because it may have got its memory before there was none, which other accesses have then. */
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI(MPI_File_iwrite_at(file, 0, memory, 1, holes, &request));
    if (!has_memory)
        confine();
    code = MPI_Wait(&request, &status);
    if (!has_memory)
        set_free();
    CHECK(code == MPI_SUCCESS || check_class_of(code) == MPI_ERR_NO_MEM);
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    MPI_File file;
    MPI_Datatype piece;
    start(&argc, &argv);
    memory = calloc(2, BYTES);
    MPI(MPI_Type_vector(BYTES / EACH, EACH, 2 * EACH, MPI_BYTE, &holes));
    MPI(MPI_Type_commit(&holes));
    MPI(MPI_Type_contiguous(EACH, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, SPARSE * EACH, &apart));
    MPI(MPI_Type_commit(&apart));
    MPI(MPI_Type_create_resized(piece, 0, size * EACH, &doubles));
    MPI(MPI_Type_commit(&doubles));
    file_name(name, "no_memory");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_preallocate(file, SPARSE * BYTES));
    accesses(file, 0);
    accesses(file, 1);
    MPI(MPI_File_close(&file));
    MPI(MPI_Type_free(&holes));
    MPI(MPI_Type_free(&piece));
    MPI(MPI_Type_free(&apart));
    MPI(MPI_Type_free(&doubles));
    free(memory);
    return finish();
}
