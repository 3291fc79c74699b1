/* Names of communicators: predefined, set, cut to their longest, not copied by dup, per communicator. */
#include "check.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME], longest[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm dup;
    start(&argc, &argv);
    MPI(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK_STRING(name, "MPI_COMM_WORLD");
    CHECK_INT(length, 14);
    MPI(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    CHECK_STRING(name, "MPI_COMM_SELF");
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    memset(name, 'x', sizeof name);
    MPI(MPI_Comm_get_name(dup, name, &length));
    CHECK_INT(length, 0);
    CHECK_STRING(name, "");
    MPI(MPI_Comm_set_name(dup, "a duplicate  "));
    MPI(MPI_Comm_get_name(dup, name, &length));
    CHECK_STRING(name, "a duplicate  ");
    CHECK_INT(length, 13);
    memset(longest, 'n', sizeof longest);
    longest[MPI_MAX_OBJECT_NAME - 1] = 0;
    MPI(MPI_Comm_set_name(dup, longest));
    MPI(MPI_Comm_get_name(dup, name, &length));
    CHECK_STRING(name, longest);
    CHECK_INT(length, MPI_MAX_OBJECT_NAME - 1);
    MPI(MPI_Comm_set_name(dup, ""));
    MPI(MPI_Comm_get_name(dup, name, &length));
    CHECK_INT(length, 0);
    MPI(MPI_Comm_set_name(MPI_COMM_WORLD, "everyone"));
    MPI(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK_STRING(name, "everyone");
    MPI(MPI_Comm_free(&dup));
    if (!reference) { /* MPI 4.1: null handles have names */
        MPI(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
        CHECK_STRING(name, "MPI_COMM_NULL");
    }
    return finish();
}
