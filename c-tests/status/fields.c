/* What a program may do with a status: set elements, cancelled and the fields, and read them back; copies are equal. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status, copy;
    int count = -1, elements = -1, cancelled = -1;
    MPI_Count large = -1;
    start(&argc, &argv);
    memset(&status, 0, sizeof status);
    MPI(MPI_Status_set_elements(&status, MPI_INT, 10));
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 10);
    MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, 40);
    MPI(MPI_Get_count(&status, MPI_DOUBLE, &count));
    CHECK_INT(count, 5);
    MPI(MPI_Get_elements(&status, MPI_DOUBLE, &elements));
    CHECK_INT(elements, 5);
    MPI(MPI_Status_set_elements_x(&status, MPI_BYTE, 5000000000ll));
    MPI(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    CHECK_INT(large, 5000000000ll);
    MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    MPI(MPI_Get_elements(&status, MPI_BYTE, &elements));
    CHECK_INT(elements, MPI_UNDEFINED);
    MPI(MPI_Get_count_c(&status, MPI_BYTE, &large));
    CHECK_INT(large, 5000000000ll);
    MPI(MPI_Status_set_elements_x(&status, MPI_SHORT, 7));
    MPI(MPI_Get_elements_c(&status, MPI_SHORT, &large));
    CHECK_INT(large, 7);
    /* cancelled and the count do not disturb each other */
    for (int i = 1; i >= 0; i--) {
        MPI(MPI_Status_set_cancelled(&status, i));
        MPI(MPI_Test_cancelled(&status, &cancelled));
        CHECK_INT(cancelled, i);
        MPI(MPI_Get_count(&status, MPI_SHORT, &count));
        CHECK_INT(count, 7);
    }
    MPI(MPI_Status_set_cancelled(&status, 1));
    MPI(MPI_Status_set_elements(&status, MPI_INT, 3));
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK_INT(cancelled, 1);
    status.MPI_SOURCE = 5, status.MPI_TAG = 6, status.MPI_ERROR = 7;
    copy = status;
    CHECK_INT(copy.MPI_SOURCE + copy.MPI_TAG + copy.MPI_ERROR, 18);
    MPI(MPI_Get_count(&copy, MPI_INT, &count));
    CHECK_INT(count, 3);
    CHECK_INT(sizeof status, ignores_null_status ? 32 : 20);
    return finish();
}
