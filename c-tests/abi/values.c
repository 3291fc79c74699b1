/* Special values in both directions: what a call is given and what it gives back. Prints names, never numbers, so that every library
 * with every ABI has to print the same. */
#include "check.h"

static void say(const char *what, int holds)
{
    if (rank == 0)
        printf("%s: %s\n", what, holds ? "yes" : "no");
}

/* For what the standard says and MPICH 5.0.2 does not do. */
static int of_another_library(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI(MPI_Get_library_version(version, &length));
    return !strstr(version, "oxmpi");
}

#define NAME(x) if (value == (long long) (intptr_t) x) return #x

static const char *combiner_name(long long value)
{
    NAME(MPI_COMBINER_NAMED); NAME(MPI_COMBINER_DUP); NAME(MPI_COMBINER_CONTIGUOUS); NAME(MPI_COMBINER_VECTOR);
    NAME(MPI_COMBINER_HVECTOR); NAME(MPI_COMBINER_INDEXED); NAME(MPI_COMBINER_HINDEXED); NAME(MPI_COMBINER_INDEXED_BLOCK);
    NAME(MPI_COMBINER_HINDEXED_BLOCK); NAME(MPI_COMBINER_STRUCT); NAME(MPI_COMBINER_SUBARRAY); NAME(MPI_COMBINER_DARRAY);
    NAME(MPI_COMBINER_F90_REAL); NAME(MPI_COMBINER_F90_COMPLEX); NAME(MPI_COMBINER_F90_INTEGER); NAME(MPI_COMBINER_RESIZED);
    NAME(MPI_COMBINER_VALUE_INDEX);
    return "no combiner";
}

static const char *type_name(MPI_Datatype type)
{
    static char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(type, name, &length);
    return length ? name : "without a name";
}

/* Combiner, integers that are constants, and datatypes. Frees the type. */
static void contents(MPI_Datatype *type)
{
    int integers, addresses, types, combiner, numbers[40];
    MPI_Aint places[40];
    MPI_Datatype of[10];
    MPI(MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner));
    if (rank == 0)
        printf("%s of %d integers, %d addresses, %d types:", combiner_name(combiner), integers, addresses, types);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI(MPI_Type_get_contents(*type, integers, addresses, types, numbers, places, of));
        for (int i = 0; i < types; i++) {
            int inner, unused;
            if (rank == 0)
                printf(" %s", type_name(of[i]));
            MPI(MPI_Type_get_envelope(of[i], &unused, &unused, &unused, &inner));
            if (inner != MPI_COMBINER_NAMED)
                MPI(MPI_Type_free(&of[i]));
        }
        if (combiner == MPI_COMBINER_SUBARRAY && rank == 0)
            printf(" %s", numbers[integers - 1] == MPI_ORDER_FORTRAN ? "MPI_ORDER_FORTRAN" : "other");
        for (int i = 0; combiner == MPI_COMBINER_DARRAY && rank == 0 && i < 3; i++)
            printf(" %s", numbers[6 + i] == MPI_DISTRIBUTE_BLOCK && numbers[9 + i] == MPI_DISTRIBUTE_DFLT_DARG ? "block" :
                   numbers[6 + i] == MPI_DISTRIBUTE_CYCLIC && numbers[9 + i] == 2 ? "cyclic" :
                   numbers[6 + i] == MPI_DISTRIBUTE_NONE && numbers[9 + i] == MPI_DISTRIBUTE_DFLT_DARG ? "none" : "other");
        if (combiner == MPI_COMBINER_DARRAY && rank == 0)
            printf(" %s", numbers[15] == MPI_ORDER_C ? "MPI_ORDER_C" : "other");
        MPI(MPI_Type_free(type));
    }
    if (rank == 0)
        printf("\n");
}

static void datatypes(void)
{
    MPI_Datatype type, inner, of[2] = {MPI_DOUBLE, MPI_2INT};
    int two[2] = {1, 2}, at[2] = {0, 3}, sizes[3] = {8, 8, 8}, parts[3] = {4, 4, 4}, starts[3] = {0, 1, 2};
    int distributions[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    int arguments[3] = {MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG}, processes[3] = {1, 1, 1};
    MPI_Aint places[2] = {0, 32};
    type = MPI_FLOAT_INT;
    contents(&type);
    type = MPI_INTEGER8;
    contents(&type);
    MPI(MPI_Type_dup(MPI_C_BOOL, &type));
    contents(&type);
    MPI(MPI_Type_contiguous(2, MPI_LONG_LONG, &type));
    contents(&type);
    MPI(MPI_Type_vector(2, 1, 3, MPI_LONG_DOUBLE_INT, &type));
    contents(&type);
    MPI(MPI_Type_create_hvector(2, 1, 9, MPI_UINT8_T, &type));
    contents(&type);
    MPI(MPI_Type_indexed(2, two, at, MPI_WCHAR, &type));
    contents(&type);
    MPI(MPI_Type_create_hindexed(2, two, places, MPI_AINT, &type));
    contents(&type);
    MPI(MPI_Type_create_indexed_block(2, 1, at, MPI_COUNT, &type));
    contents(&type);
    MPI(MPI_Type_create_hindexed_block(2, 1, places, MPI_C_DOUBLE_COMPLEX, &type));
    contents(&type);
    MPI(MPI_Type_create_struct(2, two, places, of, &type));
    contents(&type);
    MPI(MPI_Type_create_resized(MPI_PACKED, 0, 16, &type));
    contents(&type);
    MPI(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_SHORT, &type));
    contents(&type);
    MPI(MPI_Type_create_darray(1, 0, 3, sizes, distributions, arguments, processes, MPI_ORDER_C, MPI_BYTE, &type));
    contents(&type);
    MPI(MPI_Type_contiguous(2, MPI_INT, &inner));
    MPI(MPI_Type_vector(2, 1, 3, inner, &type));
    MPI(MPI_Type_free(&inner));
    contents(&type);
    MPI(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    say("a real of 8 bytes is MPI_REAL8 or another of that size", type != MPI_DATATYPE_NULL);
    MPI(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type));
    MPI(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type));
    MPI(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    say("values of double with an index", type == MPI_DOUBLE_INT);
    MPI(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &type));
    say("no values of char with a double", type == MPI_DATATYPE_NULL);
}

static void reductions(void)
{
    MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
    struct { int value, index; } pair = {rank % 2, rank}, found;
    int one = rank + 1, result;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        MPI(MPI_Allreduce(&one, &result, 1, MPI_INT, ops[i], MPI_COMM_WORLD));
        if (rank == 0)
            printf("operation %zu: %d\n", i, result);
    }
    MPI(MPI_Allreduce(&pair, &found, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK_INT(found.index, size > 1);
    MPI(MPI_Allreduce(&pair, &found, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK_INT(found.index, 0);
}

static void statuses(void)
{
    MPI_Status status, several[3];
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    int flag, index, count, indices[3], value = 5, got[3] = {0, 0, 0}, code, source;
    spoil(&status);
    MPI(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    say("from nobody", status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    spoil(&status);
    MPI(MPI_Wait(&requests[0], &status));
    say("the empty status", status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == 0);
    MPI(MPI_Waitany(3, requests, &index, &status));
    say("no request is active", index == MPI_UNDEFINED);
    MPI(MPI_Testsome(3, requests, &count, indices, MPI_STATUSES_IGNORE));
    say("none of some", count == MPI_UNDEFINED);
    MPI(MPI_Status_set_source(&status, MPI_PROC_NULL));
    MPI(MPI_Status_set_tag(&status, 7));
    MPI(MPI_Status_set_error(&status, MPI_ERR_RMA_RANGE));
    MPI(MPI_Status_get_source(&status, &source));
    MPI(MPI_Status_get_error(&status, &code));
    say("set and get", source == MPI_PROC_NULL && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == 7 &&
        code == MPI_ERR_RMA_RANGE && status.MPI_ERROR == MPI_ERR_RMA_RANGE);
    MPI(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
    say("the message of nobody", message == MPI_MESSAGE_NO_PROC);
    MPI(MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
    say("no message is left", message == MPI_MESSAGE_NULL);

    MPI(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &requests[0]));
    MPI(MPI_Irecv(&got[2], 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, &requests[2]));
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
    MPI(MPI_Waitall(3, requests, several));
    say("all requests are null", requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    say("three statuses", several[0].MPI_TAG == 1 && several[1].MPI_SOURCE == MPI_ANY_SOURCE && several[2].MPI_TAG == 2 && got[2] == 5);

    return_errors();
    MPI(MPI_Irecv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]));
    MPI(MPI_Irecv(&got[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &requests[1]));
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    MPI(MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
    code = MPI_Waitall(2, requests, several);
    CHECK(of_another_library() || (code == MPI_ERR_IN_STATUS && check_class_of(several[0].MPI_ERROR) == MPI_ERR_TRUNCATE &&
                                   several[1].MPI_ERROR == MPI_SUCCESS));

    MPI(MPI_Recv_init(&got[0], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[0]));
    MPI(MPI_Send_init(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[1]));
    MPI(MPI_Startall(2, requests));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
    say("persistent requests stay", requests[0] != MPI_REQUEST_NULL && flag);
    MPI(MPI_Request_free(&requests[0]));
    MPI(MPI_Request_free(&requests[1]));
    say("freed requests are null", requests[0] == MPI_REQUEST_NULL);
}

static void groups_and_communicators(void)
{
    MPI_Group world, self, group;
    MPI_Comm comm, same;
    int ranks[3] = {0, MPI_PROC_NULL, size - 1}, there[3], result;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI(MPI_Comm_group(MPI_COMM_SELF, &self));
    MPI(MPI_Group_translate_ranks(world, 3, ranks, self, there));
    say("ranks in another group", there[0] == (rank == 0 ? 0 : MPI_UNDEFINED) && there[1] == MPI_PROC_NULL &&
        there[2] == (size == 1 ? 0 : MPI_UNDEFINED));
    MPI(MPI_Group_difference(world, world, &group));
    say("nobody is left", group == MPI_GROUP_EMPTY);
    MPI(MPI_Group_rank(group, &result));
    say("not in the group", result == MPI_UNDEFINED);
    MPI(MPI_Group_compare(world, world, &result));
    say("identical groups", result == MPI_IDENT);
    MPI(MPI_Group_compare(world, group, &result));
    say("unequal groups", result == MPI_UNEQUAL);
    MPI(MPI_Group_free(&self));
    say("no group is left", self == MPI_GROUP_NULL);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &same));
    MPI(MPI_Comm_compare(MPI_COMM_WORLD, same, &result));
    say("congruent communicators", result == MPI_CONGRUENT);
    MPI(MPI_Comm_split(same, 0, -rank, &comm));
    MPI(MPI_Comm_compare(same, comm, &result));
    say("similar communicators", result == (size == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_split(same, MPI_UNDEFINED, 0, &comm));
    say("in no part", comm == MPI_COMM_NULL);
    MPI(MPI_Comm_split_type(same, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Comm_get_parent(&comm));
    say("no parent", comm == MPI_COMM_NULL);
    say("handles as integers", MPI_Comm_fromint(MPI_Comm_toint(same)) == same && MPI_Group_fromint(MPI_Group_toint(world)) == world &&
        MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE_INT)) == MPI_DOUBLE_INT && MPI_Op_fromint(MPI_Op_toint(MPI_NO_OP)) == MPI_NO_OP &&
        MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL &&
        MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL &&
        MPI_Request_fromint(MPI_Request_toint(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    MPI(MPI_Group_free(&world));
    MPI(MPI_Comm_free(&same));
}

static void topologies(void)
{
    MPI_Comm comm;
    int dims[1] = {size}, periods[1] = {0}, kind, below, above, in, out, weighted, index[64], edges[64], one = 1, neighbor = rank;
    MPI(MPI_Topo_test(MPI_COMM_WORLD, &kind));
    say("no topology", kind == MPI_UNDEFINED);
    MPI(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm));
    MPI(MPI_Topo_test(comm, &kind));
    MPI(MPI_Cart_shift(comm, 0, 1, &below, &above));
    say("a grid", kind == MPI_CART && (rank || below == MPI_PROC_NULL) && (rank < size - 1 || above == MPI_PROC_NULL));
    MPI(MPI_Comm_free(&comm));
    for (int i = 0; i < size; i++)
        index[i] = i + 1, edges[i] = (i + 1) % size;
    MPI(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    MPI(MPI_Topo_test(comm, &kind));
    say("a graph", kind == MPI_GRAPH);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &neighbor, MPI_UNWEIGHTED, 1, &neighbor, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    MPI(MPI_Topo_test(comm, &kind));
    MPI(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    say("a distributed graph without weights", kind == MPI_DIST_GRAPH && in == 1 && !weighted);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm));
    MPI(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    say("no neighbors, but weights", in == 0 && weighted);
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &neighbor, &one, MPI_INFO_NULL, 0, &comm));
    MPI(MPI_Comm_free(&comm));
}

static void windows(void)
{
    MPI_Win win;
    int *flavor, *model, *unit, flag, memory = 1, got = -1, value = 3;
    MPI_Aint *bytes;
    void *base;
    MPI(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    say("created over memory", flag && *flavor == MPI_WIN_FLAVOR_CREATE);
    MPI(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
    say("a model", flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    MPI(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    MPI(MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag));
    MPI(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag));
    say("base, size and unit", base == &memory && *bytes == sizeof memory && *unit == sizeof memory);
    MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win));
    MPI(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    MPI(MPI_Accumulate(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_REPLACE, win));
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win));
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win));
    MPI(MPI_Fetch_and_op(NULL, &got, MPI_INT, rank, 0, MPI_NO_OP, win));
    MPI(MPI_Win_unlock(rank, win));
    CHECK_INT(got, 3);
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    MPI(MPI_Win_unlock(rank, win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK(of_another_library() || check_class_of(MPI_Win_lock(77, rank, 0, win)) == MPI_ERR_LOCKTYPE);
    MPI(MPI_Win_free(&win));
    MPI(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    MPI(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    say("allocated", *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI(MPI_Win_free(&win));
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    say("dynamic", *flavor == MPI_WIN_FLAVOR_DYNAMIC);
    MPI(MPI_Win_free(&win));
}

static void files(void)
{
    MPI_File file;
    MPI_Offset disp;
    MPI_Datatype etype, filetype;
    char name[64], representation[MPI_MAX_DATAREP_STRING];
    int mode, value = 7;
    snprintf(name, sizeof name, "/tmp/abi-values-%d-%d", (int) getpid(), rank);
    say("no such file", check_class_of(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    MPI(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_EXCL |
                      MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &file));
    MPI(MPI_File_get_amode(file, &mode));
    say("the mode", mode == (MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_EXCL | MPI_MODE_UNIQUE_OPEN));
    MPI(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI(MPI_File_get_view(file, &disp, &etype, &filetype, representation));
    say("the view", disp == 4 && etype == MPI_INT && filetype == MPI_INT);
    MPI(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI(MPI_File_seek(file, 2, MPI_SEEK_SET));
    MPI(MPI_File_seek(file, -1, MPI_SEEK_CUR));
    MPI(MPI_File_get_position(file, &disp));
    say("the current place", disp == 1);
    MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
    MPI(MPI_File_get_position(file, &disp));
    say("the end", disp == 1);
    MPI(MPI_File_close(&file));
    say("no file is left", file == MPI_FILE_NULL);
    say("no mode", check_class_of(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
    MPI(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND |
                      MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI(MPI_File_close(&file));
}

static void environment(void)
{
    int *value, flag, provided, class_, key = MPI_KEYVAL_INVALID, length;
    int keys[] = {MPI_TAG_UB, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE};
    char text[MPI_MAX_ERROR_STRING];
    void *buffer;
    for (int i = 0; i < 3; i++) {
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag));
        say("a predefined attribute", flag && *value >= 0);
    }
    MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    say("every process does files", flag && *value == MPI_ANY_SOURCE);
    say("no key", check_class_of(MPI_Comm_free_keyval(&key)) != MPI_SUCCESS);
    MPI(MPI_Query_thread(&provided));
    say("a thread level", provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED || provided == MPI_THREAD_SERIALIZED ||
        provided == MPI_THREAD_MULTIPLE);
    int classes[] = {MPI_ERR_BUFFER, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_ARG, MPI_ERR_OTHER, MPI_ERR_IN_STATUS, MPI_ERR_PENDING,
        MPI_ERR_KEYVAL, MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED, MPI_ERR_RMA_FLAVOR, MPI_ERR_SESSION, MPI_ERR_ABI, MPI_ERR_ERRHANDLER};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        MPI(MPI_Error_class(classes[i], &class_));
        CHECK_INT(class_, classes[i]);
        MPI(MPI_Error_string(classes[i], text, &length));
        CHECK(length > 0);
    }
    MPI(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    MPI(MPI_Buffer_detach(&buffer, &length));
    say("the automatic buffer", buffer == MPI_BUFFER_AUTOMATIC);
}

static void tools(void)
{
    int provided, number, verbosity, bind, scope, length, index, class_, readonly, continuous, atomic;
    char name[200], text[500];
    MPI_Datatype type;
    MPI_T_enum values;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_cvar_get_num(&number));
    CHECK(number > 0);
    length = sizeof name;
    int text_length = sizeof text;
    MPI(MPI_T_cvar_get_info(0, name, &length, &verbosity, &type, &values, text, &text_length, &bind, &scope));
    say("a control variable", verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL &&
        bind == MPI_T_BIND_NO_OBJECT && scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ && type != MPI_DATATYPE_NULL);
    say("no control variable", MPI_T_cvar_get_info(1 << 20, name, &length, &verbosity, &type, &values, text, &text_length, &bind,
                                                   &scope) == MPI_T_ERR_INVALID_INDEX);
    say("no such name", MPI_T_pvar_get_index("of no variable", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_T_ERR_INVALID_NAME);
    MPI(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        length = sizeof name, text_length = sizeof text;
        MPI(MPI_T_pvar_get_info(i, name, &length, &verbosity, &class_, &type, &values, text, &text_length, &bind, &readonly,
                                &continuous, &atomic));
        CHECK(class_ >= MPI_T_PVAR_CLASS_STATE && class_ <= MPI_T_PVAR_CLASS_GENERIC);
        CHECK_INT(MPI_T_pvar_get_index(name, class_, &index), MPI_SUCCESS);
        CHECK_INT(index, i);
    }
    MPI(MPI_T_finalize());
}

static void collectives(void)
{
    int mine[2] = {rank, -rank}, all[128], counts[64], bytes[64], value = rank == 0 ? 5 : 0;
    MPI_Datatype types[64];
    MPI_Comm half, inter;
    all[2 * rank] = mine[0], all[2 * rank + 1] = mine[1];
    MPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(all[2 * (size - 1)], size - 1);
    for (int i = 0; i < size; i++)
        counts[i] = 1, bytes[i] = 4 * i, types[i] = i % 2 ? MPI_INT : MPI_INT32_T;
    MPI(MPI_Alltoallw(all, counts, bytes, types, all + 64, counts, bytes, types, MPI_COMM_WORLD));
    MPI(MPI_Gather(rank == 0 ? MPI_IN_PLACE : mine, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD));
    if (size == 1)
        return;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter));
    MPI(MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0, inter));
    CHECK_INT(value, rank % 2 || rank == 0 ? 5 : 0);
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    watchdog(argv[0]);
    MPI(MPI_Init(&argc, &argv));
    check_ranks();
    return_errors();
    datatypes();
    reductions();
    statuses();
    groups_and_communicators();
    topologies();
    windows();
    files();
    environment();
    tools();
    collectives();
    return finish();
}
