/* What the program leaves in MPI_Finalize, one kind of each: the list of OXMPI_CHECK=leaks names it and the function that made it; with
   "clean" all of it is freed, and there is no list. */
#include "../common/check.h"

#include <string.h>

static int is_clean;

static int copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static void failed(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void added(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)in, (void)out, (void)count, (void)type;
}

void leave_communicators(void)
{
    MPI_Comm dup, split;
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        if (i == 1 || is_clean)
            MPI(MPI_Comm_free(&dup));
    }
    MPI(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &split));
}

void leave_datatypes(void)
{
    for (int i = 0; i < 5; i++) {
        MPI_Datatype type, predefined;
        MPI(MPI_Type_contiguous(3, MPI_INT, &type));
        MPI(MPI_Type_commit(&type));
        MPI(MPI_Type_create_f90_integer(5, &predefined));
        if (is_clean)
            MPI(MPI_Type_free(&type));
    }
}

void leave_window(void)
{
    void *memory;
    MPI_Win window;
    MPI(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    if (is_clean)
        MPI(MPI_Win_free(&window));
}

void leave_file(void)
{
    MPI_File file;
    MPI(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    if (is_clean)
        MPI(MPI_File_close(&file));
}

void leave_group(void)
{
    MPI_Group group, empty;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &group));
    MPI(MPI_Group_difference(group, group, &empty));
    if (is_clean)
        MPI(MPI_Group_free(&group));
}

void leave_info(void)
{
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    if (is_clean)
        MPI(MPI_Info_free(&info));
}

void leave_operation(void)
{
    MPI_Op op;
    MPI(MPI_Op_create(added, 1, &op));
    if (is_clean)
        MPI(MPI_Op_free(&op));
}

/* A handler that is in use and freed is no leak; one that was asked for is. */
void leave_errhandler(void)
{
    MPI_Errhandler used, asked;
    MPI(MPI_Comm_create_errhandler(failed, &used));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, used));
    MPI(MPI_Errhandler_free(&used));
    MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &asked));
    if (is_clean)
        MPI(MPI_Errhandler_free(&asked));
    MPI(MPI_Comm_get_errhandler(MPI_COMM_SELF, &asked));
}

/* A key that is freed and has attributes is no leak. */
void leave_keyval(void)
{
    int used, left;
    MPI(MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &used, NULL));
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, used, NULL));
    MPI(MPI_Comm_free_keyval(&used));
    MPI(MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &left, NULL));
    if (is_clean)
        MPI(MPI_Comm_free_keyval(&left));
}

/* Never matched; with "clean" it is cancelled. */
void leave_receive(void)
{
    static int data;
    MPI_Request request;
    MPI(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request));
    if (is_clean) {
        MPI(MPI_Cancel(&request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

void leave_persistent(void)
{
    static int data;
    MPI_Request request;
    MPI(MPI_Send_init(&data, 1, MPI_INT, 0, 78, MPI_COMM_SELF, &request));
    if (is_clean)
        MPI(MPI_Request_free(&request));
}

void leave_complete(void)
{
    static int data, out;
    MPI_Request request;
    MPI(MPI_Irecv(&data, 1, MPI_INT, 0, 79, MPI_COMM_SELF, &request));
    MPI(MPI_Send(&out, 1, MPI_INT, 0, 79, MPI_COMM_SELF));
    if (is_clean)
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void leave_messages(void)
{
    static int data[2];
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Send(data, 2, MPI_INT, 0, 80, MPI_COMM_SELF));
        if (is_clean)
            MPI(MPI_Recv(data, 2, MPI_INT, 0, 80, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    }
}

/* One of each rank, from its neighbour: one line for all. */
void leave_ring(void)
{
    static int data[6];
    MPI_Request request;
    MPI(MPI_Irecv(data, 3 + rank, MPI_INT, (rank + 1) % size, 82, MPI_COMM_WORLD, &request));
    if (is_clean) {
        MPI(MPI_Cancel(&request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* Never complete, as the last rank takes no part. */
void leave_collective(void)
{
    MPI_Request request;
    if (!is_clean && rank < size - 1)
        MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
}

void leave_buffer(void)
{
    static char memory[1000];
    void *address;
    int bytes;
    MPI(MPI_Buffer_attach(memory, sizeof memory));
    if (is_clean)
        MPI(MPI_Buffer_detach(&address, &bytes));
}

void leave_port(void)
{
    char port[MPI_MAX_PORT_NAME], name[64];
    snprintf(name, sizeof name, "oxmpi leaks %d", (int)getpid());
    MPI(MPI_Open_port(MPI_INFO_NULL, port));
    MPI(MPI_Publish_name(name, MPI_INFO_NULL, port));
    if (is_clean) {
        MPI(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        MPI(MPI_Close_port(port));
    }
}

/* What was freed while others use it, or while it is in use, is no leak. */
static void free_early(void)
{
    static int out, in;
    MPI_Datatype inner, outer;
    MPI_Request request;
    MPI_Comm dup;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    MPI(MPI_Type_contiguous(1, MPI_INT, &inner));
    MPI(MPI_Type_contiguous(1, inner, &outer));
    MPI(MPI_Type_commit(&outer));
    MPI(MPI_Type_free(&inner));
    MPI(MPI_Irecv(&in, 1, outer, 0, 81, dup, &request));
    MPI(MPI_Type_free(&outer));
    MPI(MPI_Request_free(&request));
    MPI(MPI_Send(&out, 1, MPI_INT, 0, 81, dup));
    MPI(MPI_Comm_free(&dup));
    MPI_Request many[50];
    int data[50];
    for (int i = 0; i < 50; i++)
        MPI(MPI_Irecv(data + i, 1, MPI_INT, 0, 82, MPI_COMM_SELF, many + i));
    for (int i = 0; i < 50; i++)
        MPI(MPI_Send(&i, 1, MPI_INT, 0, 82, MPI_COMM_SELF));
    MPI(MPI_Waitall(50, many, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 50; i++)
        CHECK_INT(data[i], i);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    is_clean = argc > 1 && strcmp(argv[1], "clean") == 0;
    free_early();
    leave_communicators();
    leave_datatypes();
    leave_window();
    leave_file();
    leave_group();
    leave_info();
    leave_operation();
    leave_errhandler();
    leave_keyval();
    leave_receive();
    leave_persistent();
    leave_complete();
    leave_messages();
    leave_ring();
    leave_collective();
    leave_buffer();
    leave_port();
    return finish();
}
