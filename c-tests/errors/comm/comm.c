/* Wrong arguments of Comm_rank, size, dup, free, get_name, set_name. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int value, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD, self = MPI_COMM_SELF, dup;
    start(&argc, &argv);
    return_errors();
    MPI_Comm wrong[4] = {MPI_COMM_NULL, (MPI_Comm) MPI_INT, (MPI_Comm) 0, freed_comm()};
    for (int i = 0; i < (reference ? 3 : 4); i++) {
        ERROR(MPI_Comm_rank(wrong[i], &value), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_size(wrong[i], &value), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_dup(wrong[i], &dup), MPI_ERR_COMM, "comm", NULL);
        if (i || !at_least(4, 1)) /* since MPI 4.1 null handles have names */
            ERROR(MPI_Comm_get_name(wrong[i], name, &length), MPI_ERR_COMM, "comm", NULL);
        ERROR(MPI_Comm_set_name(wrong[i], "name"), MPI_ERR_COMM, "comm", NULL);
    }
    if (!reference)
        ERROR(MPI_Comm_free(&wrong[3]), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "rank", NULL);
    ERROR(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "newcomm", NULL);
    ERROR(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &length), MPI_ERR_ARG, "comm_name", NULL);
    ERROR(MPI_Comm_get_name(MPI_COMM_WORLD, name, NULL), MPI_ERR_ARG, "resultlen", NULL);
    ERROR(MPI_Comm_set_name(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "comm_name", NULL);
    ERROR(MPI_Comm_free(NULL), MPI_ERR_ARG, "comm", NULL);
    ERROR(MPI_Comm_free(&null), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_free(&world), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_free(&self), MPI_ERR_COMM, "comm", NULL);
    CHECK(world == MPI_COMM_WORLD);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
