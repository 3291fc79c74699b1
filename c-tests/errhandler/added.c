/* Classes, codes and texts that the program adds: MPI_LASTUSEDCODE grows, they work in handlers, texts can be set twice. */
#include "check.h"

static int last(void)
{
    int *value, flag;
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK_INT(flag, 1);
    return *value;
}

static int seen;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    seen = *code;
}

int main(int argc, char **argv)
{
    int class_ = -1, code = -1, second = -1, of_predefined = -1, found, length, before;
    char text[MPI_MAX_ERROR_STRING], longest[MPI_MAX_ERROR_STRING];
    MPI_Errhandler errhandler;
    start(&argc, &argv);
    before = last();
    MPI(MPI_Add_error_class(&class_));
    CHECK(class_ > MPI_ERR_LASTCODE);
    CHECK(last() >= class_ && last() > before);
    MPI(MPI_Add_error_code(class_, &code));
    MPI(MPI_Add_error_code(class_, &second));
    MPI(MPI_Add_error_code(MPI_ERR_TAG, &of_predefined));
    CHECK(code != second && code != class_ && of_predefined != MPI_ERR_TAG);
    if (!reference) /* there only classes count */
        CHECK(last() >= code && last() >= second);
    MPI(MPI_Error_class(class_, &found));
    CHECK_INT(found, class_);
    MPI(MPI_Error_class(code, &found));
    CHECK_INT(found, class_);
    MPI(MPI_Error_class(second, &found));
    CHECK_INT(found, class_);
    MPI(MPI_Error_class(of_predefined, &found));
    CHECK_INT(found, MPI_ERR_TAG);
    /* no text yet: empty */
    memset(text, 'x', sizeof text);
    MPI(MPI_Error_string(code, text, &length));
    CHECK_INT(length, strlen(text));
    if (!reference)
        CHECK_STRING(text, "");
    MPI(MPI_Add_error_string(class_, "a class of this program"));
    MPI(MPI_Add_error_string(code, "the first code"));
    MPI(MPI_Add_error_string(second, "the second"));
    MPI(MPI_Error_string(class_, text, &length));
    CHECK_STRING(text, "a class of this program");
    MPI(MPI_Error_string(code, text, &length));
    CHECK_STRING(text, "the first code");
    CHECK_INT(length, 14);
    MPI(MPI_Add_error_string(code, "another text"));
    MPI(MPI_Error_string(code, text, &length));
    CHECK_STRING(text, "another text");
    MPI(MPI_Error_string(second, text, &length));
    CHECK_STRING(text, "the second");
    memset(longest, 'y', sizeof longest);
    longest[MPI_MAX_ERROR_STRING - 1] = 0;
    MPI(MPI_Add_error_string(second, longest));
    MPI(MPI_Error_string(second, text, &length));
    CHECK_STRING(text, longest);
    CHECK_INT(length, MPI_MAX_ERROR_STRING - 1);
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
    MPI(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    CHECK_INT(seen, code);
    MPI(MPI_Errhandler_free(&errhandler));
    return finish();
}
