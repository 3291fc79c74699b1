/* SIGBUS stays the program's: small pieces are stored into a mapped file that gets shorter, which is no fault of the program's; its own faults
 * come to its handler, or end the process if it has none. A handler that is set later stays. MPI_Finalize leaves what the program had.
 *   bus_error own | later | none     the program's handler is set before the first access, after it, or never */
#define _GNU_SOURCE
#include "files.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PIECES = 2000, STRIDE = 64, LENGTH = STRIDE * PIECES };

static sigjmp_buf back;
static volatile sig_atomic_t caught;
static void *volatile fault;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void) signal;
    (void) context;
    caught++;
    fault = info->si_addr;
    siglongjmp(back, 1);
}

static void set_handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    CHECK_INT(sigaction(SIGBUS, &action, NULL), 0);
}

/* Memory of which the second page has no file behind it. */
static char *short_memory(void)
{
    int descriptor = memfd_create("own", 0);
    CHECK_INT(ftruncate(descriptor, 4096), 0);
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return memory;
}

static void own_fault(void)
{
    char *memory = short_memory();
    int before = caught;
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *) (memory + 5000) = 1;
    CHECK_INT(caught, before + 1);
    CHECK(fault == memory + 5000);
    munmap(memory, 8192);
}

/* In a child, which ends by the signal. */
static void fatal_fault(int is_sent)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (is_sent)
            raise(SIGBUS);
        else
            *(volatile char *) (short_memory() + 5000) = 1;
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(int argc, char **argv)
{
    static int data[PIECES];
    static char found[LENGTH];
    char name[NAME_BYTES];
    struct sigaction left;
    MPI_Datatype piece;
    MPI_Status status;
    start(&argc, &argv);
    const char *when = argc > 1 ? argv[1] : "own";
    int never = !strcmp(when, "none");
    file_name(name, "bus_error");
    if (!strcmp(when, "own"))
        set_handler();
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_Type_create_resized(MPI_INT, 0, STRIDE, &piece));
    MPI(MPI_Type_commit(&piece));
    MPI(MPI_File_set_view(file, 0, MPI_INT, piece, "native", MPI_INFO_NULL));
    for (int i = 0; i < PIECES; i++)
        data[i] = i + 1;
    for (int round = 0; round < 20 && rank == 0; round++) {
        /* A part that is mapped already. */
        MPI(MPI_File_write_at(file, 0, data, PIECES, MPI_INT, &status));
        CHECK_MOVED(status, sizeof data);
        if (round == 1 && !strcmp(when, "later"))
            set_handler();
        if (never)
            fatal_fault(round % 2);
        else if (round > 1 || !strcmp(when, "own"))
            own_fault();
        CHECK_INT(file_read(name, found, LENGTH, 0), LENGTH - STRIDE + (int) sizeof(int));
        for (int i = 0; i < PIECES; i++)
            CHECK_INT(*(int *) (found + i * STRIDE), data[i]);
        CHECK_INT(truncate(name, round % 2 ? 0 : 5000), 0);
    }
    MPI(MPI_Type_free(&piece));
    MPI(MPI_File_close(&file));
    MPI(MPI_Finalize());
    CHECK_INT(sigaction(SIGBUS, NULL, &left), 0);
    if (never || (rank != 0 && !strcmp(when, "later")))
        CHECK(left.sa_handler == SIG_DFL);
    else
        CHECK(left.sa_sigaction == on_fault);
    return conclude();
}
