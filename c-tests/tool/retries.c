/* The agreement on a context id needs more than one reduction where rank 0 has used up the ids that the others offer first: the tool
 * is told of each one, and the counter counts them. Run with a strategy that offers few ids at a time. */
#include "check.h"

enum { TAKEN = 200 };

static int told = 0, parent = -1;

static void on_retry(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void) registration;
    (void) safety;
    CHECK(data == &parent);
    told++;
    MPI(MPI_T_event_read(instance, 0, data));
}

static unsigned long value(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long number = 0;
    MPI(MPI_T_pvar_read(session, handle, &number));
    return number;
}

int main(int argc, char **argv)
{
    MPI_Comm taken[TAKEN], comm;
    MPI_T_event_registration registration;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle retries, reductions;
    int provided, index, count;
    start(&argc, &argv);
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI(MPI_T_event_get_index("context_id_retry", &index));
    MPI(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
    MPI(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &parent, on_retry));
    MPI(MPI_T_pvar_session_create(&session));
    MPI(MPI_T_pvar_get_index("context_id_retries", MPI_T_PVAR_CLASS_COUNTER, &index));
    MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &retries, &count));
    MPI(MPI_T_pvar_get_index("context_id_reductions", MPI_T_PVAR_CLASS_COUNTER, &index));
    MPI(MPI_T_pvar_handle_alloc(session, index, NULL, &reductions, &count));
    MPI(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    for (int i = 0; rank == 0 && i < TAKEN; i++)
        MPI(MPI_Comm_dup(MPI_COMM_SELF, &taken[i]));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Barrier(comm)); /* Events are told at the beginning of a call. */
    MPI(MPI_Barrier(comm));
    CHECK(told >= 1);
    CHECK_INT(parent, 0);
    CHECK_INT((int) value(session, retries), told);
    CHECK((int) value(session, reductions) > told);
    MPI(MPI_T_event_handle_free(registration, NULL, NULL));
    for (int i = 0; rank == 0 && i < TAKEN; i++)
        MPI(MPI_Comm_free(&taken[i]));
    MPI(MPI_Comm_free(&comm));
    MPI(MPI_T_pvar_session_free(&session));
    MPI(MPI_T_finalize());
    return finish();
}
