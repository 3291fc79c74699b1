/* Names, hints and error handlers of windows. */
#include "check.h"

static int calls, last_code;
static MPI_Win last_win;

static void handler(MPI_Win *win, int *code, ...)
{
    calls++;
    last_win = *win;
    last_code = *code;
}

static void names(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME] = "?", longest[MPI_MAX_OBJECT_NAME + 10];
    int length = -1;
    MPI(MPI_Win_get_name(win, name, &length));
    CHECK_STRING(name, "");
    CHECK_INT(length, 0);
    MPI(MPI_Win_set_name(win, "halo"));
    MPI(MPI_Win_get_name(win, name, &length));
    CHECK_STRING(name, "halo");
    CHECK_INT(length, 4);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    MPI(MPI_Win_set_name(win, longest));
    MPI(MPI_Win_get_name(win, name, &length));
    CHECK_INT(length, MPI_MAX_OBJECT_NAME - 1);
    if (!reference) {
        MPI(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
        CHECK_STRING(name, "MPI_WIN_NULL");
    }
}

static const char *hint(MPI_Win win, const char *key)
{
    static char value[100];
    MPI_Info used;
    int flag, bytes = sizeof value;
    MPI(MPI_Win_get_info(win, &used));
    MPI(MPI_Info_get_string(used, key, &bytes, value, &flag));
    MPI(MPI_Info_free(&used));
    return flag ? value : "none";
}

static void hints(MPI_Win win)
{
    MPI_Info info;
    CHECK_STRING(hint(win, "no_locks"), "true");
    CHECK_STRING(hint(win, "accumulate_ordering"), "rar,raw,war,waw");
    CHECK_STRING(hint(win, "same_size"), "false");
    if (!reference) {
        CHECK_STRING(hint(win, "colour of the window"), "none");
        CHECK_STRING(hint(win, "accumulate_ops"), "same_op_no_op");
        CHECK_STRING(hint(win, "mpi_accumulate_granularity"), "8");
        CHECK_STRING(hint(win, "oxmpi_accumulate"), "element");
    }
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "no_locks", "false"));
    MPI(MPI_Info_set(info, "accumulate_ordering", "none"));
    MPI(MPI_Info_set(info, "mpi_accumulate_granularity", "1024"));
    MPI(MPI_Info_set(info, "sheen", "bright"));
    MPI(MPI_Win_set_info(win, info));
    MPI(MPI_Info_free(&info));
    CHECK_STRING(hint(win, "no_locks"), "false");
    CHECK_STRING(hint(win, "accumulate_ordering"), "none");
    if (!reference) {
        CHECK_STRING(hint(win, "sheen"), "none");
        /* What decides how accumulates work is fixed. */
        CHECK_STRING(hint(win, "mpi_accumulate_granularity"), "8");
    }
}

static void handlers(MPI_Win win)
{
    MPI_Errhandler found, own;
    MPI(MPI_Win_get_errhandler(win, &found));
    CHECK(found == MPI_ERRORS_ARE_FATAL);
    MPI(MPI_Errhandler_free(&found));
    MPI(MPI_Win_create_errhandler(handler, &own));
    MPI(MPI_Win_set_errhandler(win, own));
    MPI(MPI_Win_get_errhandler(win, &found));
    CHECK(found == own);
    MPI(MPI_Errhandler_free(&found));
    MPI(MPI_Errhandler_free(&own));
    int code = MPI_Win_attach(win, &calls, 4);
    CHECK_CLASS(code, MPI_ERR_RMA_FLAVOR);
    CHECK_INT(calls, 1);
    CHECK_INT(last_code, code);
    CHECK(last_win == win);
    MPI(MPI_Win_call_errhandler(win, MPI_ERR_RMA_RANGE));
    CHECK_INT(calls, 2);
    CHECK_INT(last_code, MPI_ERR_RMA_RANGE);
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    code = MPI_Win_detach(win, &calls);
    CHECK_CLASS(code, MPI_ERR_RMA_FLAVOR);
    CHECK_INT(calls, 2);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Win win;
    char *base;
    start(&argc, &argv);
    /* Not inherited. */
    return_errors();
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "no_locks", "true"));
    MPI(MPI_Info_set(info, "colour of the window", "blue"));
    MPI(MPI_Info_set(info, "same_size", "perhaps"));
    MPI(MPI_Info_set(info, "mpi_accumulate_granularity", "8"));
    MPI(MPI_Win_allocate(100000, 1, info, MPI_COMM_WORLD, &base, &win));
    MPI(MPI_Info_free(&info));
    names(win);
    hints(win);
    if (!reference)
        handlers(win);
    MPI(MPI_Win_free(&win));
    return finish();
}
