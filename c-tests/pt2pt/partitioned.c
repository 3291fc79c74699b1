/* Partitioned communication: numbers of partitions that differ on both sides, types with holes, several rounds, matching in
 * the order of the initialisations, wildcards of others that must not match, MPI_PROC_NULL, large partitions. */
#include "check.h"

static MPI_Request send, receive;

static int value_of(int round, int at) { return round * 1000003 + at * 7 + 1; }

/* So many elements in all, of one int or of a vector type, in so many partitions here and there. */
static void exchange(int total, int out, int in, MPI_Datatype out_type, MPI_Datatype in_type, int backwards)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag;
    MPI_Aint low, out_extent, in_extent;
    int out_size, in_size;
    MPI_Status status;
    MPI(MPI_Type_get_extent(out_type, &low, &out_extent));
    MPI(MPI_Type_get_extent(in_type, &low, &in_extent));
    MPI(MPI_Type_size(out_type, &out_size));
    MPI(MPI_Type_size(in_type, &in_size));
    int out_ints = out_size / (int) sizeof(int), in_ints = in_size / (int) sizeof(int);
    int out_elements = total / out_ints, in_elements = total / in_ints;
    int out_stride = (int) (out_extent / (MPI_Aint) sizeof(int)) / out_ints, in_stride = (int) (in_extent / (MPI_Aint) sizeof(int)) / in_ints;
    int *source = calloc((size_t) total * 4 + 16, sizeof(int)), *target = calloc((size_t) total * 4 + 16, sizeof(int));
    MPI(MPI_Psend_init(source, out, out_elements / out, out_type, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    MPI(MPI_Precv_init(target, in, in_elements / in, in_type, before, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < total; i++) {
            source[i * out_stride] = value_of(round, i);
            target[i * in_stride] = -1;
        }
        MPI(MPI_Start(&receive));
        MPI(MPI_Start(&send));
        if (backwards)
            for (int i = out - 1; i >= 0; i--)
                MPI(MPI_Pready(i, send));
        else if (round == 0)
            MPI(MPI_Pready_range(0, out - 1, send));
        else {
            int *list = malloc((size_t) out * sizeof(int));
            for (int i = 0; i < out; i++)
                list[i] = (i + 1) % out;
            MPI(MPI_Pready_list(out, list, send));
            free(list);
        }
        for (int i = in - 1; i >= 0; i--) {
            do
                MPI(MPI_Parrived(receive, i, &flag));
            while (!flag);
            for (int k = i * (total / in); k < (i + 1) * (total / in); k++)
                if (target[k * in_stride] != value_of(round, k)) {
                    CHECK_INT(target[k * in_stride], value_of(round, k));
                    break;
                }
        }
        MPI(MPI_Wait(&receive, &status));
        CHECK_STATUS(status, before, 5, (MPI_Aint) (total * sizeof(int)));
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
        MPI(MPI_Parrived(receive, 0, &flag)); /* inactive */
        CHECK_INT(flag, 1);
    }
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));
    CHECK(send == MPI_REQUEST_NULL);
    free(source);
    free(target);
}

/* Two pairs of one tag: the first sender meets the first receiver. A wildcard receive meets none of it. */
static void order(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, out[2] = {1, 2}, in[2] = {0, 0}, plain = 0, flag;
    MPI_Request sends[2], receives[2], wild;
    MPI_Status status;
    MPI(MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wild));
    for (int i = 0; i < 2; i++)
        MPI(MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    for (int i = 0; i < 2; i++)
        MPI(MPI_Precv_init(&in[i], 1, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
    MPI(MPI_Startall(2, receives));
    MPI(MPI_Parrived(receives[1], 0, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Startall(2, sends));
    MPI(MPI_Pready(0, sends[1]));
    MPI(MPI_Wait(&sends[1], MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&receives[1], MPI_STATUS_IGNORE));
    CHECK_INT(in[1], 2);
    CHECK_INT(in[0], 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Pready(0, sends[0]));
    MPI(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    MPI(MPI_Waitall(2, receives, MPI_STATUSES_IGNORE));
    CHECK_INT(in[0], 1);
    MPI(MPI_Test(&wild, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
    CHECK_INT(flag, 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Send(&rank, 1, MPI_INT, next, 9, MPI_COMM_WORLD));
    MPI(MPI_Wait(&wild, &status));
    CHECK_STATUS(status, before, 9, (MPI_Aint) sizeof(int));
    for (int i = 0; i < 2; i++) {
        MPI(MPI_Request_free(&sends[i]));
        MPI(MPI_Request_free(&receives[i]));
    }
}

static void nobody(void)
{
    int value = 4, flag;
    MPI_Status status;
    MPI(MPI_Psend_init(&value, 2, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    MPI(MPI_Precv_init(&value, 2, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 2; round++) {
        MPI(MPI_Start(&send));
        MPI(MPI_Start(&receive));
        MPI(MPI_Pready(0, send));
        MPI(MPI_Pready(1, send));
        MPI(MPI_Parrived(receive, 1, &flag));
        CHECK_INT(flag, 1);
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
        MPI(MPI_Wait(&receive, &status));
        CHECK_INT(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    MPI(MPI_Request_free(&send));
    MPI(MPI_Request_free(&receive));
    if (!reference) { /* MPICH 4.0.2 has an error for it */
        MPI(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
        CHECK_INT(flag, 1);
    }
}

/* Nothing at all, with partitions and without. */
static void empty(void)
{
    for (int partitions = 0; partitions < 3; partitions += 2) {
        MPI(MPI_Psend_init(NULL, partitions, 0, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
        MPI(MPI_Precv_init(NULL, partitions, 0, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
        MPI(MPI_Start(&send));
        MPI(MPI_Start(&receive));
        for (int i = 0; i < partitions; i++)
            MPI(MPI_Pready(i, send));
        MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
        MPI(MPI_Request_free(&send));
        MPI(MPI_Request_free(&receive));
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype vector, pairs;
    start(&argc, &argv);
    MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
    MPI(MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &pairs));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Type_commit(&pairs));
    exchange(24, 4, 4, MPI_INT, MPI_INT, 0);
    exchange(24, 4, 4, MPI_INT, MPI_INT, 1);
    exchange(24, 6, 4, MPI_INT, MPI_INT, 1);
    exchange(24, 1, 24, MPI_INT, MPI_INT, 0);
    exchange(24, 24, 1, MPI_INT, MPI_INT, 1);
    exchange(24, 4, 3, pairs, MPI_INT, 1);
    exchange(24, 4, 3, MPI_INT, pairs, 1);
    exchange(24, 24, 3, MPI_INT, pairs, 1);
    exchange(24, 8, 2, MPI_INT, pairs, 0);
    exchange(24, 3, 6, pairs, pairs, 1);
    exchange(3000, 1000, 300, MPI_INT, MPI_INT, 1);
    exchange(slow() ? 60000 : 600000, 5, 3, MPI_INT, MPI_INT, 1);
    exchange(slow() ? 60000 : 600000, 3, 5, MPI_INT, pairs, 0);
    order();
    nobody();
    if (!reference)
        empty();
    MPI(MPI_Type_free(&pairs));
    return finish();
}
