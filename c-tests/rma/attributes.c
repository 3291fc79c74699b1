/* Attributes of windows: callbacks, those of the program at MPI_Win_free, predefined ones that cannot be changed. */
#include "check.h"

static int deleted, refuse;
static MPI_Win expected;

static int copied(MPI_Win win, int key, void *state, void *in, void *out, int *flag)
{
    (void) win, (void) key, (void) state, (void) in, (void) out;
    *flag = 0;
    return MPI_ERR_OTHER;
}

static int delete(MPI_Win win, int key, void *value, void *state)
{
    (void) key;
    CHECK(win == expected);
    CHECK(state == &deleted);
    if (refuse)
        return MPI_ERR_OTHER;
    deleted += *(int *) value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keys[2], flag, one = 1, ten = 10, code;
    void *value;
    char memory[8];
    MPI_Win win;
    start(&argc, &argv);
    for (int i = 0; i < 2; i++)
        MPI(MPI_Win_create_keyval(copied, delete, &keys[i], &deleted));
    MPI(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    expected = win;
    MPI(MPI_Win_get_attr(win, keys[0], &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Win_set_attr(win, keys[0], &one));
    MPI(MPI_Win_get_attr(win, keys[0], &value, &flag));
    CHECK(flag && value == &one);
    MPI(MPI_Win_set_attr(win, keys[0], &ten));
    CHECK_INT(deleted, 1);
    MPI(MPI_Win_set_attr(win, keys[1], &one));
    MPI(MPI_Win_delete_attr(win, keys[0]));
    CHECK_INT(deleted, 11);
    MPI(MPI_Win_get_attr(win, keys[0], &value, &flag));
    CHECK_INT(flag, 0);
    int predefined[] = {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL};
    for (int i = 0; i < 5; i++) {
        MPI(MPI_Win_get_attr(win, predefined[i], &value, &flag));
        CHECK_INT(flag, 1);
        CHECK(i > 0 || value == memory);
        code = MPI_Win_set_attr(win, predefined[i], &one);
        CHECK_CLASS(code, MPI_ERR_KEYVAL);
        code = MPI_Win_delete_attr(win, predefined[i]);
        CHECK_CLASS(code, MPI_ERR_KEYVAL);
    }
    /* A callback that fails keeps the window. */
    refuse = 1;
    code = MPI_Win_free(&win);
    CHECK(code != MPI_SUCCESS);
    CHECK(win == expected);
    refuse = 0;
    MPI(MPI_Win_free(&win));
    CHECK_INT(deleted, 12);
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Win_free_keyval(&keys[i]));
        CHECK_INT(keys[i], MPI_KEYVAL_INVALID);
    }
    return finish();
}
