/* Prints the classes of errors that come from wrong arguments, and the constants programs store, for the comparison with the reference. */
#include "check.h"

#define PRINT(call) do { int print_code = (call); printf("%s: %s\n", #call, class_name(check_class_of(print_code))); } while (0)
#define VALUE(constant) printf("%s = %lld\n", #constant, (long long) (constant))

int main(int argc, char **argv)
{
    int value = 0, flag = 0;
    MPI_Status status;
    MPI_Request request;
    start(&argc, &argv);
    return_errors();
    PRINT(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    PRINT(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    PRINT(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    PRINT(MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD));
    PRINT(MPI_Send(&value, 1, MPI_INT, 0, -9, MPI_COMM_WORLD));
    PRINT(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    PRINT(MPI_Recv(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &status));
    PRINT(MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
    PRINT(MPI_Wait(NULL, &status));
    PRINT(MPI_Start(&(MPI_Request){MPI_REQUEST_NULL}));
    PRINT(MPI_Bsend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    PRINT(MPI_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD));
    PRINT(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
    PRINT(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag));
    PRINT(MPI_Comm_free_keyval(&(int){MPI_KEYVAL_INVALID}));
    PRINT(MPI_Info_create(NULL));
    PRINT(MPI_Alloc_mem(-1, MPI_INFO_NULL, &value));
    PRINT(MPI_Get_count(NULL, MPI_INT, &value));
    PRINT(MPI_Probe(99, 0, MPI_COMM_WORLD, &status));
    PRINT(MPI_Request_free(&(MPI_Request){MPI_REQUEST_NULL}));
    /* truncation */
    int four[4] = {0};
    MPI(MPI_Irecv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request));
    MPI(MPI_Send(four, 4, MPI_INT, rank, 1, MPI_COMM_WORLD));
    PRINT(MPI_Waitall(1, &request, &status));
    VALUE(MPI_ANY_SOURCE), VALUE(MPI_ANY_TAG), VALUE(MPI_PROC_NULL), VALUE(MPI_ROOT), VALUE(MPI_UNDEFINED);
    VALUE(MPI_BSEND_OVERHEAD), VALUE(MPI_MAX_OBJECT_NAME), VALUE(MPI_MAX_PROCESSOR_NAME), VALUE(MPI_MAX_INFO_KEY), VALUE(MPI_MAX_INFO_VAL);
    VALUE(MPI_THREAD_SINGLE), VALUE(MPI_THREAD_MULTIPLE), VALUE(MPI_COMM_WORLD), VALUE(MPI_REQUEST_NULL), VALUE(MPI_INFO_NULL);
    VALUE(MPI_ERRORS_RETURN), VALUE(MPI_SUM), VALUE(MPI_MESSAGE_NO_PROC), VALUE(MPI_KEYVAL_INVALID), VALUE(MPI_TAG_UB), VALUE(sizeof(MPI_Status));
    return finish();
}
