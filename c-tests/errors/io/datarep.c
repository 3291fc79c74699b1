/* Wrong arguments of MPI_Register_datarep, and of views by what the types say: classes, texts, and nobody waits for a rank with an error. */
#include "files.h"
#include "wrong.h"

static char name[NAME_BYTES];

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lb;
    (void) state;
    return MPI_Type_get_extent(type, &lb, extent);
}

static int convert(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    (void) user, (void) type, (void) count, (void) file, (void) position, (void) state;
    return MPI_SUCCESS;
}

static void registering(void)
{
    char longest[MPI_MAX_DATAREP_STRING + 1];
    const char *known[] = {"native", "internal", "external32"};
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_DATAREP_STRING] = 0;
    for (int i = 0; i < 3; i++)
        ERROR(MPI_Register_datarep(known[i], convert, convert, extent_of, NULL), MPI_ERR_DUP_DATAREP, "datarep", known[i]);
    MPI(MPI_Register_datarep("mine", convert, convert, extent_of, NULL));
    ERROR(MPI_Register_datarep("mine", convert, convert, extent_of, NULL), MPI_ERR_DUP_DATAREP, "datarep", "mine");
    ERROR(MPI_Register_datarep("other", convert, convert, NULL, NULL), MPI_ERR_ARG, "dtype_file_extent_fn", "NULL");
    ERROR(MPI_Register_datarep(NULL, convert, convert, extent_of, NULL), MPI_ERR_ARG, "datarep", "NULL");
    ERROR(MPI_Register_datarep("", convert, convert, extent_of, NULL), MPI_ERR_ARG, "datarep", "empty");
    ERROR(MPI_Register_datarep(longest, convert, convert, extent_of, NULL), MPI_ERR_ARG, "datarep", "128");
    longest[MPI_MAX_DATAREP_STRING - 1] = 0;
    MPI(MPI_Register_datarep(longest, convert, convert, extent_of, NULL));
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    char found[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, longest, MPI_INFO_NULL));
    MPI(MPI_File_get_view(file, &disp, &etype, &filetype, found));
    CHECK_STRING(found, longest);
    MPI(MPI_File_close(&file));
}

static MPI_Datatype indexed(int first, int second, MPI_Datatype of)
{
    MPI_Datatype made;
    MPI(MPI_Type_indexed(2, (int[]) {1, 1}, (int[]) {first, second}, of, &made));
    MPI(MPI_Type_commit(&made));
    return made;
}

static void refused(MPI_File file, MPI_Datatype etype, MPI_Datatype filetype, const char *argument, const char *value)
{
    const char *const datareps[] = {"native", "external32"};
    int last = rank == size - 1;
    MPI_Offset at;
    for (int i = 0; i < 2; i++) {
        ERROR(MPI_File_set_view(file, 0, etype, filetype, datareps[i], MPI_INFO_NULL), MPI_ERR_ARG, argument, value);
        /* On one rank only. */
        CHECK_CLASS(MPI_File_set_view(file, 0, last ? etype : MPI_BYTE, last ? filetype : MPI_BYTE, datareps[i], MPI_INFO_NULL), MPI_ERR_ARG);
    }
    MPI(MPI_File_get_byte_offset(file, 5, &at));
    CHECK_INT(at, 3 + 5 * 4);
}

static void views(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR), reader;
    int last = rank == size - 1;
    MPI_Datatype negative = indexed(-1, 3, MPI_INT), decreasing = indexed(4, 0, MPI_INT), twice = indexed(1, 1, MPI_INT);
    MPI_Datatype across, loose, nested, flat, behind;
    reader = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    MPI(MPI_Type_vector(3, 2, 1, MPI_INT, &across));
    MPI(MPI_Type_commit(&across));
    MPI(MPI_Type_vector(2, 1, 1, decreasing, &nested));
    MPI(MPI_Type_commit(&nested));
    MPI(MPI_Type_create_resized(MPI_INT, 0, 0, &flat));
    MPI(MPI_Type_commit(&flat));
    MPI(MPI_Type_create_resized(MPI_INT, 4, -8, &behind));
    MPI(MPI_Type_commit(&behind));
    MPI(MPI_Type_contiguous(2, MPI_INT, &loose));
    MPI(MPI_File_set_view(file, 3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    refused(file, MPI_INT, negative, "filetype", "ascending");
    refused(file, MPI_INT, decreasing, "filetype", "ascending");
    refused(file, decreasing, decreasing, "etype", "ascending");
    refused(file, MPI_INT, nested, "filetype", "ascending");
    refused(file, MPI_INT, twice, "filetype", "twice");
    refused(file, MPI_INT, across, "filetype", "twice");
    refused(file, MPI_INT, flat, "filetype", "extent is 0");
    refused(file, MPI_INT, behind, "filetype", "extent is -8");
    refused(file, MPI_DOUBLE, MPI_INT, "filetype", "4 bytes");
    refused(file, MPI_INT, MPI_SHORT, "filetype", "2 bytes");
    ERROR(MPI_File_set_view(file, 0, loose, loose, "native", MPI_INFO_NULL), MPI_ERR_TYPE, "etype", "commit");
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, last ? loose : MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, last ? MPI_DATATYPE_NULL : MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_File_set_view(file, last ? -1 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, last ? MPI_DISPLACEMENT_CURRENT : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? NULL : "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "unheard of" : "native", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", last ? freed_info() : MPI_INFO_NULL), MPI_ERR_INFO);
    if (size > 1) {
        CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "external32" : "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_view(file, 0, last ? MPI_LONG : MPI_INT, last ? MPI_LONG : MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    }
    /* Alike in the file. */
    MPI(MPI_File_set_view(file, 0, last ? MPI_LONG : MPI_INT, last ? MPI_LONG : MPI_INT, "external32", MPI_INFO_NULL));
    /* What is only read may be shown twice. */
    MPI(MPI_File_set_view(reader, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
    MPI(MPI_File_set_view(reader, 0, MPI_INT, across, "external32", MPI_INFO_NULL));
    ERROR(MPI_File_set_view(reader, 0, MPI_INT, decreasing, "native", MPI_INFO_NULL), MPI_ERR_ARG, "filetype", "ascending");
    for (int i = 0; i < 7; i++)
        MPI(MPI_Type_free((MPI_Datatype *[]) {&negative, &decreasing, &twice, &across, &nested, &flat, &behind}[i]));
    MPI(MPI_Type_free(&loose));
    MPI(MPI_File_close(&file));
    MPI(MPI_File_close(&reader));
}

/* MPI_DISPLACEMENT_CURRENT is for sequential files, and they have nothing else. */
static void sequential(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL);
    MPI_Datatype etype, filetype;
    MPI_Offset at;
    char datarep[MPI_MAX_DATAREP_STRING];
    int value = rank;
    CHECK_CLASS(MPI_File_set_view(file, rank == 0 ? 0 : MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    MPI(MPI_File_get_view(file, &at, &etype, &filetype, datarep));
    CHECK_INT(at, 4 * size);
    MPI(MPI_File_get_byte_offset(file, 0, &at));
    CHECK_INT(at, 4 * size);
    MPI(MPI_File_close(&file));
}

/* Holes that are no multiples of the etype's extent, refused where mistakes are looked for. */
static void odd_holes(void)
{
    const char *checks = getenv("OXMPI_CHECK_SIGNATURES");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype odd, even;
    MPI(MPI_Type_create_hvector(2, 1, 7, MPI_INT, &odd));
    MPI(MPI_Type_commit(&odd));
    MPI(MPI_Type_create_hvector(2, 1, 12, MPI_INT, &even));
    MPI(MPI_Type_commit(&even));
    MPI(MPI_File_set_view(file, 0, MPI_INT, even, "native", MPI_INFO_NULL));
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, odd, "native", MPI_INFO_NULL));
    if (checks)
        ERROR(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL), MPI_ERR_ARG, "filetype", "holes");
    else
        MPI(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&odd));
    MPI(MPI_Type_free(&even));
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    file_name(name, "datarep-errors");
    registering();
    views();
    sequential();
    odd_holes();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
