/* Functions of the program: what each of them is given, and what becomes of its answer. Prints names, never numbers, so that every
 * library with every ABI has to print the same. */
#include "check.h"

static void say(const char *what, int holds)
{
    if (rank == 0)
        printf("%s: %s\n", what, holds ? "yes" : "no");
}

/* Attributes */

static int copies, deletions, with_right_object;
static MPI_Comm attribute_comm;

static int copy_comm(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    copies++;
    with_right_object += comm == attribute_comm && key != MPI_KEYVAL_INVALID && state == &copies;
    *(void **) out = (char *) in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *state)
{
    (void) value;
    deletions++;
    with_right_object += comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID && state == &copies;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void) comm, (void) key, (void) state, (void) in, (void) out, (void) flag;
    return MPI_ERR_TOPOLOGY;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *state)
{
    (void) state;
    deletions++;
    with_right_object += type != MPI_DATATYPE_NULL && key != MPI_KEYVAL_INVALID && value == &deletions;
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int key, void *value, void *state)
{
    (void) state;
    deletions++;
    with_right_object += win != MPI_WIN_NULL && key != MPI_KEYVAL_INVALID && value == &deletions;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static char value;
    int key, plain, refused, flag, code;
    void *found;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Datatype type;
    MPI_Win win;
    MPI(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &copies));
    MPI(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &attribute_comm));
    MPI(MPI_Comm_set_attr(attribute_comm, key, &value));
    MPI(MPI_Comm_set_attr(attribute_comm, plain, &key));
    MPI(MPI_Comm_dup(attribute_comm, &copy));
    MPI(MPI_Comm_get_attr(copy, key, &found, &flag));
    say("copied by the function", flag && found == &value + 1);
    MPI(MPI_Comm_get_attr(copy, plain, &found, &flag));
    say("copied by MPI_COMM_DUP_FN", flag && found == &key);
    MPI(MPI_Comm_free(&copy));
    say("no communicator is left", copy == MPI_COMM_NULL);
    /* The order of attributes is not said. */
    MPI(MPI_Comm_delete_attr(attribute_comm, key));
    MPI(MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &refused, NULL));
    MPI(MPI_Comm_set_attr(attribute_comm, refused, NULL));
    MPI(MPI_Comm_set_errhandler(attribute_comm, MPI_ERRORS_RETURN));
    code = MPI_Comm_dup(attribute_comm, &copy);
    say("an error of a copy function is that of the call", check_class_of(code) == MPI_ERR_TOPOLOGY);
    MPI(MPI_Comm_delete_attr(attribute_comm, refused));
    MPI(MPI_Comm_free_keyval(&refused));
    say("a freed key is MPI_KEYVAL_INVALID", refused == MPI_KEYVAL_INVALID);
    MPI(MPI_Comm_free(&attribute_comm));
    MPI(MPI_Comm_free_keyval(&key));
    MPI(MPI_Comm_free_keyval(&plain));

    MPI(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, &key, NULL));
    MPI(MPI_Type_contiguous(3, MPI_INT, &type));
    MPI(MPI_Type_set_attr(type, key, &deletions));
    MPI(MPI_Type_free(&type));
    say("no datatype is left", type == MPI_DATATYPE_NULL);
    MPI(MPI_Type_free_keyval(&key));
    MPI(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL));
    MPI(MPI_Win_create(MPI_BOTTOM, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_attr(win, key, &deletions));
    MPI(MPI_Win_free(&win));
    say("no window is left", win == MPI_WIN_NULL);
    MPI(MPI_Win_free_keyval(&key));
    if (rank == 0)
        printf("%d copies, %d deletions, %d with the right object\n", copies, deletions, with_right_object);
}

/* Operations */

static int named_int, named_own, sizes_right;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes = -1;
    MPI_Type_size(*type, &bytes);
    named_int += *type == MPI_INT;
    named_own += *type != MPI_INT;
    sizes_right += bytes == (*type == MPI_INT ? 4 : 8);
    for (int i = 0; i < *count * bytes / 4; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void add_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    named_int += *type == MPI_INT;
    for (MPI_Count i = 0; i < *count; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void operations(void)
{
    MPI_Op op, large;
    MPI_Datatype pair;
    int in[4] = {1, 2, 3, 4}, out[4] = {10, 20, 30, 40}, commutes;
    MPI(MPI_Op_create(add, 1, &op));
    MPI(MPI_Op_create_c(add_large, 0, &large));
    MPI(MPI_Type_contiguous(2, MPI_INT, &pair));
    MPI(MPI_Type_commit(&pair));
    MPI(MPI_Reduce_local(in, out, 4, MPI_INT, op));
    MPI(MPI_Reduce_local(in, out, 2, pair, op));
    MPI(MPI_Reduce_local(in, out, 4, MPI_INT, large));
    CHECK_INT(out[3], 52);
    MPI(MPI_Op_commutative(large, &commutes));
    say("the large operation commutes", commutes);
    MPI(MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INT, op, MPI_COMM_WORLD));
    CHECK_INT(in[1], 2 * size);
    MPI(MPI_Op_free(&op));
    MPI(MPI_Op_free(&large));
    say("no operation is left", op == MPI_OP_NULL && large == MPI_OP_NULL);
    MPI(MPI_Type_free(&pair));
    say("datatypes of operations", named_int >= 2 && named_own >= 1 && sizes_right >= 2);
}

/* Error handlers */

static int handled, handled_class;
static MPI_Comm handler_comm;
static MPI_Win handler_win;
static MPI_File handler_file;
static MPI_Session handler_session;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    handled += *comm == handler_comm;
    handled_class = check_class_of(*code);
}

static void on_win(MPI_Win *win, int *code, ...)
{
    handled += *win == handler_win;
    handled_class = check_class_of(*code);
}

static void on_file(MPI_File *file, int *code, ...)
{
    handled += *file == handler_file;
    handled_class = check_class_of(*code);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    handled += *session == handler_session;
    handled_class = check_class_of(*code);
}

static void met(const char *what, int code, int class_)
{
    if (rank == 0)
        printf("%s: %s, %s, %s\n", what, handled ? "the right object" : "another object or none",
               handled_class == class_ ? "the right class" : "another class",
               code == MPI_SUCCESS || check_class_of(code) == class_ ? "the right code" : "another code");
    handled = handled_class = 0;
}

static void error_handlers(void)
{
    MPI_Errhandler handler, found;
    MPI_Session session;
    int own_class, own_code, code, *last, flag, length;
    char text[MPI_MAX_ERROR_STRING], version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &handler_comm));
    MPI(MPI_Comm_create_errhandler(on_comm, &handler));
    MPI(MPI_Comm_set_errhandler(handler_comm, handler));
    MPI(MPI_Comm_get_errhandler(handler_comm, &found));
    say("the handler that was set", found == handler);
    MPI(MPI_Errhandler_free(&found));
    met("rank", MPI_Send(NULL, 0, MPI_INT, size, 0, handler_comm), MPI_ERR_RANK);
    met("tag", MPI_Send(NULL, 0, MPI_INT, 0, -77, handler_comm), MPI_ERR_TAG);
    met("count", MPI_Send(NULL, -1, MPI_INT, 0, 0, handler_comm), MPI_ERR_COUNT);
    met("root", MPI_Bcast(NULL, 0, MPI_INT, -77, handler_comm), MPI_ERR_ROOT);
    MPI(MPI_Add_error_class(&own_class));
    MPI(MPI_Add_error_code(own_class, &own_code));
    MPI(MPI_Add_error_string(own_code, "an own error"));
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    /* As MPI says; in MPICH 5.0.2 added classes are small numbers, and the attribute does not know them. */
    MPI(MPI_Get_library_version(version, &length));
    CHECK(!strstr(version, "oxmpi") || (own_class > MPI_ERR_LASTCODE && flag && *last >= own_code));
    met("own code", MPI_Comm_call_errhandler(handler_comm, own_code), own_class);
    MPI(MPI_Error_string(own_code, text, &length));
    if (rank == 0)
        printf("own text: %s\n", text);
    met("class as code", MPI_Comm_call_errhandler(handler_comm, MPI_ERR_RMA_SYNC), MPI_ERR_RMA_SYNC);
    MPI(MPI_Comm_free(&handler_comm));
    MPI(MPI_Errhandler_free(&handler));
    say("no handler is left", handler == MPI_ERRHANDLER_NULL);

    MPI(MPI_Win_create(MPI_BOTTOM, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &handler_win));
    MPI(MPI_Win_get_errhandler(handler_win, &found));
    say("windows end the job", found == MPI_ERRORS_ARE_FATAL);
    MPI(MPI_Win_create_errhandler(on_win, &handler));
    MPI(MPI_Win_set_errhandler(handler_win, handler));
    met("window", MPI_Win_call_errhandler(handler_win, MPI_ERR_BASE), MPI_ERR_BASE);
    MPI(MPI_Errhandler_free(&handler));
    MPI(MPI_Win_free(&handler_win));

    handler_file = MPI_FILE_NULL;
    MPI(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    say("files return errors", found == MPI_ERRORS_RETURN);
    MPI(MPI_File_create_errhandler(on_file, &handler));
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    code = MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
    met("no file", code, MPI_ERR_NO_SUCH_FILE);
    MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MPI(MPI_Errhandler_free(&handler));

    MPI(MPI_Session_create_errhandler(on_session, &handler));
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPI_Session_set_errhandler(session, handler));
    handler_session = session;
    met("session", MPI_Session_call_errhandler(session, MPI_ERR_INFO_KEY), MPI_ERR_INFO_KEY);
    MPI(MPI_Errhandler_free(&handler));
    MPI(MPI_Session_finalize(&session));
    say("no session is left", session == MPI_SESSION_NULL);
}

/* Generalized requests */

static int queried, freed, cancelled_complete = -1;

static int query(void *state, MPI_Status *status)
{
    queried += state == &queried;
    MPI_Status_set_elements(status, MPI_INT, 5);
    MPI_Status_set_cancelled(status, cancelled_complete >= 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return cancelled_complete >= 0 ? MPI_ERR_ACCESS : MPI_SUCCESS;
}

static int release(void *state)
{
    freed += state == &queried;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    cancelled_complete = complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request request;
    MPI_Status status;
    int count, flag, code;
    spoil(&status);
    MPI(MPI_Grequest_start(query, release, cancel, &queried, &request));
    MPI(MPI_Grequest_complete(request));
    MPI(MPI_Wait(&request, &status));
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 5);
    say("any source and any tag", status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    say("no request is left", request == MPI_REQUEST_NULL);
    return_errors();
    MPI(MPI_Grequest_start(query, release, cancel, &queried, &request));
    MPI(MPI_Cancel(&request));
    MPI(MPI_Grequest_complete(request));
    code = MPI_Wait(&request, &status);
    MPI(MPI_Test_cancelled(&status, &flag));
    say("cancelled", flag);
    say("the code of a query function", check_class_of(code) == MPI_ERR_ACCESS);
    if (rank == 0)
        printf("%d queries, %d released, complete %d\n", queried, freed, cancelled_complete);
}

/* Data representations */

static int extent_calls;

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *state)
{
    extent_calls += state == &extent_calls && type == MPI_INT;
    *bytes = 4;
    return MPI_SUCCESS;
}

static void representations(void)
{
    char name[40];
    snprintf(name, sizeof name, "own");
    MPI(MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, &extent_calls));
    say("registered twice", check_class_of(MPI_Register_datarep(name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                                                extent, NULL)) == MPI_ERR_DUP_DATAREP);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    attributes();
    operations();
    error_handlers();
    generalized();
    representations();
    return finish();
}
