/* Threads that end in a function which MPI has called, and that call MPI while they end: no lock stays held, others go on, and memory
 * does not grow with what they have left. */
#include "threads.h"

enum { HANDLER, QUERY, DELETES, COPIES, OPERATION, DESTRUCTOR, KINDS };

static pthread_key_t key;
static MPI_Comm comms[KINDS];
static MPI_Op operation;
static int keyvals[2], ended[KINDS];

static void end_here(int kind)
{
    ended[kind]++;
    if (kind != DESTRUCTOR)
        pthread_exit(&ended[kind]);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    end_here(HANDLER);
}

static int query(void *state, MPI_Status *status)
{
    (void) state;
    (void) status;
    end_here(QUERY);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void) state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

static int deletes(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void) comm;
    (void) keyval;
    (void) state;
    if (value)
        end_here(DELETES);
    return MPI_SUCCESS;
}

static int copies(MPI_Comm comm, int keyval, void *state, void *value, void *copy, int *flag)
{
    (void) comm;
    (void) keyval;
    (void) state;
    (void) value;
    (void) copy;
    *flag = 0;
    end_here(COPIES);
    return MPI_SUCCESS;
}

static void combine(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) length;
    (void) type;
    end_here(OPERATION);
}

/* Messages, collective operations, new objects: as after any call. */
static void use(MPI_Comm comm)
{
    int out = 5, in = 0;
    MPI_Comm copy;
    MPI_Datatype type;
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in, 5);
    MPI(MPI_Comm_dup(comm, &copy));
    MPI(MPI_Type_contiguous(3, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    MPI(MPI_Type_free(&type));
    MPI(MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, copy));
    CHECK_INT(in, 5);
    MPI(MPI_Comm_free(&copy));
}

/* A destructor of a thread's key runs after those of the library's own. */
static void destroy(void *again)
{
    use(comms[DESTRUCTOR]);
    if (again)
        end_here(DESTRUCTOR);
}

static void *run(void *number)
{
    int kind = (int) (intptr_t) number, in = 1, inout = 2;
    MPI_Request request;
    MPI_Comm copy;
    switch (kind) {
    case HANDLER:
        MPI_Recv(&in, 1, MPI_INT, 1000, 0, comms[kind], MPI_STATUS_IGNORE);
        break;
    case QUERY:
        MPI(MPI_Grequest_start(query, release, cancel, NULL, &request));
        MPI(MPI_Grequest_complete(request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case DELETES:
        MPI(MPI_Comm_set_attr(comms[kind], keyvals[0], &in));
        MPI_Comm_set_attr(comms[kind], keyvals[0], NULL);
        break;
    case COPIES:
        MPI_Comm_dup(comms[kind], &copy);
        break;
    case OPERATION:
        MPI_Reduce_local(&in, &inout, 1, MPI_INT, operation);
        break;
    case DESTRUCTOR:
        use(comms[kind]);
        CHECK_INT(pthread_setspecific(key, &key), 0);
        return &ended[kind];
    }
    return NULL; /* it should have ended */
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    start_multiple(&argc, &argv);
    CHECK_INT(pthread_key_create(&key, destroy), 0);
    for (int i = 0; i < KINDS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    MPI(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI(MPI_Comm_set_errhandler(comms[HANDLER], errhandler));
    MPI(MPI_Op_create(combine, 1, &operation));
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deletes, &keyvals[0], NULL));
    MPI(MPI_Comm_create_keyval(copies, MPI_COMM_NULL_DELETE_FN, &keyvals[1], NULL));
    MPI(MPI_Comm_set_attr(comms[COPIES], keyvals[1], NULL));
    for (int round = 1; round <= 5; round++) {
        for (intptr_t kind = 0; kind < KINDS; kind++) {
            pthread_t thread;
            void *result;
            CHECK_INT(pthread_create(&thread, NULL, run, (void *) kind), 0);
            CHECK_INT(pthread_join(thread, &result), 0);
            CHECK(result == &ended[kind]);
            CHECK_INT(ended[kind], round);
            use(comms[KINDS - 1]);
        }
        int value = round, sum;
        MPI(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_INT(sum, round * size);
    }
    MPI(MPI_Errhandler_free(&errhandler));
    MPI(MPI_Op_free(&operation));
    MPI(MPI_Comm_delete_attr(comms[COPIES], keyvals[1]));
    for (int i = 0; i < 2; i++)
        MPI(MPI_Comm_free_keyval(&keyvals[i]));
    return finish();
}
