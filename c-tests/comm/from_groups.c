/* MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups: without a parent, told apart by a text. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Group all, group, other;
    MPI_Comm comm, inter;
    MPI_Errhandler handler;
    int r, s, sum, flag;
    start(&argc, &argv);
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int round = 0; round < 5; round++) {
        MPI(MPI_Comm_create_from_group(all, "org.oxmpi.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        MPI(MPI_Comm_rank(comm, &r));
        CHECK_INT(r, rank);
        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, size * (size - 1) / 2);
        MPI(MPI_Comm_get_errhandler(comm, &handler));
        CHECK(handler == MPI_ERRORS_RETURN);
        MPI(MPI_Comm_free(&comm));
    }
    int range[1][3] = {{size - 1, rank % 2 ? 1 : 0, -1}};
    if ((size - 1 - range[0][1]) % 2)
        range[0][0]--;
    range[0][2] = -2;
    if (range[0][0] >= range[0][1]) {
        MPI(MPI_Group_range_incl(all, 1, range, &group));
        MPI(MPI_Comm_create_from_group(group, rank % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        MPI(MPI_Comm_size(comm, &s));
        MPI(MPI_Comm_rank(comm, &r));
        CHECK_INT(s, (size + 1 - rank % 2) / 2);
        CHECK_INT(r, s - 1 - rank / 2);
        MPI(MPI_Barrier(comm));
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Group_difference(all, group, &other));
        if (other != MPI_GROUP_EMPTY) {
            int there;
            MPI(MPI_Group_size(other, &there));
            MPI(MPI_Intercomm_create_from_groups(group, 0, other, there - 1, "across", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
            MPI(MPI_Comm_test_inter(inter, &flag));
            CHECK(flag);
            MPI(MPI_Comm_remote_size(inter, &s));
            CHECK_INT(s, there);
            MPI(MPI_Intercomm_merge(inter, rank % 2, &comm));
            MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_INT(sum, size * (size - 1) / 2);
            MPI(MPI_Comm_free(&comm));
            MPI(MPI_Comm_free(&inter));
        }
        MPI(MPI_Group_free(&other));
        MPI(MPI_Group_free(&group));
    }
    if (!reference) {
        MPI(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI(MPI_Group_free(&all));
    return finish();
}
