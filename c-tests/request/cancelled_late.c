/* Receives that nobody sends to, and a send that nobody receives, are tested in loops, for seconds, while the other ranks are in MPI_Finalize,
 * and cancelled in the end: that is no error. */
#include "check.h"

static double begin;
static int x[3], done, count, index_, indices[2];

static int go_on(void)
{
    return MPI_Wtime() - begin < 0.7;
}

int main(int argc, char **argv)
{
    MPI_Request requests[3];
    MPI_Status statuses[2];
    start(&argc, &argv);
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI(MPI_Irecv(&x[i], 1, MPI_INT, i ? MPI_ANY_SOURCE : size - 1, 9, MPI_COMM_WORLD, &requests[i]));
        MPI(MPI_Issend(&x[2], 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD, &requests[2]));
        for (int how = 0; how < 5; how++)
            for (begin = MPI_Wtime(); go_on();) {
                if (how == 0)
                    MPI(MPI_Test(&requests[0], &done, &statuses[0]));
                else if (how == 1)
                    MPI(MPI_Testall(2, requests, &done, statuses));
                else if (how == 2)
                    MPI(MPI_Testany(2, requests, &index_, &done, &statuses[0]));
                else if (how == 3)
                    MPI(MPI_Testsome(2, requests, &done, indices, statuses));
                else
                    MPI(MPI_Test(&requests[2], &done, &statuses[0]));
                CHECK_INT(done, 0);
            }
        for (int i = 0; i < 3; i++) {
            MPI(MPI_Cancel(&requests[i]));
            MPI(MPI_Wait(&requests[i], &statuses[0]));
            MPI(MPI_Test_cancelled(&statuses[0], &count));
            CHECK_INT(count, 1);
        }
    }
    return finish();
}
