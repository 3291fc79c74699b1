/* Makes a type for each step, and does not free it. */
#include <mpi.h>

static void step(int count)
{
    MPI_Datatype column;
    MPI_Type_vector(count, 1, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 1; i <= 100; i++)
        step(i);
    MPI_Finalize();
    return 0;
}
