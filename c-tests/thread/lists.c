/* Several threads change the same objects: attributes of one communicator and one type, keys of one info, the error handler and name of
 * one communicator. Nothing of one thread is lost by another's changes, and callbacks are called once for each attribute.
 *
 *     lists ROUNDS */
#include "threads.h"

enum { THREADS = 4, KEYS = 3 };
static MPI_Comm shared;
static MPI_Datatype type;
static MPI_Info info;
static int rounds = 300;
static _Atomic int set, deleted, handled;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) value, (void) extra;
    deleted++;
    return MPI_SUCCESS;
}

static int delete_of_type(MPI_Datatype of, int keyval, void *value, void *extra)
{
    (void) of;
    return delete(MPI_COMM_NULL, keyval, value, extra);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
    handled++;
}

static void attributes(int *values)
{
    int of_comm[KEYS], of_type, flag;
    void *found;
    MPI(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_of_type, &of_type, NULL));
    for (int i = 0; i < KEYS; i++) {
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &of_comm[i], NULL));
        MPI(MPI_Comm_set_attr(shared, of_comm[i], &values[i]));
        MPI(MPI_Type_set_attr(type, of_type, &values[i]));
        set += 2;
    }
    for (int i = 0; i < KEYS; i++) {
        MPI(MPI_Comm_get_attr(shared, of_comm[i], &found, &flag));
        CHECK(flag && found == &values[i]);
        MPI(MPI_Comm_delete_attr(shared, of_comm[i]));
        MPI(MPI_Comm_free_keyval(&of_comm[i]));
    }
    MPI(MPI_Type_get_attr(type, of_type, &found, &flag));
    CHECK(flag && found == &values[KEYS - 1]);
    MPI(MPI_Type_delete_attr(type, of_type));
    MPI(MPI_Type_free_keyval(&of_type));
}

static void *run(void *number)
{
    int me = (int) (intptr_t) number, values[KEYS], flag, length;
    char key[20], value[40], back[40], name[MPI_MAX_OBJECT_NAME];
    snprintf(key, sizeof key, "key %d", me);
    for (int round = 0; round < rounds; round++) {
        MPI_Errhandler errhandler, found;
        attributes(values);
        snprintf(value, sizeof value, "%d in %d", me, round);
        MPI(MPI_Info_set(info, key, value));
        MPI(MPI_Info_get(info, key, sizeof back - 1, back, &flag));
        CHECK(flag && !strcmp(back, value));
        MPI(MPI_Info_delete(info, key));
        MPI(MPI_Comm_create_errhandler(handler, &errhandler));
        MPI(MPI_Comm_set_errhandler(shared, errhandler));
        MPI(MPI_Errhandler_free(&errhandler));
        MPI(MPI_Comm_get_errhandler(shared, &found));
        MPI(MPI_Errhandler_free(&found));
        MPI(MPI_Comm_set_name(shared, me % 2 ? "odd" : "even"));
        MPI(MPI_Comm_get_name(shared, name, &length));
        CHECK(!strcmp(name, "odd") || !strcmp(name, "even"));
        if (round % 50 == 0)
            CHECK_CLASS(MPI_Send(&me, 1, MPI_INT, 0, -7, shared), MPI_ERR_TAG);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int keys;
    start_multiple(&argc, &argv);
    if (argc > 1)
        rounds = slow() ? 3 : atoi(argv[1]);
    MPI_Errhandler first;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &shared));
    MPI(MPI_Comm_create_errhandler(handler, &first));
    MPI(MPI_Comm_set_errhandler(shared, first));
    MPI(MPI_Errhandler_free(&first));
    MPI(MPI_Type_contiguous(2, MPI_INT, &type));
    MPI(MPI_Info_create(&info));
    run_threads(THREADS, run);
    MPI(MPI_Info_get_nkeys(info, &keys));
    CHECK_INT(keys, 0);
    CHECK_INT(deleted, set);
    CHECK_INT(handled, THREADS * ((rounds + 49) / 50));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Comm_free(&shared));
    return finish();
}
