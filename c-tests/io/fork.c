/* Children of a process with open files, while accesses go on: descriptors are closed when another program begins, and a child that ends
 * takes nothing with it. A file of a session; files and accesses that are left at the end. The threads of the library take no signals. */
#include "interposed_pwrite.h"
#include <sys/wait.h>

enum { BYTES = 1 << 20 };

static char name[NAME_BYTES];
static pthread_t main_thread;
static volatile sig_atomic_t writes_elsewhere, unblocked, handled_elsewhere;

static void on_write(void)
{
    sigset_t blocked;
    if (pthread_equal(pthread_self(), main_thread))
        return;
    writes_elsewhere = 1;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int signal = 1; signal < 32; signal++)
        /* A failed store of the thread's own is SIGBUS. */
        if (signal != SIGKILL && signal != SIGSTOP && signal != SIGBUS && !sigismember(&blocked, signal))
            unblocked = signal;
}

static void on_alarm(int number)
{
    (void) number;
    if (!pthread_equal(pthread_self(), main_thread))
        handled_elsewhere = 1;
}

/* A program that finds the file among its descriptors ends with 1. */
static void run_child(int execs)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (execs)
            execl("/bin/sh", "sh", "-c", "for i in /proc/self/fd/* /proc/$$/fd/*; do case $(readlink $i) in *c-test-*) exit 1;; esac; done",
                  (char *) NULL);
        _exit(execs ? 2 : 0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static void of_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_File file;
    MPI_Request request;
    char *data = calloc(1, BYTES);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    MPI(MPI_Comm_create_from_group(group, "files", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    file = file_open(comm, name, MPI_MODE_RDWR);
    MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) rank * BYTES, data, BYTES, MPI_BYTE, &request));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_File_close(&file));
    MPI(MPI_Group_free(&group));
    MPI(MPI_Session_finalize(&session));
    free(data);
}

int main(int argc, char **argv)
{
    MPI_File file, left;
    MPI_Request requests[8];
    char *data = malloc(BYTES);
    struct sigaction action;
    start(&argc, &argv);
    main_thread = pthread_self();
    memset(data, 'x', BYTES);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, NULL);
    file_name(name, "fork");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    before_writes = on_write;
    for (int i = 0; i < 8; i++) {
        MPI_Offset at = (MPI_Offset) (rank * 8 + i) * BYTES;
        if (i % 2)
            MPI(MPI_File_iwrite_at_all(file, at, data, BYTES, MPI_BYTE, &requests[i]));
        else
            MPI(MPI_File_iwrite_at(file, at, data, BYTES, MPI_BYTE, &requests[i]));
        if (!slow() || i == 0)
            run_child(i % 3 == 0);
        kill(getpid(), SIGUSR2);
    }
    MPI(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    if (!reference) {
        CHECK_INT(writes_elsewhere, 1);
        CHECK_INT(unblocked, 0);
    }
    CHECK_INT(handled_elsewhere, 0);
    barrier();
    CHECK_INT(file_size(name), (long long) size * 8 * BYTES);
    if (!reference)
        of_session();
    /* Left: an open file, and an access whose request was freed. It ends before the file has no name in front of the closing line. */
    left = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    MPI(MPI_File_write_at(left, 0, data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI(MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &requests[0]));
    MPI(MPI_Request_free(&requests[0]));
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
