/* Kill tests of windows, files, allocated memory and the making of communicators: a rank is killed at a random point of a random sequence
 * of calls, with MPI_ERRORS_RETURN. Every other rank gets an error in a call that needs all, no call hangs, what a call returns as
 * successful is right. For mpiexec with -disable-auto-cleanup.
 *
 * args: seed, and what shall not be drawn: step=fence kill=timer then=leave; `trace` prints each call. Failures begin with a word: HANG,
 * WRONG (data), EARLY (an error before the death), MISSED (a success that needs the dead), TEXT. The last survivor prints the sums. */
#define _GNU_SOURCE
#include "steps.h"
#include <glob.h>

enum { NUMBERS = 64, BLOCK = 4096 };
/* Behind what is written at the shared pointer; the atomic writes are behind the blocks. */
static const MPI_Offset first_block = 1 << 20, behind_blocks = (1 << 20) + (MPI_Offset) MOST_RANKS * BLOCK;

enum step {
    FENCE, LOCK, LOCK_ALL, POST_START, NEW_WINDOW,
    WRITE_ALL, ORDERED, SHARED, ATOMIC, SPLIT_WRITE, NEW_FILE,
    ALLOCATE, DUPLICATE, SPLIT, AGREE, SHRINK, STEPS
};
static const char *const step_names[] = {"fence", "lock", "lock_all", "post_start", "new_window", "write_all", "ordered", "shared",
                                         "atomic", "split_write", "new_file", "allocate", "duplicate", "split",
                                         "agree", "shrink"};
static int fences;
static uint64_t random_now;
static MPI_Comm comm;
static MPI_Win window = MPI_WIN_NULL;
static int64_t *memory, own_memory[NUMBERS];
static MPI_File file = MPI_FILE_NULL;
static char path[200];

/* Whether the call succeeds. */
#define DOES(call) (enter(#call), leave((call), "ended"))

static int64_t number_of(int giver, int round)
{
    return (int64_t) giver * 1000003 + round;
}

static void fence(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t mine = number_of(rank, ++fences);
    int good = DOES(MPI_Win_fence(0, window));
    good &= DOES(MPI_Put(&mine, 1, MPI_INT64_T, right, 1, 1, MPI_INT64_T, window));
    good &= DOES(MPI_Win_fence(0, window));
    if (good && memory[1] != number_of(left, fences))
        check_failed(__FILE__, __LINE__, "WRONG: %s: %lld", doing, (long long) memory[1]);
}

static void lock(int all)
{
    int target = below(&random_now, size), kind = below(&random_now, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    int64_t one = 1, before = 0, block[NUMBERS - 8] = {0};
    if (!(all ? DOES(MPI_Win_lock_all(0, window)) : DOES(MPI_Win_lock(kind, target, 0, window))))
        return;
    int good = DOES(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM, window));
    good &= DOES(MPI_Accumulate(block, NUMBERS - 8, MPI_INT64_T, target, 8, NUMBERS - 8, MPI_INT64_T, MPI_SUM, window));
    good &= DOES(MPI_Win_flush(target, window));
    if (good && (before < 0 || before > MOST_STEPS * MOST_RANKS))
        check_failed(__FILE__, __LINE__, "WRONG: %s: a count of %lld", doing, (long long) before);
    all ? DOES(MPI_Win_unlock_all(window)) : DOES(MPI_Win_unlock(target, window));
}

static void post_start(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int64_t mine = number_of(rank, ++fences);
    MPI_Group all, to, from;
    MPI(MPI_Comm_group(comm, &all));
    MPI(MPI_Group_incl(all, 1, &right, &to));
    MPI(MPI_Group_incl(all, 1, &left, &from));
    int posted = DOES(MPI_Win_post(from, 0, window));
    if (DOES(MPI_Win_start(to, 0, window))) {
        DOES(MPI_Put(&mine, 1, MPI_INT64_T, right, 2, 1, MPI_INT64_T, window));
        DOES(MPI_Win_complete(window));
    }
    if (posted && DOES(MPI_Win_wait(window)) && memory[2] != number_of(left, fences))
        check_failed(__FILE__, __LINE__, "WRONG: %s: %lld", doing, (long long) memory[2]);
    MPI(MPI_Group_free(&all));
    MPI(MPI_Group_free(&to));
    MPI(MPI_Group_free(&from));
}

/* Each way in which memory is reached. */
static void new_window(void)
{
    MPI_Win made = MPI_WIN_NULL;
    int64_t *base = own_memory;
    MPI_Aint bytes = sizeof own_memory;
    int which = below(&random_now, 2), good;
    if (which == 0)
        good = DOES(MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, comm, &base, &made));
    else
        good = DOES(MPI_Win_create(base, bytes, sizeof *base, MPI_INFO_NULL, comm, &made));
    if (!good)
        return;
    MPI(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    memset(base, 0, (size_t) bytes);
    if (window != MPI_WIN_NULL)
        DOES(MPI_Win_free(&window));
    window = made;
    memory = base;
    DOES(MPI_Barrier(comm));
}

static void new_file(void)
{
    MPI_File made = MPI_FILE_NULL;
    if (!DOES(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &made)))
        return;
    if (file != MPI_FILE_NULL)
        DOES(MPI_File_close(&file));
    file = made;
}

static void write_all(int split)
{
    char out[BLOCK], in[BLOCK];
    MPI_Offset at = first_block + (MPI_Offset) rank * BLOCK;
    memset(out, 'a' + (rank + now_step) % 26, sizeof out);
    int good = split ? DOES(MPI_File_write_at_all_begin(file, at, out, BLOCK, MPI_CHAR)) && DOES(MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE))
                     : DOES(MPI_File_write_at_all(file, at, out, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE));
    if (good && DOES(MPI_File_read_at(file, at, in, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE)) && memcmp(in, out, sizeof in))
        check_failed(__FILE__, __LINE__, "WRONG: %s: the data that was written is not there", doing);
}

static void write_somewhere(enum step step)
{
    char text[16] = "shared or not\n";
    if (step == SHARED) {
        DOES(MPI_File_write_shared(file, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
    } else if (step == ORDERED) {
        DOES(MPI_File_write_ordered(file, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
    } else if (DOES(MPI_File_set_atomicity(file, 1))) {
        DOES(MPI_File_write_at(file, behind_blocks, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE));
        DOES(MPI_File_set_atomicity(file, 0));
    }
}

static void allocate(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Aint bytes = (MPI_Aint) 1 << below(&random_now, 22);
        char *base = NULL;
        if (!DOES(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base)))
            continue;
        base[0] = base[bytes - 1] = 1;
        DOES(MPI_Free_mem(base));
    }
}

static void new_communicator(enum step step)
{
    MPI_Comm made = MPI_COMM_NULL;
    int good = step == SPLIT ? DOES(MPI_Comm_split(comm, rank % 2, 0, &made)) : DOES(MPI_Comm_dup(comm, &made));
    if (good)
        DOES(MPI_Comm_free(&made));
}

#ifdef MPI_ABI_VERSION
/* Which has no extensions. */
#define MPIX_Comm_agree(comm, flag) MPI_SUCCESS
#define MPIX_Comm_shrink MPI_Comm_dup
#endif

/* Whoever lives has taken part. */
static void agree(void)
{
    int flag = ~(1 << rank % 31), all = 0;
    DOES(MPIX_Comm_agree(comm, &flag));
    for (int other = 0; other < size; other++)
        all |= other != plan.victim ? 1 << other % 31 : 0;
#ifndef MPI_ABI_VERSION
    if ((flag & ~(1 << plan.victim % 31)) != (~all & ~(1 << plan.victim % 31)))
        check_failed(__FILE__, __LINE__, "WRONG: %s: the flag is %x", doing, (unsigned) flag);
#endif
}

/* No death makes it fail. */
static void shrink(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int left = 0;
    if (!DOES(MPIX_Comm_shrink(comm, &made))) {
        check_failed(__FILE__, __LINE__, "WRONG: %s has failed", doing);
        return;
    }
    MPI_Comm_size(made, &left);
    if (left < size - 1)
        check_failed(__FILE__, __LINE__, "WRONG: %s: %d are left", doing, left);
    DOES(MPI_Barrier(made));
    DOES(MPI_Comm_free(&made));
}

static void run_step(enum step step)
{
    switch (step) {
        case FENCE: fence(); break;
        case LOCK: case LOCK_ALL: lock(step == LOCK_ALL); break;
        case POST_START: post_start(); break;
        case NEW_WINDOW: new_window(); break;
        case WRITE_ALL: case SPLIT_WRITE: write_all(step == SPLIT_WRITE); break;
        case ORDERED: case SHARED: case ATOMIC: write_somewhere(step); break;
        case NEW_FILE: new_file(); break;
        case ALLOCATE: allocate(); break;
        case AGREE: agree(); break;
        case SHRINK: shrink(); break;
        default: new_communicator(step);
    }
}

static void draw_plan(uint64_t seed)
{
    uint64_t random = seed * 1000003;
    int makes = 0;
    plan.victim = below(&random, size);
    plan.death = below(&random, DEATHS);
    if (plan.death == PAGE || plan.death == FUNCTION)
        plan.death = BEHIND;
    if (wanted_death >= 0)
        plan.death = wanted_death;
    plan.manner = wanted_manner >= 0 ? (enum manner) wanted_manner : below(&random, 4) ? GO_ON : LEAVE;
    plan.events = 1 + below(&random, 1 << below(&random, 6));
    /* The ones before would be errors of the victim's. */
    if (plan.death == COPIES)
        plan.events = 1;
    plan.microseconds = (1 << below(&random, 14)) + below(&random, 50);
    plan.deadly = below(&random, MOST_STEPS - 8);
    plan.steps = plan.deadly + 4 + below(&random, 4);
    for (int i = 0; i < plan.steps; i++) {
        int *step = &plan.step_of[i];
        *step = wanted_step >= 0 && i >= plan.deadly ? wanted_step : below(&random, STEPS);
        /* One rank may have the new window, and the other not: then one waits for a post at the other window, as it should. */
        makes |= *step == NEW_WINDOW;
        if (*step == POST_START && makes)
            *step = FENCE;
        /* Those who have left are waited for, as long as they live. */
        if (plan.manner == LEAVE && (*step == AGREE || *step == SHRINK))
            *step = DUPLICATE;
    }
    random_now = seed * 31 + 7;
}

static void arm(void)
{
    if (plan.death == BEFORE)
        die();
    else if (plan.death == TIMER)
        die_in(plan.microseconds);
    else if (plan.death == BEHIND)
        calls_until_death = 1 + plan.events % 6;
    else
        die_in_system((enum death) plan.death, plan.events);
}

/* Ranks that leave without MPI_File_close leave the small file of the shared file pointer, too. */
static void remove_files(void)
{
    char pattern[400];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/.%s.shfp.*", folder(), strrchr(path, '/') + 1);
    if (plan.manner == LEAVE && glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1;
    names_of_steps = step_names;
    names_of_deaths = death_names;
    for (int i = 2; i < argc; i++)
        read_argument(argv[i], STEPS, DEATHS);
    start(&argc, &argv);
    signal(SIGALRM, hangs);
    share_board();
    draw_plan((uint64_t) seed);
    is_victim = rank == plan.victim;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    snprintf(path, sizeof path, "%s/killed-objects-%d-%d", folder(), seed, (int) getpid());
    MPI(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, comm));
    new_window();
    new_file();
    wait_for_others(&board->ready[0], size);
    for (now_step = 0; now_step < plan.steps && !(plan.manner == LEAVE && errors); now_step++) {
        if (is_victim && now_step == plan.deadly)
            arm();
        run_step((enum step) plan.step_of[now_step]);
    }
    if (is_victim)
        die();
    if (plan.manner == LEAVE && errors) {
        __atomic_fetch_add(&board->through[0], 1, __ATOMIC_SEQ_CST);
    } else {
        for (int i = 0; i < 2; i++)
            if (DOES(MPI_Barrier(comm)))
                check_failed(__FILE__, __LINE__, "MISSED: %s", doing);
        /* They end, whatever they say. */
        DOES(MPI_Win_free(&window));
        DOES(MPI_File_close(&file));
        wait_for_others(&board->through[0], size - 1);
    }
    remove_files();
    end_survivor(seed, 1, size - 1);
    _exit(check_failures ? 95 : 0);
}
