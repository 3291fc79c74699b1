/* A server with one persistent receive for each client, served by Testsome, Waitsome or Waitany, restarted after each answer. */
#include "check.h"

enum { QUESTIONS = 60 };

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int how = 0; how < 3; how++) {
        if (rank == 0) {
            MPI_Request *requests = malloc(size * sizeof *requests);
            MPI_Status *statuses = malloc(size * sizeof *statuses);
            int (*questions)[2] = malloc(size * sizeof *questions), *indices = malloc(size * sizeof *indices);
            for (int client = 1; client < size; client++)
                MPI(MPI_Recv_init(questions[client], 2, MPI_INT, client, 1, MPI_COMM_WORLD, &requests[client - 1]));
            MPI(MPI_Startall(size - 1, requests));
            for (int left = (size - 1) * QUESTIONS; left > 0;) {
                int count = 1;
                if (how == 0)
                    MPI(MPI_Testsome(size - 1, requests, &count, indices, statuses));
                else if (how == 1)
                    MPI(MPI_Waitsome(size - 1, requests, &count, indices, statuses));
                else
                    MPI(MPI_Waitany(size - 1, requests, indices, statuses));
                CHECK(count != MPI_UNDEFINED);
                for (int k = 0; k < count; k++) {
                    int client = indices[k] + 1, answer = questions[client][0] * questions[client][1];
                    CHECK_STATUS(statuses[k], client, 1, 8);
                    MPI(MPI_Start(&requests[client - 1]));
                    MPI(MPI_Send(&answer, 1, MPI_INT, client, 2, MPI_COMM_WORLD));
                    left--;
                }
            }
            for (int client = 1; client < size; client++) {
                MPI_Status status;
                int cancelled;
                MPI(MPI_Cancel(&requests[client - 1]));
                MPI(MPI_Wait(&requests[client - 1], &status));
                MPI(MPI_Test_cancelled(&status, &cancelled));
                CHECK_INT(cancelled, 1);
                MPI(MPI_Request_free(&requests[client - 1]));
            }
            free(requests), free(statuses), free(questions), free(indices);
        } else {
            for (int i = 0; i < QUESTIONS; i++) {
                int question[2] = {i, rank}, answer = -1;
                MPI(MPI_Sendrecv(question, 2, MPI_INT, 0, 1, &answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK_INT(answer, i * rank);
            }
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
