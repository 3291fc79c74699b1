/* All access modes: which are refused, on all ranks also if one rank alone has them, and that MPI_File_get_amode returns what was given. */
#include "files.h"
#include "wrong.h"

static char name[NAME_BYTES];
enum { BITS = 9 };

/* As MPI 5.0 says in 14.2.1. */
static int is_right(int amode)
{
    int ways = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_WRONLY) + !!(amode & MPI_MODE_RDWR);
    if (ways != 1)
        return 0;
    if (amode & MPI_MODE_RDONLY && amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return 0;
    return !(amode & MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL);
}

/* A file that is there, or is not, as the mode wants it. */
static void prepare(int amode)
{
    barrier();
    if (rank == 0) {
        unlink(name);
        if (!(amode & MPI_MODE_EXCL))
            file_write(name, "text", 4);
    }
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    file_name(name, "amode");
    static const int bits[BITS] = {MPI_MODE_CREATE, MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE,
                                   MPI_MODE_UNIQUE_OPEN, MPI_MODE_EXCL, MPI_MODE_APPEND, MPI_MODE_SEQUENTIAL};
    int before = descriptors(), right = 0;
    for (int n = 0; n < 1 << BITS; n++) {
        MPI_File file = MPI_FILE_NULL;
        int amode = 0, found = -1, code;
        for (int i = 0; i < BITS; i++)
            amode |= n >> i & 1 ? bits[i] : 0;
        prepare(amode);
        code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
        if (!is_right(amode)) {
            CHECK_CLASS(code, MPI_ERR_AMODE);
            CHECK(file == MPI_FILE_NULL);
            continue;
        }
        /* MPI_MODE_EXCL without MPI_MODE_CREATE means nothing. */
        if ((amode & MPI_MODE_EXCL) && !(amode & MPI_MODE_CREATE)) {
            CHECK_CLASS(code, MPI_ERR_NO_SUCH_FILE);
            continue;
        }
        right++;
        CHECK_CLASS(code, MPI_SUCCESS);
        MPI(MPI_File_get_amode(file, &found));
        CHECK_INT(found, amode);
        MPI(MPI_File_close(&file));
        barrier();
        CHECK((file_size(name) < 0) == !!(amode & MPI_MODE_DELETE_ON_CLOSE));
        if (size == 1)
            continue;
        /* One rank has a mode that is wrong, or right and another one. */
        prepare(amode);
        int last = rank == size - 1;
        code = MPI_File_open(MPI_COMM_WORLD, name, last ? amode ^ MPI_MODE_UNIQUE_OPEN : amode, MPI_INFO_NULL, &file);
        CHECK_CLASS(code, MPI_ERR_NOT_SAME);
        code = MPI_File_open(MPI_COMM_WORLD, name, last ? 0 : amode, MPI_INFO_NULL, &file);
        CHECK_CLASS(code, MPI_ERR_AMODE);
        CHECK(file == MPI_FILE_NULL);
        barrier();
        CHECK_INT(file_size(name), amode & MPI_MODE_EXCL ? -1 : 4);
    }
    CHECK(right > 50);
    CHECK_INT(descriptors(), before);
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
