/* Small operations on private memory may wait at the origin and go to the target together: in their order, before every other operation of this
 * process to that target, and at the end of the epoch or a flush at the latest; results are there behind MPI_Win_flush_local, too. One that cannot be
 * done keeps no other from being done.
 * The program defines what the library calls for copies by the kernel, so that calls can be counted. With `helper` the kernel refuses, and a
 * helper thread of the target's copies; with `shared` memory is shared in place meanwhile, with `edges` as far as its ends. */
#define _GNU_SOURCE
#include "near.h"
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static long reads, calls, pieces;
static int refuses, counts;
static const char *share = "no";

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                         unsigned long flags)
{
    static transfer *next;
    if (!next)
        next = (transfer *) dlsym(RTLD_NEXT, "process_vm_readv");
    if (refuses) {
        errno = EPERM;
        return -1;
    }
    reads++;
    return next(pid, local, locals, remote, remotes, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                          unsigned long flags)
{
    static transfer *next;
    if (!next)
        next = (transfer *) dlsym(RTLD_NEXT, "process_vm_writev");
    if (refuses) {
        errno = EPERM;
        return -1;
    }
    calls++;
    pieces += (long) remotes;
    return next(pid, local, locals, remote, remotes, flags);
}

/* Each rank has as many words at each target as it needs, and knows what they are: nobody else changes them. */
enum { MOST = 8, SLICE = 1000, WORDS = MOST * SLICE };

typedef int64_t word;

static word fixed[WORDS], model[MOST][SLICE];
static uint64_t state = 1;

static uint32_t draw(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t) ((state >> 11) % limit);
}

/* Where each rank's memory begins: an address in a dynamic window, else 0. */
static MPI_Aint begins[MOST];
static int is_dynamic;

static MPI_Aint place(int target, int at)
{
    return begins[target] + 8 * (MPI_Aint) (rank * SLICE + at);
}

/* A window over memory of each rank, with units of 1 byte. */
static MPI_Win over_memory(void *memory, MPI_Aint bytes, const char *how)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Aint begin = 0;
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", how));
    if (is_dynamic) {
        MPI(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
        MPI(MPI_Win_attach(win, memory, bytes));
        MPI(MPI_Get_address(memory, &begin));
    } else
        MPI(MPI_Win_create(memory, bytes, 1, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Allgather(&begin, 1, MPI_AINT, begins, 1, MPI_AINT, MPI_COMM_WORLD));
    return win;
}

static void end_memory(MPI_Win *win, const void *memory)
{
    if (is_dynamic) {
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        MPI(MPI_Win_detach(*win, memory));
    }
    MPI(MPI_Win_free(win));
}

static void put(MPI_Win win, int target, int at, int words, int by_request)
{
    word values[300];
    MPI_Request request;
    for (int i = 0; i < words; i++)
        model[target][at + i] = values[i] = (word) (state + (uint64_t) i);
    if (by_request) {
        MPI(MPI_Rput(values, 8 * words, MPI_BYTE, target, place(target, at), 8 * words, MPI_BYTE, win, &request));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else
        MPI(MPI_Put(values, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, win));
    if (!by_request)
        MPI(MPI_Win_flush_local(target, win));
    memset(values, 0x55, sizeof values);
}

/* Puts to lines of a few words, so that most meet others, or are their neighbours. */
static void puts_in_a_row(MPI_Win win, int target)
{
    int begin = (int) draw(SLICE - 320), number = 1 + (int) draw(40), next = begin;
    for (int i = 0; i < number; i++) {
        int words = 1 + (int) draw(draw(12) ? 4 : 280), at = begin + (int) draw(30);
        word values[300];
        if (draw(2))
            at = next;
        if (at + words > SLICE)
            break;
        for (int k = 0; k < words; k++)
            model[target][at + k] = values[k] = (word) ((uint64_t) draw(1 << 30) << 20 | (uint64_t) k);
        MPI(MPI_Put(values, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, win));
        memset(values, 0x66, sizeof values);
        next = draw(4) ? at + words : at;
    }
}

/* Accumulates to lines of a few words, mostly of one operation, so that many go to the same words, or to a part of those before. */
static void accumulates_in_a_row(MPI_Win win, int target)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_REPLACE};
    int begin = (int) draw(SLICE - 320), number = 1 + (int) draw(30), which = (int) draw(4);
    for (int i = 0; i < number; i++) {
        int words = 1 + (int) draw(draw(12) ? 3 : 280), at = begin + (int) draw(12);
        word values[300];
        if (!draw(9))
            which = (int) draw(4);
        for (int k = 0; k < words; k++) {
            word value = values[k] = (word) ((uint64_t) draw(1 << 30) << 20 | (uint64_t) k), *cell = &model[target][at + k];
            *cell = which == 0 ? *cell + value : which == 1 ? *cell ^ value : which == 3 || value > *cell ? value : *cell;
        }
        MPI(MPI_Accumulate(values, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, ops[which], win));
        memset(values, 0x77, sizeof values);
    }
}

/* Results that are not there yet, and what they are to be. */
enum { RESULTS = 40 };
static struct result {
    word found[4], expected[4];
    int words;
} results[RESULTS];
static int wanted;

/* Operations with results in a row, mostly of one kind: each sees what the ones before it have done. */
static void results_in_a_row(MPI_Win win, int target)
{
    int begin = (int) draw(SLICE - 30), number = 1 + (int) draw(30), kind = (int) draw(6);
    for (int i = 0; i < number && wanted < RESULTS; i++) {
        struct result *it = &results[wanted++];
        if (!draw(9))
            kind = (int) draw(6);
        int words = kind < 2 ? 1 + (int) draw(3) : 1, at = begin + (int) draw(12);
        word *cells = &model[target][at], values[4], compare;
        for (int k = 0; k < words; k++)
            values[k] = (word) draw(1 << 20);
        it->words = words;
        memset(it->found, 0x5a, sizeof it->found);
        memcpy(it->expected, cells, 8 * (size_t) words);
        MPI_Aint there = place(target, at);
        if (kind == 0)
            MPI(MPI_Get(it->found, words, MPI_INT64_T, target, there, words, MPI_INT64_T, win));
        else if (kind == 1) {
            MPI(MPI_Get_accumulate(values, words, MPI_INT64_T, it->found, words, MPI_INT64_T, target, there, words, MPI_INT64_T, MPI_SUM, win));
            for (int k = 0; k < words; k++)
                cells[k] += values[k];
        } else if (kind == 2) {
            MPI(MPI_Fetch_and_op(values, it->found, MPI_INT64_T, target, there, MPI_SUM, win));
            cells[0] += values[0];
        } else if (kind == 3)
            MPI(MPI_Fetch_and_op(NULL, it->found, MPI_INT64_T, target, there, MPI_NO_OP, win));
        else if (kind == 4) {
            MPI(MPI_Fetch_and_op(values, it->found, MPI_INT64_T, target, there, MPI_REPLACE, win));
            cells[0] = values[0];
        } else {
            compare = cells[0] + (draw(3) == 0);
            MPI(MPI_Compare_and_swap(values, &compare, it->found, MPI_INT64_T, target, there, win));
            if (compare == cells[0])
                cells[0] = values[0];
        }
        memset(values, 0x44, sizeof values);
        memset(&compare, 0x44, sizeof compare);
    }
}

static void check_results(void)
{
    for (int i = 0; i < wanted; i++)
        for (int k = 0; k < results[i].words; k++)
            CHECK_INT(results[i].found[k], results[i].expected[k]);
    wanted = 0;
}

/* What follows puts without a flush between them finds them done. */
static void follow(MPI_Win win, int target)
{
    int at = (int) draw(SLICE - 20), words = 1 + (int) draw(20);
    word values[20], old[20], one = (word) draw(1000), compare;
    for (int i = 0; i < words; i++)
        values[i] = (word) draw(1 << 20);
    switch (draw(6)) {
    case 0:
        MPI(MPI_Get(old, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, win));
        MPI(MPI_Win_flush(target, win));
        for (int i = 0; i < words; i++)
            CHECK_INT(old[i], model[target][at + i]);
        break;
    case 1:
        MPI(MPI_Accumulate(values, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, MPI_SUM, win));
        for (int i = 0; i < words; i++)
            model[target][at + i] += values[i];
        break;
    case 2:
        MPI(MPI_Get_accumulate(values, words, MPI_INT64_T, old, words, MPI_INT64_T, target, place(target, at), words, MPI_INT64_T, MPI_BXOR, win));
        MPI(MPI_Win_flush_local(target, win));
        for (int i = 0; i < words; i++) {
            CHECK_INT(old[i], model[target][at + i]);
            model[target][at + i] ^= values[i];
        }
        break;
    case 3:
        MPI(MPI_Fetch_and_op(&one, old, MPI_INT64_T, target, place(target, at), MPI_SUM, win));
        MPI(MPI_Win_flush_local(target, win));
        CHECK_INT(old[0], model[target][at]);
        model[target][at] += one;
        break;
    case 4:
        compare = draw(2) ? model[target][at] : model[target][at] + 1;
        MPI(MPI_Compare_and_swap(&one, &compare, old, MPI_INT64_T, target, place(target, at), win));
        MPI(MPI_Win_flush_local(target, win));
        CHECK_INT(old[0], model[target][at]);
        if (compare == old[0])
            model[target][at] = one;
        break;
    default:
        put(win, target, at, words, (int) draw(2));
    }
}

enum way { LOCK_ALL, LOCK, FENCE, POST, WAYS };

static void begin_epoch(MPI_Win win, enum way way, MPI_Group all)
{
    if (way == LOCK_ALL)
        MPI(MPI_Win_lock_all(0, win));
    else if (way == LOCK)
        for (int r = 0; r < size; r++)
            MPI(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win));
    else if (way == FENCE)
        MPI(MPI_Win_fence(0, win));
    else {
        MPI(MPI_Win_post(all, 0, win));
        MPI(MPI_Win_start(all, 0, win));
    }
}

static void end_epoch(MPI_Win win, enum way way)
{
    if (way == LOCK_ALL)
        MPI(MPI_Win_unlock_all(win));
    else if (way == LOCK)
        for (int r = 0; r < size; r++)
            MPI(MPI_Win_unlock(r, win));
    else if (way == FENCE)
        MPI(MPI_Win_fence(0, win));
    else {
        MPI(MPI_Win_complete(win));
        MPI(MPI_Win_wait(win));
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

/* All ranks see what all have put, whichever way the epoch ends. */
static void compare_all(const word *cells)
{
    static word expected[MOST][SLICE];
    MPI(MPI_Alltoall(model, SLICE, MPI_INT64_T, expected, SLICE, MPI_INT64_T, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        CHECK(memcmp(expected[r], cells + r * SLICE, sizeof expected[r]) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static void over(word *cells, int rounds)
{
    MPI_Group all;
    memset(cells, 0, 8 * WORDS);
    memset(model, 0, sizeof model);
    MPI_Win win = over_memory(cells, 8 * WORDS, share);
    MPI(MPI_Win_get_group(win, &all));
    for (int round = 0; round < rounds; round++) {
        enum way way = (enum way) (round % WAYS);
        begin_epoch(win, way, all);
        for (int i = 0; i < 20; i++) {
            int target = (int) draw((uint32_t) size);
            if (draw(2))
                puts_in_a_row(win, target);
            if (draw(2))
                accumulates_in_a_row(win, target);
            if (draw(2))
                results_in_a_row(win, target);
            /* flushes need a lock */
            int ends = way == FENCE || way == POST ? 4 : (int) draw(6);
            if (ends == 0)
                MPI(MPI_Win_flush_local_all(win));
            else if (ends == 1)
                MPI(MPI_Win_flush_all(win));
            else if (ends < 4)
                for (int r = 0; r < size; r++)
                    MPI(ends == 2 ? MPI_Win_flush_local(r, win) : MPI_Win_flush(r, win));
            if (ends < 4)
                check_results();
            if (way == LOCK_ALL || way == LOCK)
                follow(win, target);
        }
        end_epoch(win, way);
        check_results();
        compare_all(cells);
    }
    MPI(MPI_Group_free(&all));
    end_memory(&win, cells);
}

/* Puts in a row take few calls, and neighbours are one piece. */
static void few_calls(word *cells)
{
    memset(cells, 0, 8 * WORDS);
    MPI_Win win = over_memory(cells, 8 * WORDS, "no");
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    int target = (rank + 1) % size;
    MPI_Aint first = begins[target];
    calls = pieces = 0;
    for (word i = 0; i < 200; i++)
        MPI(MPI_Put(&i, 1, MPI_INT64_T, target, first + 8 * (MPI_Aint) i, 1, MPI_INT64_T, win));
    MPI(MPI_Win_flush(target, win));
    if (counts)
        CHECK(calls <= 2 && pieces <= 2);
    calls = pieces = 0;
    for (word i = 0; i < 200; i++)
        MPI(MPI_Put(&i, 1, MPI_INT64_T, target, first + 8 * (MPI_Aint) (300 + 2 * i), 1, MPI_INT64_T, win));
    MPI(MPI_Win_flush(target, win));
    if (counts)
        CHECK(calls <= 2 && pieces <= 200);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
    for (word i = 0; i < 200; i++) {
        CHECK_INT(cells[i], i);
        CHECK_INT(cells[300 + 2 * i], i);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    calls = pieces = 0;
    for (word i = 0; i < 200; i++)
        MPI(MPI_Accumulate(&i, 1, MPI_INT64_T, target, first + 8 * (MPI_Aint) (3 * (i % 50)), 1, MPI_INT64_T, MPI_SUM, win));
    MPI(MPI_Win_flush(target, win));
    if (counts)
        CHECK(calls <= 2 && pieces <= 51);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
    for (word i = 0; i < 50; i++)
        CHECK_INT(cells[3 * i], 3 * i + 4 * i + 50 + 100 + 150);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    static word found[200];
    for (int how = 0; how < 3; how++) {
        word zero = 0;
        reads = calls = 0;
        for (int i = 0; i < 200; i++) {
            MPI_Aint there = first + 8 * (MPI_Aint) (how ? 0 : i);
            if (how == 0)
                MPI(MPI_Get(&found[i], 1, MPI_INT64_T, target, there, 1, MPI_INT64_T, win));
            else if (how == 1)
                MPI(MPI_Fetch_and_op(NULL, &found[i], MPI_INT64_T, target, there, MPI_NO_OP, win));
            else
                MPI(MPI_Compare_and_swap(&zero, &zero, &found[i], MPI_INT64_T, target, there, win));
        }
        MPI(MPI_Win_flush_local(target, win));
        if (counts)
            CHECK(reads <= 2 && calls == 0);
        for (int i = 0; i < 200; i++)
            CHECK_INT(found[i], how ? 300 : i % 3 == 0 && i < 150 ? i + 4 * (i / 3) + 300 : i);
    }
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_unlock_all(win));
    end_memory(&win, cells);
}

/* All ranks add to all words of all, in lists that meet: each element of each is added once. */
static void together(word *cells, int rounds)
{
    enum { LINE = 300 };
    MPI_Win win;
    MPI_Info info;
    word one[3] = {1, 1, 1};
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "oxmpi_share", share));
    memset(cells, 0, 8 * WORDS);
    MPI(MPI_Win_create(cells, 8 * WORDS, 8, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < rounds; round++)
        for (int at = 0; at < LINE; at++) {
            int first = (at * 7 + rank * 13 + round) % LINE;
            MPI(MPI_Accumulate(one, 3, MPI_INT64_T, round % size, first, 3, MPI_INT64_T, MPI_SUM, win));
            if (at % 101 == 0)
                MPI(MPI_Win_flush(round % size, win));
        }
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
    int own = rounds / size + (rank < rounds % size);
    for (int at = 0; at < LINE; at++)
        CHECK_INT(cells[at], (word) own * size * (at < 2 ? at + 1 : 3));
    MPI(MPI_Win_unlock_all(win));
    MPI(MPI_Win_free(&win));
}

/* The target has unmapped a page: the flush says so, and what was to go elsewhere is there. */
static void unmapped(void)
{
    enum { PAGE = 4096 };
    char *memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win win = over_memory(memory, 3 * PAGE, "no");
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK(munmap(memory + PAGE, PAGE) == 0);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int how = 0; how < 6; how++) {
        int target = (rank + 1) % size, class = MPI_SUCCESS;
        char values[4] = {(char) (how + 1), (char) (how + 2), (char) (how + 3), (char) (how + 4)};
        MPI(MPI_Win_lock_all(0, win));
        static const int at[4] = {8, 16, PAGE + 8, 2 * PAGE + 8};
        for (int i = 0; i < 4 && target != rank; i++) {
            int code = how < 3 ? MPI_Put(&values[i], 1, MPI_INT8_T, target, begins[target] + at[i], 1, MPI_INT8_T, win)
                               : MPI_Accumulate(&values[i], 1, MPI_INT8_T, target, begins[target] + at[i], 1, MPI_INT8_T, MPI_REPLACE, win);
            if (code != MPI_SUCCESS)
                MPI(MPI_Error_class(code, &class));
        }
        int code = how % 3 == 0 ? MPI_Win_flush(target, win) : how % 3 == 1 ? MPI_Win_flush_all(win) : MPI_Win_unlock_all(win);
        if (code != MPI_SUCCESS)
            MPI(MPI_Error_class(code, &class));
        if (how % 3 < 2)
            MPI(MPI_Win_unlock_all(win));
        CHECK_INT(class, target == rank ? MPI_SUCCESS : is_dynamic ? MPI_ERR_RMA_ATTACH : MPI_ERR_RMA_RANGE);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (target != rank) {
            CHECK_INT(memory[8], how + 1);
            CHECK_INT(memory[16], how + 2);
            CHECK_INT(memory[2 * PAGE + 8], how + 4);
        }
        MPI(MPI_Barrier(MPI_COMM_WORLD));
    }
    end_memory(&win, memory);
    munmap(memory, 3 * PAGE);
}

int main(int argc, char **argv)
{
    refuses = argc > 1 && strcmp(argv[1], "helper") == 0;
    if (argc > 1 && strcmp(argv[1], "shared") == 0)
        share = "auto";
    if (argc > 1 && strcmp(argv[1], "edges") == 0)
        share = "edges";
    word frame[WORDS];
    start(&argc, &argv);
    counts = !refuses && size > 1 && share_memory(MPI_COMM_WORLD);
    state = 88172645463325252u + 7919 * (unsigned) rank;
    int rounds = argc > 2 ? atoi(argv[2]) : 24;
    word *allocated = malloc(8 * WORDS);
    over(frame, rounds);
    over(fixed, rounds);
    over(allocated, rounds);
    few_calls(frame);
    together(frame, 2 * rounds);
    together(allocated, 2 * rounds);
    unmapped();
    is_dynamic = 1;
    over(allocated, rounds);
    over(fixed, rounds);
    few_calls(allocated);
    unmapped();
    free(allocated);
    return finish();
}
