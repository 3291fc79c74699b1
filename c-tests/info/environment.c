/* MPI_INFO_ENV and MPI_Info_create_env: readable, at most the reserved keys; create_env works before init and after finalize. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0, count = -1;
    watchdog(argv[0]);
    MPI(MPI_Info_create_env(argc, argv, &info));
    CHECK(info != MPI_INFO_NULL);
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK(count >= 0);
    MPI(MPI_Info_free(&info));
    start(&argc, &argv);
    MPI(MPI_Info_get_nkeys(MPI_INFO_ENV, &count));
    CHECK(count >= 0);
    MPI(MPI_Info_get(MPI_INFO_ENV, "wdir", MPI_MAX_INFO_VAL, value, &flag));
    if (flag)
        CHECK(value[0] == '/');
    MPI(MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag));
    if (flag && !reference)
        CHECK_INT(atoi(value), size);
    MPI(MPI_Info_dup(MPI_INFO_ENV, &info));
    MPI(MPI_Info_free(&info));
    return finish();
}
