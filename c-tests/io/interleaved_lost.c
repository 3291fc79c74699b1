/* The last rank is killed at any moment of a loop of collective accesses of pieces that lie between each other. Each call of the others
 * does its work or tells of the loss, and none waits for ever. */
#define _GNU_SOURCE
#include "files.h"
#include "lost_rank.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { PIECE = 16, PIECES = 40000 };

static void die(int signal)
{
    (void) signal;
    raise(SIGKILL);
}

/* The moment is any: nothing depends on it but which of the cases is met. */
static void die_soon(void)
{
    struct itimerval soon = {{0, 0}, {0, 1000 + getpid() % 64 * 1500}};
    if (signal(SIGALRM, die) == SIG_ERR || setitimer(ITIMER_REAL, &soon, NULL) != 0)
        exit(2);
}

/* Whether the call tells of the loss. */
static int fails(int code, const char *function)
{
    char text[MPI_MAX_ERROR_STRING], wanted[60];
    int length;
    if (code == MPI_SUCCESS)
        return 0;
    CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", size - 1);
    if (!strstr(text, wanted) || !strstr(text, "all ranks are waited for") || !strstr(text, function))
        check_failed(__FILE__, __LINE__, "the text is %s", text);
    return 1;
}

int main(int argc, char **argv)
{
    static char bytes[PIECE * PIECES];
    char name[NAME_BYTES];
    MPI_File file;
    MPI_Datatype piece, filetype;
    MPI_Status status;
    start(&argc, &argv);
    return_errors();
    file_name(name, "lost");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, PIECE * size, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, PIECE * rank, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    if (rank == 0)
        unlink(name);
    barrier();
    if (rank == size - 1)
        die_soon();
    for (int lost = 0; !lost;) {
        memset(bytes, rank + 1, sizeof bytes);
        lost = fails(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), "MPI_File_write_at_all");
        if (!lost)
            CHECK_MOVED(status, sizeof bytes);
        memset(bytes, 0, sizeof bytes);
        int was_lost = lost;
        lost = fails(MPI_File_read_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), "MPI_File_read_at_all");
        CHECK(lost || !was_lost);
        if (!lost) {
            CHECK_MOVED(status, sizeof bytes);
            CHECK_INT(bytes[sizeof bytes - 1], rank + 1);
        }
    }
    for (int i = 0; i < 3; i++)
        CHECK(fails(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status), "MPI_File_write_at_all"));
    end_of_others();
}
