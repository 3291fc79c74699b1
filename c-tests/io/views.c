/* Views: what set_view resets, what get_view gives, types that are freed behind it, etypes, interleaved ranks with all collective forms. */
#include "files.h"

static char name[NAME_BYTES];
enum { PIECES = 500, LONGEST = 40 };

static void what_is_told(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype etype, filetype, own_etype, own_filetype;
    MPI_Offset disp = -1, at;
    char datarep[MPI_MAX_DATAREP_STRING];
    int integers, addresses, types, combiner, bytes;
    MPI_Aint lb, extent;
    MPI(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK_INT(disp, 0);
    CHECK(etype == MPI_BYTE && filetype == MPI_BYTE);
    CHECK_STRING(datarep, "native");
    MPI(MPI_File_seek(file, 100, MPI_SEEK_SET));
    MPI(MPI_Type_contiguous(2, MPI_INT, &own_etype));
    MPI(MPI_Type_commit(&own_etype));
    MPI(MPI_Type_create_resized(own_etype, 0, 24, &own_filetype));
    MPI(MPI_Type_commit(&own_filetype));
    MPI(MPI_File_set_view(file, 16, own_etype, own_filetype, "internal", MPI_INFO_NULL));
    MPI(MPI_Type_free(&own_etype));
    MPI(MPI_Type_free(&own_filetype));
    MPI(MPI_File_get_position(file, &at));
    CHECK_INT(at, 0);
    MPI(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK_INT(disp, 16);
    if (!reference) /* MPICH says "native" */
        CHECK_STRING(datarep, "internal");
    MPI(MPI_Type_size(etype, &bytes));
    CHECK_INT(bytes, 8);
    MPI(MPI_Type_get_extent(filetype, &lb, &extent));
    CHECK_INT(extent, 24);
    MPI(MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner));
    CHECK(combiner != MPI_COMBINER_NAMED);
    MPI(MPI_Type_free(&etype));
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_File_get_byte_offset(file, 3, &at));
    CHECK_INT(at, 16 + 3 * 24);
    if (!reference) { /* MPICH goes there tile by tile */
        int four[4];
        MPI(MPI_File_get_byte_offset(file, (MPI_Offset) 1 << 40, &at));
        CHECK_INT(at, 16 + 24 * ((MPI_Offset) 1 << 40));
        MPI(MPI_File_seek(file, (MPI_Offset) 1 << 40, MPI_SEEK_SET));
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, (MPI_Offset) 1 << 40);
        CHECK_CLASS(MPI_File_read(file, four, 3, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_TYPE); /* half an etype */
        MPI(MPI_File_get_position(file, &at));
        CHECK_INT(at, (MPI_Offset) 1 << 40);
    }
    MPI(MPI_File_close(&file));
}

/* Filetypes of size zero, and a rank that has nothing. */
static void nothing_at_all(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    MPI_Datatype none;
    MPI_Status status;
    int value = 5;
    MPI(MPI_Type_contiguous(0, MPI_INT, &none));
    MPI(MPI_Type_commit(&none));
    MPI(MPI_File_set_view(file, 0, MPI_INT, rank % 2 ? none : MPI_INT, "native", MPI_INFO_NULL));
    MPI(MPI_File_write_at_all(file, rank, &value, rank % 2 ? 0 : 1, MPI_INT, &status));
    CHECK_MOVED(status, rank % 2 ? 0 : 4);
    MPI(MPI_File_read_at_all(file, rank, &value, rank % 2 ? 0 : 1, MPI_INT, &status));
    CHECK_MOVED(status, rank % 2 ? 0 : 4);
    MPI(MPI_Type_free(&none));
    MPI(MPI_File_close(&file));
}

/* The ranks' pieces alternate; bytes in front, between and behind belong to nobody and stay. */
static void interleaved(int length, int form)
{
    MPI_File file;
    int gap = 3, slot = length * size + gap;
    size_t bytes = (size_t) PIECES * (size_t) length, all = 10 + (size_t) PIECES * (size_t) slot + 10;
    unsigned char *own = malloc(bytes), *whole = malloc(all), *back = malloc(bytes);
    MPI_Datatype filetype;
    MPI_Status status;
    MPI_Request request;
    barrier();
    if (rank == 0) {
        memset(whole, 0xcc, all);
        file_write(name, whole, all);
    }
    barrier();
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    fill(own, bytes, (uint64_t) rank + (uint64_t) form);
    MPI(MPI_Type_vector(1, length, length, MPI_BYTE, &filetype));
    MPI_Datatype resized;
    MPI(MPI_Type_create_resized(filetype, 0, slot, &resized));
    MPI(MPI_Type_commit(&resized));
    MPI(MPI_File_set_view(file, 10 + rank * length, MPI_BYTE, resized, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_Type_free(&resized));
    switch (form) {
    case 0: MPI(MPI_File_write(file, own, (int) bytes, MPI_BYTE, &status)); break;
    case 1: MPI(MPI_File_write_all(file, own, (int) bytes, MPI_BYTE, &status)); break;
    case 2: MPI(MPI_File_write_at_all_c(file, 0, own, (MPI_Count) bytes, MPI_BYTE, &status)); break;
    case 3:
        MPI(MPI_File_write_all_begin(file, own, (int) bytes, MPI_BYTE));
        MPI(MPI_File_write_all_end(file, own, &status));
        break;
    case 4:
        MPI(MPI_File_write_at_all_begin(file, 0, own, (int) bytes, MPI_BYTE));
        MPI(MPI_File_write_at_all_end(file, own, &status));
        break;
    case 5:
        MPI(MPI_File_iwrite_all(file, own, (int) bytes, MPI_BYTE, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    default:
        MPI(MPI_File_iwrite_at_all(file, 0, own, (int) bytes, MPI_BYTE, &request));
        MPI(MPI_Waitall(1, &request, &status));
        break;
    }
    CHECK_MOVED(status, bytes);
    barrier();
    CHECK_INT(file_read(name, whole, all, 0), all);
    for (size_t i = 0; i < all; i++) {
        size_t in = (i - 10) % (size_t) slot, who = in / (size_t) length;
        int free_byte = i < 10 || i >= all - 10 || in >= (size_t) slot - (size_t) gap;
        unsigned char expected = free_byte ? 0xcc
            : pattern_byte((uint64_t) who + (uint64_t) form, (i - 10) / (size_t) slot * (size_t) length + in % (size_t) length);
        if (whole[i] != expected) {
            check_failed(__FILE__, __LINE__, "form %d, pieces of %d: byte %zu is %d, expected %d", form, length, i, whole[i], expected);
            break;
        }
    }
    barrier();
    memset(back, 0, bytes);
    switch (form) {
    case 0: MPI(MPI_File_read_at(file, 0, back, (int) bytes, MPI_BYTE, &status)); break;
    case 1:
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI(MPI_File_read_all(file, back, (int) bytes, MPI_BYTE, &status));
        break;
    case 2: MPI(MPI_File_read_at_all(file, 0, back, (int) bytes, MPI_BYTE, &status)); break;
    case 3:
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI(MPI_File_read_all_begin(file, back, (int) bytes, MPI_BYTE));
        MPI(MPI_File_read_all_end(file, back, &status));
        break;
    case 4:
        MPI(MPI_File_read_at_all_begin(file, 0, back, (int) bytes, MPI_BYTE));
        MPI(MPI_File_read_at_all_end(file, back, &status));
        break;
    case 5:
        MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI(MPI_File_iread_all(file, back, (int) bytes, MPI_BYTE, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    default:
        MPI(MPI_File_iread_at_all(file, 0, back, (int) bytes, MPI_BYTE, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    }
    CHECK_MOVED(status, bytes);
    CHECK(!memcmp(back, own, bytes));
    MPI(MPI_File_close(&file));
    free(own);
    free(whole);
    free(back);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "views");
    what_is_told();
    nothing_at_all();
    for (int form = reference ? 1 : 0; form < 7; form++) /* MPICH's independent writes damage each other on some file systems */
        for (int length = 1; length <= LONGEST; length *= 3)
            interleaved(length, form);
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
