/* Generalized requests in any, some, all and get_status; codes of the callbacks; cancelling before and after the end;
 * a thread that completes what another waits for. */
#include "threads.h"

struct work { int tag, queries, frees, cancels, complete, query_code, free_code, cancel_code; };

static int query(void *state, MPI_Status *status)
{
    struct work *work = state;
    work->queries++;
    MPI_Status_set_elements(status, MPI_DOUBLE, work->tag);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 2 * work->tag;
    status->MPI_TAG = work->tag;
    return work->query_code;
}

static int release(void *state)
{
    struct work *work = state;
    CHECK_INT(work->queries > 0 || work->tag == -1, 1);
    work->frees++;
    return work->free_code;
}

static int cancel(void *state, int complete)
{
    struct work *work = state;
    work->cancels++;
    work->complete = complete;
    return work->cancel_code;
}

static struct work works[5];
static MPI_Request requests[5];

static void begin(void)
{
    memset(works, 0, sizeof works);
    for (int i = 0; i < 5; i++) {
        works[i].tag = i + 10;
        MPI(MPI_Grequest_start(query, release, cancel, &works[i], &requests[i]));
    }
}

static void check_one(int at, const MPI_Status *status)
{
    int count;
    CHECK(requests[at] == MPI_REQUEST_NULL);
    CHECK_INT(works[at].queries, 1);
    CHECK_INT(works[at].frees, 1);
    CHECK_INT(status->MPI_TAG, at + 10);
    CHECK_INT(status->MPI_SOURCE, 2 * (at + 10));
    MPI(MPI_Get_count(status, MPI_DOUBLE, &count));
    CHECK_INT(count, at + 10);
}

static void rest(void)
{
    for (int i = 0; i < 5; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            MPI(MPI_Grequest_complete(requests[i]));
            MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            CHECK_INT(works[i].queries, 1);
            CHECK_INT(works[i].frees, 1);
        }
}

static void any(void)
{
    int index, flag;
    MPI_Status status;
    begin();
    MPI(MPI_Testany(5, requests, &index, &flag, &status));
    CHECK_INT(flag, 0);
    CHECK_INT(index, MPI_UNDEFINED);
    MPI(MPI_Grequest_complete(requests[3]));
    MPI(MPI_Waitany(5, requests, &index, &status));
    CHECK_INT(index, 3);
    check_one(3, &status);
    MPI(MPI_Grequest_complete(requests[1]));
    MPI(MPI_Testany(5, requests, &index, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_INT(index, 1);
    check_one(1, &status);
    CHECK_INT(works[0].queries + works[2].queries + works[4].queries, 0);
    rest();
}

static void some(void)
{
    int count, indices[5];
    MPI_Status statuses[5];
    begin();
    MPI(MPI_Testsome(5, requests, &count, indices, statuses));
    CHECK_INT(count, 0);
    MPI(MPI_Grequest_complete(requests[4]));
    MPI(MPI_Grequest_complete(requests[0]));
    MPI(MPI_Waitsome(5, requests, &count, indices, statuses));
    CHECK_INT(count, 2);
    for (int i = 0; i < count; i++)
        check_one(indices[i], &statuses[i]);
    CHECK_INT(indices[0] + indices[1], 4);
    MPI(MPI_Grequest_complete(requests[2]));
    MPI(MPI_Testsome(5, requests, &count, indices, statuses));
    CHECK_INT(count, 1);
    CHECK_INT(indices[0], 2);
    check_one(2, &statuses[0]);
    rest();
}

static void all(void)
{
    int flag;
    MPI_Status statuses[5];
    begin();
    for (int i = 0; i < 4; i++)
        MPI(MPI_Grequest_complete(requests[i]));
    MPI(MPI_Testall(5, requests, &flag, statuses));
    CHECK_INT(flag, 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(works[i].queries, 0);
    MPI(MPI_Grequest_complete(requests[4]));
    MPI(MPI_Testall(5, requests, &flag, statuses));
    CHECK_INT(flag, 1);
    for (int i = 0; i < 5; i++)
        check_one(i, &statuses[i]);
    begin();
    for (int i = 0; i < 5; i++)
        MPI(MPI_Grequest_complete(requests[i]));
    MPI(MPI_Waitall(5, requests, statuses));
    for (int i = 0; i < 5; i++)
        check_one(i, &statuses[i]);
    begin();
    for (int i = 0; i < 5; i++)
        MPI(MPI_Grequest_complete(requests[i]));
    MPI(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 5; i++)
        CHECK_INT(works[i].queries, 1);
}

static void get_status(void)
{
    int flag;
    MPI_Status status;
    begin();
    MPI(MPI_Request_get_status(requests[2], &flag, &status));
    CHECK_INT(flag, 0);
    CHECK_INT(works[2].queries, 0);
    MPI(MPI_Grequest_complete(requests[2]));
    for (int i = 1; i <= 2; i++) {
        MPI(MPI_Request_get_status(requests[2], &flag, &status));
        CHECK_INT(flag, 1);
        CHECK_INT(status.MPI_TAG, 12);
        CHECK_INT(works[2].queries, i);
        CHECK_INT(works[2].frees, 0);
    }
    MPI(MPI_Wait(&requests[2], &status));
    CHECK_INT(works[2].queries, 3);
    CHECK_INT(works[2].frees, 1);
    rest();
}

static void codes(void)
{
    MPI_Status status, statuses[5];
    MPI_Request copy;
    int index;
    begin();
    works[0].query_code = MPI_ERR_BUFFER;
    works[1].free_code = MPI_ERR_TAG;
    works[2].cancel_code = MPI_ERR_RANK;
    CHECK_CLASS(MPI_Cancel(&requests[2]), MPI_ERR_RANK);
    CHECK_INT(works[2].complete, 0);
    works[2].cancel_code = 0;
    for (int i = 0; i < 4; i++)
        MPI(MPI_Grequest_complete(requests[i]));
    MPI(MPI_Cancel(&requests[2]));
    CHECK_INT(works[2].complete != 0, 1);
    CHECK_INT(works[2].cancels, 2);
    CHECK_CLASS(MPI_Wait(&requests[0], &status), MPI_ERR_BUFFER);
    CHECK_INT(works[0].frees, 1);
    CHECK_CLASS(MPI_Wait(&requests[1], &status), MPI_ERR_TAG);
    CHECK_INT(works[1].frees, 1);
    works[2].query_code = MPI_ERR_COUNT;
    requests[0] = requests[1] = MPI_REQUEST_NULL;
    copy = requests[4];
    requests[4] = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
    CHECK_CLASS(statuses[2].MPI_ERROR, MPI_ERR_COUNT);
    CHECK_CLASS(statuses[3].MPI_ERROR, MPI_SUCCESS);
    requests[2] = requests[3] = MPI_REQUEST_NULL;
    requests[4] = copy;
    /* freed by the program, then complete: no query */
    works[4].tag = -1;
    MPI(MPI_Request_free(&requests[4]));
    CHECK_INT(works[4].frees, 0);
    MPI(MPI_Grequest_complete(copy));
    CHECK_INT(works[4].frees, 1);
    CHECK_INT(works[4].queries, 0);
    /* complete, then freed */
    begin();
    works[0].tag = -1;
    MPI(MPI_Grequest_complete(requests[0]));
    MPI(MPI_Request_free(&requests[0]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
    CHECK_INT(works[0].frees, 1);
    rest();
    MPI(MPI_Waitany(5, requests, &index, &status));
    CHECK_INT(index, MPI_UNDEFINED);
}

static MPI_Request handed[5];

static void *completes(void *argument)
{
    (void) argument;
    for (int i = 4; i >= 0; i--) {
        if (i == 2)
            usleep(20000); /* the other sleeps by now: a longer way, not another result */
        MPI(MPI_Grequest_complete(handed[i]));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    MPI_Status statuses[5];
    for (int round = 0; round < 20; round++) {
        begin();
        memcpy(handed, requests, sizeof handed);
        pthread_create(&thread, NULL, completes, NULL);
        if (round % 2) {
            MPI(MPI_Waitall(5, requests, statuses));
            for (int i = 0; i < 5; i++)
                check_one(i, &statuses[i]);
        } else {
            for (int left = 5; left > 0; left--) {
                int index;
                MPI(MPI_Waitany(5, requests, &index, &statuses[0]));
                check_one(index, &statuses[0]);
            }
        }
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    return_errors();
    any();
    some();
    all();
    get_status();
    codes();
    threads();
    return finish();
}
