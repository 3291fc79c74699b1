/* The last rank ends inside of an atomic access, or before a collective one that goes on behind the call: who waits for it gets an error.
 * arg: what. */
#include "interposed_pwrite.h"

static int inside[2], lasts[2];

/* Ends with the range locked, when the others are about to come. */
static void die(void)
{
    char byte = 0;
    CHECK_INT(write(inside[1], &byte, 1), 1);
    CHECK_INT(read(lasts[0], &byte, 1), 1);
    _exit(9);
}

static void is_loss(int code, int class)
{
    char text[MPI_MAX_ERROR_STRING], wanted[60];
    int length;
    CHECK_CLASS(code, class);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", size - 1);
    if (!strstr(text, wanted))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "atomic";
    char name[NAME_BYTES], byte = 0;
    int value[4] = { 1, 2, 3, 4 }, last;
    MPI_File file, alone;
    MPI_Request request;
    start(&argc, &argv);
    last = size - 1;
    file_name(name, "lost");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    alone = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    if (!strcmp(what, "atomic")) {
        long ids[3];
        char path[80];
        MPI(MPI_File_set_atomicity(file, 1));
        MPI(MPI_File_set_atomicity(alone, 1));
        CHECK_INT(pipe(inside), 0);
        CHECK_INT(pipe(lasts), 0);
        ids[0] = (long) getpid(), ids[1] = inside[0], ids[2] = lasts[1];
        MPI(MPI_Bcast(ids, 3, MPI_LONG, last, MPI_COMM_WORLD));
        if (rank == last) {
            before_writes = die;
            MPI_File_write_at(file, 4, value, 2, MPI_INT, MPI_STATUS_IGNORE);
        }
        if (rank == 0) {
            snprintf(path, sizeof path, "/proc/%ld/fd/%ld", ids[0], ids[1]);
            int told = open(path, O_RDONLY);
            CHECK_INT(read(told, &byte, 1), 1);
            snprintf(path, sizeof path, "/proc/%ld/fd/%ld", ids[0], ids[2]);
            int tells = open(path, O_WRONLY);
            /* What does not meet the range is free. */
            MPI(MPI_File_write_at(file, 0, value, 1, MPI_INT, MPI_STATUS_IGNORE));
            MPI(MPI_File_write_at(alone, 12, value, 1, MPI_INT, MPI_STATUS_IGNORE));
            CHECK_INT(write(tells, &byte, 1), 1);
            is_loss(MPI_File_read_at(file, 0, value, 4, MPI_INT, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
            is_loss(MPI_File_write_at(alone, 8, value, 1, MPI_INT, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
            MPI(MPI_File_write_at(alone, 12, value, 1, MPI_INT, MPI_STATUS_IGNORE));
            unlink(name);
        }
    } else {
        if (rank == last)
            _exit(9);
        MPI(MPI_File_iwrite_all(file, value, 4, MPI_INT, &request));
        is_loss(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
        is_loss(MPI_File_write_all(file, value, 4, MPI_INT, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
        MPI(MPI_File_write_at(file, 0, value, 4, MPI_INT, MPI_STATUS_IGNORE));
        unlink(name);
    }
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
