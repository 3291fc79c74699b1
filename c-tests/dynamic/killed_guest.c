/* Singletons connect to a job, send without a pause to all of its ranks, and are killed by it somewhere on the way, perhaps in the middle of a
 * packet in the queue that all share. Each rank takes what has come, then gets an error; the job's own messages go on, a next guest is welcome,
 * and what was shared with the dead ones is given back. args: rounds. */
#include "ports.h"
#include "process.h"

static int guest(int argc, char **argv)
{
    MPI_Comm comm;
    int number, pid = getpid();
    start(&argc, &argv);
    MPI(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
    MPI(MPI_Comm_remote_size(comm, &number));
    for (int i = 0;; i++) /* the first one says whom to kill */
        MPI(MPI_Send(&pid, 1, MPI_INT, i % number, 0, comm));
    return 1;
}

static void ring(void)
{
    int left = -1;
    MPI(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &left, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE));
    CHECK_INT(left, (rank + size - 1) % size);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (argc > 2)
        return guest(argc, argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 10, before = 0;
    start(&argc, &argv);
    setenv("OXMPI_SINGLETON", "1", 1); /* for guests */
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        pid_t child = 0;
        int pid = -1, code = MPI_SUCCESS, taken = 0;
        if (rank == 0) {
            MPI(MPI_Open_port(MPI_INFO_NULL, port));
            char *words[] = {argv[0], "guest", port, NULL};
            child = begin(0, words);
        }
        MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        for (; code == MPI_SUCCESS; taken++) {
            if (rank == 0 && taken == 1 + 7 * round)
                CHECK_INT(kill(pid, SIGKILL), 0);
            code = MPI_Recv(&pid, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        }
        CHECK(check_class_of(code) == MPIX_ERR_PROC_FAILED);
        ring();
        if (rank == 0) {
            CHECK_INT(end(child), 128 + SIGKILL);
            MPI(MPI_Close_port(port));
        }
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        /* A link ends when a wait has looked after its processes. */
        int now = descriptors(), more = 1, all = 0;
        for (; round > 0; now = descriptors()) {
            more = now > before;
            MPI(MPI_Allreduce(&more, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
            if (!all)
                break;
            CHECK_HERE;
            for (int late = 0; late < 2; late++) { /* in turn: one half is late, and the other waits for it */
                if (rank % 2 == late)
                    usleep(1100000);
                ring();
            }
        }
        if (round == 0)
            before = now + 1;
    }
    return finish();
}
