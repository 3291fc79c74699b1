/* Files opened and closed again and again, and many of them at once: descriptors, memory and communicators do not become fewer.
 * args: times, files at once. */
#include "files.h"
#include "near.h"
#include <sys/resource.h>

static char name[NAME_BYTES];

static void again_and_again(long times)
{
    static const int modes[] = {MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_RDONLY, MPI_MODE_WRONLY | MPI_MODE_APPEND};
    MPI_Datatype type, etype, filetype;
    MPI_Group group;
    MPI_Info info, hints;
    MPI_Offset at;
    char datarep[MPI_MAX_DATAREP_STRING];
    long begun = 0;
    int open_then = 0;
    MPI(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Info_create(&hints));
    MPI(MPI_Info_set(hints, "cb_buffer_size", "65536"));
    for (long i = 0; i < times; i++) {
        MPI_File file = MPI_FILE_NULL;
        /* After the first part everything has its size. */
        if (i == times / 4) {
            begun = resident_bytes();
            open_then = descriptors();
        }
        MPI(MPI_File_open(i % 4 == 3 ? MPI_COMM_SELF : MPI_COMM_WORLD, name, modes[i % 3], i % 2 ? hints : MPI_INFO_NULL, &file));
        if (i % 10 == 0) {
            MPI(MPI_File_set_view(file, 4, MPI_INT, type, "native", hints));
            MPI(MPI_File_get_view(file, &at, &etype, &filetype, datarep));
            MPI(MPI_Type_free(&filetype));
            MPI(MPI_File_get_info(file, &info));
            MPI(MPI_Info_free(&info));
            MPI(MPI_File_get_group(file, &group));
            MPI(MPI_Group_free(&group));
            if (i % 3 != 1)
                MPI(MPI_File_write_at(file, 3 * rank, (int[3]) {1, 2, 3}, 3, MPI_INT, MPI_STATUS_IGNORE));
        }
        if (i % 100 == 7) /* one that fails */
            CHECK(MPI_File_open(MPI_COMM_WORLD, rank == size - 1 ? "/no/such" : name, MPI_MODE_RDONLY, MPI_INFO_NULL, &(MPI_File) {0}));
        MPI(MPI_File_close(&file));
        if (i % 100 == 0)
            alarm(45);
    }
    CHECK_INT(descriptors(), open_then);
    /* Two bytes an opening would be more. */
    long grown = resident_bytes() - begun;
    /* Of a fabric's receive buffers more and more are in memory as they are used, 2 MB at most. */
    long buffers = share_memory(MPI_COMM_WORLD) ? 0 : 2500 << 10;
    if (!slow()) /* valgrind keeps freed memory */
        CHECK(grown < 128 * 1024 + buffers + times * 3 / 2);
    MPI(MPI_Type_free(&type));
    MPI(MPI_Info_free(&hints));
    barrier();
}

/* All open, each with its own pointers and its own contents. */
static void at_once(int number)
{
    MPI_File *files = malloc(sizeof *files * (size_t) number);
    char path[NAME_BYTES + 20];
    int before = descriptors(), value, *all = malloc(sizeof(int) * (size_t) size);
    MPI_Offset at;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < (rlim_t) number + 200 && limit.rlim_max >= (rlim_t) number + 200) {
        limit.rlim_cur = (rlim_t) number + 200;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < (rlim_t) number + 200)
        number = (int) limit.rlim_cur - 200;
    for (int i = 0; i < number; i++) {
        snprintf(path, sizeof path, "%s.%d", name, i);
        files[i] = file_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
        value = i * 1000 + rank;
        MPI(MPI_File_write_ordered(files[i], &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    CHECK(descriptors() >= before + number);
    for (int i = number - 1; i >= 0; i--) {
        MPI(MPI_File_get_position_shared(files[i], &at));
        CHECK_INT(at, (long long) sizeof(int) * size);
        MPI(MPI_File_read_at_all(files[i], 0, all, size, MPI_INT, MPI_STATUS_IGNORE));
        for (int r = 0; r < size; r++)
            CHECK_INT(all[r], i * 1000 + r);
    }
    alarm(45);
    for (int i = 0; i < number; i++)
        MPI(MPI_File_close(&files[i]));
    CHECK_INT(descriptors(), before);
    free(files);
    free(all);
}

/* As many communicators as before, more than could be lost one a file. */
static void communicators(void)
{
    enum { MANY = 1000 };
    static MPI_Comm made[MANY];
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &made[i]));
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Comm_free(&made[i]));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "many");
    long times = argc > 1 ? atol(argv[1]) : 2000;
    int number = argc > 2 ? atoi(argv[2]) : 101;
    again_and_again(slow() ? times / 20 : times);
    at_once(slow() ? 20 : number);
    communicators();
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
