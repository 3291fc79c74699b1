/* Wrong arguments of the error handler functions and of those for classes, codes and texts. */
#include "wrong.h"

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler, null = MPI_ERRHANDLER_NULL, fatal = MPI_ERRORS_ARE_FATAL, wrong = (MPI_Errhandler) MPI_INT, stale;
    int value, length;
    char text[MPI_MAX_ERROR_STRING];
    start(&argc, &argv);
    return_errors();
    const int no_errhandler = at_least(4, 1) ? err_errhandler : MPI_ERR_ARG;
    ERROR(MPI_Comm_create_errhandler(NULL, &errhandler), MPI_ERR_ARG, "comm_errhandler_fn", NULL);
    ERROR(MPI_Comm_create_errhandler(handler, NULL), MPI_ERR_ARG, "errhandler", NULL);
    ERROR(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), no_errhandler, "errhandler", NULL);
    ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong), no_errhandler, "errhandler", NULL);
    ERROR(MPI_Comm_get_errhandler(MPI_COMM_NULL, &errhandler), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Comm_get_errhandler(MPI_COMM_WORLD, NULL), MPI_ERR_ARG, "errhandler", NULL);
    ERROR(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_OTHER), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Errhandler_free(NULL), MPI_ERR_ARG, "errhandler", NULL);
    ERROR(MPI_Errhandler_free(&null), no_errhandler, "errhandler", NULL);
    ERROR(MPI_Errhandler_free(&wrong), no_errhandler, "errhandler", NULL);
    if (!reference) {
        MPI(MPI_Comm_create_errhandler(handler, &errhandler));
        stale = errhandler;
        MPI(MPI_Errhandler_free(&errhandler));
        ERROR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, stale), no_errhandler, "errhandler", NULL);
        ERROR(MPI_Errhandler_free(&stale), no_errhandler, "errhandler", NULL);
    }
    (void) fatal;
    ERROR(MPI_Error_class(MPI_ERR_TAG, NULL), MPI_ERR_ARG, "errorclass", NULL);
    ERROR(MPI_Error_string(MPI_ERR_TAG, NULL, &length), MPI_ERR_ARG, "string", NULL);
    ERROR(MPI_Error_string(MPI_ERR_TAG, text, NULL), MPI_ERR_ARG, "resultlen", NULL);
    ERROR(MPI_Add_error_class(NULL), MPI_ERR_ARG, "errorclass", NULL);
    ERROR(MPI_Add_error_code(MPI_ERR_TAG, NULL), MPI_ERR_ARG, "errorcode", NULL);
    ERROR(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG, "errorcode", NULL); /* predefined */
    MPI(MPI_Add_error_class(&value));
    ERROR(MPI_Add_error_string(value, NULL), MPI_ERR_ARG, "string", NULL);
    if (!reference) {
        ERROR(MPI_Add_error_code(value + 100000, &value), MPI_ERR_ARG, "errorclass", NULL);
        ERROR(MPI_Add_error_code(-5, &value), MPI_ERR_ARG, "errorclass", "-5");
        /* Every number up to the last class has a text. */
        for (int class = 0; class <= 127; class++) {
            MPI(MPI_Error_string(class, text, &length));
            CHECK(length > 0);
            MPI(MPI_Error_class(class, &value));
        }
        ERROR(MPI_Error_class(-5, &value), MPI_ERR_ARG, "errorcode", "-5");
        ERROR(MPI_Error_string(-5, text, &length), MPI_ERR_ARG, "errorcode", "-5");
    }
    return finish();
}
