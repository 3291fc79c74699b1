/* args: variable value. The odd ranks have another setting of what must be the same on all: members of a new communicator whose
 * settings differ have an error that names it, on all of them; others work. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_NULL, same;
    MPI_Request request;
    char text[MPI_MAX_ERROR_STRING] = "";
    const char *number = getenv("PMI_RANK");
    int length, sum;
    if (argc < 3 || !number)
        return 2;
    if (atoi(number) % 2)
        setenv(argv[1], argv[2], 1);
    start(&argc, &argv);
    return_errors();
    for (int round = 0; round < 3; round++) {
        int code = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        CHECK_CLASS(code, MPI_ERR_OTHER);
        MPI(MPI_Error_string(code, text, &length));
        if (!strstr(text, argv[1]) || !strstr(text, argv[2]) || !strstr(text, "on rank 1;"))
            check_failed(__FILE__, __LINE__, "%s", text);
        CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_OTHER);
        code = MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        CHECK_CLASS(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code, MPI_ERR_OTHER);
        MPI_Group world, alike;
        MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
        MPI(MPI_Group_range_incl(world, 1, (int[][3]) {{rank % 2, size - 1, 2}}, &alike));
        MPI(MPI_Comm_create_group(MPI_COMM_WORLD, alike, 1, &same));
        MPI(MPI_Allreduce(&(int) {1}, &sum, 1, MPI_INT, MPI_SUM, same));
        CHECK_INT(sum, (size + 1 - rank % 2) / 2);
        MPI(MPI_Comm_free(&same));
        MPI(MPI_Group_free(&alike));
        MPI(MPI_Group_free(&world));
    }
    return finish();
}
