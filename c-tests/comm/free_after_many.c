/* What it costs to free a communicator or datatype follows from the requests there are, not from those there once were, and not
 * from what was freed before and is still in use: counted in what the collector has looked at. */
#include "check.h"

enum { MANY = 20000, ROUNDS = 500, PER_ROUND = 400, KEPT = MANY };

static MPI_T_pvar_handle looks;
static MPI_T_pvar_session session;

static void begin_to_count(void)
{
    int provided, index, count;
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_pvar_get_index("collector_looks", MPI_T_PVAR_CLASS_COUNTER, &index));
    MPI(MPI_T_pvar_session_create(&session));
    MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &looks, &count));
    MPI(MPI_T_pvar_start(session, looks));
}

static unsigned long long looked(void)
{
    unsigned long long now;
    MPI(MPI_T_pvar_read(session, looks, &now));
    return now;
}

/* So many receives at one time, all done when this returns. */
static void many(void)
{
    static MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Irecv(NULL, 0, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
    for (int i = 0; i < MANY; i++)
        MPI(MPI_Send(NULL, 0, MPI_INT, 0, i, MPI_COMM_SELF));
    MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
}

static void dup_and_free(void)
{
    MPI_Comm dup;
    MPI_Datatype type;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Type_contiguous(2, MPI_INT, &type));
    MPI(MPI_Type_free(&type));
}

/* Average of many rounds, after some for what may be done once. */
static void cost(const char *when)
{
    for (int i = 0; i < 100; i++)
        dup_and_free();
    unsigned long long before = looked();
    for (int i = 0; i < ROUNDS; i++)
        dup_and_free();
    unsigned long long each = (looked() - before) / ROUNDS;
    if (each > PER_ROUND)
        check_failed(__FILE__, __LINE__, "%s: a free looks at %llu requests and freed objects", when, each);
}

int main(int argc, char **argv)
{
    MPI_Request kept;
    start(&argc, &argv);
    begin_to_count();
    cost("fresh");
    many();
    cost("after many requests");
    MPI(MPI_Irecv(NULL, 0, MPI_INT, 0, KEPT, MPI_COMM_SELF, &kept));
    cost("one is left");
    many();
    cost("one is left of many");
    /* Communicators that were freed and are in use. */
    static MPI_Request pending[2000];
    for (int i = 0; i < 2000; i++) {
        MPI_Comm dup;
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &dup));
        MPI(MPI_Irecv(NULL, 0, MPI_INT, 0, 1, dup, &pending[i]));
        MPI(MPI_Comm_free(&dup));
    }
    cost("beside freed communicators in use");
    for (int i = 0; i < 2000; i++) {
        MPI(MPI_Cancel(&pending[i]));
        MPI(MPI_Wait(&pending[i], MPI_STATUS_IGNORE));
    }
    MPI(MPI_Send(NULL, 0, MPI_INT, 0, KEPT, MPI_COMM_SELF));
    MPI(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    cost("all are done");
    MPI(MPI_T_pvar_handle_free(session, &looks));
    MPI(MPI_T_pvar_session_free(&session));
    MPI(MPI_T_finalize());
    return finish();
}
