/* A rank dies while long messages are under way to it and from it: who waits for them gets an error, and nobody touches their buffers
 * afterwards. arg: the rank that is killed has begun to send ("sender") or to receive ("receiver"), or has done no more than announced or
 * posted ("early_sender", "early_receiver"). */
#include "check.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 400 << 20 };

static void pause_for(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    const char *how = argc > 1 ? argv[1] : "sender";
    int sends = strstr(how, "sender") != NULL, early = !strncmp(how, "early", 5), flag = 0;
    size_t bytes = early ? 1 << 20 : BYTES;
    char *buffer = malloc(bytes);
    memset(buffer, 'a' + rank, bytes);
    MPI_Request request;
    int other = getpid();
    MPI(MPI_Sendrecv_replace(&other, 1, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 1) {
        if (sends)
            MPI(MPI_Isend(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request));
        else
            MPI(MPI_Irecv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request));
        /* Of what is sent the receiver sees when a part is through, and kills. */
        while (!early && !flag && (sends || buffer[0] != 'a'))
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        /* Had all gone, this test would show nothing. */
        CHECK(!flag);
        if (early)
            pause_for(100);
        raise(SIGKILL);
    }
    int code = sends ? MPI_Irecv(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request)
                     : MPI_Isend(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    CHECK_INT(code, MPI_SUCCESS);
    if (sends && !early) {
        while (!flag && buffer[0] == 'a')
            MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        kill(other, SIGKILL);
    }
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(code, MPIX_ERR_PROC_FAILED);
    memset(buffer, 'z', bytes);
    for (int i = 0; i < 100; i++) {
        MPI(MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        pause_for(1);
    }
    for (size_t i = 0; i < bytes; i++)
        if (buffer[i] != 'z') {
            CHECK_INT(buffer[i], 'z');
            break;
        }
    free(buffer);
    /* Nobody can finalize without the other one; whether all before was right is told by the text. */
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    if (check_failures == 0)
        fprintf(stderr, "all was right\n");
    return MPI_Finalize();
}
