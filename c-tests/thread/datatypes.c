/* A type that one thread frees while another is in a call with it stays for that call; the memory of freed types is used again, also
 * while another thread stays in one call all the time.
 */
#include "churn.h"
#include "threads.h"

enum { COUNT = 40, AROUND = 300, ROUNDS = 20 };

static MPI_Datatype shared[ROUNDS];

/* One thread receives with a type; the other frees it when it knows, by a message, that the call is in progress. */
static void *receive_or_free(void *number)
{
    int me = (int) (intptr_t) number, token = 0;
    double data[COUNT], in[2 * COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            data[i] = 1000 * round + i;
        for (int i = 0; i < 2 * COUNT; i++)
            in[i] = -1;
        if (me == 0) {
            shared[round] = vector(COUNT, 2);
            MPI(MPI_Sendrecv(&token, 1, MPI_INT, rank, 1, in, 1, shared[round], rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < COUNT; i++)
                CHECK(in[2 * i] == 1000 * round + i && in[2 * i + 1] == -1);
        } else {
            MPI(MPI_Recv(&token, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Type_free(&shared[round]));
            churn(AROUND);
            MPI(MPI_Send(data, COUNT, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD));
        }
    }
    return NULL;
}

/* One thread is in one call, the others make and free types. */
static void *wait_or_churn(void *number)
{
    int me = (int) (intptr_t) number, value = 0;
    if (me == 0) {
        MPI(MPI_Recv(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return NULL;
    }
    churn(1000);
    long before = resident_bytes();
    int types = slow() ? 1000 : 30000;
    churn(types);
    if (me == 1) {
        if (!slow()) /* two types each, of several hundred bytes */
            CHECK(resident_bytes() - before < (long) types * 200);
        MPI(MPI_Send(&value, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    run_threads(2, receive_or_free);
    run_threads(3, wait_or_churn);
    return finish();
}
