/* Kill tests of MPI_Comm_spawn and what follows it: a rank of the parents or of the children is killed at a random point of a random
 * sequence of MPI_Comm_spawn, MPI_Intercomm_merge, MPI_Comm_accept and MPI_Comm_connect, and MPI_Comm_disconnect, with
 * MPI_ERRORS_RETURN. No call hangs, no error comes before the death, and those of the dead one's job get an error. For mpiexec with
 * -disable-auto-cleanup.
 *
 * args: seed, and what shall not be drawn: step=merge kill=timer then=leave; `trace` prints each call. Failures begin with a word: HANG,
 * WRONG (data), EARLY (an error before the death), MISSED (a success that needs the dead). The last survivor prints the sums. */
#define _GNU_SOURCE
#include "steps.h"
#include <dlfcn.h>
#include <sys/socket.h>

/* The parents accept, or the children. */
enum step { SPAWN, EXCHANGE, MERGE, ACCEPT, CONNECT, PART, STEPS };
static const char *const step_names[] = {"spawn", "exchange", "merge", "accept", "connect", "part"};
/* In front of a call, behind one, after some microseconds, in the n-th transfer over a socket. */
enum end { IN_FRONT, BEHIND_CALL, LATER, IN_TRANSFER, ENDS };
static const char *const end_names[] = {"before", "behind", "timer", "transfer"};

enum { BYTES = 100000 };

/* What the processes of both jobs know of each other. */
struct family {
    struct board board;
    int begun;
    /* Parents first, then children. */
    int has_left[2 * MOST_RANKS];
    int is_open[MOST_STEPS];
    char port[MOST_STEPS][MPI_MAX_PORT_NAME];
};
static struct family *all;
static char board_name[200];
static int is_child, parents, children, me;
static MPI_Comm comm = MPI_COMM_NULL, family = MPI_COMM_NULL;
static int transfers_until_death;

#define DOES(call) (enter(#call), leave((call), ""))
/* Of a call that the other side may leave waiting until its time limit, whose error is late only after that. */
#define MEETS(call) (enter(#call), leave(is_over(call), ""))

static int is_over(int code)
{
    entered = nanoseconds();
    return code;
}

/* The library's calls are bound to these. */
#define TRANSFER(result, name, parameters, ...) \
    result name parameters \
    { \
        static result (*real) parameters; \
        if (transfers_until_death && __atomic_sub_fetch(&transfers_until_death, 1, __ATOMIC_RELAXED) == 0) \
            die(); \
        if (!real) \
            real = (result (*) parameters) dlsym(RTLD_NEXT, #name); \
        return real(__VA_ARGS__); \
    }
TRANSFER(ssize_t, send, (int socket, const void *bytes, size_t count, int flags), socket, bytes, count, flags)
TRANSFER(ssize_t, recv, (int socket, void *bytes, size_t count, int flags), socket, bytes, count, flags)
TRANSFER(int, connect, (int socket, const struct sockaddr *address, socklen_t length), socket, address, length)
TRANSFER(int, accept4, (int socket, struct sockaddr *address, socklen_t *length, int flags), socket, address, length, flags)

static void draw_plan(uint64_t seed)
{
    uint64_t random = seed * 1000003;
    children = 1 + below(&random, 4);
    plan.victim = below(&random, parents + children);
    plan.death = wanted_death >= 0 ? wanted_death : below(&random, ENDS);
    /* Only the roots have a connection. */
    if (plan.death == IN_TRANSFER)
        plan.victim = below(&random, 2) ? 0 : parents;
    plan.manner = wanted_manner >= 0 ? (enum manner) wanted_manner : below(&random, 4) ? GO_ON : LEAVE;
    plan.events = 1 + below(&random, 1 << below(&random, 5));
    plan.microseconds = (1 << below(&random, 18)) + below(&random, 1 << 10);
    plan.steps = 2 + below(&random, 4);
    plan.deadly = below(&random, plan.steps);
    for (int i = 0; i < plan.steps; i++)
        plan.step_of[i] = i == 0 ? SPAWN : i == plan.steps - 1 ? PART : wanted_step >= 0 ? wanted_step : 1 + below(&random, PART - 1);
}

static void arm(void)
{
    if (plan.death == IN_FRONT)
        die();
    else if (plan.death == LATER)
        die_in(plan.microseconds);
    else if (plan.death == BEHIND_CALL)
        calls_until_death = 1 + plan.events % 6;
    else
        transfers_until_death = plan.events;
}

static void map_family(int file)
{
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
    if (all == MAP_FAILED)
        check_failed(__FILE__, __LINE__, "%s: %s", board_name, strerror(errno));
    board = &all->board;
    /* A child that comes when all others have ended: one of them has died. */
    if (file < 0)
        board->died_at[0] = nanoseconds(), board->ended = 0, all->begun = 1;
    if (__atomic_load_n(&board->ended, __ATOMIC_SEQ_CST))
        fprintf(stderr, "killed: another one begins\n");
    __atomic_fetch_add(&all->begun, 1, __ATOMIC_SEQ_CST);
}

static void start_parent(int *argc, char ***argv)
{
    start(argc, argv);
    return_errors();
    parents = size;
    me = rank;
    snprintf(board_name, sizeof board_name, "%s/killed-XXXXXX", folder());
    int file = rank == 0 ? mkstemp(board_name) : -1;
    if (rank == 0 && (file < 0 || ftruncate(file, sizeof *all)))
        check_failed(__FILE__, __LINE__, "%s: %s", board_name, strerror(errno));
    MPI(MPI_Bcast(board_name, sizeof board_name, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank != 0)
        file = open(board_name, O_RDWR);
    map_family(file);
    close(file);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Barrier(comm));
}

static void start_child(char **argv)
{
    const char *number = getenv("PMI_RANK");
    is_child = 1;
    watchdog(argv[0]);
    parents = atoi(argv[3]);
    me = parents + (number ? atoi(number) : 0);
    snprintf(board_name, sizeof board_name, "%s", argv[4]);
    int file = open(board_name, O_RDWR);
    map_family(file);
    if (file >= 0)
        close(file);
}

static void spawn(char **argv)
{
    char number[12];
    char *words[] = {argv[1], "child", number, board_name, NULL, NULL, NULL, NULL, NULL};
    MPI_Info info;
    snprintf(number, sizeof number, "%d", parents);
    for (int i = 3, at = 4; argv[i] && at < 8; i++)
        words[at++] = argv[i];
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return"));
    DOES(MPI_Comm_spawn(argv[0], words, children, info, 0, comm, &family, MPI_ERRCODES_IGNORE));
    MPI(MPI_Info_free(&info));
}

static void meet_parents(int *argc, char ***argv)
{
    if (!DOES(MPI_Init(argc, argv)))
        return;
    check_ranks();
    return_errors();
    MPI(MPI_Comm_get_parent(&family));
    CHECK(family != MPI_COMM_NULL);
    MPI(MPI_Comm_set_errhandler(family, MPI_ERRORS_RETURN));
    DOES(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
}

/* With those at the other side of an intercommunicator. */
static void exchange(MPI_Comm others)
{
    static char out[BYTES], in[BYTES];
    int one = 1, sum = 0, count = 0;
    MPI(MPI_Comm_remote_size(others, &count));
    if (DOES(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others)) && sum != count)
        check_failed(__FILE__, __LINE__, "WRONG: %s: a sum of %d", doing, sum);
    if (rank >= count)
        return;
    memset(out, 'a' + rank + is_child, sizeof out);
    if (DOES(MPI_Sendrecv(out, BYTES, MPI_CHAR, rank, 1, in, BYTES, MPI_CHAR, rank, 1, others, MPI_STATUS_IGNORE)) &&
        (in[0] != 'a' + rank + !is_child || in[BYTES - 1] != in[0]))
        check_failed(__FILE__, __LINE__, "WRONG: %s: the data that came", doing);
}

static void merge(void)
{
    MPI_Comm merged;
    int one = 1, sum = 0;
    if (!DOES(MPI_Intercomm_merge(family, is_child, &merged)))
        return;
    if (DOES(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged)) && sum != parents + children)
        check_failed(__FILE__, __LINE__, "WRONG: %s: a sum of %d", doing, sum);
    DOES(MPI_Comm_free(&merged));
}

/* Waits until the other side's root has opened its port. It may not come to that any more. */
static void take_port(char *port)
{
    int their_root = is_child ? 0 : parents;
    restart_watchdog();
    snprintf(doing, sizeof doing, "outside of MPI, until a port is open");
    while (!__atomic_load_n(&all->is_open[now_step], __ATOMIC_SEQ_CST)) {
        if (all->has_left[their_root] || (board->died_at[0] && plan.victim == their_root))
            return;
        usleep(300);
    }
    strcpy(port, all->port[now_step]);
}

static void meet_at_port(int accepts)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm met = MPI_COMM_NULL;
    MPI_Info info;
    /* Nobody comes to a port if the other side has found the death before. */
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "timeout", "5"));
    if (rank == 0 && accepts && DOES(MPI_Open_port(MPI_INFO_NULL, port))) {
        strcpy(all->port[now_step], port);
        __atomic_store_n(&all->is_open[now_step], 1, __ATOMIC_SEQ_CST);
    } else if (rank == 0)
        take_port(port);
    int good = accepts ? MEETS(MPI_Comm_accept(port, info, 0, comm, &met)) : MEETS(MPI_Comm_connect(port, info, 0, comm, &met));
    MPI(MPI_Info_free(&info));
    if (good) {
        exchange(met);
        DOES(MPI_Comm_disconnect(&met));
    }
    if (rank == 0 && accepts)
        DOES(MPI_Close_port(port));
}

/* Whether this rank can make further steps. */
static int run_step(int *argc, char ***argv)
{
    switch ((enum step) plan.step_of[now_step]) {
        case SPAWN: is_child ? meet_parents(argc, argv) : spawn(*argv); break;
        case EXCHANGE: exchange(family); break;
        case MERGE: merge(); break;
        case ACCEPT: meet_at_port(!is_child); break;
        case CONNECT: meet_at_port(is_child); break;
        default: DOES(MPI_Comm_disconnect(&family));
    }
    return comm != MPI_COMM_NULL && family != MPI_COMM_NULL && !(plan.manner == LEAVE && errors);
}

/* The calls behind the last step; those of the dead one's job have an error by then. */
static void end_calls(void)
{
    int initialized = 0;
    MPI(MPI_Initialized(&initialized));
    if (!initialized || (plan.manner == LEAVE && errors))
        return;
    for (int i = 0; i < 2 && comm != MPI_COMM_NULL && is_child == (plan.victim >= parents); i++)
        if (DOES(MPI_Barrier(comm)))
            check_failed(__FILE__, __LINE__, "MISSED: %s", doing);
    DOES(MPI_Finalize());
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    names_of_steps = step_names;
    names_of_deaths = end_names;
    for (int i = 2; i < argc; i++)
        read_argument(argv[i], STEPS, ENDS);
    argc > 4 && !strcmp(argv[2], "child") ? start_child(argv) : start_parent(&argc, &argv);
    signal(SIGALRM, hangs);
    draw_plan((uint64_t) seed);
    is_victim = me == plan.victim;
    for (now_step = 0; now_step < plan.steps; now_step++) {
        if (is_victim && now_step == plan.deadly)
            arm();
        if (!run_step(&argc, &argv))
            break;
    }
    if (is_victim)
        die();
    now_step = plan.steps;
    restart_watchdog();
    snprintf(doing, sizeof doing, "outside of MPI, until the victim dies");
    while (!board->died_at[0])
        usleep(300);
    end_calls();
    __atomic_store_n(&all->has_left[me], 1, __ATOMIC_SEQ_CST);
    if (end_survivor(seed, 1, __atomic_load_n(&all->begun, __ATOMIC_SEQ_CST) - 1))
        unlink(board_name);
    _exit(check_failures ? 95 : 0);
}
