/* Kill tests of recovery: ranks die at random points of a random sequence of messages, collective operations, constructors, agreements and
 * shrinks. The others revoke, shrink and go on with what they get, round after round. No call hangs; a call that succeeds has brought the
 * right data; an error is one that the death or a revocation explains; what is agreed is the same on all that are left.
 *
 * args: seed, rounds, and what shall not be drawn: step=wildcard op=allreduce form=blocking kill=timer then=later victims=1 bytes=4096;
 * `trace` prints each call. `spawned`: half as many processes are spawned, and all are of one communicator. Failures begin with a word, as those of program.c: HANG, WRONG (data), EARLY (an error without a cause), MISSED
 * (who lives is left out, or the dead is not told), TEXT (another error), UNLIKE (results that must be alike are not). The last survivor prints the sums. */
#define _GNU_SOURCE
#include "calls.h"
#include <mpi-ext.h>

enum { STEPS_OF_ROUND = 20, MOST_WAITING = MOST_UNDER_WAY };

enum action {
    COLLECTIVE, NEIGHBOURS, WILDCARD, DUPLICATION, SPLITTING, CREATION, NONBLOCKING_DUPLICATION, AGREEMENT, WHO_FAILED, SHRINKING, ACTIONS
};
static const char *const action_names[] = {
    "collective", "neighbours", "wildcard", "dup", "split", "create_group", "idup", "agree", "agree_failed", "shrink"};

/* What a rank does after its first error of a round: it revokes at once; it makes some further steps before; it only does so when it has to
 * agree, after a time outside of MPI. */
enum reaction { AT_ONCE, LATER, SLOWLY, REACTIONS };
static const char *const reaction_names[] = {"at_once", "later", "slowly"};

static struct {
    int count, victims, steps, window;
    /* A step in which a rank revokes for no reason; -1: none. */
    int revoking_step, revoking_rank;
    enum action action[STEPS_OF_ROUND];
    struct step step[STEPS_OF_ROUND];
    uint64_t seed[STEPS_OF_ROUND];
} now;
/* Of this rank, if it is to die in this round. */
static struct {
    int dies, step, events, microseconds;
    enum death death;
} own;
static int wanted_action = -1, wanted_reaction = -1, wanted_victims = -1, traces, spawns;
/* The communicator of the round, and this rank in it. */
static MPI_Comm comm;
static int me, ranks, victim[MOST_RANKS];
static int number, errors, errors_until_revoke, is_revoked;
static enum reaction reaction;
/* Sum of all that must be alike on those that are left. */
static uint64_t told;
static uint64_t private_random;
static struct call calls[MOST_WAITING];
static int under_way[MOST_WAITING], count_under_way;
/* Communicators of earlier rounds that are yet to be freed. */
static MPI_Comm old[MOST_ROUNDS];
static int count_old;

static void hangs(int signal_number)
{
    char text[500];
    uint64_t died = board ? board->died_at[round_now] : 0;
    int length = snprintf(text, sizeof text, "[rank %d] HANG: round %d, %d of %d, %s: %s; %.1f s after the last death, %d errors before, %d revocations\n",
                          rank, round_now, me, ranks, reaction_names[reaction], doing,
                          died ? (double) (nanoseconds() - died) / 1e9 : -1.0, errors, board ? board->revoked[round_now] : 0);
    ssize_t written = write(2, text, (size_t) length);
    (void) written;
    (void) signal_number;
    _exit(97);
}

static void enter(const char *what)
{
    const struct step *step = &now.step[number < now.steps ? number : 0];
    if (number >= now.steps)
        snprintf(doing, sizeof doing, "the end of %d steps, %s", now.steps, what);
    else if (now.action[number] == COLLECTIVE)
        snprintf(doing, sizeof doing, "step %d of %d, %s %s (%s) of %s, count %d, root %d", number, now.steps, form_names[step->form],
                 kind_names[step->kind], what, type_names[step->type], step->count, step->root);
    else
        snprintf(doing, sizeof doing, "step %d of %d, %s (%s)", number, now.steps, action_names[now.action[number]], what);
    begin_call(traces);
}

static void tell(uint64_t what)
{
    told = (told ^ what) * 0x9E3779B97F4A7C15ull;
    told ^= told >> 31;
}

static void revoke_it(MPI_Comm what)
{
    if (what == comm)
        is_revoked = 1;
    __atomic_fetch_add(&board->revoked[round_now], 1, __ATOMIC_SEQ_CST);
    enter("MPIX_Comm_revoke");
    MPI(MPIX_Comm_revoke(what));
}

/* Whether a call has succeeded; its error must have a cause. */
static int succeeds(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class = check_class_of(code);
    if (code == MPI_SUCCESS)
        return 1;
    MPI(MPI_Error_string(code, text, &length));
    if (traces)
        fprintf(stderr, "[rank %d] %s: %s\n", rank, doing, text);
    int died = board->died_at[round_now] != 0, revoked = __atomic_load_n(&board->revoked[round_now], __ATOMIC_SEQ_CST) > 0;
    if (class == MPIX_ERR_REVOKED) {
        if (!revoked)
            check_failed(__FILE__, __LINE__, "EARLY: %s: %s", doing, text);
    } else if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_PROC_FAILED_PENDING)
        check_failed(__FILE__, __LINE__, "TEXT: %s: %s", doing, text);
    else if (!died)
        check_failed(__FILE__, __LINE__, "EARLY: %s: %s", doing, text);
    if (died)
        note_time();
    return 0;
}

/* After an error in the communicator of the round. */
static void note(int code)
{
    if (succeeds(code))
        return;
    if (errors++ == 0) {
        __atomic_fetch_add(&board->errors, 1, __ATOMIC_RELAXED);
        errors_until_revoke = reaction == AT_ONCE ? 0 : below(&private_random, 4);
    }
    if (!is_revoked && errors_until_revoke-- <= 0 && reaction != SLOWLY)
        revoke_it(comm);
}

/* Of a message: its peer waits, too, and for this rank. */
static void note_message(int code)
{
    note(code);
    if (code != MPI_SUCCESS && !is_revoked)
        revoke_it(comm);
}

static void die_now_and_then(enum death when)
{
    if (own.dies && own.step == number && own.death == when)
        die();
}

/* Ends requests in one of three ways. */
static int wait_for(MPI_Request *request, enum wait how, MPI_Status *status)
{
    int done = how != TEST, code = MPI_SUCCESS;
    enter(done ? "MPI_Wait" : "MPI_Test");
    if (done)
        return MPI_Wait(request, status);
    for (; !done && code == MPI_SUCCESS; usleep(1))
        code = MPI_Test(request, &done, status);
    return code;
}

static void complete_oldest(void)
{
    struct call *call = &calls[under_way[0]];
    memmove(under_way, under_way + 1, (size_t) --count_under_way * sizeof *under_way);
    int code = wait_for(&call->request, call->step->wait, MPI_STATUS_IGNORE);
    if (call->step->form == PERSISTENT)
        MPI(MPI_Request_free(&call->request));
    if (call->request != MPI_REQUEST_NULL)
        check_failed(__FILE__, __LINE__, "TEXT: the request is not null after its end: %s", doing);
    if (code == MPI_SUCCESS)
        verify(call);
    note(code);
}

static void complete_all(void)
{
    while (count_under_way)
        complete_oldest();
}

static int is_in_use(int slot)
{
    for (int i = 0; i < count_under_way; i++)
        if (under_way[i] == slot)
            return 1;
    return 0;
}

static void collective(void)
{
    const struct step *step = &now.step[number];
    int slot = number % MOST_WAITING;
    struct call *call = &calls[slot];
    while (is_in_use(slot))
        complete_oldest();
    prepare(call, step, comm, slot);
    enter("its call");
    int code = issue(call), is_made = code == MPI_SUCCESS;
    if (step->form == PERSISTENT && is_made)
        code = MPI_Start(&call->request);
    if (step->form == BLOCKING || !is_made || code != MPI_SUCCESS) {
        if (step->form == PERSISTENT && is_made)
            MPI(MPI_Request_free(&call->request));
        if (code == MPI_SUCCESS)
            verify(call);
        note(code);
        return;
    }
    die_now_and_then(BEHIND);
    under_way[count_under_way++] = slot;
    if (count_under_way >= now.window)
        complete_oldest();
}

static uint64_t from(int sender)
{
    return now.seed[number] * 31 + (uint64_t) sender;
}

static void check_message(const char *buffer, size_t bytes, int sender)
{
    size_t at = differs(buffer, bytes, from(sender));
    if (at != bytes)
        check_failed(__FILE__, __LINE__, "WRONG: byte %zu of %zu from %d: %s", at, bytes, sender, doing);
}

static void neighbours(void)
{
    uint64_t random = now.seed[number];
    size_t bytes = (size_t) (1 << below(&random, 19));
    int far = 1 + below(&random, ranks), to = (me + far) % ranks, sender = (me + ranks - far % ranks) % ranks;
    char *out = buffers[0][0], *in = buffers[0][1];
    complete_all();
    fill(out, bytes, from(me));
    enter("MPI_Sendrecv");
    int code = MPI_Sendrecv(out, (int) bytes, MPI_BYTE, to, number, in, (int) bytes, MPI_BYTE, sender, number, comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        check_message(in, bytes, sender);
    note_message(code);
}

/* A receive from anybody. What is still wanted when a failure is known: some wait on, for a while. */
static void wildcard(void)
{
    uint64_t random = now.seed[number];
    size_t bytes = (size_t) (1 << below(&random, 17));
    int far = 1 + below(&random, ranks), to = (me + far) % ranks, sender = (me + ranks - far % ranks) % ranks, cancelled = 0;
    char *out = buffers[0][0], *in = buffers[0][1];
    MPI_Request requests[2];
    MPI_Status status;
    complete_all();
    fill(out, bytes, from(me));
    enter("MPI_Irecv");
    int code = MPI_Irecv(in, (int) bytes, MPI_BYTE, MPI_ANY_SOURCE, number, comm, &requests[0]);
    if (code != MPI_SUCCESS) {
        note_message(code);
        return;
    }
    enter("MPI_Isend");
    int sent = MPI_Isend(out, (int) bytes, MPI_BYTE, to, number, comm, &requests[1]);
    if (sent != MPI_SUCCESS)
        note_message(sent);
    die_now_and_then(BEHIND);
    code = wait_for(&requests[0], (enum wait) below(&private_random, 2), &status);
    if (check_class_of(code) == MPIX_ERR_PROC_FAILED_PENDING) {
        int done = 0, tries = below(&private_random, 2) * 30;
        succeeds(code);
        if (requests[0] == MPI_REQUEST_NULL)
            check_failed(__FILE__, __LINE__, "TEXT: the request is null while it is pending: %s", doing);
        if (tries)
            MPI(MPIX_Comm_failure_ack(comm));
        enter("MPI_Test after acknowledging");
        for (code = MPI_SUCCESS; tries-- > 0 && !done && code == MPI_SUCCESS; usleep(1000))
            code = MPI_Test(&requests[0], &done, &status);
        if (requests[0] != MPI_REQUEST_NULL) {
            enter("MPI_Cancel");
            MPI(MPI_Cancel(&requests[0]));
            code = MPI_Wait(&requests[0], &status);
        }
        if (code == MPI_SUCCESS)
            MPI(MPI_Test_cancelled(&status, &cancelled));
        errors += cancelled;
    }
    if (code == MPI_SUCCESS && !cancelled) {
        if (status.MPI_SOURCE != sender)
            check_failed(__FILE__, __LINE__, "WRONG: a message from %d instead of %d: %s", status.MPI_SOURCE, sender, doing);
        check_message(in, bytes, sender);
    }
    note_message(code);
    if (cancelled && !is_revoked)
        revoke_it(comm);
    if (sent == MPI_SUCCESS) {
        note_message(wait_for(&requests[1], (enum wait) below(&private_random, 2), MPI_STATUS_IGNORE));
    }
}

/* In the blocking or the nonblocking form, which need not be alike. */
static int agree(MPI_Comm on, int *flag)
{
    MPI_Request request;
    if (below(&private_random, 2)) {
        enter("MPIX_Comm_agree");
        return MPIX_Comm_agree(on, flag);
    }
    enter("MPIX_Comm_iagree");
    MPI(MPIX_Comm_iagree(on, flag, &request));
    return wait_for(&request, (enum wait) below(&private_random, 2), MPI_STATUS_IGNORE);
}

static MPI_Comm shrink(MPI_Comm of)
{
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Request request;
    if (below(&private_random, 2)) {
        enter("MPIX_Comm_shrink");
        MPI(MPIX_Comm_shrink(of, &new));
    } else {
        enter("MPIX_Comm_ishrink");
        MPI(MPIX_Comm_ishrink(of, &new, &request));
        MPI(wait_for(&request, (enum wait) below(&private_random, 2), MPI_STATUS_IGNORE));
    }
    MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
    return new;
}

/* Before all that waits for ranks which may be in any step: they must not wait for this one. */
static void let_others_come(void)
{
    if (errors && !is_revoked) {
        if (reaction == SLOWLY)
            usleep((useconds_t) below(&private_random, 20000));
        revoke_it(comm);
    }
}

/* Sums of a new communicator, if all have got it. */
static void use_once(MPI_Comm new, int code)
{
    int good = code == MPI_SUCCESS, mine[2], sums[2], one, count;
    note(code);
    let_others_come();
    code = agree(comm, &good);
    tell((uint64_t) check_class_of(code));
    tell((uint64_t) (good != 0));
    if (code != MPI_SUCCESS)
        note(code);
    if (good && code == MPI_SUCCESS) {
        MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
        MPI(MPI_Comm_size(new, &count));
        MPI(MPI_Comm_rank(new, &one));
        mine[0] = one, mine[1] = 1;
        enter("MPI_Allreduce on the new one");
        code = MPI_Allreduce(mine, sums, 2, MPI_INT, MPI_SUM, new);
        if (code == MPI_SUCCESS && (sums[0] != count * (count - 1) / 2 || sums[1] != count))
            check_failed(__FILE__, __LINE__, "WRONG: %d, %d among %d: %s", sums[0], sums[1], count, doing);
        /* Others wait there, too. */
        if (code != MPI_SUCCESS)
            revoke_it(new);
        note(code);
    }
    if (new != MPI_COMM_NULL)
        MPI(MPI_Comm_free(&new));
}

static void construct(void)
{
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Request request;
    int code;
    complete_all();
    enter("the constructor");
    switch (now.action[number]) {
    case DUPLICATION: code = MPI_Comm_dup(comm, &new); break;
    case SPLITTING: code = MPI_Comm_split(comm, me % 2, -me, &new); break;
    case CREATION:
        MPI(MPI_Comm_group(comm, &group));
        code = MPI_Comm_create_group(comm, group, number, &new);
        MPI(MPI_Group_free(&group));
        break;
    default:
        code = MPI_Comm_idup(comm, &new, &request);
        if (code == MPI_SUCCESS) {
            die_now_and_then(BEHIND);
            code = wait_for(&request, (enum wait) below(&private_random, 2), MPI_STATUS_IGNORE);
        }
        /* Undefined after an error. */
        if (code != MPI_SUCCESS)
            new = MPI_COMM_NULL;
    }
    if (code != MPI_SUCCESS && new != MPI_COMM_NULL)
        check_failed(__FILE__, __LINE__, "TEXT: a communicator in spite of the error: %s", doing);
    use_once(new, code);
}

static int flag_of(int member)
{
    return (int) (from(member) * 0x9E3779B97F4A7C15ull >> 33) | 0x11111;
}

static void agreement(void)
{
    int flag = flag_of(me), all = -1, living = -1;
    for (int i = 0; i < ranks; i++) {
        all &= flag_of(i);
        living &= victim[i] ? -1 : flag_of(i);
    }
    if (below(&private_random, 3) == 0)
        MPI(MPIX_Comm_failure_ack(comm));
    let_others_come();
    int code = agree(comm, &flag);
    if ((flag & all) != all || (flag & ~living) != 0)
        check_failed(__FILE__, __LINE__, "WRONG: agreed on %x, of all %x, of the living %x: %s", flag, all, living, doing);
    if (check_class_of(code) == MPIX_ERR_REVOKED)
        check_failed(__FILE__, __LINE__, "TEXT: an agreement is revoked: %s", doing);
    tell((uint64_t) flag);
    tell((uint64_t) check_class_of(code));
    note(code);
}

static void who_failed(void)
{
    MPI_Group failed, group;
    int count, member;
    let_others_come();
    enter("MPIX_Comm_agree_failed");
    int code = MPIX_Comm_agree_failed(comm, &failed);
    tell((uint64_t) check_class_of(code));
    note(code);
    MPI(MPI_Group_size(failed, &count));
    MPI(MPI_Comm_group(comm, &group));
    for (int i = 0; i < count; i++) {
        MPI(MPI_Group_translate_ranks(failed, 1, &i, group, &member));
        tell((uint64_t) member);
        if (member < 0 || !victim[member])
            check_failed(__FILE__, __LINE__, "MISSED: %d lives: %s", member, doing);
    }
    MPI(MPI_Group_free(&group));
    if (failed != MPI_GROUP_EMPTY)
        MPI(MPI_Group_free(&failed));
}

/* Who is in a communicator that shrinking has made: the same on all; nobody that lives is left out. */
static void look_at_members(MPI_Comm new)
{
    MPI_Group group, before;
    int count, last = -1, left_out = now.count - now.victims;
    MPI(MPI_Comm_group(new, &group));
    MPI(MPI_Comm_group(comm, &before));
    MPI(MPI_Group_size(group, &count));
    tell((uint64_t) count);
    for (int i = 0; i < count; i++) {
        int member;
        MPI(MPI_Group_translate_ranks(group, 1, &i, before, &member));
        tell((uint64_t) member);
        if (member <= last)
            check_failed(__FILE__, __LINE__, "WRONG: member %d behind %d: %s", member, last, doing);
        last = member;
        left_out -= member >= 0 && !victim[member];
    }
    if (left_out)
        check_failed(__FILE__, __LINE__, "MISSED: %d that live are left out: %s", left_out, doing);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&before));
}

static void shrinking(void)
{
    complete_all();
    let_others_come();
    MPI_Comm new = shrink(comm);
    look_at_members(new);
    use_once(new, MPI_SUCCESS);
}

static int agrees(enum action action)
{
    return action >= DUPLICATION;
}

static void run_step(void)
{
    enum action action = now.action[number];
    if (now.revoking_step == number && now.revoking_rank == me && !is_revoked) {
        errors++;
        revoke_it(comm);
    }
    if (own.dies && own.step == number && own.death > TIMER && own.death != PAGE && own.death != FUNCTION)
        die_in_system(own.death, own.events);
    die_now_and_then(BEFORE);
    switch (action) {
    case COLLECTIVE: collective(); break;
    case NEIGHBOURS: neighbours(); break;
    case WILDCARD: wildcard(); break;
    case AGREEMENT: agreement(); break;
    case WHO_FAILED: who_failed(); break;
    case SHRINKING: shrinking(); break;
    default: construct();
    }
    die_now_and_then(BEHIND);
}

static void draw_round(uint64_t seed)
{
    uint64_t random = seed * 1000003 + (uint64_t) round_now;
    memset(&now, 0, sizeof now);
    memset(&own, 0, sizeof own);
    now.count = ranks;
    now.victims = below(&random, 5) ? 1 : below(&random, ranks);
    if (wanted_victims >= 0)
        now.victims = wanted_victims;
    if (now.victims > ranks - 1)
        now.victims = ranks - 1;
    memset(victim, 0, sizeof victim);
    now.steps = 2 + below(&random, STEPS_OF_ROUND - 2);
    for (int i = 0; i < now.victims; i++) {
        int chosen = below(&random, ranks);
        while (victim[chosen])
            chosen = (chosen + 1) % ranks;
        victim[chosen] = 1;
        int death = either(wanted.death, below(&random, DEATHS)), step = below(&random, now.steps), bits = below(&random, 6),
            events = 1 + below(&random, 1 << bits);
        bits = below(&random, 15);
        int microseconds = (1 << bits) + below(&random, 50);
        if (death == PAGE || death == FUNCTION)
            death = TIMER;
        if (chosen != me)
            continue;
        own.dies = 1, own.step = step, own.events = events, own.microseconds = microseconds, own.death = (enum death) death;
    }
    now.window = below(&random, 2) ? 1 : MOST_WAITING;
    now.revoking_step = below(&random, 4) == 0 ? below(&random, now.steps) : -1;
    now.revoking_rank = below(&random, ranks);
    for (int i = 0; i < now.steps; i++) {
        int drawn = below(&random, 14);
        now.action[i] = (enum action) either(wanted_action, drawn < ACTIONS ? drawn : COLLECTIVE);
        now.step[i] = draw_step(&random, ranks, TIMER);
        if (is_of_neighbors(now.step[i].kind))
            now.step[i].kind = ALLREDUCE, now.step[i].type = NUMBERS, now.step[i].count %= MOST_BLOCK, now.step[i].reduction = SUM;
        now.step[i].starts = 1;
        now.seed[i] = next_random(&random);
    }
    private_random = (seed + 1) * 7919 + (uint64_t) (round_now * MOST_RANKS + rank) * 104729;
    reaction = (enum reaction) either(wanted_reaction, below(&private_random, REACTIONS));
}

/* Everybody comes here, in the end with a communicator of all that are left. */
static MPI_Comm recover(void)
{
    MPI_Comm new, next;
    int left = now.count - now.victims, count;
    complete_all();
    let_others_come();
    new = shrink(comm);
    for (;;) {
        look_at_members(new);
        MPI(MPI_Comm_size(new, &count));
        uint64_t ends[2] = {told, ~told};
        enter("MPI_Allreduce on the shrunken one");
        int code = MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, new), good = succeeds(code);
        if (good && (ends[0] != told || ends[1] != ~told))
            check_failed(__FILE__, __LINE__, "UNLIKE: %s", doing);
        if (!good && count == left)
            check_failed(__FILE__, __LINE__, "EARLY: an error among those that live: %s", doing);
        if (!good)
            revoke_it(new);
        if (own.dies)
            die();
        succeeds(agree(new, &good));
        if (count == left)
            return new;
        next = shrink(new);
        MPI(MPI_Comm_free(&new));
        new = next;
    }
}

/* The communicator that has been left: revoked here, too, if it was anywhere; the dead are told. */
static void look_back(void)
{
    int count = -1, flag = 0, revoked = __atomic_load_n(&board->revoked[round_now], __ATOMIC_SEQ_CST);
    MPI_Group group;
    enter("MPIX_Comm_get_failed");
    while (count != now.victims) {
        if (count >= 0)
            usleep(300);
        MPI(MPIX_Comm_get_failed(comm, &group));
        MPI(MPI_Group_size(group, &count));
        if (group != MPI_GROUP_EMPTY)
            MPI(MPI_Group_free(&group));
        if (count > now.victims)
            check_failed(__FILE__, __LINE__, "MISSED: %d failed of %d: %s", count, now.victims, doing);
    }
    enter("MPIX_Comm_is_revoked");
    MPI(MPIX_Comm_is_revoked(comm, &flag));
    if (flag && !revoked)
        check_failed(__FILE__, __LINE__, "EARLY: revoked: %s", doing);
    if (is_revoked) {
        CHECK(flag);
        enter("MPI_Send to nobody");
        CHECK_CLASS(MPI_Send(&count, 1, MPI_INT, MPI_PROC_NULL, 0, comm), MPIX_ERR_REVOKED);
    }
}

static void run_round(uint64_t seed)
{
    errors = is_revoked = count_under_way = 0;
    errors_until_revoke = 0;
    told = 1;
    number = 0;
    MPI(MPI_Comm_rank(comm, &me));
    MPI(MPI_Comm_size(comm, &ranks));
    draw_round(seed);
    for (int i = 0; i < now.steps; i++)
        now.step[i].root %= ranks;
    restart_watchdog();
    wait_for_others(&board->ready[round_now], now.count);
    if (own.dies && own.death == TIMER)
        die_in(own.microseconds);
    /* After it has revoked, a rank has no part in what needs the communicator, only in what is agreed on. */
    for (number = 0; number < now.steps; number++)
        if (!is_revoked || agrees(now.action[number]))
            run_step();
    MPI_Comm new = recover();
    look_back();
    old[count_old++] = comm;
    comm = new;
    while (count_old && below(&private_random, 2)) {
        enter("MPI_Comm_free");
        MPI(MPI_Comm_free(&old[--count_old]));
    }
}

static void read_argument(const char *argument)
{
    const char *value = strchr(argument, '=') ? strchr(argument, '=') + 1 : "";
    if (!strcmp(argument, "trace"))
        traces = 1;
    else if (!strcmp(argument, "spawned"))
        spawns = 1;
    else if (!strncmp(argument, "step=", 5))
        wanted_action = find_name(value, action_names, ACTIONS);
    else if (!strncmp(argument, "then=", 5))
        wanted_reaction = find_name(value, reaction_names, REACTIONS);
    else if (!strncmp(argument, "victims=", 8))
        wanted_victims = atoi(value);
    else
        read_wish(argument);
}

/* Half as many processes more, of another job, and all together. */
static MPI_Comm meet_spawned(char **argv)
{
    MPI_Comm family, all;
    MPI(MPI_Comm_get_parent(&family));
    int is_child = family != MPI_COMM_NULL;
    if (!is_child)
        MPI(MPI_Comm_spawn(argv[0], argv + 1, (size + 1) / 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family, MPI_ERRCODES_IGNORE));
    MPI(MPI_Intercomm_merge(family, is_child, &all));
    MPI(MPI_Comm_free(&family));
    MPI(MPI_Comm_rank(all, &rank));
    MPI(MPI_Comm_size(all, &size));
    return all;
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 1, seed = atoi(argv[1]), deaths = 0, world;
    for (int i = 3; i < argc; i++)
        read_argument(argv[i]);
    start(&argc, &argv);
    signal(SIGALRM, hangs);
    MPI_Comm all = spawns ? meet_spawned(argv) : MPI_COMM_WORLD;
    world = size;
    share_board_of(all);
    make_types();
    make_buffers();
    MPI(MPI_Comm_dup(all, &comm));
    if (spawns)
        MPI(MPI_Comm_free(&all));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_size(comm, &ranks));
    for (round_now = 0; round_now < rounds && ranks > 1; round_now++) {
        run_round((uint64_t) seed);
        deaths += now.victims;
        MPI(MPI_Comm_size(comm, &ranks));
    }
    snprintf(doing, sizeof doing, "MPI_Finalize");
    restart_watchdog();
    MPI(MPI_Finalize());
    end_survivor(seed, deaths, world - deaths);
    return check_failures ? 95 : 0;
}
