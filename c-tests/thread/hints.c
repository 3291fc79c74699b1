/* Promises about wildcards: messages of one communicator are told apart by tag and source as ever, in order for each; a wildcard
 * that was promised not to be used is an error, and where not all ranks promise it, it works. */
#include "threads.h"

enum { THREADS = 4, MESSAGES = 200 };

static MPI_Comm comm;
static int me, members, any_source, messages; /* me: the rank in comm, which has so many members */

static void promise(MPI_Info info, const char *what, int holds)
{
    MPI(MPI_Info_set(info, what, holds ? "true" : "false"));
}

static int has(MPI_Comm of, const char *key, const char *expected)
{
    MPI_Info info;
    char value[100] = "";
    int flag;
    MPI(MPI_Comm_get_info(of, &info));
    MPI(MPI_Info_get(info, key, 99, value, &flag));
    MPI(MPI_Info_free(&info));
    return flag && !strcmp(value, expected);
}

static void *run(void *number)
{
    int tag = (int) (intptr_t) number, to = (me + 1) % members, from = (me + members - 1) % members;
    int source = any_source ? MPI_ANY_SOURCE : from, count = slow() ? 10 : messages;
    static const int sizes[] = {2, 3, 400, 30000};
    int *out = malloc(sizeof(int) * 30000), *in = malloc(sizeof(int) * 30000);
    for (int i = 0; i < count; i++) {
        int length = i % 5 == 1 ? 2 : sizes[i % 4], flag = 0;
        MPI_Status status;
        MPI_Request request;
        MPI_Message message;
        out[0] = i;
        out[1] = me * THREADS + tag;
        switch (i % 5) {
        case 0:
            MPI(MPI_Isend(out, length, MPI_INT, to, tag, comm, &request));
            MPI(MPI_Recv(in, 30000, MPI_INT, source, tag, comm, &status));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        case 1: /* each with its own tag, which may go by an engine of its own */
            MPI(MPI_Sendrecv(out, length, MPI_INT, to, 100 + me, in, 30000, MPI_INT, source, 100 + from, comm, &status));
            CHECK_INT(status.MPI_TAG, 100 + from);
            status.MPI_TAG = tag;
            break;
        case 2:
            MPI(MPI_Isend(out, length, MPI_INT, to, tag, comm, &request));
            MPI(MPI_Mprobe(source, tag, comm, &message, &status));
            MPI(MPI_Mrecv(in, 30000, MPI_INT, &message, &status));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        case 3:
            MPI(MPI_Isend(out, length, MPI_INT, to, tag, comm, &request));
            while (!flag)
                MPI(MPI_Iprobe(source, tag, comm, &flag, &status));
            MPI(MPI_Recv(in, 30000, MPI_INT, status.MPI_SOURCE, tag, comm, &status));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        case 4:
            memcpy(in, out, sizeof(int) * length);
            MPI(MPI_Sendrecv_replace(in, 30000, MPI_INT, to, tag, source, tag, comm, &status));
            length = 30000;
            break;
        }
        CHECK_STATUS(status, from, tag, (int) sizeof(int) * length);
        if (i % 5 != 1) { /* there the threads share the tag */
            CHECK_INT(in[0], i);
            CHECK_INT(in[1], from * THREADS + tag);
        }
    }
    free(out);
    free(in);
    return NULL;
}

static void expect(int code, int expected)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI(MPI_Error_class(code, &class));
    CHECK_INT(class, expected);
}

/* Every call that receives, with a wildcard that was promised not to be used. */
static void break_promise(int source, int tag, int expected)
{
    int value, flag;
    MPI_Request request;
    MPI_Message message;
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    expect(MPI_Recv(&value, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE), expected);
    expect(MPI_Irecv(&value, 1, MPI_INT, source, tag, comm, &request), expected);
    expect(MPI_Recv_init(&value, 1, MPI_INT, source, tag, comm, &request), expected);
    expect(MPI_Probe(source, tag, comm, MPI_STATUS_IGNORE), expected);
    expect(MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE), expected);
    expect(MPI_Mprobe(source, tag, comm, &message, MPI_STATUS_IGNORE), expected);
    expect(MPI_Improbe(source, tag, comm, &flag, &message, MPI_STATUS_IGNORE), expected);
    expect(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, source, tag, comm, MPI_STATUS_IGNORE), expected);
}

/* The constructors that take hints. */
enum { DUP, IDUP, FROM_GROUP, SPLIT_TYPE, CONSTRUCTORS };

static void make(int constructor, MPI_Info info)
{
    MPI_Request request;
    MPI_Group group;
    switch (constructor) {
    case DUP:
        MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
        break;
#if MPI_VERSION >= 4
    case IDUP:
        MPI(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case FROM_GROUP:
        MPI(MPI_Comm_group(MPI_COMM_WORLD, &group));
        MPI(MPI_Comm_create_from_group(group, "hints", info, MPI_ERRORS_ARE_FATAL, &comm));
        MPI(MPI_Group_free(&group));
        break;
#endif
    default:
        (void) request;
        (void) group;
        MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, info, &comm));
        break;
    }
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &members));
}

int main(int argc, char **argv)
{
    MPI_Info info;
    start_multiple(&argc, &argv);
    MPI(MPI_Info_create(&info));
    /* By MPI_Comm_dup_with_info every pair of promises, by the others some. */
    static const int pairs[] = {0, 1, 2, 3, 3, 1, 3, 3, 2};
    static const int constructors[] = {DUP, DUP, DUP, DUP, IDUP, FROM_GROUP, FROM_GROUP, SPLIT_TYPE, SPLIT_TYPE};
    for (int i = 0; i < (reference ? 4 : 9); i++) {
        int promised = pairs[i], no_tag = promised & 1, no_source = promised & 2;
        promise(info, "mpi_assert_no_any_tag", no_tag);
        promise(info, "mpi_assert_no_any_source", no_source);
        promise(info, "mpi_assert_exact_length", 0);
        promise(info, "mpi_assert_allow_overtaking", 0);
        make(constructors[i], info);
        CHECK(has(comm, "mpi_assert_no_any_tag", no_tag ? "true" : "false"));
        CHECK(has(comm, "mpi_assert_no_any_source", no_source ? "true" : "false"));
        CHECK(has(comm, "mpi_assert_allow_overtaking", "false"));
        any_source = !no_source;
        messages = constructors[i] == DUP ? MESSAGES : 20;
        run_threads(THREADS, run);
        /* What is relied on stays, and says so. */
        if (!reference) {
            if (no_tag)
                break_promise(0, MPI_ANY_TAG, MPI_ERR_TAG);
            if (no_source)
                break_promise(MPI_ANY_SOURCE, 0, MPI_ERR_RANK);
            promise(info, "mpi_assert_no_any_tag", 0);
            promise(info, "mpi_assert_exact_length", 1);
            MPI(MPI_Comm_set_info(comm, info));
            CHECK(has(comm, "mpi_assert_no_any_tag", no_tag ? "true" : "false"));
            CHECK(has(comm, "mpi_assert_exact_length", "true"));
        }
        MPI(MPI_Comm_free(&comm));
    }
    /* Not all promise the same. */
    promise(info, "mpi_assert_no_any_tag", rank % 2);
    promise(info, "mpi_assert_no_any_source", rank % 2);
    for (int constructor = DUP; constructor < (reference ? IDUP : CONSTRUCTORS); constructor++) {
        make(constructor, rank % 3 == 2 ? MPI_INFO_NULL : info);
        if (members == 1 && rank % 2) { /* alone on its node: all members have promised the same */
            MPI(MPI_Comm_free(&comm));
            continue;
        }
        int value = me;
        MPI_Request request;
        MPI(MPI_Isend(&value, 1, MPI_INT, 0, me, comm, &request));
        for (int i = 0; me == 0 && i < members; i++) {
            int got;
            MPI_Status status;
            MPI(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            CHECK_INT(got, status.MPI_SOURCE);
            CHECK_INT(got, status.MPI_TAG);
        }
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_Info_free(&info));
    return finish();
}
