/* A rank that another one waits for is in MPI_Finalize: the waiting call fails, and tools are told which rank it was. */
#include "check.h"

static int told = 0, lost = -1;

static void on_lost(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void) registration;
    (void) safety;
    CHECK(data == &lost);
    told++;
    MPI(MPI_T_event_read(instance, 0, data));
}

int main(int argc, char **argv)
{
    int provided, index;
    start(&argc, &argv);
    if (rank == 0) {
        MPI_Group world;
        MPI_Comm comm;
        MPI_T_event_registration registration;
        MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        MPI(MPI_T_event_get_index("peer_lost", &index));
        MPI(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
        MPI(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &lost, on_lost));
        MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
        CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, world, 1, &comm), MPI_ERR_OTHER);
        MPI(MPI_Group_free(&world));
        MPI(MPI_T_event_handle_free(registration, NULL, NULL));
        CHECK_INT(told, 1);
        CHECK_INT(lost, 1);
        MPI(MPI_T_finalize());
    }
    return finish();
}
