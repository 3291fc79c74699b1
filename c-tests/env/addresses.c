/* MPI_Aint_add and MPI_Aint_diff on addresses, over the sign bit too. */
#include "check.h"

int main(int argc, char **argv)
{
    static char data[100];
    start(&argc, &argv);
    MPI_Aint first = (MPI_Aint) (uintptr_t) data, last = (MPI_Aint) (uintptr_t) (data + 99);
    CHECK_INT(MPI_Aint_diff(last, first), 99);
    CHECK_INT(MPI_Aint_diff(first, last), -99);
    CHECK(MPI_Aint_add(first, 99) == last);
    CHECK(MPI_Aint_add(last, -99) == first);
    CHECK(PMPI_Aint_add(first, 1) == (MPI_Aint) (uintptr_t) (data + 1));
    CHECK_INT(PMPI_Aint_diff(first, first), 0);
    CHECK(MPI_Aint_add(INT64_MAX, 1) == INT64_MIN);
    CHECK_INT(MPI_Aint_diff(INT64_MIN, INT64_MAX), 1);
    return finish();
}
