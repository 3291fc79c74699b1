/* Extensions of MPICH 5: error handlers with a state, bytes as hexadecimal digits, the pieces of memory of a datatype. */
#include "wrong.h"

static int calls, gone, last;

static void on_comm(MPI_Comm comm, int code, void *state)
{
    CHECK(comm == MPI_COMM_SELF);
    calls += *(int *) state;
    last = code;
}

static void on_session(MPI_Session session, int code, void *state)
{
    CHECK(session != MPI_SESSION_NULL);
    calls += *(int *) state;
    last = code;
}

static void done(void *state)
{
    gone += *(int *) state;
}

static void handlers(void)
{
    int seven = 7, nine = 9, value;
    MPI_Errhandler handler;
    MPI_Session session;
    MPI(MPIX_Comm_create_errhandler_x(on_comm, done, &seven, &handler));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    MPI(MPI_Errhandler_free(&handler));
    CHECK_INT(gone, 0);
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 5, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK_INT(calls, 7);
    CHECK_CLASS(last, MPI_ERR_RANK);
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_INT(gone, 7);
    MPI(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    MPI(MPIX_Session_create_errhandler_x(on_session, NULL, &nine, &handler));
    MPI(MPI_Session_set_errhandler(session, handler));
    MPI(MPI_Errhandler_free(&handler));
    MPI(MPI_Session_call_errhandler(session, MPI_ERR_TOPOLOGY));
    CHECK_INT(calls, 16);
    CHECK_INT(last, MPI_ERR_TOPOLOGY);
    MPI(MPI_Session_finalize(&session));
    ERROR(MPIX_Comm_create_errhandler_x(NULL, done, &seven, &handler), MPI_ERR_ARG, "function", NULL);
    ERROR(MPIX_Comm_create_errhandler_x(on_comm, done, &seven, NULL), MPI_ERR_ARG, "errhandler", NULL);
}

static void hexadecimal(void)
{
    const unsigned char bytes[3] = {0, 0x1f, 0xa0};
    char value[16];
    int length = sizeof value, flag;
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    MPI(MPIX_Info_set_hex(info, "key", bytes, sizeof bytes));
    MPI(MPI_Info_get_string(info, "key", &length, value, &flag));
    CHECK_STRING(value, "001fa0");
    ERROR(MPIX_Info_set_hex(info, "key", NULL, 3), MPI_ERR_ARG, "value", NULL);
    ERROR(MPIX_Info_set_hex(info, "key", bytes, -1), MPI_ERR_ARG, "value_size", "-1");
    MPI(MPI_Info_free(&info));
    ERROR(MPIX_Info_set_hex(info, "key", bytes, 3), MPI_ERR_INFO, "info", NULL);
}

static void memory(void)
{
    MPI_Datatype type;
    MPIX_Iov iov[4];
    MPI_Count count, bytes;
    MPI(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
    MPI(MPIX_Type_iov_len(type, -1, &count, &bytes));
    CHECK_INT(count, 3);
    CHECK_INT(bytes, 24);
    MPI(MPIX_Type_iov_len(type, 20, &count, &bytes));
    CHECK_INT(count, 2);
    CHECK_INT(bytes, 16);
    MPI(MPIX_Type_iov(type, 1, iov, 4, &count));
    CHECK_INT(count, 2);
    CHECK_INT((intptr_t) iov[0].iov_base, 20);
    CHECK_INT(iov[0].iov_len, 8);
    CHECK_INT((intptr_t) iov[1].iov_base, 40);
    MPI(MPIX_Type_iov(type, 0, iov, 1, &count));
    CHECK_INT(count, 1);
    CHECK_INT((intptr_t) iov[0].iov_base, 0);
    MPI(MPIX_Type_iov(MPI_DOUBLE, 0, iov, 4, &count));
    CHECK_INT(count, 1);
    CHECK_INT(iov[0].iov_len, 8);
    ERROR(MPIX_Type_iov(type, -1, iov, 4, &count), MPI_ERR_COUNT, "iov_offset", "-1");
    ERROR(MPIX_Type_iov(type, 0, NULL, 4, &count), MPI_ERR_ARG, "iov", NULL);
    ERROR(MPIX_Type_iov_len(MPI_DATATYPE_NULL, -1, &count, &bytes), MPI_ERR_TYPE, "datatype", NULL);
    MPI(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    handlers();
    hexadecimal();
    memory();
    return finish();
}
