/* MPI_Get and MPI_Put of many small pieces of private memory: each element in its place whether the kernel is asked for the pieces or
 * for what lies around them, at borders of pages and of mappings too; and how much the kernel is asked. The program defines what the
 * library calls for that, so that the calls and the target's pieces can be counted. With an argument the kernel refuses, and a helper thread
 * of the target's copies. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static long calls, pieces;
static int refuses;

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
    calls++;
    pieces += (long) remotes;
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

enum { PAGE = 4096 };

static int counts; /* whether it is known how much the kernel is asked */
static char *memory;
static size_t room;
static MPI_Win win;

/* A window that begins behind a page that cannot be accessed, and ends before one. */
static void begin(size_t bytes)
{
    room = bytes;
    memory = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    memory += PAGE;
    CHECK(mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0);
    MPI(MPI_Win_create(memory, (MPI_Aint) bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
}

static void end(void)
{
    MPI(MPI_Win_free(&win));
    munmap(memory - PAGE, room + 2 * PAGE);
}

/* What all ranks' windows have there. */
static char byte_at(size_t at)
{
    return (char) ((at * 2654435761u) >> 13);
}

static MPI_Datatype blocks(int number, const int *lengths, const MPI_Aint *at)
{
    MPI_Datatype type;
    MPI(MPI_Type_create_hindexed(number, lengths, at, MPI_BYTE, &type));
    MPI(MPI_Type_commit(&type));
    return type;
}

static void start_counting(void)
{
    calls = pieces = 0;
}

static void at_most(const char *what, long most_calls, long most_pieces)
{
    if (counts && (calls > most_calls || pieces > most_pieces)) {
        printf("%s: %ld calls for %ld pieces, not %ld and %ld\n", what, calls, pieces, most_calls, most_pieces);
        CHECK(!"the kernel is asked too much");
    }
}

/* Gets rows times columns elements of 8 bytes, column by column, where rows are so many bytes apart. */
static void columns(int rows, int columns_, size_t apart, long most)
{
    int number = rows * columns_, *lengths = malloc(sizeof *lengths * (size_t) number);
    MPI_Aint *at = malloc(sizeof *at * (size_t) number), *back = malloc(sizeof *back * (size_t) number);
    char *mine = malloc((size_t) number * 8);
    begin(apart * (size_t) rows);
    for (int i = 0, k = 0; i < columns_; i++)
        for (int j = 0; j < rows; j++, k++) {
            lengths[k] = 8;
            at[k] = (MPI_Aint) ((size_t) j * apart + (size_t) i * 16);
            back[k] = 8 * (MPI_Aint) (number - 1 - k); /* the origin's lie backwards */
            for (int b = 0; b < 8; b++)
                memory[at[k] + b] = byte_at((size_t) at[k] + (size_t) b);
        }
    MPI_Datatype target = blocks(number, lengths, at), origin = blocks(number, lengths, back);
    memset(mine, 0, (size_t) number * 8);
    MPI(MPI_Win_fence(0, win));
    start_counting();
    MPI(MPI_Get(mine, 1, origin, 1 - rank, 0, 1, target, win));
    at_most("columns", most, most);
    MPI(MPI_Win_fence(0, win));
    int wrong = 0;
    for (int k = 0; k < number; k++)
        for (int b = 0; b < 8; b++)
            wrong += mine[back[k] + b] != byte_at((size_t) at[k] + (size_t) b);
    CHECK_INT(wrong, 0);
    MPI(MPI_Type_free(&target));
    MPI(MPI_Type_free(&origin));
    end();
    free(lengths);
    free(at);
    free(back);
    free(mine);
}

/* The target's bytes lie in one piece, the origin's apart. */
static void scattered_origin(void)
{
    enum { NUMBER = 1 << 16 };
    MPI_Datatype origin;
    char *mine = calloc(NUMBER, 16);
    begin(NUMBER * 8);
    for (size_t i = 0; i < room; i++)
        memory[i] = byte_at(i);
    MPI(MPI_Type_vector(NUMBER, 1, 2, MPI_DOUBLE, &origin));
    MPI(MPI_Type_commit(&origin));
    MPI(MPI_Win_fence(0, win));
    start_counting();
    MPI(MPI_Get(mine, 1, origin, 1 - rank, 0, NUMBER, MPI_DOUBLE, win));
    at_most("a get by a scattered origin", 10, 10);
    MPI(MPI_Win_fence(0, win));
    int wrong = 0;
    for (size_t i = 0; i < NUMBER * 8; i++)
        wrong += mine[i / 8 * 16 + i % 8] != byte_at(i) || mine[i / 8 * 16 + 8 + i % 8] != 0;
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < NUMBER * 16; i++)
        mine[i] = (char) (i / 16 * 8 + i % 16);
    start_counting();
    MPI(MPI_Put(mine, 1, origin, 1 - rank, 0, NUMBER, MPI_DOUBLE, win));
    at_most("a put by a scattered origin", 10, 10);
    MPI(MPI_Win_fence(0, win));
    for (size_t i = 0; i < NUMBER * 8; i++)
        wrong += memory[i] != (char) i;
    CHECK_INT(wrong, 0);
    MPI(MPI_Type_free(&origin));
    end();
    free(mine);
}

/* Blocks at random in random order, from the first byte of the window to its last, both ways; a put writes nothing between them. */
static void at_random(uint64_t *state, size_t bytes, int number, int longest)
{
    int *lengths = malloc(sizeof *lengths * (size_t) number);
    MPI_Aint *at = malloc(sizeof *at * (size_t) number), *from = malloc(sizeof *from * (size_t) number);
    size_t slot = bytes / (size_t) number, packed = 0;
    begin(bytes);
    for (int i = 0; i < number; i++) {
        lengths[i] = 1 + (int) (next_random(state) % (uint64_t) longest);
        at[i] = (MPI_Aint) ((size_t) i * slot + next_random(state) % (slot - (size_t) longest));
    }
    at[0] = 0;
    at[number - 1] = (MPI_Aint) bytes - lengths[number - 1];
    for (int i = number - 1; i > 0; i--) {
        int other = (int) (next_random(state) % (uint64_t) (i + 1)), length = lengths[i];
        MPI_Aint place = at[i];
        at[i] = at[other];
        at[other] = place;
        lengths[i] = lengths[other];
        lengths[other] = length;
    }
    for (int i = 0; i < number; i++) {
        from[i] = (MPI_Aint) packed + i % 3; /* the origin has some holes */
        packed = (size_t) (from[i] + lengths[i]);
    }
    char *mine = calloc(packed, 1), *wanted = calloc(packed, 1);
    for (size_t i = 0; i < bytes; i++)
        memory[i] = byte_at(i);
    for (int i = 0; i < number; i++)
        for (int b = 0; b < lengths[i]; b++)
            wanted[from[i] + b] = byte_at((size_t) (at[i] + b));
    MPI_Datatype target = blocks(number, lengths, at), origin = blocks(number, lengths, from);
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Get(mine, 1, origin, 1 - rank, 0, 1, target, win));
    MPI(MPI_Win_fence(0, win));
    CHECK(memcmp(mine, wanted, packed) == 0);
    for (size_t i = 0; i < packed; i++)
        mine[i] = (char) ~wanted[i];
    MPI(MPI_Put(mine, 1, origin, 1 - rank, 0, 1, target, win));
    MPI(MPI_Win_fence(0, win));
    for (int i = 0; i < number; i++)
        for (int b = 0; b < lengths[i]; b++)
            memory[at[i] + b] = (char) ~memory[at[i] + b];
    int wrong = 0;
    for (size_t i = 0; i < bytes; i++)
        wrong += memory[i] != byte_at(i);
    CHECK_INT(wrong, 0);
    MPI(MPI_Type_free(&target));
    MPI(MPI_Type_free(&origin));
    end();
    free(mine);
    free(wanted);
    free(lengths);
    free(at);
    free(from);
}

/* Memory between the elements that is not mapped at the target is none of the call's business; elements there are an error. */
static void with_a_hole(int rows, size_t apart)
{
    enum { MOST = 1 << 14 };
    static int lengths[MOST];
    static MPI_Aint at[MOST];
    static char mine[MOST * 8];
    int columns_ = MOST / rows;
    size_t hole = apart * (size_t) (rows / 2) + apart / 2 / PAGE * PAGE;
    begin(apart * (size_t) rows);
    for (int i = 0, k = 0; i < columns_; i++)
        for (int j = 0; j < rows; j++, k++) {
            lengths[k] = 8;
            at[k] = (MPI_Aint) ((size_t) j * apart + (size_t) i * 16);
            for (int b = 0; b < 8; b++)
                memory[at[k] + b] = byte_at((size_t) at[k] + (size_t) b);
        }
    CHECK(mprotect(memory + hole, PAGE, PROT_NONE) == 0);
    MPI_Datatype target = blocks(MOST, lengths, at);
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Get(mine, MOST * 8, MPI_BYTE, 1 - rank, 0, 1, target, win));
    MPI(MPI_Win_fence(0, win));
    int wrong = 0;
    for (int k = 0; k < MOST; k++)
        for (int b = 0; b < 8; b++)
            wrong += mine[k * 8 + b] != byte_at((size_t) at[k] + (size_t) b);
    CHECK_INT(wrong, 0);
    MPI(MPI_Type_free(&target));
    at[MOST / 2] = (MPI_Aint) hole;
    target = blocks(MOST, lengths, at);
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    int class = 0, error = MPI_Get(mine, MOST * 8, MPI_BYTE, 1 - rank, 0, 1, target, win);
    MPI(MPI_Error_class(error, &class));
    CHECK_INT(class, MPI_ERR_RMA_RANGE);
    MPI(MPI_Win_fence(0, win));
    MPI(MPI_Type_free(&target));
    end();
}

int main(int argc, char **argv)
{
    uint64_t state = 4711;
    refuses = argc > 1;
    start(&argc, &argv);
    counts = !refuses && !reference;
    /* 4 MB, then more than is read at once. */
    columns(512, 256, 8192, 2);
    columns(64, 4200, 1100 * 1024, 4);
    scattered_origin();
    for (int round = 0; round < 12; round++) {
        at_random(&state, 4 * PAGE, 40 + 20 * round, 16);
        at_random(&state, 256 * PAGE, 100 << (round % 5), 60);
        at_random(&state, 1024 * PAGE, 1 + round % 3 + 2, 3 * PAGE);
    }
    with_a_hole(8, 69632); /* near each other */
    with_a_hole(128, 8192);
    finish();
    return 0;
}
