/* Types that are freed while requests use them, or other types were made of them, work on; the memory of many freed ones is used
 * again.
 */
#include "churn.h"

enum { COUNT = 50, AROUND = 500 };

int main(int argc, char **argv)
{
    double out[3 * COUNT], in[2 * COUNT];
    MPI_Request requests[2], persistent;
    start(&argc, &argv);
    int types = slow() ? 2000 : 20000;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 3 * COUNT; i++)
        out[i] = rank * 1000 + i;
    for (int i = 0; i < 2 * COUNT; i++)
        in[i] = -1;

    /* a receive that is pending, and a persistent send that is not started, while their types are gone */
    MPI_Datatype sent = vector(COUNT, 3), received = vector(COUNT, 2);
    MPI(MPI_Irecv(in, 1, received, before, 1, MPI_COMM_WORLD, &requests[0]));
    MPI(MPI_Send_init(out, 1, sent, next, 1, MPI_COMM_WORLD, &persistent));
    MPI(MPI_Type_free(&sent));
    MPI(MPI_Type_free(&received));
    churn(AROUND);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Start(&persistent));
    churn(AROUND);
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++) {
        CHECK(in[2 * i] == before * 1000 + 3 * i);
        CHECK(i == COUNT - 1 || in[2 * i + 1] == -1);
    }
    MPI(MPI_Request_free(&persistent));

    /* what a type was made of */
    MPI_Datatype inner, outer, found;
    MPI(MPI_Type_vector(7, 1, 2, MPI_INT, &inner));
    MPI(MPI_Type_contiguous(3, inner, &outer));
    MPI(MPI_Type_free(&inner));
    churn(AROUND);
    int number, bytes;
    MPI_Aint no_address;
    MPI(MPI_Type_get_contents(outer, 1, 0, 1, &number, &no_address, &found));
    CHECK_INT(number, 3);
    MPI(MPI_Type_size(found, &bytes));
    CHECK_INT(bytes, 28);
    MPI(MPI_Type_free(&found));
    MPI(MPI_Type_free(&outer));

    /* memory: what a thousand types need, not what all of them would */
    churn(1000);
    long bytes_before = resident_bytes();
    churn(types);
    if (!slow())
        CHECK(resident_bytes() - bytes_before < (long) types * 100);
    return finish();
}
