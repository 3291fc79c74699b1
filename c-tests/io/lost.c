/* The last rank is killed while it has a file open: before a call of all ranks, or at any moment of a loop of them (arg "loop"). The others
 * get an error in each call that needs it, none waits for ever, and what needs no other rank works. arg: the call. */
#define _GNU_SOURCE
#include "files.h"
#include "lost_rank.h"
#include <sys/time.h>

static char name[NAME_BYTES];
static char own[20000];
static MPI_Datatype cyclic;

/* A call of all ranks. */
static int all(MPI_File *file, const char *what)
{
    int code;
    if (!strcmp(what, "sync"))
        return MPI_File_sync(*file);
    if (!strcmp(what, "set_size"))
        return MPI_File_set_size(*file, 1000);
    if (!strcmp(what, "preallocate"))
        return MPI_File_preallocate(*file, 1000);
    if (!strcmp(what, "set_view"))
        return MPI_File_set_view(*file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    if (!strcmp(what, "set_atomicity"))
        return MPI_File_set_atomicity(*file, 0);
    if (!strcmp(what, "seek_shared"))
        return MPI_File_seek_shared(*file, 0, MPI_SEEK_SET);
    if (!strcmp(what, "write_at_all"))
        return MPI_File_write_at_all(*file, rank, own, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    if (!strcmp(what, "read_all"))
        return MPI_File_read_all(*file, own, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    if (!strcmp(what, "interleaved"))
        return MPI_File_write_at_all(*file, 0, own, sizeof own, MPI_CHAR, MPI_STATUS_IGNORE);
    if (!strcmp(what, "write_ordered"))
        return MPI_File_write_ordered(*file, own, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    if (!strcmp(what, "split")) {
        code = MPI_File_write_at_all_begin(*file, rank, own, 1, MPI_CHAR);
        return code ? code : MPI_File_write_at_all_end(*file, own, MPI_STATUS_IGNORE);
    }
    /* Behind the call: pieces of all ranks, of which this rank's worker waits for others. */
    if (!strcmp(what, "iwrite_at_all")) {
        MPI_Request request;
        code = MPI_File_iwrite_at_all(*file, 0, own, sizeof own, MPI_CHAR, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(what, "open")) {
        MPI_File other;
        code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &other);
        if (code == MPI_SUCCESS)
            MPI(MPI_File_close(&other));
        return code;
    }
    if (!strcmp(what, "close"))
        return MPI_File_close(file);
    CHECK(!"the argument is a call");
    return MPI_SUCCESS;
}

static void die(int signal)
{
    (void) signal;
    raise(SIGKILL);
}

/* The moment is any: nothing depends on it but which of the cases is met. */
static void die_soon(void)
{
    struct itimerval soon = {{0, 0}, {0, 2000 + getpid() % 64 * 300}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "sync";
    static char object[NAME_BYTES + 20], text[20];
    int in_loop = argc > 2 && !strcmp(argv[2], "loop"), is_open = !strcmp(what, "open");
    char function[60];
    start(&argc, &argv);
    return_errors();
    file_name(name, "lost");
    /* A name that is given back while the file is open: nothing is left behind. */
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | (!strcmp(what, "close") ? MPI_MODE_DELETE_ON_CLOSE : 0);
    MPI_File file = file_open(MPI_COMM_WORLD, name, mode);
    snprintf(object, sizeof object, "%s", name);
    lost_object = object;
    if (!strcmp(what, "interleaved") || !strcmp(what, "iwrite_at_all")) {
        MPI_Datatype piece;
        MPI(MPI_Type_contiguous(4, MPI_CHAR, &piece));
        MPI(MPI_Type_create_resized(piece, 0, 4 * size, &cyclic));
        MPI(MPI_Type_commit(&cyclic));
        MPI(MPI_File_set_view(file, 4 * rank, MPI_CHAR, cyclic, "native", MPI_INFO_NULL));
    }
    snprintf(function, sizeof function, "MPI_File_%s", !strcmp(what, "interleaved") || !strcmp(what, "split") ? "write_at_all" : what);
    barrier();
    if (rank == size - 1 && in_loop) {
        die_soon();
        for (;;)
            all(&file, what);
    }
    if (rank == size - 1)
        raise(SIGKILL);
    int code = MPI_SUCCESS;
    while (in_loop && code == MPI_SUCCESS)
        code = all(&file, what);
    for (int i = 0; i < 3; i++) {
        if (!in_loop || i > 0)
            code = all(&file, what);
        CHECK(code != MPI_SUCCESS);
        if (code)
            IS_LOSS(code, MPIX_ERR_PROC_FAILED, function);
        if (!strcmp(what, "close"))
            break;
    }
    /* What a rank does alone. */
    if (!is_open && strcmp(what, "close")) {
        MPI_Offset bytes;
        MPI(MPI_File_write_at(file, 100 * rank, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_read_at(file, 100 * rank, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_write_shared(file, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
        MPI(MPI_File_get_size(file, &bytes));
        MPI(MPI_File_close(&file));
    }
    unlink(name);
    end_of_others();
}
