/* Communicators over several nodes go by engines with ports of their own: messages of each come in order, for wildcards too, and a counter
 * says that they went that way. The argument is what the counter has to say: "one" or "several"; "differing": the ranks offer different
 * numbers of engines, and agree on several. */
#include "threads.h"

enum { COMMS = 20, MANY = 500, LONG = 100000, TAGS = 16 };

static unsigned char out[LONG], in[LONG];

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void begin_to_count(void)
{
    int index, count;
    MPI(MPI_T_pvar_get_index("net_records_further", MPI_T_PVAR_CLASS_COUNTER, &index));
    MPI(MPI_T_pvar_session_create(&session));
    MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_INT(count, 1);
    MPI(MPI_T_pvar_start(session, handle));
}

/* Records that further engines of this process have sent. */
static unsigned long further(void)
{
    unsigned long number = 0;
    MPI(MPI_T_pvar_read(session, handle, &number));
    return number;
}

static void end_of_count(void)
{
    MPI(MPI_T_pvar_handle_free(session, &handle));
    MPI(MPI_T_pvar_session_free(&session));
}

/* Around the ring, two messages with one tag, received by wildcards. */
static void around(MPI_Comm comm, int bytes)
{
    int me, members;
    MPI_Request requests[2];
    MPI_Status status;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &members));
    int to = (me + 1) % members, from = (me + members - 1) % members;
    fill(out, (size_t) bytes, (uint64_t) me);
    MPI(MPI_Isend(&me, 1, MPI_INT, to, 3, comm, &requests[0]));
    MPI(MPI_Isend(out, bytes, MPI_BYTE, to, 3, comm, &requests[1]));
    int first = -1;
    MPI(MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
    CHECK_STATUS(status, from, 3, 4);
    CHECK_INT(first, from);
    MPI(MPI_Probe(MPI_ANY_SOURCE, 3, comm, &status));
    CHECK_STATUS(status, from, 3, bytes);
    MPI(MPI_Recv(in, LONG, MPI_BYTE, from, MPI_ANY_TAG, comm, &status));
    CHECK_STATUS(status, from, 3, bytes);
    CHECK_PATTERN(in, (size_t) bytes, (uint64_t) from);
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* Nobody receives with any tag: messages with some tags go by the first engine, others by further ones. Nobody else may send meanwhile.
 * Returns how many of the tags went by further ones. */
static int by_tag(int nonblocking)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Request request;
    int went = 0;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    if (nonblocking) {
        MPI(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    }
    MPI(MPI_Info_free(&info));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int tag = 0; tag < TAGS; tag++) {
        int got = -1;
        unsigned long before = further();
        MPI(MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, tag, comm, &request));
        MPI(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE));
        CHECK_INT(got, (rank + size - 1) % size);
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        went += further() > before;
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Comm_free(&comm));
    return went;
}

static void *exchange(void *comm)
{
    int sum = 0, members;
    MPI(MPI_Comm_size(*(MPI_Comm *) comm, &members));
    for (int round = 0; round < (slow() ? 3 : 20); round++) {
        MPI(MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *) comm));
        CHECK_INT(sum, round * members);
    }
    return NULL;
}

/* Two groups, each on all nodes, if there are so many ranks. */
static void between_groups(void)
{
    MPI_Comm half, inter, both;
    MPI_Request request;
    int got = -1;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank >= size / 2 ? 0 : size / 2, 7, &inter));
    int other = rank % (size / 2);
    MPI(MPI_Isend(&rank, 1, MPI_INT, other, 1, inter, &request));
    MPI(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    CHECK_INT(got, rank >= size / 2 ? rank - size / 2 : rank + size / 2);
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Intercomm_merge(inter, rank >= size / 2, &both));
    around(both, 100);
    MPI(MPI_Comm_free(&both));
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS], again;
    pthread_t threads[2];
    int provided;
    const char *wanted = argc > 1 ? argv[1] : "any", *number = getenv("PMI_RANK");
    if (!strcmp(wanted, "differing"))
        setenv("OXMPI_ENGINES", number && atoi(number) % 2 ? "3" : "8", 1);
    MPI(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    start_multiple(&argc, &argv);
    begin_to_count();
    for (int i = 0; i < COMMS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < COMMS; i++)
        around(comms[i], i % 3 ? i * 100 : LONG);
    /* A thread that waits in one engine, while another works in another one. */
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, exchange, &comms[i]), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    if (size % 2 == 0)
        between_groups();
    for (int i = 0; i < (slow() ? 20 : MANY); i++) {
        MPI(MPI_Comm_dup(comms[i % COMMS], &again));
        around(again, i % 50);
        MPI(MPI_Comm_free(&again));
    }
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        int went = by_tag(nonblocking);
        if (!strcmp(wanted, "several") && rank == size - 1)
            CHECK(went > 0 && went < TAGS);
    }
    unsigned long records = further();
    end_of_count();
    if (!strcmp(wanted, "several") || !strcmp(wanted, "differing"))
        CHECK(records > 0);
    if (!strcmp(wanted, "one"))
        CHECK(records == 0);
    for (int i = 0; i < COMMS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    /* What is still on its way arrives. */
    MPI_Request request;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &again));
    MPI(MPI_Isend(out, LONG, MPI_BYTE, (rank + 1) % size, 1, again, &request));
    MPI(MPI_Recv(in, LONG, MPI_BYTE, (rank + size - 1) % size, 1, again, MPI_STATUS_IGNORE));
    MPI(MPI_Request_free(&request));
    MPI(MPI_Comm_free(&again));
    MPI(MPI_T_finalize());
    return finish();
}
