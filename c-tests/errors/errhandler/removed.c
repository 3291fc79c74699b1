/* Wrong arguments of MPI_Remove_error_class, _code and _string: predefined ones, and such as were never added. */
#include "wrong.h"

int main(int argc, char **argv)
{
    int class_;
    start(&argc, &argv);
    return_errors();
    CHECK(MPI_Remove_error_class(MPI_ERR_TAG) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(-5) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(MPI_ERR_TAG) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(MPI_ERR_TAG) != MPI_SUCCESS);
    MPI(MPI_Add_error_class(&class_));
    MPI(MPI_Remove_error_class(class_));
    if (!reference) {
        ERROR(MPI_Remove_error_class(class_), MPI_ERR_ARG, "errorclass", NULL);
        ERROR(MPI_Remove_error_code(class_ + 70000), MPI_ERR_ARG, "errorcode", NULL);
        ERROR(MPI_Remove_error_string(class_ + 70000), MPI_ERR_ARG, "errorcode", NULL);
    }
    return finish();
}
