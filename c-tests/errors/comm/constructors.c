/* Wrong arguments of the constructors, the same on all ranks. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Comm comm, half, inter, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Group all, none = MPI_GROUP_NULL;
    MPI_Request request;
    int value;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI_Comm wrong[3] = {MPI_COMM_NULL, (MPI_Comm) MPI_INT, freed_comm()};
    for (int i = 0; i < (reference ? 2 : 3); i++) {
        MPI_Comm it = wrong[i];
        ERROR(MPI_Comm_create(it, all, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_create_group(it, all, 0, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_split(it, 0, 0, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_split_type(it, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_dup_with_info(it, MPI_INFO_NULL, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_idup(it, &comm, &request), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Intercomm_create(it, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM, "local_comm", NULL);
        ERROR(MPI_Intercomm_merge(it, 0, &comm), MPI_ERR_COMM, "intercomm", NULL);
        ERROR(MPI_Comm_compare(it, MPI_COMM_WORLD, &value), MPI_ERR_COMM, "comm1", NULL);
        ERROR(MPI_Comm_compare(MPI_COMM_WORLD, it, &value), MPI_ERR_COMM, "comm2", NULL);
        ERROR(MPI_Comm_test_inter(it, &value), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_remote_size(it, &value), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_remote_group(it, &none), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_disconnect(&it), MPI_ERR_COMM, "comm", NULL);
    }
    ERROR(MPI_Comm_disconnect(&null), MPI_ERR_COMM, "comm", NULL);
    if (!reference)
        ERROR(MPI_Comm_disconnect(&world), MPI_ERR_COMM, "comm", NULL);
    /* groups */
    ERROR(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP, "group", NULL);
    ERROR(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm), MPI_ERR_GROUP, "group", NULL);
    if (size > 1) {
        ERROR(MPI_Comm_create(MPI_COMM_SELF, all, &comm), MPI_ERR_GROUP, "group", NULL);
        if (!reference)
            ERROR(MPI_Comm_create_group(MPI_COMM_SELF, all, 0, &comm), MPI_ERR_GROUP, "group", NULL);
    }
    ERROR(MPI_Comm_create_group(MPI_COMM_WORLD, all, -1, &comm), MPI_ERR_TAG, "tag", "-1");
    /* colours and kinds */
    if (!reference) { /* it takes them */
        ERROR(MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &comm), MPI_ERR_ARG, "color", "-1");
        ERROR(MPI_Comm_split(MPI_COMM_WORLD, -32765, 0, &comm), MPI_ERR_ARG, "color", "-32765");
    }
    ERROR(MPI_Comm_split_type(MPI_COMM_WORLD, 4711, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG, "split_type", "4711");
    if (!reference) {
        ERROR(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, freed_info(), &comm), MPI_ERR_INFO, "info", NULL);
        ERROR(MPI_Comm_dup_with_info(MPI_COMM_WORLD, freed_info(), &comm), MPI_ERR_INFO, "info", NULL);
        ERROR(MPI_Comm_idup_with_info(MPI_COMM_WORLD, freed_info(), &comm, &request), MPI_ERR_INFO, "info", NULL);
    }
    /* intercommunicators where there must be none, and the other way round */
    if (!reference) { /* it answers the other two, and an assertion fails in the first */
        ERROR(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm), MPI_ERR_COMM, "intercomm", NULL);
        ERROR(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_remote_group(MPI_COMM_WORLD, &none), MPI_ERR_COMM, "comm", NULL);
    }
    ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, size, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_RANK, "local_leader", number(size));
    ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, -1, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_RANK, "local_leader", "-1");
    if (!reference) { /* it looks at the leader's own arguments only, and the others wait */
        int leader = size - 1, class_ = rank == leader ? MPI_ERR_COMM : MPI_ERR_OTHER;
        ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, leader, MPI_COMM_NULL, 0, 0, &comm), class_, rank == leader ? "peer_comm" : "leader", NULL);
        class_ = rank == leader ? MPI_ERR_RANK : MPI_ERR_OTHER;
        ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, leader, MPI_COMM_WORLD, size, 0, &comm), class_, rank == leader ? "remote_leader" : "leader", NULL);
        ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, leader, MPI_COMM_WORLD, 0, -3, &comm), MPI_ERR_TAG, "tag", "-3");
        /* two groups that are one */
        ERROR(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, 0, 3, &comm), MPI_ERR_COMM, "common", NULL);
    }
    if (size > 1) {
        int low = rank < size / 2;
        MPI(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 0, &inter));
        MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        ERROR(MPI_Comm_create_group(inter, all, 0, &comm), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM, "local_comm", NULL);
        int remote;
        MPI(MPI_Comm_remote_size(inter, &remote));
        ERROR(MPI_Send(&value, 1, MPI_INT, remote, 0, inter), MPI_ERR_RANK, "dest", number(remote));
        ERROR(MPI_Recv(&value, 1, MPI_INT, remote, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK, "source", number(remote));
        if (!reference)
            ERROR(MPI_Comm_split(inter, -5, 0, &comm), MPI_ERR_ARG, "color", "-5");
        MPI(MPI_Comm_free(&inter));
        MPI(MPI_Comm_free(&half));
    }
    /* places for results */
    ERROR(MPI_Comm_create(MPI_COMM_WORLD, all, NULL), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Comm_idup(MPI_COMM_WORLD, &comm, NULL), MPI_ERR_ARG, "request", NULL);
    ERROR(MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, NULL), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "result", NULL);
    ERROR(MPI_Comm_test_inter(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Comm_group(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "group", NULL);
    MPI(MPI_Group_free(&all));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
