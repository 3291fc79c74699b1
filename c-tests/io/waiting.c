/* Waits for files that never end, for mpiexec's table: it shows the function and the file's name. arg: what waits. */
#include "interposed_pwrite.h"

static volatile sig_atomic_t is_inside;

static void stay(void)
{
    is_inside = 1;
    for (;;)
        pause();
}

static void *tell_when_inside(void *unused)
{
    int token = 0;
    while (!is_inside)
        usleep(100);
    MPI(MPI_Send(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    char name[NAME_BYTES];
    MPI_File file;
    MPI_Request request;
    pthread_t teller;
    int value = 0, provided;
    watchdog(argv[0]);
    MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    check_ranks();
    file_name(name, "heat");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    barrier();
    if (rank == 0)
        unlink(name);
    if (!strcmp(what, "atomic")) {
        MPI(MPI_File_set_atomicity(file, 1));
        if (rank == 1) {
            before_writes = stay;
            pthread_create(&teller, NULL, tell_when_inside, NULL);
            MPI(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        }
        MPI(MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MPI(MPI_File_read_at(file, 2, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    if (rank == 1)
        pause();
    if (!strcmp(what, "all"))
        MPI(MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI(MPI_File_iwrite_all(file, &value, 1, MPI_INT, &request));
    if (!strcmp(what, "request"))
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (!strcmp(what, "close"))
        MPI(MPI_File_close(&file));
    return finish();
}
