/* Figure 1 of "Issues in developing a thread-safe MPI implementation" (Gropp and Thakur, 2006) in all orders: on each of two ranks one
 * thread receives and the other sends; which of them comes first differs on both, also with sends that wait for their receive.
 *
 *     recv_send ROUNDS    less than zero: so many seconds */
#include "threads.h"
#include <sched.h>

enum { LONG = 100000 };
static int first, kind; /* 0: the receiver, 1: the sender, 2: both at one time */
static _Atomic int begun;
static char in[LONG], out[LONG];

/* Nothing says that the other thread is inside its call: it has had the time to be, most often. */
static void wait_for_the_other(void)
{
    while (!begun)
        sched_yield();
    for (int i = 0; i < 20; i++)
        sched_yield();
}

static void *receive_or_send(void *number)
{
    int me = (int) (intptr_t) number, other = 1 - rank, bytes = kind == 2 ? LONG : 1;
    if (first != 2 && first != me)
        wait_for_the_other();
    begun = 1;
    if (me == 0) {
        MPI_Status status;
        MPI(MPI_Recv(in, bytes, MPI_CHAR, other, 5, MPI_COMM_WORLD, &status));
        CHECK_STATUS(status, other, 5, bytes);
        CHECK(in[0] == (char) (other + kind) && in[bytes - 1] == in[0]);
    } else if (kind == 1) {
        MPI(MPI_Ssend(out, bytes, MPI_CHAR, other, 5, MPI_COMM_WORLD));
    } else {
        MPI(MPI_Send(out, bytes, MPI_CHAR, other, 5, MPI_COMM_WORLD));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    int rounds = slow() ? 1 : argc > 1 ? atoi(argv[1]) : 10;
    for (int round = 0; !is_over(MPI_COMM_WORLD, round, rounds); round++)
        for (int order = 0; order < 27; order++) {
            first = rank == 0 ? order % 3 : order / 3 % 3;
            kind = order / 9;
            begun = 0;
            memset(out, rank + kind, sizeof out);
            run_threads(2, receive_or_send);
        }
    return finish();
}
