/* MPI_Win_post, start, complete, wait and test: rings, all with all, self in the group, empty groups, an origin that starts before the
 * target posts, assertions, messages of the program that need a rank in MPI_Win_wait, complete or free, both roles in one rank.
 * arg: rounds. */
#include "shared_window.h"

enum { BYTES = 1 << 20 };

static struct window w;

static void finish_exposure(int by_test)
{
    int flag = 0;
    if (!by_test) {
        MPI(MPI_Win_wait(w.win));
        return;
    }
    while (!flag)
        MPI(MPI_Win_test(w.win, &flag));
}

/* Each rank stores to the next one. */
static void ring(int rounds)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Group to = group_of(MPI_COMM_WORLD, 1, &next), from = group_of(MPI_COMM_WORLD, 1, &before);
    for (int i = 1; i <= rounds; i++) {
        MPI(MPI_Win_post(from, i % 3 ? 0 : MPI_MODE_NOSTORE, w.win));
        MPI(MPI_Win_start(to, 0, w.win));
        w.of[next][0] = 1000L * i + rank;
        MPI(MPI_Win_complete(w.win));
        finish_exposure(i % 2);
        CHECK_INT(w.of[rank][0], 1000L * i + before);
    }
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
}

/* All ranks are origins and targets of all, themselves included. */
static void all_with_all(int rounds)
{
    MPI_Group all;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int i = 1; i <= rounds; i++) {
        MPI(MPI_Win_post(all, 0, w.win));
        MPI(MPI_Win_start(all, 0, w.win));
        for (int r = 0; r < size; r++)
            w.of[r][rank] = 1000L * i + rank;
        MPI(MPI_Win_complete(w.win));
        finish_exposure(i % 2);
        for (int r = 0; r < size; r++)
            CHECK_INT(w.of[rank][r], 1000L * i + r);
    }
    MPI(MPI_Group_free(&all));
}

static void empty(void)
{
    int flag = 0;
    for (int i = 0; i < 100; i++) {
        MPI(MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win));
        MPI(MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win));
        MPI(MPI_Win_complete(w.win));
        MPI(MPI_Win_wait(w.win));
        MPI(MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win));
        MPI(MPI_Win_test(w.win, &flag));
        CHECK_INT(flag, 1);
    }
}

/* The others are origins of rank 0. It posts when all have said that they are about to start. */
static void start_before_post(void)
{
    int zero = 0, others[WINDOW_RANKS];
    for (int r = 1; r < size; r++)
        others[r - 1] = r;
    MPI_Group targets = group_of(MPI_COMM_WORLD, 1, &zero), origins = group_of(MPI_COMM_WORLD, size - 1, others);
    for (int i = 1; i <= 20; i++) {
        if (rank == 0) {
            for (int r = 1; r < size; r++)
                MPI(MPI_Recv(NULL, 0, MPI_INT, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            usleep(1000);
            w.of[0][size] = i;
            MPI(MPI_Win_post(origins, 0, w.win));
            MPI(MPI_Win_wait(w.win));
            for (int r = 1; r < size; r++)
                CHECK_INT(w.of[0][r], i + r);
        } else {
            MPI(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
            MPI(MPI_Win_start(targets, 0, w.win));
            CHECK_INT(w.of[0][size], i);
            w.of[0][rank] = i + rank;
            MPI(MPI_Win_complete(w.win));
        }
    }
    /* MPI_MODE_NOCHECK: the post has been made, and the origins know */
    for (int i = 1; i <= 20; i++) {
        if (rank == 0)
            MPI(MPI_Win_post(origins, MPI_MODE_NOCHECK, w.win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            MPI(MPI_Win_wait(w.win));
        } else {
            MPI(MPI_Win_start(targets, MPI_MODE_NOCHECK, w.win));
            w.of[0][rank] = -i;
            MPI(MPI_Win_complete(w.win));
        }
        if (rank == 0)
            for (int r = 1; r < size; r++)
                CHECK_INT(w.of[0][r], -i);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    MPI(MPI_Group_free(&targets));
    MPI(MPI_Group_free(&origins));
}

/* The target waits for an origin that waits for a message of the target. A test in between finds nothing and changes nothing. */
static void with_messages(void)
{
    int zero = 0, one = 1, flag = 1;
    char *data = malloc(BYTES);
    MPI_Group target = group_of(MPI_COMM_WORLD, 1, &zero), origin = group_of(MPI_COMM_WORLD, 1, &one);
    for (int i = 0; i < 3; i++) {
        MPI_Request request;
        fill(data, BYTES, i);
        if (rank == 0) {
            MPI(MPI_Win_post(origin, 0, w.win));
            for (int t = 0; t < 100; t++) {
                MPI(MPI_Win_test(w.win, &flag));
                CHECK_INT(flag, 0);
            }
            MPI(MPI_Issend(data, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &request));
            if (i % 2)
                while (!flag)
                    MPI(MPI_Win_test(w.win, &flag));
            else
                MPI(MPI_Win_wait(w.win));
            CHECK_INT(w.of[0][1], 77 + i);
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            MPI(MPI_Win_start(target, 0, w.win));
            memset(data, 0, BYTES);
            MPI(MPI_Recv(data, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(data, BYTES, i);
            w.of[0][1] = 77 + i;
            MPI(MPI_Win_complete(w.win));
        }
    }
    free(data);
    MPI(MPI_Group_free(&target));
    MPI(MPI_Group_free(&origin));
}

/* The origin waits, in MPI_Win_start or MPI_Win_complete, for a target that waits for a message of the origin; so do all but the last
 * rank in MPI_Win_free. Requests of a send that is received meanwhile, and of a receive that is sent to. */
static void origin_with_messages(void)
{
    int zero = 0, one = 1;
    char *data = malloc(BYTES), *other = malloc(BYTES);
    MPI_Group target = group_of(MPI_COMM_WORLD, 1, &zero), origin = group_of(MPI_COMM_WORLD, 1, &one);
    struct window ended;
    make_window(&ended, MPI_COMM_WORLD, 1);
    for (int i = 0; i < 4; i++) {
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int origin_rank = i < 3 ? 1 : 0, target_rank = i < 3 ? 0 : size - 1;
        fill(data, BYTES, i);
        if (rank == origin_rank) {
            memset(other, 0, BYTES);
            MPI(MPI_Irecv(other, BYTES, MPI_CHAR, target_rank, 50 + i, MPI_COMM_WORLD, &requests[0]));
            if (i % 2)
                MPI(MPI_Isend(data, BYTES, MPI_CHAR, target_rank, i, MPI_COMM_WORLD, &requests[1]));
            else
                MPI(MPI_Issend(data, BYTES, MPI_CHAR, target_rank, i, MPI_COMM_WORLD, &requests[1]));
            if (i < 3) {
                MPI(MPI_Win_start(target, 0, w.win));
                MPI(MPI_Win_complete(w.win));
            } else
                MPI(MPI_Win_free(&ended.win));
            MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            CHECK_PATTERN(other, BYTES, i);
        } else if (rank == target_rank) {
            MPI(MPI_Recv(other, BYTES, MPI_CHAR, origin_rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_PATTERN(other, BYTES, i);
            MPI(MPI_Ssend(data, BYTES, MPI_CHAR, origin_rank, 50 + i, MPI_COMM_WORLD));
            if (i < 3) {
                MPI(MPI_Win_post(origin, 0, w.win));
                MPI(MPI_Win_wait(w.win));
            } else
                MPI(MPI_Win_free(&ended.win));
        } else if (i == 3)
            MPI(MPI_Win_free(&ended.win));
    }
    free(data), free(other);
    MPI(MPI_Group_free(&target));
    MPI(MPI_Group_free(&origin));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    start(&argc, &argv);
    if (slow())
        rounds = 50;
    make_window(&w, MPI_COMM_WORLD, size + 1);
    ring(rounds);
    all_with_all(rounds / 10 + 1);
    empty();
    start_before_post();
    if (size > 1) {
        with_messages();
        origin_with_messages();
    }
    ring(10);
    MPI(MPI_Win_free(&w.win));
    return finish();
}
