/* A key that is freed while attributes are cached under it: it works under its old number until the last
 * of them is gone, no other key gets that number, and the callbacks are told it (MPI 5.0, 7.7.2). Until then it may be freed again,
 * as in MPICH. */
#include "check.h"

enum { MANY = 2000 };

static int key_seen, deletes, copies;
static int data[3];

static int comm_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) comm;
    CHECK(extra == data);
    key_seen = keyval;
    copies++;
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int comm_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) value;
    CHECK(extra == data);
    key_seen = keyval;
    deletes++;
    return MPI_SUCCESS;
}

static int type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) type;
    return comm_copy(MPI_COMM_NULL, keyval, extra, in, out, flag);
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type;
    return comm_delete(MPI_COMM_NULL, keyval, value, extra);
}

static void seen(int key, int expected_copies, int expected_deletes)
{
    CHECK_INT(copies, expected_copies);
    CHECK_INT(deletes, expected_deletes);
    if (copies + deletes > 0)
        CHECK_INT(key_seen, key);
    copies = deletes = 0;
    key_seen = MPI_KEYVAL_INVALID;
}

/* Makes and frees enough keys for every free number to be given out. */
static void make_others(int used)
{
    for (int i = 0; i < MANY; i++) {
        int other;
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL));
        if (other == used)
            check_failed(__FILE__, __LINE__, "key number %d is %#x, which is in use", i, used);
        MPI(MPI_Comm_free_keyval(&other));
    }
}

typedef int free_function(int *key);

/* As often as the program likes, of which the attributes take no notice. */
static void free_again(free_function *free_keyval, int freed)
{
    for (int i = 0; i < 3; i++) {
        int again = freed;
        MPI(free_keyval(&again));
        CHECK_INT(again, MPI_KEYVAL_INVALID);
    }
    seen(freed, 0, 0);
}

/* Nothing is left of a key whose attributes are gone. The reference looks at memory that it has freed. */
static void free_too_late(free_function *free_keyval, int freed)
{
    int again = freed;
    if (reference)
        return;
    CHECK_CLASS(free_keyval(&again), MPI_ERR_KEYVAL);
    CHECK_INT(again, freed);
}

static int win_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    (void) win;
    return comm_delete(MPI_COMM_NULL, keyval, value, extra);
}

static void windows(void)
{
    int key, freed, flag, *value;
    MPI_Win win;
    MPI(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    MPI(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_delete, &key, data));
    freed = key;
    MPI(MPI_Win_set_attr(win, key, &data[0]));
    MPI(MPI_Win_free_keyval(&key));
    free_again(MPI_Win_free_keyval, freed);
    MPI(MPI_Win_get_attr(win, freed, &value, &flag));
    CHECK(flag && value == &data[0]);
    MPI(MPI_Win_free(&win));
    seen(freed, 0, 1);
    free_too_late(MPI_Win_free_keyval, freed);
}

static void communicators(int deprecated)
{
    int key, freed, flag, *value;
    MPI_Comm comm, dup;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI(MPI_Comm_create_keyval(comm_copy, comm_delete, &key, data));
    freed = key;
    MPI(MPI_Comm_set_attr(comm, key, &data[0]));
    if (deprecated)
        MPI(MPI_Keyval_free(&key));
    else
        MPI(MPI_Comm_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    free_again(deprecated ? MPI_Keyval_free : MPI_Comm_free_keyval, freed);

    MPI(MPI_Comm_get_attr(comm, freed, &value, &flag));
    CHECK(flag && value == &data[0]);
    MPI(MPI_Comm_get_attr(MPI_COMM_SELF, freed, &value, &flag));
    CHECK_INT(flag, 0);
    make_others(freed);
    MPI(MPI_Comm_set_attr(comm, freed, &data[1]));
    seen(freed, 0, 1);
    MPI(MPI_Comm_get_attr(comm, freed, &value, &flag));
    CHECK(flag && value == &data[1]);

    MPI(MPI_Comm_dup(comm, &dup));
    seen(freed, 1, 0);
    MPI(MPI_Comm_delete_attr(comm, freed));
    seen(freed, 0, 1);
    MPI(MPI_Comm_get_attr(dup, freed, &value, &flag));
    CHECK(flag && value == &data[1]);
    MPI(MPI_Comm_set_attr(comm, freed, &data[2]));
    MPI(MPI_Comm_free(&dup));
    seen(freed, 0, 1);
    make_others(freed);
    MPI(MPI_Comm_get_attr(comm, freed, &value, &flag));
    CHECK(flag && value == &data[2]);
    MPI(MPI_Comm_free(&comm));
    seen(freed, 0, 1);
    free_too_late(deprecated ? MPI_Keyval_free : MPI_Comm_free_keyval, freed);
}

static void datatypes(void)
{
    int key, freed, flag, *value;
    MPI_Datatype type, dup;
    MPI(MPI_Type_contiguous(3, MPI_INT, &type));
    MPI(MPI_Type_create_keyval(type_copy, type_delete, &key, data));
    freed = key;
    MPI(MPI_Type_set_attr(type, key, &data[0]));
    MPI(MPI_Type_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    free_again(MPI_Type_free_keyval, freed);
    MPI(MPI_Type_get_attr(type, freed, &value, &flag));
    CHECK(flag && value == &data[0]);
    make_others(freed);
    MPI(MPI_Type_set_attr(type, freed, &data[1]));
    seen(freed, 0, 1);
    MPI(MPI_Type_dup(type, &dup));
    seen(freed, 1, 0);
    MPI(MPI_Type_delete_attr(type, freed));
    seen(freed, 0, 1);
    make_others(freed);
    MPI(MPI_Type_get_attr(dup, freed, &value, &flag));
    CHECK(flag && value == &data[1]);
    MPI(MPI_Type_free(&dup));
    seen(freed, 0, 1);
    MPI(MPI_Type_free(&type));
    seen(freed, 0, 0);
    free_too_late(MPI_Type_free_keyval, freed);
}

/* On MPI_COMM_WORLD until MPI_Finalize. */
static int at_finalize(void)
{
    int key, freed;
    MPI(MPI_Comm_create_keyval(comm_copy, comm_delete, &key, data));
    freed = key;
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &data[0]));
    MPI(MPI_Comm_free_keyval(&key));
    make_others(freed);
    return freed;
}

int main(int argc, char **argv)
{
    int freed;
    start(&argc, &argv);
    return_errors();
    communicators(0);
    communicators(1);
    datatypes();
    windows();
    freed = at_finalize();
    MPI(MPI_Finalize());
    seen(freed, 0, 1);
    return conclude();
}
