/* Spawns itself. args: how many, info key or none, its value, the hosts that the children must be on (a,b: by rank), or "none": there must be an
 * error, and the parents go on; then what they do: talk, or a child dies (kill, abort). */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
#define WANT(what) ((what) ? 0 : (failures++, fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what)))

enum { BYTES = 400000 };

/* All to all of the other side. */
static void talk(MPI_Comm comm)
{
    int others, rank;
    static unsigned char out[BYTES], in[BYTES];
    MPI_Comm_remote_size(comm, &others);
    MPI_Comm_rank(comm, &rank);
    for (int bytes = 1; bytes <= BYTES; bytes *= 400) {
        MPI_Request requests[64];
        memset(out, rank + 1, bytes);
        for (int i = 0; i < others; i++)
            MPI_Isend(out, bytes, MPI_BYTE, i, 5, comm, &requests[i]);
        for (int i = 0; i < others; i++) {
            MPI_Recv(in, bytes, MPI_BYTE, i, 5, comm, MPI_STATUS_IGNORE);
            WANT(in[0] == i + 1 && in[bytes - 1] == i + 1);
        }
        MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm merged;
    int all, me, sum = 0, parts = 0;
    MPI_Intercomm_merge(comm, 0, &merged);
    MPI_Comm_size(merged, &all);
    MPI_Comm_rank(merged, &me);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, merged);
    WANT(sum == all * (all - 1) / 2);
    MPI_Comm_free(&merged);
    MPI_Allreduce(&failures, &parts, 1, MPI_INT, MPI_SUM, comm);
    failures += parts;
}

int main(int argc, char **argv)
{
    int rank, size, count = atoi(argv[1]), codes[64], value;
    char host[64] = "", hosts[64 * 64], wanted[64 * 64] = "";
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    gethostname(host, sizeof host - 1);
    const char *deed = argv[5];
    if (parent != MPI_COMM_NULL) {
        MPI_Gather(host, 64, MPI_CHAR, NULL, 0, MPI_CHAR, 0, parent);
        talk(parent);
        if (!strcmp(deed, "abort") && rank == count - 1)
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(deed, "kill") && rank == count - 1)
            raise(SIGKILL);
        if (strcmp(deed, "talk"))
            MPI_Recv(&value, 1, MPI_INT, 0, 99, parent, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return failures != 0;
    }
    MPI_Info info;
    MPI_Info_create(&info);
    if (strcmp(argv[2], "none"))
        MPI_Info_set(info, argv[2], argv[3]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn(argv[0], argv + 1, count, info, 0, MPI_COMM_WORLD, &children, codes);
    if (!strcmp(argv[4], "none")) {
        int class_ = 0, sum = 0;
        MPI_Error_class(code, &class_);
        WANT(class_ == MPI_ERR_SPAWN);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        WANT(sum == size * (size - 1) / 2);
    } else if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        fprintf(stderr, "%s\n", text);
        failures++;
    } else {
        MPI_Gather(NULL, 0, MPI_CHAR, hosts, 64, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
        for (int i = 0; rank == 0 && i < count; i++)
            sprintf(wanted + strlen(wanted), "%s%s", i ? "," : "", hosts + 64 * i);
        if (rank == 0 && strcmp(wanted, argv[4])) {
            fprintf(stderr, "the children are on %s and should be on %s\n", wanted, argv[4]);
            failures++;
        }
        talk(children);
        if (rank == 0) {
            puts("ready");
            fflush(stdout);
        }
        if (strcmp(deed, "talk"))
            MPI_Recv(&value, 1, MPI_INT, 0, 99, children, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&children);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    if (rank == 0 && !failures)
        puts("all was right");
    return failures != 0;
}
