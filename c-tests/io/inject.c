/* The kernel itself refuses: the program runs itself under `strace -e inject`, which lets the third call of a kind fail for this file, on each
 * rank. args: system call, errno, class (or "works"). Left out where there is no strace, or none may be used. */
#define _GNU_SOURCE
#include "files.h"

enum { EACH = 3000, TIMES = 5, FAILS = 3 };

/* Comes back if there is no strace. */
static void run_under_strace(int argc, char **argv)
{
    static char inject[200], path[NAME_BYTES], name[200];
    const char *folder = getenv("TMPDIR");
    if (argc < 4 || system("strace -qq -o /dev/null -e inject=getppid:error=EPERM true 2>/dev/null") != 0)
        return;
    snprintf(inject, sizeof inject, "inject=%s:error=%s:when=%d", argv[1], argv[2], FAILS);
    snprintf(path, sizeof path, "%s/c-test-inject-%ld", folder ? folder : "/tmp", (long) getppid());
    snprintf(name, sizeof name, "%s", argv[0]);
    if (strstr(argv[1], "io_uring")) /* which has no file */
        execlp("strace", "strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=io_uring_setup:error=ENOSYS", name, argv[1], argv[2], argv[3],
               path, (char *) NULL);
    else
        execlp("strace", "strace", "-f", "-qq", "-o", "/dev/null", "-P", path, "-e", inject, name, argv[1], argv[2], argv[3], path,
               (char *) NULL);
}

static int class_called(const char *name)
{
    static const struct {
        const char *name;
        int class;
    } all[] = {{"works", MPI_SUCCESS},          {"MPI_ERR_IO", MPI_ERR_IO},           {"MPI_ERR_NO_SPACE", MPI_ERR_NO_SPACE},
               {"MPI_ERR_QUOTA", MPI_ERR_QUOTA}, {"MPI_ERR_ACCESS", MPI_ERR_ACCESS}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(name, all[i].name))
            return all[i].class;
    CHECK(!"a class that is known");
    return MPI_SUCCESS;
}

static char *name;
static unsigned char own[EACH], found[EACH];

/* One call of the kind, number i. */
static int one(MPI_File file, const char *call, int i)
{
    MPI_Offset at = (MPI_Offset) (i * size + rank) * EACH;
    MPI_File other;
    MPI_Request request;
    int code;
    fill(own, EACH, (uint64_t) (10 * i + rank));
    if (!strcmp(call, "pwrite64"))
        return MPI_File_write_at_all(file, at, own, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!strcmp(call, "pread64")) {
        code = MPI_File_read_at_all(file, at, found, EACH, MPI_BYTE, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            CHECK(!memcmp(found, own, EACH));
        return code;
    }
    if (!strcmp(call, "fsync"))
        return MPI_File_sync(file);
    if (!strcmp(call, "ftruncate"))
        return MPI_File_set_size(file, 1000000 + i);
    if (!strcmp(call, "fallocate"))
        return MPI_File_preallocate(file, 2000000 + i);
    if (!strcmp(call, "openat")) {
        /* Which the lowest rank does before the others. */
        code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &other);
        if (code == MPI_SUCCESS)
            MPI(MPI_File_close(&other));
        return code;
    }
    code = MPI_File_iwrite_at(file, at, own, EACH, MPI_BYTE, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        run_under_strace(argc, argv);
    start(&argc, &argv);
    if (argc < 5) {
        if (rank == 0)
            fprintf(stderr, "skipped: strace is not there, or may not be used\n");
        return finish();
    }
    name = argv[4];
    int expected = class_called(argv[3]), before, opens = !strcmp(argv[1], "openat");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    if (!strcmp(argv[1], "pread64"))
        for (int i = 0; i < 2 * TIMES; i++) {
            fill(own, EACH, (uint64_t) (10 * i + rank));
            MPI(MPI_File_write_at(file, (MPI_Offset) (i * size + rank) * EACH, own, EACH, MPI_BYTE, MPI_STATUS_IGNORE));
        }
    barrier();
    before = descriptors();
    int failed = 0;
    for (int i = 0; i < TIMES; i++) {
        int code = one(file, argv[1], i);
        /* The third of this rank's. Of openings the first one was that of the file; the lowest rank opens before the others, who do not open
         * when it fails, and have their third one after that. */
        int now = opens ? i == FAILS - 2 || (size > 1 && i == FAILS - 1) : i == FAILS - 1;
        CHECK_CLASS(code, now ? expected : MPI_SUCCESS);
        failed += code != MPI_SUCCESS;
        CHECK_INT(descriptors(), before);
        barrier();
    }
    CHECK_INT(failed, expected == MPI_SUCCESS ? 0 : opens && size > 1 ? 2 : 1);
    MPI(MPI_File_close(&file));
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
