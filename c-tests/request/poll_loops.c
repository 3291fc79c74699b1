/* args: steps. Rings of messages, each waited for in a loop of polls: Test, Testall, Testany, Testsome, Request_get_status, Iprobe,
 * Improbe. Where ranks share cores a poll in vain must let the others run: a step that lasts a time slice of the system or more
 * reaches the watchdog long before the end. */
#include "check.h"

enum { WAYS = 7 };

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 1000;
    start(&argc, &argv);
    if (slow())
        steps = 10;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < steps; i++) {
            MPI_Request send, receive = MPI_REQUEST_NULL;
            MPI_Message message;
            int in = -1, flag = 0, index, count = 0;
            MPI(MPI_Isend(&i, 1, MPI_INT, to, way, MPI_COMM_WORLD, &send));
            if (way < 5)
                MPI(MPI_Irecv(&in, 1, MPI_INT, from, way, MPI_COMM_WORLD, &receive));
            while (!flag) {
                switch (way) {
                case 0:
                    MPI(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
                    break;
                case 1:
                    MPI(MPI_Testall(1, &receive, &flag, MPI_STATUSES_IGNORE));
                    break;
                case 2:
                    MPI(MPI_Testany(1, &receive, &index, &flag, MPI_STATUS_IGNORE));
                    break;
                case 3:
                    MPI(MPI_Testsome(1, &receive, &count, &index, MPI_STATUSES_IGNORE));
                    flag = count;
                    break;
                case 4:
                    MPI(MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE));
                    if (flag)
                        MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
                    break;
                case 5:
                    MPI(MPI_Iprobe(from, way, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                    if (flag)
                        MPI(MPI_Recv(&in, 1, MPI_INT, from, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                    break;
                case 6:
                    MPI(MPI_Improbe(from, way, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
                    if (flag)
                        MPI(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
                    break;
                }
            }
            MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
            CHECK_INT(in, i);
        }
    return finish();
}
