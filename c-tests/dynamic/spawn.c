/* MPI_Comm_spawn of the program itself: arguments, error codes, sizes, names, messages, and the end of the parent's communicator.
 * args: the number of children; empty: one of their arguments is, which hydra cannot pass on. */
#include "spawned.h"

static void look(MPI_Comm comm, int remote)
{
    int flag = 0, number = -1;
    MPI(MPI_Comm_test_inter(comm, &flag));
    CHECK_INT(flag, 1);
    MPI(MPI_Comm_size(comm, &number));
    CHECK_INT(number, size);
    MPI(MPI_Comm_rank(comm, &number));
    CHECK_INT(number, rank);
    MPI(MPI_Comm_remote_size(comm, &number));
    CHECK_INT(number, remote);
}

static void wildcards(MPI_Comm comm)
{
    int remote, sum = 0, expected = 0;
    MPI_Status status;
    MPI(MPI_Comm_remote_size(comm, &remote));
    for (int i = 0; i < remote; i++) {
        MPI_Request request;
        int value = 1 + rank, received = -1;
        MPI(MPI_Isend(&value, 1, MPI_INT, i, 7, comm, &request));
        MPI(MPI_Recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &status));
        CHECK_INT(received, 1 + status.MPI_SOURCE);
        CHECK_INT(status.MPI_TAG, 7);
        sum += received;
        expected += 1 + i;
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_INT(sum, expected);
    MPI(MPI_Barrier(comm)); /* before messages with other tags come */
    MPI_Request request;
    MPI(MPI_Isend(&rank, 1, MPI_INT, rank % remote, 8 + rank, comm, &request));
    for (int i = rank; i < remote; i++) {
        if (i % size != rank)
            continue;
        MPI(MPI_Recv(&sum, 1, MPI_INT, i, MPI_ANY_TAG, comm, &status));
        CHECK_STATUS(status, i, 8 + i, (int) sizeof sum);
        CHECK_INT(sum, i);
    }
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    char number[20];
    char *words[] = {"child", "two words", "'$HOME' \"*\" \\", argc > 2 ? "" : "last", number, NULL};
    start_family(&argc, &argv);
    if (!is_child) {
        int count = argc > 1 ? atoi(argv[1]) : 1;
        snprintf(number, sizeof number, "%d", size);
        MPI_Comm children = spawn(MPI_COMM_WORLD, count, words), dup;
        look(children, count);
        wildcards(children);
        talk(children, 1, 0);
        talk(children, 1000, 0);
        talk(children, 0, 0);
        MPI(MPI_Comm_dup(children, &dup));
        part(&children);
        talk(dup, 100, 0);
        part(&dup);
        return finish_family();
    }
    CHECK_INT(argc, 6);
    words[3] = argc > 4 && !argv[4][0] ? "" : "last";
    for (int i = 0; i < 4 && i < argc - 1; i++)
        CHECK_STRING(argv[i + 1], words[i]);
    look(parent, atoi(argv[argc - 1]));
    wildcards(parent);
    talk(parent, 1, 1);
    talk(parent, 1000, 1);
    talk(parent, 0, 1);
    MPI_Comm again, dup;
    MPI(MPI_Comm_get_parent(&again));
    CHECK(again == parent);
    MPI(MPI_Comm_dup(parent, &dup));
    part(&parent);
    MPI(MPI_Comm_get_parent(&again));
    CHECK(again == MPI_COMM_NULL);
    talk(dup, 100, 1);
    part(&dup);
    return finish_family();
}
