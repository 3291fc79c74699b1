/* Promises about wildcards on intercommunicators: messages of each pair of ranks and each tag come in order, whichever engine they
 * go by; a promise holds if both groups have made it. */
#include "threads.h"

enum { THREADS = 4, MESSAGES = 60 };
enum { DUP, IDUP, FROM_GROUPS, CONSTRUCTORS };

static MPI_Comm parent, across;
static int remote, no_tag, no_source;

static void *run(void *number)
{
    int tag = (int) (intptr_t) number, local, count = slow() ? 5 : MESSAGES;
    static int out[THREADS][MESSAGES][2];
    MPI_Request *requests = malloc(sizeof(MPI_Request) * MESSAGES * remote);
    MPI(MPI_Comm_rank(across, &local));
    for (int i = 0; i < count; i++) {
        out[tag][i][0] = local * THREADS + tag;
        out[tag][i][1] = i;
        for (int to = 0; to < remote; to++)
            MPI(MPI_Isend(out[tag][i], 2, MPI_INT, to, tag, across, &requests[i * remote + to]));
    }
    int *seen = calloc(remote, sizeof(int));
    for (int i = 0; i < count * remote; i++) {
        int in[2];
        MPI_Status status;
        MPI(MPI_Recv(in, 2, MPI_INT, no_source ? i % remote : MPI_ANY_SOURCE, tag, across, &status));
        int from = status.MPI_SOURCE;
        CHECK(from >= 0 && from < remote);
        CHECK_STATUS(status, from, tag, (int) sizeof in);
        CHECK_INT(in[0], from * THREADS + tag);
        CHECK_INT(in[1], seen[from]);
        seen[from]++;
    }
    MPI(MPI_Waitall(count * remote, requests, MPI_STATUSES_IGNORE));
    free(seen);
    free(requests);
    return NULL;
}

static void make(int constructor, MPI_Info info)
{
    MPI_Request request;
    MPI_Group local, other;
    (void) request;
    switch (constructor) {
    case DUP:
        MPI(MPI_Comm_dup_with_info(parent, info, &across));
        break;
#if MPI_VERSION >= 4
    case IDUP:
        MPI(MPI_Comm_idup_with_info(parent, info, &across, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case FROM_GROUPS:
        MPI(MPI_Comm_group(parent, &local));
        MPI(MPI_Comm_remote_group(parent, &other));
        MPI(MPI_Intercomm_create_from_groups(local, 0, other, 0, "across", info, MPI_ERRORS_ARE_FATAL, &across));
        MPI(MPI_Group_free(&local));
        MPI(MPI_Group_free(&other));
        break;
#endif
    }
    (void) local;
    (void) other;
}

static void expect(int code, int expected)
{
    int class = MPI_SUCCESS;
    MPI(MPI_Error_class(code, &class));
    CHECK_INT(class, expected);
}

static void is_refused(int source, int tag, int expected)
{
    int flag;
    MPI(MPI_Comm_set_errhandler(across, MPI_ERRORS_RETURN));
    expect(MPI_Iprobe(source, tag, across, &flag, MPI_STATUS_IGNORE), expected);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Info info;
    start_multiple(&argc, &argv);
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &parent));
    MPI(MPI_Comm_remote_size(parent, &remote));
    MPI(MPI_Info_create(&info));
    for (int constructor = DUP; constructor < (reference ? IDUP : CONSTRUCTORS); constructor++)
        for (int promised = 0; promised < 4; promised++) {
            /* The first rank of a group promises less in the end. */
            for (int differs = 0; differs < 2; differs++) {
                int less = differs && rank == promised % 2;
                no_tag = promised & 1;
                no_source = promised & 2;
                MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", no_tag && !less ? "true" : "false"));
                MPI(MPI_Info_set(info, "mpi_assert_no_any_source", no_source && !less ? "true" : "false"));
                make(constructor, info);
                no_source = no_source && !differs;
                run_threads(THREADS, run);
                if (!reference) {
                    is_refused(0, MPI_ANY_TAG, no_tag && !differs ? MPI_ERR_TAG : MPI_SUCCESS);
                    is_refused(MPI_ANY_SOURCE, 0, no_source ? MPI_ERR_RANK : MPI_SUCCESS);
                }
                MPI(MPI_Comm_free(&across));
            }
        }
    MPI(MPI_Info_free(&info));
    MPI(MPI_Comm_free(&parent));
    MPI(MPI_Comm_free(&half));
    return finish();
}
