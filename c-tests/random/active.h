/* The pending requests of a lane, and every way to complete them: Wait, Test, Waitany, Waitsome, Waitall, Testany, Testsome, Testall,
 * Request_get_status, in random order on random subsets, null requests among them.
 */
#ifndef RANDOM_ACTIVE_H
#define RANDOM_ACTIVE_H

#include "lane.h"

enum { ACTIVE = 400 };

enum what { SEND, RECEIVE, COLLECTIVE, DUPLICATE, PAIR };

struct active {
    int count;
    MPI_Request request[ACTIVE];
    enum what what[ACTIVE];
    int index[ACTIVE];
    void *round;
    /* Called for each request that is complete; the request is null, or inactive if it is persistent. */
    void (*completed)(struct lane *l, void *round, enum what what, int index, MPI_Request request, const MPI_Status *status);
};

static void active_add(struct active *a, MPI_Request request, enum what what, int index)
{
    if (a->count == ACTIVE)
        abort();
    a->request[a->count] = request;
    a->what[a->count] = what;
    a->index[a->count++] = index;
}

static void active_done(struct lane *l, struct active *a, int i, MPI_Request left, const MPI_Status *status)
{
    enum what what = a->what[i];
    int index = a->index[i], last = --a->count;
    a->request[i] = a->request[last];
    a->what[i] = a->what[last];
    a->index[i] = a->index[last];
    a->completed(l, a->round, what, index, left, status);
}

/* One test, which may find nothing. */
static void active_test(struct lane *l, struct active *a)
{
    int flag = 0;
    MPI_Status status;
    if (!a->count)
        return;
    int i = pick(&l->own, a->count);
    spoil(&status);
    /* MPICH 5.0 gives an empty status to the test of a persistent receive that follows. */
    if (!reference && once_in(&l->own, 4)) {
        MPI(MPI_Request_get_status(a->request[i], &flag, &status));
        if (!flag)
            return;
        spoil(&status);
        MPI(MPI_Test(&a->request[i], &flag, &status));
        if (!flag)
            complain(l, "MPI_Test does not find complete what MPI_Request_get_status did");
    } else {
        MPI(MPI_Test(&a->request[i], &flag, &status));
    }
    if (flag)
        active_done(l, a, i, a->request[i], &status);
}

static void check_empty(struct lane *l, const MPI_Status *status, const char *function)
{
    int count = -1;
    MPI(MPI_Get_count(status, MPI_BYTE, &count));
    if (status->MPI_SOURCE != MPI_ANY_SOURCE || status->MPI_TAG != MPI_ANY_TAG || count)
        complain(l, "%s: the status of a null request has source %d, tag %d, count %d", function, status->MPI_SOURCE, status->MPI_TAG, count);
}

/* Completes at least one request. */
static void active_complete(struct lane *l, struct active *a)
{
    static const char *const names[] = {"MPI_Wait", "MPI_Test", "MPI_Waitany", "MPI_Testany", "MPI_Waitsome", "MPI_Testsome", "MPI_Waitall", "MPI_Testall"};
    int chosen[ACTIVE], places[ACTIVE], indices[ACTIVE], done[ACTIVE], count = 0, out = 0, flag = 0, one = MPI_UNDEFINED;
    MPI_Request requests[ACTIVE], *r = requests;
    MPI_Status statuses[ACTIVE], *s = statuses;
    int how = pick(&l->own, 8), wanted = once_in(&l->own, 3) ? a->count : 1 + pick(&l->own, a->count);
    if (how < 2)
        wanted = 1;
    for (int i = 0; i < a->count; i++)
        places[i] = i;
    shuffle(&l->own, places, a->count);
    for (int i = 0; i < wanted; i++) {
        if (how >= 2 && count + wanted - i + 1 < ACTIVE && once_in(&l->own, 10)) {
            chosen[count] = -1;
            requests[count++] = MPI_REQUEST_NULL;
        }
        chosen[count] = places[i];
        requests[count++] = a->request[places[i]];
    }
    memset(statuses, 0x5a, sizeof *statuses * (size_t) count);
    switch (how) {
    case 0: MPI(MPI_Wait(r, s)); break;
    case 1: do { MPI(MPI_Test(r, &flag, s)); } while (!flag && (in_vain(l), 1)); break;
    case 2: MPI(MPI_Waitany(count, r, &one, s)); break;
    case 3: do { MPI(MPI_Testany(count, r, &one, &flag, s)); } while (!flag && (in_vain(l), 1)); break;
    case 4: MPI(MPI_Waitsome(count, r, &out, indices, s)); break;
    case 5: do { MPI(MPI_Testsome(count, r, &out, indices, s)); } while (!out && (in_vain(l), 1)); break;
    case 6: MPI(MPI_Waitall(count, r, s)); break;
    case 7: do { MPI(MPI_Testall(count, r, &flag, s)); } while (!flag && (in_vain(l), 1)); break;
    }
    memset(done, 0, sizeof *done * (size_t) count);
    MPI_Status of[ACTIVE];
    if (how < 2)
        one = 0;
    if (how < 4) {
        if (one < 0 || one >= count || chosen[one] < 0) {
            complain(l, "%s of %d: index %d", names[how], count, one);
            return;
        }
        done[one] = 1;
        of[one] = *s;
    } else if (how < 6) {
        if (out < 1 || out > wanted) {
            complain(l, "%s of %d: outcount %d", names[how], count, out);
            return;
        }
        for (int i = 0; i < out; i++) {
            if (indices[i] < 0 || indices[i] >= count || chosen[indices[i]] < 0 || done[indices[i]]) {
                complain(l, "%s of %d: index %d", names[how], count, indices[i]);
                return;
            }
            done[indices[i]] = 1;
            of[indices[i]] = s[i];
        }
    } else {
        for (int i = 0; i < count; i++) {
            done[i] = chosen[i] >= 0;
            of[i] = s[i];
            if (chosen[i] < 0)
                check_empty(l, &s[i], names[how]);
        }
    }
    /* From the highest place on, because the last one takes the place of one that goes. */
    for (int place = a->count - 1; place >= 0; place--)
        for (int i = 0; i < count; i++)
            if (done[i] && chosen[i] == place)
                active_done(l, a, place, requests[i], &of[i]);
}

#endif
