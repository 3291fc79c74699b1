/* Thousands of errors, each with a text of its own: every code gives its own text when asked at once. */
#include "check.h"

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING], number[20];
    int length, value = 0;
    start(&argc, &argv);
    return_errors();
    for (int i = 1; i < 5000; i++) {
        int code = MPI_Send(&value, 1, MPI_INT, 0, -i - 1000, MPI_COMM_WORLD);
        CHECK_CLASS(code, MPI_ERR_TAG);
        MPI(MPI_Error_string(code, text, &length));
        CHECK_INT(length, strlen(text));
        snprintf(number, sizeof number, "%d", -i - 1000);
        CHECK(strstr(text, number) != NULL);
    }
    return finish();
}
