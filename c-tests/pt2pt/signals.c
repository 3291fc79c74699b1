/* The program has signal handlers that interrupt it thousands of times, with and without restart of system calls: spins, sleeps and
 * large copies of the library go on. */
#include "check.h"
#include <time.h>

static volatile sig_atomic_t fired;

static void handler(int number)
{
    (void) number;
    fired++;
}

int main(int argc, char **argv)
{
    static unsigned char out[400000], in[400000];
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int restart = 0; restart < 2; restart++) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = restart ? SA_RESTART : 0};
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
        struct itimerspec every = {{0, 300000}, {0, 300000}}, never = {{0, 0}, {0, 0}};
        timer_t timer;
        CHECK_INT(sigaction(SIGUSR2, &action, NULL), 0);
        CHECK_INT(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
        CHECK_INT(timer_settime(timer, 0, &every, NULL), 0);
        for (int i = 0; i < 60; i++) {
            MPI_Status status;
            int bytes = i % 3 == 0 ? 8 : i % 3 == 1 ? 9000 : 400000;
            fill(out, bytes, rank + i);
            if (i % 10 == 9 && rank == 0)
                usleep(5000); /* the others are asleep by then */
            MPI(MPI_Sendrecv(out, bytes, MPI_BYTE, to, i, in, bytes, MPI_BYTE, from, i, MPI_COMM_WORLD, &status));
            CHECK_STATUS(status, from, i, bytes);
            CHECK_PATTERN(in, bytes, from + i);
            if (i % 5 == 0)
                MPI(MPI_Barrier(MPI_COMM_WORLD));
        }
        while (fired < 10)
            ;
        timer_settime(timer, 0, &never, NULL);
        timer_delete(timer);
    }
    signal(SIGUSR2, SIG_IGN);
    return finish();
}
