/* Kill tests: a rank is killed at a random point of a random sequence of collective operations, with MPI_ERRORS_RETURN. Every other rank
 * that shares a communicator with it gets an error, no call hangs, what a call returns as successful is right, and ranks that share none
 * with it get no error. Further rounds go on with the living. For mpiexec with -disable-auto-cleanup.
 *
 * args: seed, rounds (each costs a rank), and what shall not be drawn: op=allreduce form=blocking kill=timer comm=base then=stay
 * type=holes bytes=4096; `trace` prints each call. Failures begin with a word: HANG, WRONG (data), EARLY (an error before the death),
 * MISSED (a success that needs the dead), OUTSIDE (an error where the dead is no member), TEXT. LATE is no failure, for the machine may
 * have been busy: an error later than 2 s after the death or the call. The last survivor prints the sums. */
#define _GNU_SOURCE
#include "calls.h"

static struct plan plan;
static struct call calls[MOST_UNDER_WAY];
/* Of `calls`, by age. */
static int under_way[MOST_UNDER_WAY], count_under_way;
static MPI_Comm comm, ring;
/* This rank is to die; the dead is a member of `comm`. */
static int is_victim, is_member, errors, traces;

static void hangs(int signal_number)
{
    char text[500];
    uint64_t died = board ? board->died_at[round_now] : 0;
    int length = snprintf(text, sizeof text, "[rank %d] HANG: round %d (%s, %s, %s): %s; %.1f s after the death, %d errors before\n", rank,
                          round_now, place_names[plan.place], manner_names[plan.manner], death_names[plan.death], doing,
                          died ? (double) (nanoseconds() - died) / 1e9 : -1.0, errors);
    ssize_t written = write(2, text, (size_t) length);
    (void) written;
    (void) signal_number;
    _exit(97);
}

static void enter(const struct call *call, const char *what)
{
    snprintf(doing, sizeof doing, "step %d of %d, %s %s (%s) of %s, count %d, root %d, reduction %s%s, window %d, the death in step %d",
             (int) (call->step - plan.step_of), plan.steps, form_names[call->step->form], kind_names[call->step->kind], what,
             type_names[call->step->type], call->step->count, call->step->root, reduction_names[call->step->reduction],
             call->in_place ? ", in place" : "", plan.window, plan.step);
    begin_call(traces);
}

/* An error is expected from now on, and has come in time. */
static void note_error(int code)
{
    uint64_t now = nanoseconds(), died = board->died_at[round_now];
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI(MPI_Error_string(code, text, &length));
    if (traces)
        fprintf(stderr, "[rank %d] %.6f %s\n", rank, (double) now / 1e9, text);
    if (!is_member)
        check_failed(__FILE__, __LINE__, "OUTSIDE: %s: %s", doing, text);
    /* The kernel tells others of the page. */
    else if (!died && plan.death != PAGE)
        check_failed(__FILE__, __LINE__, "EARLY: %s: %s", doing, text);
    /* Later ones may name what is left over of the operations before. */
    else if (!errors && !strstr(text, "has ended") && plan.death != PAGE)
        check_failed(__FILE__, __LINE__, "TEXT: %s: %s", doing, text);
    if (errors++ == 0)
        __atomic_fetch_add(&board->errors, 1, __ATOMIC_RELAXED);
    note_time();
}

static void looked_at(struct call *call, int code)
{
    if (code == MPI_SUCCESS)
        verify(call);
    else
        note_error(code);
}

static void ended(struct call *call, int code)
{
    looked_at(call, code);
    if (is_victim && call->step == &plan.step_of[plan.step] && plan.death != TIMER)
        die();
}

static int wait_for(struct call *call)
{
    int code = MPI_SUCCESS, done = call->step->wait != TEST;
    enter(call, done ? "MPI_Wait" : "MPI_Test");
    if (done)
        return MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    for (; !done && code == MPI_SUCCESS; usleep(1))
        code = MPI_Test(&call->request, &done, MPI_STATUS_IGNORE);
    return code;
}

/* Starts a persistent request as often as its step says, also after an error, for others may have had none; and frees it. */
static int restart(struct call *call, int code)
{
    int slot = (int) (call - calls);
    MPI_Request request = call->request;
    for (int i = 1; i < call->step->starts; i++) {
        looked_at(call, code);
        prepare(call, call->step, call->comm, slot);
        call->request = request;
        enter(call, "MPI_Start");
        code = MPI_Start(&call->request);
        if (code == MPI_SUCCESS)
            code = wait_for(call);
    }
    MPI(MPI_Request_free(&call->request));
    return code;
}

static void complete(struct call *call, int code)
{
    if (call->step->form == PERSISTENT)
        code = restart(call, code);
    if (call->request != MPI_REQUEST_NULL)
        check_failed(__FILE__, __LINE__, "TEXT: the request is not null after its end: %s", doing);
    ended(call, code);
}

static void complete_all(void)
{
    MPI_Request requests[MOST_UNDER_WAY];
    MPI_Status statuses[MOST_UNDER_WAY];
    int count = count_under_way;
    for (int i = 0; i < count; i++) {
        requests[i] = calls[under_way[i]].request;
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    count_under_way = 0;
    enter(&calls[under_way[0]], "MPI_Waitall");
    int code = MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++) {
        struct call *call = &calls[under_way[i]];
        int own = code == MPI_SUCCESS ? MPI_SUCCESS : check_class_of(code) == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code;
        call->request = requests[i];
        complete(call, own == MPI_ERR_PENDING ? wait_for(call) : own);
    }
}

static void complete_oldest(void)
{
    struct call *call = &calls[under_way[0]];
    if (call->step->wait == WAITALL) {
        complete_all();
        return;
    }
    memmove(under_way, under_way + 1, (size_t) --count_under_way * sizeof *under_way);
    complete(call, wait_for(call));
}

/* Prepares the death. */
static void arm(struct call *call)
{
    uint64_t random = call->step->seed;
    int takes = call->in_bytes && (!call->out_bytes || below(&random, 2));
    deadly_call = 0;
    if (plan.death == BEFORE)
        die();
    else if (plan.death == TIMER)
        die_in(plan.microseconds);
    else if (plan.death == PAGE)
        die_at_page(takes ? call->in : call->out, takes ? call->in_bytes : call->out_bytes, &random);
    else if (plan.death == FUNCTION)
        deadly_call = function_calls + plan.events;
    else if (plan.death != BEHIND)
        die_in_system(plan.death, plan.events);
}

static int is_in_use(int slot)
{
    for (int i = 0; i < count_under_way; i++)
        if (under_way[i] == slot)
            return 1;
    return 0;
}

static void run_step(int number)
{
    const struct step *step = &plan.step_of[number];
    int slot = number % MOST_UNDER_WAY, is_deadly = is_victim && number == plan.step;
    struct call *call = &calls[slot];
    while (is_in_use(slot))
        complete_oldest();
    prepare(call, step, is_of_neighbors(step->kind) ? ring : comm, slot);
    if (is_deadly)
        arm(call);
    enter(call, "its call");
    int code = issue(call), is_made = code == MPI_SUCCESS;
    if (step->form == PERSISTENT && is_made)
        code = MPI_Start(&call->request);
    if (is_deadly && plan.death == BEHIND)
        die();
    if (step->form == BLOCKING || !is_made || code != MPI_SUCCESS) {
        step->form == PERSISTENT && is_made ? complete(call, code) : ended(call, code);
        return;
    }
    under_way[count_under_way++] = slot;
    if (count_under_way >= plan.window)
        complete_oldest();
}

static MPI_Comm base_of_living(void)
{
    MPI_Group all, some;
    MPI_Comm base;
    if (plan.count == size)
        return MPI_COMM_WORLD;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_incl(all, plan.count, plan.living, &some));
    snprintf(doing, sizeof doing, "MPI_Comm_create_group of the living");
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, some, round_now, &base));
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&some));
    return base;
}

static void make_communicators(void)
{
    int me, victim, ranks, one = 1;
    MPI_Comm base = base_of_living();
    for (me = 0; plan.living[me] != rank; me++)
        ;
    for (victim = 0; plan.living[victim] != plan.victim; victim++)
        ;
    is_victim = me == victim;
    is_member = plan.place != HALVES || me % 2 == victim % 2;
    comm = base;
    if (plan.place == DUPLICATE)
        MPI(MPI_Comm_dup(base, &comm));
    else if (plan.place == REVERSED)
        MPI(MPI_Comm_split(base, 0, -me, &comm));
    else if (plan.place == HALVES)
        MPI(MPI_Comm_split(base, me % 2, me, &comm));
    MPI(MPI_Comm_size(comm, &ranks));
    MPI(MPI_Cart_create(comm, 1, &ranks, &one, 0, &ring));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    for (int i = 0; i < plan.steps; i++)
        plan.step_of[i].root %= ranks;
}

/* What needs all is an error now, where the dead is a member. */
static void last_barriers(void)
{
    int ranks;
    MPI(MPI_Comm_size(comm, &ranks));
    for (int i = 0; i < 2; i++) {
        snprintf(doing, sizeof doing, "barrier %d at the end", i);
        restart_watchdog();
        entered = nanoseconds();
        int code = MPI_Barrier(comm);
        if (code != MPI_SUCCESS)
            note_error(code);
        else if (is_member && ranks > 1)
            check_failed(__FILE__, __LINE__, "MISSED: %s succeeded", doing);
    }
}

static void run_round(int is_last)
{
    int more = plan.manner == STAY ? 3 : plan.manner == LEAVE && is_last ? 1 : MOST_STEPS;
    errors = count_under_way = 0;
    restart_watchdog();
    make_communicators();
    wait_for_others(&board->ready[round_now], plan.count);
    for (int i = 0; i < plan.steps && more > 0; i++) {
        run_step(i);
        more -= errors > 0;
    }
    int leaves = plan.manner == LEAVE && is_last && !is_victim && errors > 0;
    if (!leaves) {
        while (count_under_way)
            complete_oldest();
        if (is_victim)
            die();
        last_barriers();
    }
    if (leaves)
        __atomic_fetch_add(&board->through[round_now], 1, __ATOMIC_SEQ_CST);
    else
        wait_for_others(&board->through[round_now], plan.count - 1);
}

int main(int argc, char **argv)
{
    int plain[2] = {1, 1}, plain_count = 0, living[MOST_RANKS];
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "trace"))
            traces = 1;
        else if (!read_wish(argv[i]) && plain_count < 2)
            plain[plain_count++] = atoi(argv[i]);
    int rounds = plain[1];
    start(&argc, &argv);
    signal(SIGALRM, hangs);
    if (rounds > size - 1)
        rounds = size - 1;
    share_board();
    make_types();
    make_buffers();
    for (int i = 0; i < size; i++)
        living[i] = i;
    for (round_now = 0; round_now < rounds; round_now++) {
        int count = size - round_now;
        plan = draw_plan((uint64_t) plain[0], round_now, living, count);
        run_round(round_now == rounds - 1);
        for (int i = 0, to = 0; i < count; i++)
            if (plan.living[i] != plan.victim)
                living[to++] = plan.living[i];
    }
    end_survivor(plain[0], rounds, size - rounds);
    _exit(check_failures ? 95 : 0);
}
