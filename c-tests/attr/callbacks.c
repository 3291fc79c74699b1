/* Attributes of communicators: set, get, replace, delete, copied by dup as the copy callback wants, deleted by free;
 * each callback gets the right communicator, keyval, extra state and value, as often as the standard says. */
#include "check.h"

static int copies, deletes, refuse;
static MPI_Comm seen_comm;
static int seen_keyval;
static void *seen_value, *seen_extra;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    copies++;
    seen_comm = comm, seen_keyval = keyval, seen_extra = extra, seen_value = in;
    *(void **) out = (char *) in + 1;
    *flag = !refuse;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deletes++;
    seen_comm = comm, seen_keyval = keyval, seen_extra = extra, seen_value = value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static char data[100], extra;
    int keyval = MPI_KEYVAL_INVALID, plain, never, flag, old;
    void *value;
    MPI_Comm dup, again;
    start(&argc, &argv);
    MPI(MPI_Comm_create_keyval(copy, delete, &keyval, &extra));
    CHECK(keyval != MPI_KEYVAL_INVALID);
    MPI(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &never, NULL));
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, data));
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, plain, data + 50));
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, never, data + 60));
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == data);
    /* set again: the old value is deleted */
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, data + 10));
    CHECK_INT(deletes, 1);
    CHECK(seen_comm == MPI_COMM_WORLD && seen_keyval == keyval && seen_extra == &extra && seen_value == data);
    /* dup copies */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_INT(copies, 1);
    CHECK(seen_comm == MPI_COMM_WORLD && seen_keyval == keyval && seen_extra == &extra && seen_value == data + 10);
    MPI(MPI_Comm_get_attr(dup, keyval, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == data + 11);
    MPI(MPI_Comm_get_attr(dup, plain, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == data + 50);
    MPI(MPI_Comm_get_attr(dup, never, &value, &flag));
    CHECK_INT(flag, 0);
    /* of the duplicate's own */
    MPI(MPI_Comm_dup(dup, &again));
    CHECK_INT(copies, 2);
    CHECK(seen_comm == dup && seen_value == data + 11);
    MPI(MPI_Comm_get_attr(again, keyval, &value, &flag));
    CHECK(value == data + 12);
    MPI(MPI_Comm_free(&again));
    CHECK_INT(deletes, 2);
    CHECK(seen_value == data + 12);
    /* a copy callback that declines */
    refuse = 1;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &again));
    CHECK_INT(copies, 3);
    MPI(MPI_Comm_get_attr(again, keyval, &value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Comm_free(&again));
    CHECK_INT(deletes, 2);
    refuse = 0;
    /* delete */
    MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    CHECK_INT(deletes, 3);
    CHECK(seen_value == data + 10);
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
    CHECK_INT(flag, 0);
    /* a keyval freed while attributes live: they stay and their callbacks are called */
    old = keyval;
    MPI(MPI_Comm_free_keyval(&keyval));
    CHECK_INT(keyval, MPI_KEYVAL_INVALID);
    MPI(MPI_Comm_dup(dup, &again));
    CHECK_INT(copies, 4);
    CHECK_INT(seen_keyval, old);
    MPI(MPI_Comm_free(&again));
    CHECK_INT(deletes, 4);
    MPI(MPI_Comm_free(&dup));
    CHECK_INT(deletes, 5);
    CHECK(seen_value == data + 11);
    MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, plain));
    MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, never));
    MPI(MPI_Comm_free_keyval(&plain));
    MPI(MPI_Comm_free_keyval(&never));
    return finish();
}
