/* Round after round some ranks are killed by a timer while all agree and shrink. What every call has told is the same for all that are left, and
 * these go on with the communicator that they have made. Arguments: the seed. */
#include "agreeing.h"
#include <signal.h>
#include <time.h>

enum { CALLS = 40 };

static uint64_t random_state;

static int below(int limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int) ((random_state >> 33) % (uint64_t) limit);
}

static void die_in(int microseconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_nsec = 1000L * microseconds + 1}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &when, NULL))
        kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    start(&argc, &argv);
    int ranks = size;
    random_state = (uint64_t) atoi(argv[1]) * 1000003u + (uint64_t) size;
    return_errors();
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    /* Nobody dies while others need it for that. In the barrier itself they may miss it: what it has sent may die with it. */
    MPI_Barrier(MPI_COMM_WORLD);
    while (ranks > 1) {
        int victims = 1 + below(ranks - 1), left = ranks - victims, me, spread = 1 + below(400), lag = below(3);
        MPI(MPI_Comm_rank(comm, &me));
        MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        /* The victims are those of some ranks, one after the other. */
        int first = below(ranks);
        int is_victim = (me - first + ranks) % ranks < victims;
        if (is_victim)
            die_in(lag == 0 ? 0 : below(spread) * (me + 1));
        unsigned told = 0;
        int forms = below(4);
        for (int i = 0; i < CALLS; i++) {
            int flag = ~(1 << (me + i) % 31);
            int code = agree(comm, &flag, forms == 3 ? i % 2 : forms == 2);
            if (code != MPI_SUCCESS)
                CHECK_INT(check_class_of(code), MPIX_ERR_PROC_FAILED);
            told = told * 31 + (unsigned) flag + (unsigned) check_class_of(code);
        }
        /* Until nobody is there who is yet to die. */
        int now = ranks;
        while (now > left) {
            MPI_Comm new = shrink(comm, forms % 2);
            int ends[2] = {(int) told, (int) ~told}, good;
            MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
            good = MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MIN, new) == MPI_SUCCESS;
            if (good)
                CHECK(ends[0] == (int) told && ends[1] == (int) ~told);
            agree(new, &good, 0);
            MPI(MPI_Comm_size(new, &now));
            CHECK(now >= left && now <= ranks);
            MPI(MPI_Comm_free(&comm));
            comm = new;
        }
        ranks = now;
    }
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}
