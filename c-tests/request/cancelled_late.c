/* A receive that nobody sends to is tested in loops, for seconds, while the other ranks are in MPI_Finalize, and cancelled in the end: that is
 * no error. */
#include "check.h"

static double begin;
static int x[2], done, count, index_, indices[2];

static int go_on(void)
{
    return MPI_Wtime() - begin < 0.7;
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    start(&argc, &argv);
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI(MPI_Irecv(&x[i], 1, MPI_INT, i ? MPI_ANY_SOURCE : size - 1, 9, MPI_COMM_WORLD, &requests[i]));
        for (int how = 0; how < 4; how++)
            for (begin = MPI_Wtime(); go_on();) {
                if (how == 0)
                    MPI(MPI_Test(&requests[0], &done, &statuses[0]));
                else if (how == 1)
                    MPI(MPI_Testall(2, requests, &done, statuses));
                else if (how == 2)
                    MPI(MPI_Testany(2, requests, &index_, &done, &statuses[0]));
                else
                    MPI(MPI_Testsome(2, requests, &done, indices, statuses));
                CHECK_INT(done, 0);
            }
        for (int i = 0; i < 2; i++) {
            MPI(MPI_Cancel(&requests[i]));
            MPI(MPI_Wait(&requests[i], &statuses[i]));
            MPI(MPI_Test_cancelled(&statuses[i], &count));
            CHECK_INT(count, 1);
        }
    }
    return finish();
}
