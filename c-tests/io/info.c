/* Hints, atomicity, error handlers of files, and descriptors: none stays behind a closed file or one that could not be opened. */
#include "files.h"

static char name[NAME_BYTES];

static int has(MPI_File file, const char *key, const char *value)
{
    char found[MPI_MAX_INFO_VAL + 1];
    MPI_Info info = MPI_INFO_NULL;
    int flag;
    MPI(MPI_File_get_info(file, &info));
    CHECK(info != MPI_INFO_NULL);
    MPI(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, found, &flag));
    MPI(MPI_Info_free(&info));
    return flag && (!value || !strcmp(found, value));
}

static void hints(void)
{
    MPI_File file;
    MPI_Info info;
    struct stat found;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "cb_buffer_size", "65536"));
    MPI(MPI_Info_set(info, "cb_nodes", "nonsense"));
    MPI(MPI_Info_set(info, "of_somebody_else", "kept"));
    MPI(MPI_Info_set(info, "file_perm", "0600"));
    umask(022);
    MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
    MPI(MPI_Info_free(&info));
    CHECK(has(file, "cb_buffer_size", "65536"));
    CHECK(has(file, "cb_nodes", NULL) && !has(file, "cb_nodes", "nonsense"));
    if (!reference) { /* what MPICH does not know it forgets */
        CHECK(has(file, "of_somebody_else", "kept"));
        CHECK(!stat(name, &found) && (found.st_mode & 0777) == 0600);
    }
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "romio_ds_read", "disable"));
    MPI(MPI_File_set_info(file, info));
    CHECK(has(file, "romio_ds_read", "disable"));
    MPI(MPI_Info_set(info, "romio_ds_read", "enable"));
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
    CHECK(has(file, "romio_ds_read", "enable"));
    MPI(MPI_Info_free(&info));
    MPI(MPI_File_close(&file));
}

/* Values that make no sense are passed over, at each place that takes hints; those of ranks may differ; there is always an info. */
static void odd_hints(void)
{
    static const struct { const char *key, *wrong[4]; } keys[] = {
        {"cb_buffer_size", {"-1", "0", "12x", ""}}, {"cb_nodes", {"-3", "many", "1.5", "0"}}, {"striping_unit", {"-1", "big", "0x10", " "}},
        {"striping_factor", {"none", "-2", "0", "1 2"}}, {"ind_rd_buffer_size", {"-1", "0", "a", "1e6"}}, {"nb_proc", {"-1", "0", "two", "2,"}},
        {"romio_cb_read", {"yes", "ENABLE", "1", ""}}, {"romio_cb_write", {"on", "automatic ", "0", "-"}},
        {"romio_ds_read", {"off", "dis", "2", "enabled"}}, {"collective_buffering", {"yes", "1", "TRUE", "enable"}},
        {"romio_no_indep_rw", {"2", "no", "T", "-"}}, {"file_perm", {"rw", "0999", "-1", "10000"}},
    };
    static const char *const own[] = {"romio_ds_write", "romio_filesystem_type", "romio_visibility_immediate"};
    char text[100], longest[MPI_MAX_INFO_VAL + 1];
    MPI_File file;
    MPI_Info info, before;
    memset(longest, '7', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    for (int i = 0; i < 4; i++) {
        MPI(MPI_Info_create(&info));
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (keys[k].wrong[i][0])
                MPI(MPI_Info_set(info, keys[k].key, keys[k].wrong[i]));
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            MPI(MPI_Info_set(info, own[k], "mine"));
        MPI(MPI_Info_set(info, "access_style", "read_once,sequential"));
        MPI(MPI_Info_set(info, "a key of nobody's", longest));
        if (i == 0) {
            MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
        } else if (i == 1) {
            file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
            MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
        } else {
            file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
            MPI(MPI_File_set_info(file, info));
        }
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (keys[k].wrong[i][0] && has(file, keys[k].key, keys[k].wrong[i]))
                check_failed(__FILE__, __LINE__, "%s is %s", keys[k].key, keys[k].wrong[i]);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            CHECK(!has(file, own[k], "mine"));
        CHECK(has(file, "access_style", "read_once,sequential"));
        CHECK(has(file, "a key of nobody's", longest));
        /* What there was of these keys stays. */
        CHECK(has(file, "cb_buffer_size", NULL));
        MPI(MPI_Info_free(&info));
        MPI(MPI_File_close(&file));
    }
    /* Each rank its own value. */
    snprintf(text, sizeof text, "%d", 65536 * (rank + 1));
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "cb_buffer_size", text));
    MPI(MPI_Info_set(info, "striping_unit", "65536"));
    MPI(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &file));
    CHECK(has(file, "cb_buffer_size", text));
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", rank % 2 ? info : MPI_INFO_NULL));
    MPI(MPI_File_set_info(file, rank % 2 ? MPI_INFO_NULL : info));
    CHECK(has(file, "cb_buffer_size", text));
    /* What get_info gives is a copy, and may be given back. */
    MPI(MPI_File_get_info(file, &before));
    MPI(MPI_Info_set(before, "cb_nodes", "77"));
    CHECK(!has(file, "cb_nodes", "77"));
    MPI(MPI_File_set_info(file, before));
    CHECK(has(file, "cb_nodes", "77"));
    MPI(MPI_Info_free(&before));
    MPI(MPI_Info_free(&info));
    MPI(MPI_File_close(&file));
    file = file_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY);
    CHECK(has(file, "cb_buffer_size", NULL));
    MPI(MPI_File_close(&file));
}

static int calls, last_class;
static MPI_File expected;

static void handler(MPI_File *file, int *code, ...)
{
    CHECK(*file == expected);
    last_class = check_class_of(*code);
    calls++;
}

static void handlers(void)
{
    MPI_Errhandler own, found;
    MPI_File one, two;
    MPI(MPI_File_create_errhandler(handler, &own));
    one = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    MPI(MPI_File_get_errhandler(one, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    two = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MPI(MPI_File_get_errhandler(two, &found));
    CHECK(found == own);
    MPI(MPI_Errhandler_free(&found));
    MPI(MPI_Errhandler_free(&own));
    expected = two;
    CHECK_CLASS(MPI_File_write_at(two, 0, "", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_INT(calls, 1);
    CHECK_INT(last_class, MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_write_at(one, 0, "", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_INT(calls, 1);
    calls = 0;
    MPI(MPI_File_call_errhandler(two, MPI_ERR_QUOTA));
    CHECK_INT(calls, 1);
    CHECK_INT(last_class, MPI_ERR_QUOTA);
    MPI(MPI_File_close(&one));
    MPI(MPI_File_close(&two));
}

static void atomicity(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    int flag = -1, value = rank;
    MPI_Status status;
    MPI(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_File_set_atomicity(file, 1));
    MPI(MPI_File_get_atomicity(file, &flag));
    CHECK(flag);
    MPI(MPI_File_write_at(file, 4 * rank, &value, 1, MPI_INT, &status));
    CHECK_MOVED(status, 4);
    MPI(MPI_File_read_at(file, 4 * rank, &value, 1, MPI_INT, &status));
    CHECK_INT(value, rank);
    MPI(MPI_File_set_atomicity(file, 0));
    MPI(MPI_File_get_atomicity(file, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_File_close(&file));
}

static void no_descriptor_stays(void)
{
    int before = descriptors(), count = slow() || reference ? 20 : 300; /* MPICH takes 50 ms for each */
    MPI_File files[50], file;
    for (int i = 0; i < count; i++) {
        file = file_open(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, name, MPI_MODE_RDWR);
        MPI(MPI_File_close(&file));
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file),
                    MPI_ERR_FILE_EXISTS);
    }
    CHECK_INT(descriptors(), before);
    for (int i = 0; i < 50; i++)
        files[i] = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < i; j++)
            CHECK(files[i] != files[j]);
    for (int i = 0; i < 50; i++)
        MPI(MPI_File_close(&files[i]));
    CHECK_INT(descriptors(), before);
}

static void numbers(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    MPI_Fint number = MPI_File_c2f(file);
    CHECK(number != MPI_File_c2f(MPI_FILE_NULL));
    CHECK(MPI_File_f2c(number) == file);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
#if MPI_VERSION >= 5
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
#endif
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "info");
    hints();
    if (!reference) /* which ends the job */
        odd_hints();
    if (!reference) /* MPICH 4.0.2 does not count who holds a file's handler */
        handlers();
    atomicity();
    no_descriptor_stays();
    numbers();
    barrier();
    if (rank == 0)
        MPI(MPI_File_delete(name, MPI_INFO_NULL));
    return finish();
}
