/* Objects of every kind are made, looked at and freed in several threads at one time: groups, datatypes, operations, infos, keys, error
 * handlers, error classes, requests (generalised and persistent ones too), messages, communicators. Memory does not grow.
 *
 *     kinds ROUNDS */
#include "churn.h"
#include "threads.h"

enum { THREADS = 4 };
static MPI_Comm own[THREADS];
static int rounds = 200;

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++)
        ((int *) inout)[i] += 3 * ((int *) in)[i];
}

static void groups(void)
{
    MPI_Group world, one, both;
    int number = -1, same, zero = 0;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Group_incl(world, 1, &zero, &one));
    MPI(MPI_Group_union(one, world, &both));
    MPI(MPI_Group_size(both, &number));
    CHECK_INT(number, size);
    MPI(MPI_Group_compare(world, both, &same));
    CHECK_INT(same, MPI_IDENT);
    MPI(MPI_Group_free(&one));
    MPI(MPI_Group_free(&both));
    MPI(MPI_Group_free(&world));
}

static void operations(int me)
{
    MPI_Op op;
    int in = me + 1, out = 10, commutes;
    MPI(MPI_Op_create(add, me % 2, &op));
    MPI(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, me % 2);
    MPI(MPI_Reduce_local(&in, &out, 1, MPI_INT, op));
    CHECK_INT(out, 10 + 3 * (me + 1));
    MPI(MPI_Op_free(&op));
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *) extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int let_go(void *extra)
{
    *(int *) extra = -1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void) extra, (void) complete;
    return MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
}

static void small_ones(int me)
{
    MPI_Errhandler errhandler, found;
    MPI_Request request;
    MPI_Status status;
    int keyval, flag, count = 0, extra = me + 5;
    void *value;
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(own[me], errhandler));
    MPI(MPI_Comm_get_errhandler(own[me], &found));
    CHECK(found == errhandler);
    MPI(MPI_Errhandler_free(&found));
    MPI(MPI_Comm_set_errhandler(own[me], MPI_ERRORS_ARE_FATAL));
    MPI(MPI_Errhandler_free(&errhandler));
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    MPI(MPI_Comm_set_attr(own[me], keyval, &extra));
    MPI(MPI_Comm_get_attr(own[me], keyval, &value, &flag));
    CHECK(flag && value == &extra);
    MPI(MPI_Comm_delete_attr(own[me], keyval));
    MPI(MPI_Comm_free_keyval(&keyval));
    MPI(MPI_Grequest_start(query, let_go, cancel, &extra, &request));
    MPI(MPI_Grequest_complete(request));
    MPI(MPI_Wait(&request, &status));
    MPI(MPI_Get_elements(&status, MPI_INT, &count));
    CHECK(count == me + 5 && extra == -1);
}

static void types(int me, int round)
{
    int blocks = 2 + (me + round) % 7, keyval, flag, bytes;
    MPI_Datatype type = vector(blocks, 3), copy;
    void *found;
    MPI(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    MPI(MPI_Type_set_attr(type, keyval, &type));
    MPI(MPI_Type_dup(type, &copy));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Type_get_attr(copy, keyval, &found, &flag));
    CHECK(flag && found == &type);
    MPI(MPI_Type_size(copy, &bytes));
    CHECK_INT(bytes, blocks * (int) sizeof(double));
    MPI(MPI_Type_free_keyval(&keyval));
    MPI(MPI_Type_free(&copy));
}

static void communication(int me, int round)
{
    MPI_Comm comm;
    MPI_Message message;
    MPI_Request send, receive;
    int out = 100 * me + round, in = -1, got = -1, sum = 0;
    MPI(MPI_Comm_dup(own[me], &comm));
    MPI(MPI_Send_init(&out, 1, MPI_INT, 0, 1, comm, &send));
    MPI(MPI_Start(&send));
    MPI(MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE));
    MPI(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI(MPI_Irecv(&got, 1, MPI_INT, 0, 1, comm, &receive));
    MPI(MPI_Start(&send));
    MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&send));
    MPI(MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm, &receive));
    MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK(in == out && got == out && sum == out);
    MPI(MPI_Comm_free(&comm));
}

static void *run(void *number)
{
    int me = (int) (intptr_t) number;
    for (int round = 0; round < rounds; round++) {
        MPI_Info info;
        int keys;
        groups();
        operations(me);
        small_ones(me);
        types(me, round);
        communication(me, round);
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "a", "b"));
        MPI(MPI_Info_get_nkeys(info, &keys));
        CHECK_INT(keys, 1);
        MPI(MPI_Info_free(&info));
        if (round == 0) {
            int class, code, of = -1;
            MPI(MPI_Add_error_class(&class));
            MPI(MPI_Add_error_code(class, &code));
            MPI(MPI_Error_class(code, &of));
            CHECK_INT(of, class);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    if (argc > 1)
        rounds = slow() ? 3 : atoi(argv[1]);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &own[i]));
    run_threads(THREADS, run);
    long before = resident_bytes();
    run_threads(THREADS, run);
    if (!slow())
        CHECK(resident_bytes() - before < 4 << 20);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&own[i]));
    return finish();
}
