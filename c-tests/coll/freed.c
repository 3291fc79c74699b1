/* What a nonblocking or persistent operation needs may be freed as soon as it has begun or was made: communicator, type, operation. A
 * function of the program's can ask about the type that it is called with even then. */
#include "check.h"

enum { COUNT = 1000, STRIDE = 3, BIG = 100000 };

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint low, extent;
    int bytes;
    MPI(MPI_Type_get_extent(*type, &low, &extent));
    MPI(MPI_Type_size(*type, &bytes));
    CHECK_INT(bytes, 4);
    CHECK(extent == 4 || extent == 4 * STRIDE);
    for (int i = 0; i < *count; i++)
        *(int *) ((char *) inout + i * extent) += *(int *) ((char *) in + i * extent);
}

static MPI_Datatype with_holes(void)
{
    MPI_Datatype type;
    MPI(MPI_Type_create_resized(MPI_INT, 0, 4 * STRIDE, &type));
    MPI(MPI_Type_commit(&type));
    return type;
}

static void begin(int *in, int *out, int round)
{
    for (int i = 0; i < COUNT * STRIDE; i++) {
        in[i] = rank + i + round;
        out[i] = -1;
    }
}

static void sums(const int *out, int round)
{
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(out[STRIDE * i], size * (size - 1) / 2 + size * (STRIDE * i + round));
        CHECK_INT(out[STRIDE * i + 1], -1);
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[4];
    MPI_Comm comm;
    MPI_Op op;
    static int in[COUNT * STRIDE], out[COUNT * STRIDE], big[BIG];
    start(&argc, &argv);
    for (int round = 0; round < 5; round++) {
        MPI_Datatype type = with_holes();
        int word = rank == size - 1 ? 77 : 0, one = rank + 1, up_to = 0;
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Op_create(add, 1, &op));
        begin(in, out, round);
        for (int i = 0; i < BIG; i++)
            big[i] = rank == 0 ? i + round : -1;
        MPI(MPI_Iallreduce(in, out, COUNT, type, op, comm, &requests[0]));
        MPI(MPI_Ibcast(&word, 1, MPI_INT, size - 1, comm, &requests[1]));
        MPI(MPI_Iscan(&one, &up_to, 1, MPI_INT, op, comm, &requests[2]));
        MPI(MPI_Ibcast(big, BIG, MPI_INT, 0, comm, &requests[3]));
        MPI(MPI_Type_free(&type));
        MPI(MPI_Op_free(&op));
        MPI(MPI_Comm_free(&comm));
        MPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        sums(out, round);
        CHECK_INT(word, 77);
        CHECK_INT(up_to, (rank + 1) * (rank + 2) / 2);
        for (int i = 0; i < BIG; i++)
            CHECK_INT(big[i], i + round);
    }
    if (!reference) { /* MPICH 4.0.2 has no persistent ones */
        MPI_Datatype type = with_holes();
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI(MPI_Op_create(add, 1, &op));
        MPI(MPI_Allreduce_init(in, out, COUNT, type, op, comm, MPI_INFO_NULL, &requests[0]));
        MPI(MPI_Type_free(&type));
        MPI(MPI_Op_free(&op));
        MPI(MPI_Comm_free(&comm));
        for (int round = 0; round < 5; round++) {
            begin(in, out, round);
            MPI(MPI_Start(&requests[0]));
            MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            sums(out, round);
        }
        MPI(MPI_Request_free(&requests[0]));
    }
    return finish();
}
