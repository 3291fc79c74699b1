/* Messages that nobody receives do not keep MPI_Finalize from ending; those that were to wait for their receive are told of.
 * Each rank sends to the next. Argument: how. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { BYTES = 100000, TAG = 7 };

static char data[BYTES], attached[2 * BYTES];

int main(int argc, char **argv)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request request;
    const char *how = argc > 1 ? argv[1] : "isend";
    if (!strcmp(how, "threads")) {
        int level;
        watchdog(argv[0]);
        MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
        MPI(MPI_Comm_rank(w, &rank));
        MPI(MPI_Comm_size(w, &size));
    } else
        start(&argc, &argv);
    int next = (rank + 1) % size;
    if (!strcmp(how, "isend"))
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
    else if (!strcmp(how, "one") && rank == 0)
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
    else if (!strcmp(how, "synchronous")) {
        /* With a message behind it that is received by nobody either, and needs no receive. */
        MPI(MPI_Issend(data, 10, MPI_CHAR, next, TAG, w, &request));
        MPI(MPI_Send(data, 10, MPI_CHAR, next, TAG, w));
    } else if (!strcmp(how, "self"))
        MPI(MPI_Issend(data, 1000, MPI_CHAR, rank, TAG, w, &request));
    else if (!strcmp(how, "buffered")) {
        MPI(MPI_Buffer_attach(attached, sizeof attached));
        MPI(MPI_Bsend(data, BYTES, MPI_CHAR, next, TAG, w));
    } else if (!strcmp(how, "freed")) {
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
        MPI(MPI_Request_free(&request));
    } else if (!strcmp(how, "persistent")) {
        MPI(MPI_Send_init(data, BYTES, MPI_CHAR, next, TAG, w, &request));
        MPI(MPI_Start(&request));
    } else if (!strcmp(how, "unread")) {
        /* Nobody reads what is written to standard error, as in Python, which ignores SIGPIPE. */
        int ends[2];
        CHECK(pipe(ends) == 0 && close(ends[0]) == 0 && dup2(ends[1], 2) == 2);
        signal(SIGPIPE, SIG_IGN);
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
    } else if (!strcmp(how, "many")) {
        for (int i = 0; i < 200; i++)
            MPI(MPI_Issend(data, i % 2 ? 10 : 40000, MPI_CHAR, next, TAG, w, &request));
    } else if (!strcmp(how, "threads")) {
        for (int i = 0; i < 4; i++) {
            MPI_Comm dup;
            MPI(MPI_Comm_dup(w, &dup));
            MPI(MPI_Comm_set_name(dup, "unheard"));
            MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, dup, &request));
        }
    } else if (!strcmp(how, "posted")) {
        /* This is received, and that by nobody. */
        static char in[BYTES];
        MPI(MPI_Irecv(in, BYTES, MPI_CHAR, (rank + size - 1) % size, TAG + 1, w, &request));
        MPI(MPI_Request_free(&request));
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG + 1, w, &request));
    } else if (!strcmp(how, "matched")) {
        /* Probed, and not received. */
        MPI_Message message;
        MPI(MPI_Isend(data, BYTES, MPI_CHAR, next, TAG, w, &request));
        MPI(MPI_Mprobe(MPI_ANY_SOURCE, TAG, w, &message, MPI_STATUS_IGNORE));
    }
    return finish();
}
