/* MPICH's extension: generalized requests that have a function to look whether they are complete. */
#include "check.h"

struct work { MPI_Request request; int polls, wanted, queries, frees; };

static int query(void *state, MPI_Status *status)
{
    ((struct work *) state)->queries++;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    ((struct work *) state)->frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state;
    (void) complete;
    return MPI_SUCCESS;
}

static int look(void *state, MPI_Status *status)
{
    struct work *work = state;
    (void) status;
    if (++work->polls == work->wanted)
        MPI_Grequest_complete(work->request);
    return MPI_SUCCESS;
}

static void check_work(const struct work *work)
{
    CHECK_INT(work->polls, work->wanted);
    CHECK_INT(work->queries, 1);
    CHECK_INT(work->frees, 1);
}

int main(int argc, char **argv)
{
    struct work works[3] = {{MPI_REQUEST_NULL, 0, 5, 0, 0}, {MPI_REQUEST_NULL, 0, 3, 0, 0}, {MPI_REQUEST_NULL, 0, 9, 0, 0}};
    struct work single = {MPI_REQUEST_NULL, 0, 4, 0, 0}, tested = {MPI_REQUEST_NULL, 0, 4, 0, 0};
    MPIX_Grequest_class class_;
    MPI_Request requests[3], request;
    MPI_Status status;
    int flag = 0, looks = 0, count;
    start(&argc, &argv);
    MPI(MPIX_Grequest_start(query, release, cancel, look, NULL, &single, &request));
    single.request = request;
    MPI(MPI_Wait(&request, &status));
    check_work(&single);
    MPI(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 3);
    MPI(MPIX_Grequest_class_create(query, release, cancel, look, NULL, &class_));
    MPI(MPIX_Grequest_class_allocate(class_, &tested, &request));
    tested.request = request;
    while (!flag) {
        MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        looks++;
    }
    CHECK_INT(looks > 1, 1);
    check_work(&tested);
    for (int i = 0; i < 3; i++) {
        MPI(MPIX_Grequest_class_allocate(class_, &works[i], &requests[i]));
        works[i].request = requests[i];
    }
    MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++)
        check_work(&works[i]);
    return finish();
}
