/* MPI_Rput, MPI_Rget, MPI_Raccumulate, MPI_Rget_accumulate: ten thousand before one MPI_Waitall, every way to complete them, data that
 * is there after the wait, requests that outlive the lock. */
#include "windows.h"

static struct window w;
static int target, origin;

static void many(void)
{
    int count = slow() ? 100 : 10000;
    MPI_Request *requests = malloc(4 * (size_t) count * sizeof *requests);
    int *in = malloc((size_t) count * sizeof *in), *out = malloc((size_t) count * sizeof *out), *old = malloc((size_t) count * sizeof *old);
    int *cells = (int *) w.base;
    MPI_Status *statuses = malloc((size_t) count * sizeof *statuses);
    for (int i = 0; i < count; i++)
        out[i] = 1000000 * rank + i;
    for (int i = 0; i < count; i++)
        MPI(MPI_Rput(&out[i], 1, MPI_INT, target, window_at(&w, target, 4 * i), 1, MPI_INT, w.win, &requests[i]));
    for (int i = 0; i < count; i++)
        spoil(&statuses[i]);
    MPI(MPI_Waitall(count, requests, statuses));
    MPI(MPI_Win_flush(target, w.win));
    for (int i = 0; i < count; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        MPI(MPI_Rget(&in[i], 1, MPI_INT, target, window_at(&w, target, 4 * i), 1, MPI_INT, w.win, &requests[i]));
    }
    MPI(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK_INT(in[i], out[i]); /* without a flush */
    window_settle(&w);
    for (int i = 0; i < count; i++)
        CHECK_INT(cells[i], 1000000 * origin + i);
    window_settle(&w);
    int one = 1;
    for (int i = 0; i < count; i++) {
        MPI(MPI_Raccumulate(&one, 1, MPI_INT, target, window_at(&w, target, 4 * i), 1, MPI_INT, MPI_SUM, w.win, &requests[2 * i]));
        MPI(MPI_Rget_accumulate(&one, 1, MPI_INT, &old[i], 1, MPI_INT, target, window_at(&w, target, 4 * i), 1, MPI_INT, MPI_SUM, w.win,
                                &requests[2 * i + 1]));
    }
    for (int done = 0; done < 2 * count;) {
        int indices[64], some;
        int room = 2 * count - done < 64 ? 2 * count - done : 64;
        MPI(MPI_Waitsome(room, requests + done, &some, indices, MPI_STATUSES_IGNORE));
        CHECK(some >= 1 && some <= room);
        if (some < room)
            MPI(MPI_Waitall(room, requests + done, MPI_STATUSES_IGNORE));
        done += room;
    }
    for (int i = 0; i < count; i++)
        CHECK_INT(old[i], out[i] + 1);
    window_settle(&w);
    for (int i = 0; i < count; i++)
        CHECK_INT(cells[i], 1000000 * origin + i + 2);
    window_settle(&w);
    free(requests), free(in), free(out), free(old), free(statuses);
}

static void ways(void)
{
    MPI_Request requests[3];
    MPI_Status status;
    int values[3] = {rank, rank + 1, rank + 2}, flag = 0, index = -1, got[3] = {-1, -1, -1}, cancelled = -1;
    for (int i = 0; i < 3; i++)
        MPI(MPI_Rput_c(&values[i], 1, MPI_INT, target, window_at(&w, target, 4 * i), 1, MPI_INT, w.win, &requests[i]));
    while (!flag) {
        spoil(&status);
        MPI(MPI_Test(&requests[0], &flag, &status));
    }
    MPI(MPI_Test_cancelled(&status, &cancelled));
    CHECK_INT(cancelled, 0);
    MPI(MPI_Waitany(3, requests, &index, &status));
    CHECK(index == 1 || index == 2);
    MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    MPI(MPI_Win_flush(target, w.win));
    MPI(MPI_Rget_c(got, 3, MPI_INT, target, window_at(&w, target, 0), 3, MPI_INT, w.win, &requests[0]));
    for (flag = 0; !flag;)
        MPI(MPI_Request_get_status(requests[0], &flag, &status));
    MPI(MPI_Wait(&requests[0], &status));
    for (int i = 0; i < 3; i++)
        CHECK_INT(got[i], rank + i);
    MPI(MPI_Rput(values, 3, MPI_INT, target, window_at(&w, target, 0), 3, MPI_INT, w.win, &requests[0]));
    MPI(MPI_Rput(values, 3, MPI_INT, target, window_at(&w, target, 12), 3, MPI_INT, w.win, &requests[1]));
    for (flag = 0; !flag;)
        MPI(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    if (!reference) { /* MPICH's request of a put cannot be freed before it is complete */
        MPI(MPI_Rput(values, 3, MPI_INT, target, window_at(&w, target, 24), 3, MPI_INT, w.win, &requests[0]));
        MPI(MPI_Request_free(&requests[0]));
        CHECK(requests[0] == MPI_REQUEST_NULL);
    }
    /* types with holes, and one that is gone before the wait */
    MPI_Datatype vector;
    int in[20];
    memset(in, 0xff, sizeof in);
    MPI(MPI_Type_vector(10, 1, 2, MPI_INT, &vector));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Rget(in, 1, vector, target, window_at(&w, target, 0), 10, MPI_INT, w.win, &requests[0]));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    if (!reference) /* not before a flush on MPICH 4.0.2 */
        CHECK(in[0] == rank && in[2] == rank + 1 && in[4] == rank + 2 && in[1] == -1);
}

/* Requests of all four kinds that are freed, or that the functions for some of them complete. */
static void more_ways(void)
{
    enum { N = 12 };
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int in[N], out[N], old[N], indices[N], some, done = 0, index, flag, *cells = (int *) w.base, completed[N] = {0};
    MPI_Datatype vector;
    for (int round = 0; round < 2; round++) {
        window_settle(&w);
        memset(w.base, 0, 64 * sizeof *cells);
        window_settle(&w);
        for (int i = 0; i < N; i++) {
            in[i] = old[i] = -1, out[i] = 100 + rank + i;
            MPI_Aint at = window_at(&w, target, 4 * i);
            switch (i % 4) {
            case 0: MPI(MPI_Rput(&out[i], 1, MPI_INT, target, at, 1, MPI_INT, w.win, &requests[i])); break;
            case 1: MPI(MPI_Rget(&in[i], 1, MPI_INT, target, at, 1, MPI_INT, w.win, &requests[i])); break;
            case 2: MPI(MPI_Raccumulate(&out[i], 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, w.win, &requests[i])); break;
            default: MPI(MPI_Rget_accumulate(&out[i], 1, MPI_INT, &old[i], 1, MPI_INT, target, at, 1, MPI_INT, MPI_REPLACE, w.win,
                                             &requests[i]));
            }
            CHECK(requests[i] != MPI_REQUEST_NULL);
        }
        if (round == 0) {
            for (done = 0; done < N - 2; done += some) {
                MPI(MPI_Testsome(N, requests, &some, indices, statuses));
                CHECK(some != MPI_UNDEFINED);
                for (int i = 0; i < some; i++)
                    completed[indices[i]]++;
                if (done + some < N - 2) { /* and one by another function */
                    MPI(MPI_Testany(N, requests, &index, &flag, MPI_STATUS_IGNORE));
                    if (flag) {
                        completed[index]++;
                        done++;
                    }
                }
            }
            MPI(MPI_Waitall(N, requests, statuses));
            MPI(MPI_Testsome(N, requests, &some, indices, statuses));
            CHECK_INT(some, MPI_UNDEFINED);
            for (int i = 0; i < N; i++)
                CHECK(completed[i] <= 1 && requests[i] == MPI_REQUEST_NULL);
        } else
            for (int i = 0; i < N; i++) {
                if (reference) /* cannot free such a request before it is complete */
                    MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
                else
                    MPI(MPI_Request_free(&requests[i]));
                CHECK(requests[i] == MPI_REQUEST_NULL);
            }
        window_settle(&w);
        for (int i = 0; i < N; i++) {
            CHECK_INT(in[i], i % 4 == 1 ? 0 : -1);
            CHECK_INT(old[i], i % 4 == 3 ? 0 : -1);
            CHECK_INT(cells[i], i % 4 == 1 ? 0 : 100 + origin + i);
        }
    }
    window_settle(&w);
    /* holes at the target, in a type that is gone before the wait */
    for (int i = 0; i < 40; i++)
        cells[i] = 1000 * rank + i;
    memset(in, 0xff, sizeof in);
    window_settle(&w);
    MPI(MPI_Type_vector(10, 1, 3, MPI_INT, &vector));
    MPI(MPI_Type_commit(&vector));
    MPI(MPI_Rget(in, 10, MPI_INT, target, window_at(&w, target, 8), 1, vector, w.win, &requests[0]));
    MPI(MPI_Rget_accumulate(NULL, 0, MPI_INT, old, 10, MPI_INT, target, window_at(&w, target, 8), 1, vector, MPI_NO_OP, w.win,
                            &requests[1]));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 10 && !reference; i++) { /* as above */
        CHECK_INT(in[i], 1000 * target + 2 + 3 * i);
        CHECK_INT(old[i], 1000 * target + 2 + 3 * i);
    }
    window_settle(&w);
}

/* The wait may come after the epoch. */
static void late(void)
{
    MPI_Request request;
    int value = 4321 + rank, *cells = (int *) w.base;
    MPI(MPI_Win_unlock_all(w.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
    MPI(MPI_Rput(&value, 1, MPI_INT, target, window_at(&w, target, 64), 1, MPI_INT, w.win, &request));
    MPI(MPI_Win_unlock(target, w.win));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock_all(0, w.win));
    MPI(MPI_Win_sync(w.win));
    CHECK_INT(cells[16], 4321 + origin);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    target = (rank + 1) % size, origin = (rank + size - 1) % size;
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, 80000, 1);
        many();
        ways();
        more_ways();
        late();
        window_free(&w);
    }
    return finish();
}
