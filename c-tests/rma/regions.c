/* Datatypes, and ranges, that go over several pieces of memory attached to a dynamic window. */
#include "near.h"

enum { ints = 6 };

/* Three pieces with gaps between them, and two that are neighbours. */
enum { pieces = 3, stride = 4 * ints };
static int memory[pieces * stride], pair[2 * ints];

struct places {
    MPI_Aint piece[pieces], pair, heap[2];
};

/* Of all elements of the pieces. */
static MPI_Datatype over(const MPI_Aint *at, int count)
{
    int lengths[pieces] = {ints, ints, ints};
    MPI_Datatype type;
    MPI(MPI_Type_create_hindexed(count, lengths, at, MPI_INT, &type));
    MPI(MPI_Type_commit(&type));
    return type;
}

static void count_from(int *values, int count, int first)
{
    for (int i = 0; i < count; i++)
        values[i] = first + i;
}

/* Puts, gets and adds to elements of the right neighbour at absolute addresses. `mine` are those that the left one changes. */
static void operate(MPI_Win win, MPI_Datatype target, int count, int *mine[], int each)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int out[pieces * ints], in[pieces * ints], old[pieces * ints];
    count_from(out, count, 100 * (rank + 1));
    MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    MPI(MPI_Put(out, count, MPI_INT, right, (MPI_Aint) 0, 1, target, win));
    MPI(MPI_Win_flush(right, win));
    memset(in, 0, sizeof in);
    MPI(MPI_Get(in, count, MPI_INT, right, 0, 1, target, win));
    MPI(MPI_Win_flush(right, win));
    CHECK(memcmp(in, out, sizeof(int) * (size_t) count) == 0);
    MPI(MPI_Accumulate(out, count, MPI_INT, right, 0, 1, target, MPI_SUM, win));
    MPI(MPI_Get_accumulate(out, count, MPI_INT, old, count, MPI_INT, right, 0, 1, target, MPI_SUM, win));
    MPI(MPI_Win_unlock(right, win));
    for (int i = 0; i < count; i++)
        CHECK_INT(old[i], 2 * out[i]);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    MPI(MPI_Win_sync(win));
    for (int i = 0; i < count; i++)
        CHECK_INT(mine[i / each][i % each], 3 * (100 * (left + 1) + i));
    MPI(MPI_Win_unlock(rank, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *heap[2];
    struct places here;
    start(&argc, &argv);
    struct places *all = malloc(sizeof here * (size_t) size), *there = all + (rank + 1) % size;
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < pieces; i++) {
        MPI(MPI_Win_attach(win, memory + i * stride, ints * sizeof(int)));
        MPI(MPI_Get_address(memory + i * stride, &here.piece[i]));
    }
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Win_attach(win, pair + i * ints, ints * sizeof(int)));
        MPI(MPI_Alloc_mem(ints * sizeof(int), MPI_INFO_NULL, &heap[i]));
        MPI(MPI_Win_attach(win, heap[i], ints * sizeof(int)));
        MPI(MPI_Get_address(heap[i], &here.heap[i]));
    }
    MPI(MPI_Get_address(pair, &here.pair));
    MPI(MPI_Allgather(&here, sizeof here, MPI_BYTE, all, sizeof here, MPI_BYTE, MPI_COMM_WORLD));

    MPI_Datatype apart = over(there->piece, pieces), shared = over(there->heap, 2), together = over(&there->pair, 1), both;
    operate(win, apart, pieces * ints, (int *[]){memory, memory + stride, memory + 2 * stride}, ints);
    operate(win, shared, 2 * ints, heap, ints);
    /* Without holes, over the border of two regions. */
    MPI(MPI_Type_free(&together));
    MPI(MPI_Type_create_hindexed(1, (int[]){2 * ints}, &there->pair, MPI_INT, &together));
    MPI(MPI_Type_commit(&together));
    operate(win, together, 2 * ints, (int *[]){pair}, 2 * ints);

    if (!reference) {
        int near = share_memory(MPI_COMM_WORLD), out[pieces * ints] = {0}, right = (rank + 1) % size;
        /* An element behind a region, and memory of two kinds: nothing is changed. */
        MPI_Aint behind[2] = {there->piece[0], there->piece[1] + (MPI_Aint) sizeof(int)};
        MPI_Aint kinds[2] = {there->piece[0], there->heap[0]};
        MPI_Datatype outside = over(behind, 2);
        both = over(kinds, 2);
        MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
        CHECK_CLASS(MPI_Put(out, 2 * ints, MPI_INT, right, 0, 1, outside, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Accumulate(out, 2 * ints, MPI_INT, right, 0, 1, outside, MPI_SUM, win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(out, 2 * ints + 1, MPI_INT, right, there->pair, 2 * ints + 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        /* A target on another host looks itself, and has no two kinds. */
        if (size > 1 && near)
            CHECK_CLASS(MPI_Get(out, 2 * ints, MPI_INT, right, 0, 1, both, win), MPI_ERR_RMA_RANGE);
        MPI(MPI_Win_unlock(right, win));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_INT(memory[0], 3 * 100 * ((rank + size - 1) % size + 1));
        MPI(MPI_Type_free(&outside));
        MPI(MPI_Type_free(&both));
    }
    MPI(MPI_Type_free(&apart));
    MPI(MPI_Type_free(&shared));
    MPI(MPI_Type_free(&together));
    MPI(MPI_Win_free(&win));
    for (int i = 0; i < 2; i++)
        MPI(MPI_Free_mem(heap[i]));
    free(all);
    return finish();
}
