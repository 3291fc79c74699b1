/* Wrong arguments of operations on windows: classes, texts, and that the epoch goes on. */
#include "wrong.h"
#include "windows.h"

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in, (void) inout, (void) count, (void) type;
}

static struct window w;

static void one(void)
{
    int a[8] = {0}, b[8] = {0}, c[8] = {0}, right = (rank + 1) % size, past = 64, was = check_failures;
    MPI_Request request;
    MPI_Op user;
    MPI_Datatype mixed, loose, vector;
    MPI_Win win = w.win;
    MPI_Aint at = window_at(&w, right, 0), end = window_at(&w, right, w.bytes);
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Datatype two[] = {MPI_INT, MPI_DOUBLE};
    MPI(MPI_Op_create(nothing, 1, &user));
    MPI(MPI_Type_create_struct(2, lengths, places, two, &mixed));
    MPI(MPI_Type_commit(&mixed));
    MPI(MPI_Type_contiguous(2, MPI_INT, &loose));
    MPI(MPI_Type_vector(2, 1, 5, MPI_INT, &vector));
    MPI(MPI_Type_commit(&vector));

    ERROR(MPI_Put(a, 1, MPI_INT, size, at, 1, MPI_INT, win), MPI_ERR_RANK, "target_rank", number(size));
    ERROR(MPI_Get(a, 1, MPI_INT, -7, at, 1, MPI_INT, win), MPI_ERR_RANK, "target_rank", "-7");
    ERROR(MPI_Accumulate(a, 1, MPI_INT, size, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK, "target_rank", number(size));
    ERROR(MPI_Fetch_and_op(a, b, MPI_INT, size, at, MPI_SUM, win), MPI_ERR_RANK, "target_rank", number(size));
    ERROR(MPI_Compare_and_swap(a, b, c, MPI_INT, -2, at, win), MPI_ERR_RANK, "target_rank", "-2");
    ERROR(MPI_Put(a, -1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_COUNT, "origin_count", "-1");
    ERROR(MPI_Put(a, 1, MPI_INT, right, at, -3, MPI_INT, win), MPI_ERR_COUNT, "target_count", "-3");
    ERROR(MPI_Put_c(a, 1, MPI_INT, right, at, -4, MPI_INT, win), MPI_ERR_COUNT, "target_count", "-4");
    ERROR(MPI_Get_accumulate(a, 1, MPI_INT, b, -5, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT, "result_count", "-5");
    ERROR(MPI_Put(a, 1, MPI_DATATYPE_NULL, right, at, 1, MPI_INT, win), MPI_ERR_TYPE, "origin_datatype", NULL);
    ERROR(MPI_Get(a, 1, MPI_INT, right, at, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE, "target_datatype", NULL);
    ERROR(MPI_Put(a, 1, loose, right, at, 2, MPI_INT, win), MPI_ERR_TYPE, "origin_datatype", "commit");
    ERROR(MPI_Put(a, 2, MPI_INT, right, at, 1, loose, win), MPI_ERR_TYPE, "target_datatype", "commit");
    ERROR(MPI_Put(NULL, 1, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_BUFFER, "origin_addr", NULL);
    ERROR(MPI_Accumulate(NULL, 1, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_BUFFER, "origin_addr", NULL);
    ERROR(MPI_Get_accumulate(a, 1, MPI_INT, NULL, 1, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_BUFFER, "result_addr", NULL);
    ERROR(MPI_Fetch_and_op(NULL, b, MPI_INT, right, at, MPI_SUM, win), MPI_ERR_BUFFER, "origin_addr", NULL);
    ERROR(MPI_Fetch_and_op(a, NULL, MPI_INT, right, at, MPI_SUM, win), MPI_ERR_BUFFER, "result_addr", NULL);
    ERROR(MPI_Compare_and_swap(a, NULL, c, MPI_INT, right, at, win), MPI_ERR_BUFFER, "compare_addr", NULL);
    ERROR(MPI_Rput(a, 1, MPI_INT, right, at, 1, MPI_INT, win, NULL), MPI_ERR_ARG, "request", NULL);

    if (!reference) { /* MPICH looks at displacements only where it checks nothing else, and not at sizes */
        int all = w.kind != DYNAMIC;
        if (all) {
            ERROR(MPI_Put(a, 1, MPI_INT, right, -1, 1, MPI_INT, win), MPI_ERR_DISP, "target_disp", "-1");
            ERROR(MPI_Fetch_and_op(a, b, MPI_INT, right, -8, MPI_SUM, win), MPI_ERR_DISP, "target_disp", "-8");
            ERROR(MPI_Put(a, 1, MPI_INT, right, (MPI_Aint) 1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE, "target_disp",
                  "4611686018427387904");
            ERROR(MPI_Put_c(a, (MPI_Count) 1 << 60, MPI_INT, right, at, (MPI_Count) 1 << 60, MPI_INT, win), MPI_ERR_RMA_RANGE,
                  "target_count", "1152921504606846976");
            ERROR(MPI_Put(a, 1, MPI_INT, right, end - 3 / w.unit, 1, MPI_INT, win), MPI_ERR_RMA_RANGE, "target_disp", number(end - 3));
        }
        ERROR(MPI_Put(a, 1, MPI_INT, right, end, 1, MPI_INT, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Get(a, 2, MPI_INT, right, end - 8, 1, vector, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Get(a, past + 1, MPI_INT, right, end - 4 * past, past + 1, MPI_INT, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Accumulate(a, 2, MPI_INT, right, end - 4, 2, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Fetch_and_op(a, b, MPI_INT, right, end, MPI_SUM, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Compare_and_swap(a, b, c, MPI_INT, right, end, win), MPI_ERR_RMA_RANGE, NULL, NULL);
        ERROR(MPI_Put(a, 2, MPI_INT, right, at, 1, MPI_INT, win), MPI_ERR_TYPE, "target_count", "8 bytes");
        ERROR(MPI_Get(a, 1, MPI_INT, right, at, 2, MPI_INT, win), MPI_ERR_TYPE, "target_count", "8 bytes");
        ERROR(MPI_Get_accumulate(a, 1, MPI_INT, b, 2, MPI_INT, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE, "result", "8 bytes");
        ERROR(MPI_Accumulate(a, 1, MPI_INT, right, at, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE, "origin_datatype", "MPI_FLOAT");
        ERROR(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_UNSIGNED, right, at, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE, "result_datatype",
              "MPI_UNSIGNED");
        ERROR(MPI_Accumulate(a, 1, mixed, right, at, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE, "target_datatype", "MPI_DOUBLE");
        ERROR(MPI_Accumulate(a, 1, mixed, right, at, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE, "target_datatype", "MPI_DOUBLE");
        ERROR(MPI_Fetch_and_op(a, b, vector, right, at, MPI_SUM, win), MPI_ERR_TYPE, "datatype", NULL);
        ERROR(MPI_Accumulate(a, 1, MPI_INT, right, at, 1, MPI_INT, MPI_MAXLOC, win), MPI_ERR_OP, "op", "MPI_MAXLOC");
        ERROR(MPI_Fetch_and_op(a, b, MPI_BYTE, right, at, MPI_SUM, win), MPI_ERR_OP, "op", "MPI_BYTE");
        ERROR(MPI_Compare_and_swap(a, b, c, MPI_DOUBLE, right, at, win), MPI_ERR_TYPE, "datatype", "MPI_DOUBLE");
        ERROR(MPI_Compare_and_swap(a, b, c, MPI_FLOAT_INT, right, at, win), MPI_ERR_TYPE, "datatype", "MPI_FLOAT_INT");
        ERROR(MPI_Compare_and_swap(a, b, c, MPI_CHARACTER, right, at, win), MPI_ERR_TYPE, "datatype", "MPI_CHARACTER");
        ERROR(MPI_Rget(a, 1, MPI_INT, right, end, 1, MPI_INT, win, &request), MPI_ERR_RMA_RANGE, NULL, NULL);
    }
    ERROR(MPI_Accumulate(a, 1, MPI_INT, right, at, 1, MPI_INT, user, win), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Fetch_and_op(a, b, MPI_INT, right, at, user, win), MPI_ERR_OP, "op", NULL);
    ERROR(MPI_Accumulate(a, 1, MPI_INT, right, at, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP, "op", "MPI_NO_OP");
    ERROR(MPI_Raccumulate(a, 1, MPI_INT, right, at, 1, MPI_INT, MPI_NO_OP, win, &request), MPI_ERR_OP, "op", "MPI_NO_OP");
    ERROR(MPI_Accumulate(a, 1, MPI_INT, right, at, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP, "op", "MPI_OP_NULL");
    ERROR(MPI_Accumulate(a, 1, MPI_DOUBLE, right, at, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP, "op", NULL);

    /* nothing was changed, and the epoch goes on */
    int value = 31, back = 0;
    MPI(MPI_Put(&value, 1, MPI_INT, right, at, 1, MPI_INT, win));
    MPI(MPI_Win_flush(right, win));
    MPI(MPI_Get(&back, 1, MPI_INT, right, at, 1, MPI_INT, win));
    MPI(MPI_Win_flush(right, win));
    CHECK_INT(back, 31);
    window_settle(&w);
    for (MPI_Aint i = 4; i < w.bytes; i++)
        CHECK_INT(w.base[i], 0);
    window_settle(&w);
    MPI(MPI_Op_free(&user));
    MPI(MPI_Type_free(&mixed));
    MPI(MPI_Type_free(&loose));
    MPI(MPI_Type_free(&vector));
    if (check_failures != was)
        fprintf(stderr, "[rank %d of %d] in a window of kind \"%s\"\n", rank, size, window_names[w.kind]);
}

/* Products of a displacement and a unit that have no place in 64 bits, and that are too large by one unit. */
static void units(void)
{
    struct window large = window_make(ALLOCATED, 1024, 16);
    int a = 1, b, right = (rank + 1) % size;
    MPI_Aint places[] = {64, (MPI_Aint) 1 << 59, (MPI_Aint) 1 << 60, ((MPI_Aint) 1 << 60) + 1, INT64_MAX};
    MPI(MPI_Win_set_errhandler(large.win, MPI_ERRORS_RETURN));
    for (int i = 0; i < 5; i++) {
        ERROR(MPI_Put(&a, 1, MPI_INT, right, places[i], 1, MPI_INT, large.win), MPI_ERR_RMA_RANGE, "target_disp", number(places[i]));
        ERROR(MPI_Get(&a, 1, MPI_INT, right, places[i], 1, MPI_INT, large.win), MPI_ERR_RMA_RANGE, "target_disp", number(places[i]));
        ERROR(MPI_Accumulate(&a, 1, MPI_INT, right, places[i], 1, MPI_INT, MPI_SUM, large.win), MPI_ERR_RMA_RANGE, "target_disp",
              number(places[i]));
        ERROR(MPI_Fetch_and_op(&a, &b, MPI_INT, right, places[i], MPI_SUM, large.win), MPI_ERR_RMA_RANGE, "target_disp",
              number(places[i]));
        ERROR(MPI_Compare_and_swap(&a, &a, &b, MPI_INT, right, places[i], large.win), MPI_ERR_RMA_RANGE, "target_disp",
              number(places[i]));
    }
    window_settle(&large);
    for (int i = 0; i < 1024; i++)
        CHECK_INT(large.base[i], 0);
    window_settle(&large);
    window_free(&large);
}

/* Operations in epochs that are not theirs: an access epoch to others, one that a fence has ended, and another target's lock. */
static void other_epochs(int kind)
{
    struct window v = window_make(kind, 64, 1);
    int a = 1, b = 0, right = (rank + 1) % size, left = (rank + size - 1) % size, far = (rank + 2) % size;
    MPI_Group all, to, from;
    MPI(MPI_Win_set_errhandler(v.win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_unlock_all(v.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_get_group(v.win, &all));
    MPI(MPI_Group_incl(all, 1, &right, &to));
    MPI(MPI_Group_incl(all, 1, &left, &from));
    /* exposed is not open for access */
    MPI(MPI_Win_post(from, 0, v.win));
    ERROR(MPI_Put(&a, 1, MPI_INT, right, window_at(&v, right, 0), 1, MPI_INT, v.win), MPI_ERR_RMA_SYNC, "rank", NULL);
    MPI(MPI_Win_start(to, 0, v.win));
    if (far != right) {
        ERROR(MPI_Put(&a, 1, MPI_INT, far, window_at(&v, far, 0), 1, MPI_INT, v.win), MPI_ERR_RMA_SYNC, "rank", number(far));
        ERROR(MPI_Get(&a, 1, MPI_INT, far, window_at(&v, far, 0), 1, MPI_INT, v.win), MPI_ERR_RMA_SYNC, "rank", number(far));
        ERROR(MPI_Fetch_and_op(&a, &b, MPI_INT, far, window_at(&v, far, 0), MPI_SUM, v.win), MPI_ERR_RMA_SYNC, "rank", number(far));
    }
    MPI(MPI_Accumulate(&a, 1, MPI_INT, right, window_at(&v, right, 0), 1, MPI_INT, MPI_SUM, v.win));
    MPI(MPI_Win_complete(v.win));
    ERROR(MPI_Put(&a, 1, MPI_INT, right, window_at(&v, right, 0), 1, MPI_INT, v.win), MPI_ERR_RMA_SYNC, "rank", NULL);
    MPI(MPI_Win_wait(v.win));
    CHECK_INT(*(int *) v.base, 1);
    MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, v.win));
    MPI(MPI_Accumulate(&a, 1, MPI_INT, right, window_at(&v, right, 0), 1, MPI_INT, MPI_SUM, v.win));
    MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, v.win));
    CHECK_INT(*(int *) v.base, 2);
    ERROR(MPI_Put(&a, 1, MPI_INT, right, window_at(&v, right, 0), 1, MPI_INT, v.win), MPI_ERR_RMA_SYNC, "rank", NULL);
    ERROR(MPI_Compare_and_swap(&a, &a, &b, MPI_INT, right, window_at(&v, right, 0), v.win), MPI_ERR_RMA_SYNC, "rank", NULL);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, v.win));
    if (far != right)
        ERROR(MPI_Accumulate(&a, 1, MPI_INT, far, window_at(&v, far, 0), 1, MPI_INT, MPI_SUM, v.win), MPI_ERR_RMA_SYNC, "rank", number(far));
    MPI(MPI_Fetch_and_op(&a, &b, MPI_INT, right, window_at(&v, right, 0), MPI_SUM, v.win));
    MPI(MPI_Win_flush(right, v.win));
    CHECK_INT(b, 2);
    MPI(MPI_Win_unlock(right, v.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(*(int *) v.base, 3);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
    MPI(MPI_Win_lock_all(0, v.win));
    window_free(&v);
}

int main(int argc, char **argv)
{
    int a[2] = {0}, b[2], c[2];
    MPI_Win freed;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Put(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Get(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Accumulate(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Fetch_and_op(a, b, MPI_INT, 0, 0, MPI_SUM, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Compare_and_swap(a, b, c, MPI_INT, 0, 0, MPI_WIN_NULL), MPI_ERR_WIN, "win", "MPI_WIN_NULL");
    ERROR(MPI_Put(a, 1, MPI_INT, 0, 0, 1, MPI_INT, (MPI_Win) MPI_COMM_WORLD), MPI_ERR_WIN, "win", NULL);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_make(kind, 1024, 1);
        MPI(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        one();
        /* outside of an epoch */
        MPI(MPI_Win_unlock_all(w.win));
        if (!reference || kind == ALLOCATED) {
            ERROR(MPI_Put(a, 1, MPI_INT, 0, window_at(&w, 0, 0), 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC, "rank 0", NULL);
            ERROR(MPI_Fetch_and_op(a, b, MPI_INT, 0, window_at(&w, 0, 0), MPI_SUM, w.win), MPI_ERR_RMA_SYNC, "rank 0", NULL);
            ERROR(MPI_Accumulate(a, 0, MPI_INT, 0, window_at(&w, 0, 0), 0, MPI_INT, MPI_SUM, w.win), MPI_ERR_RMA_SYNC, "rank 0", NULL);
        }
        MPI(MPI_Win_lock_all(0, w.win));
        freed = w.win;
        window_free(&w);
        ERROR(MPI_Put(a, 1, MPI_INT, 0, 0, 1, MPI_INT, freed), MPI_ERR_WIN, "win", NULL);
        if (!reference)
            other_epochs(kind);
    }
    if (!reference)
        units();
    return finish();
}
