/* MPI_Remove_error_string, _code and _class (MPI 4.1), and what must not be removed. */
#include "check.h"

int main(int argc, char **argv)
{
    int class_, code, found, length;
    char text[MPI_MAX_ERROR_STRING];
    start(&argc, &argv);
    return_errors();
    for (int round = 0; round < 3; round++) {
        MPI(MPI_Add_error_class(&class_));
        MPI(MPI_Add_error_code(class_, &code));
        MPI(MPI_Add_error_string(class_, "class"));
        MPI(MPI_Add_error_string(code, "code"));
        MPI(MPI_Error_class(code, &found));
        CHECK_INT(found, class_);
        /* a class with codes stays */
        CHECK(MPI_Remove_error_class(class_) != MPI_SUCCESS);
        /* nor does a code or class with a text go */
        MPI(MPI_Remove_error_string(code));
        MPI(MPI_Error_string(code, text, &length));
        CHECK(strcmp(text, "code") != 0);
        MPI(MPI_Remove_error_code(code));
        MPI(MPI_Remove_error_string(class_));
        MPI(MPI_Remove_error_class(class_));
    }
    CHECK(MPI_Remove_error_class(MPI_ERR_TAG) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(MPI_ERR_TAG) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(MPI_ERR_TAG) != MPI_SUCCESS);
    return finish();
}
