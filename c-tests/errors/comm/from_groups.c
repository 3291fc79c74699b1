/* Wrong arguments of MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Group all, other;
    MPI_Comm comm;
    char text[MPI_MAX_STRINGTAG_LEN + 20];
    start(&argc, &argv);
    return_errors();
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_excl(all, 1, &rank, &other));
    ERROR(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP, "group", NULL);
    ERROR(MPI_Comm_create_from_group(all, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG, "stringtag", NULL);
    ERROR(MPI_Comm_create_from_group(all, text, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG, "stringtag", "275");
    ERROR(MPI_Comm_create_from_group(all, "t", freed_info(), MPI_ERRORS_RETURN, &comm), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Comm_create_from_group(all, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm), MPI_ERR_ERRHANDLER, "errhandler", NULL);
    ERROR(MPI_Comm_create_from_group(all, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG, "newcomm", NULL);
    if (size > 1) {
        ERROR(MPI_Comm_create_from_group(other, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Intercomm_create_from_groups(other, 0, all, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_GROUP, "local_group", NULL);
    }
    ERROR(MPI_Intercomm_create_from_groups(all, size, all, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_RANK, "local_leader", number(size));
    int class_ = rank ? MPI_ERR_OTHER : MPI_ERR_GROUP;
    ERROR(MPI_Intercomm_create_from_groups(all, 0, MPI_GROUP_NULL, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), class_, rank ? "leader" : "group", NULL);
    class_ = rank ? MPI_ERR_OTHER : MPI_ERR_RANK;
    ERROR(MPI_Intercomm_create_from_groups(all, 0, all, -1, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), class_, rank ? "leader" : "remote_leader", NULL);
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&other));
    return finish();
}
