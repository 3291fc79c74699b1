/* Accesses of more than 2 GiB, by counts of types and by large counts; offsets, extents and displacements that need 64 bits; more pieces than a call
 * of the kernel takes; calls that a timer interrupts a thousand times a second. arg: all (with 2 GiB of memory) */
#define _GNU_SOURCE
#include "files.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static char name[NAME_BYTES];
enum { MIB = 1 << 20, KIB = 1 << 10 };
static const MPI_Count sizes[] = {2147479552LL, 2147483647LL, 2147483648LL, 4294967301LL};

/* What nobody reads is never touched. */
static void written_to_nowhere(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR);
    size_t room = (size_t) 4294967301LL;
    char *memory = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MPI_Status status;
    MPI_Request request;
    CHECK(memory != MAP_FAILED);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MPI(MPI_File_write_at_c(file, 5, memory, sizes[i], MPI_BYTE, &status));
        CHECK_MOVED(status, sizes[i]);
        MPI(MPI_File_write_at_all_c(file, 5, memory, sizes[i], MPI_BYTE, &status));
        CHECK_MOVED(status, sizes[i]);
        MPI(MPI_File_iwrite_at_c(file, 5, memory, sizes[i], MPI_BYTE, &request));
        MPI(MPI_Wait(&request, &status));
        CHECK_MOVED(status, sizes[i]);
    }
    MPI_Datatype mega;
    MPI(MPI_Type_contiguous(MIB, MPI_BYTE, &mega));
    MPI(MPI_Type_commit(&mega));
    MPI(MPI_File_write(file, memory, 4096, mega, &status));
    CHECK_MOVED(status, 4096LL * MIB);
    int count = -1;
    MPI(MPI_Get_count(&status, mega, &count));
    CHECK_INT(count, 4096);
    MPI(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    /* One block of the view is larger than 2 GiB, and begins in its middle. */
    MPI_Datatype huge, view;
    MPI(MPI_Type_contiguous(3000, mega, &huge));
    MPI(MPI_Type_create_resized(huge, 0, 5000LL * MIB, &view));
    MPI(MPI_Type_commit(&view));
    MPI(MPI_File_set_view(file, (MPI_Offset) 1 << 40, MPI_BYTE, view, "native", MPI_INFO_NULL));
    MPI_Offset at;
    MPI(MPI_File_get_byte_offset(file, 4000LL * MIB, &at));
    CHECK_INT(at, (1LL << 40) + 6000LL * MIB);
    MPI(MPI_File_write_at_all_c(file, 100LL * MIB, memory, 4000LL * MIB, MPI_BYTE, &status));
    CHECK_MOVED(status, 4000LL * MIB);
    MPI(MPI_Type_free(&view));
    MPI(MPI_Type_free(&huge));
    MPI(MPI_Type_free(&mega));
    MPI(MPI_File_close(&file));
    munmap(memory, room);
}

/* A few bytes, far away in a file of holes. */
static void far_away(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status status;
    long long value = 0, places[] = {(1LL << 31) - 3, 1LL << 31, (1LL << 32) + 5, 1LL << 40};
    for (int i = 0; i < 4; i++) {
        long long own = rank * 1000 + i;
        MPI(MPI_File_write_at_all(file, places[i] + 8 * rank, &own, 8, MPI_BYTE, &status));
        CHECK_MOVED(status, 8);
        int left = (rank + 1) % size;
        MPI(MPI_File_read_at_all(file, places[i] + 8 * left, &value, 8, MPI_BYTE, &status));
        CHECK_MOVED(status, 8);
        CHECK_INT(value, left * 1000 + i);
    }
    /* Small pieces of all ranks behind 2^40, and an extent above 2^31. */
    MPI_Datatype one, view;
    static unsigned char bytes[40 * KIB], found[40 * KIB];
    MPI(MPI_Type_contiguous(10, MPI_BYTE, &one));
    MPI(MPI_Type_create_resized(one, 0, 10 * size, &view));
    MPI(MPI_Type_commit(&view));
    MPI(MPI_File_set_view(file, ((MPI_Offset) 1 << 41) + 10 * rank, MPI_BYTE, view, "native", MPI_INFO_NULL));
    fill(bytes, sizeof bytes, (uint64_t) rank);
    MPI(MPI_File_write_at_all(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
    MPI(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, &status));
    CHECK_MOVED(status, sizeof found);
    CHECK_PATTERN(found, sizeof found, (uint64_t) rank);
    MPI(MPI_Type_free(&view));
    MPI(MPI_Type_create_resized(one, 0, (MPI_Aint) 3 << 30, &view));
    MPI(MPI_Type_commit(&view));
    MPI(MPI_File_set_view(file, 10 * rank, MPI_BYTE, view, "native", MPI_INFO_NULL));
    MPI(MPI_File_write_at_all(file, 5, bytes, 1000, MPI_BYTE, &status));
    CHECK_MOVED(status, 1000);
    MPI(MPI_File_read_at_all(file, 5, found, 1000, MPI_BYTE, &status));
    CHECK_MOVED(status, 1000);
    CHECK_PATTERN(found, 1000, (uint64_t) rank);
    MPI(MPI_Type_free(&view));
    MPI(MPI_Type_free(&one));
    /* No offset is larger than 2^63 - 1. */
    return_errors();
    MPI(MPI_File_set_view(file, 10, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at(file, 9223372036854775807LL, bytes, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_at_all(file, 9223372036854775800LL, bytes, 100, MPI_BYTE, &status), MPI_ERR_ARG);
    MPI(MPI_File_set_view(file, 0, MPI_LONG_LONG, MPI_LONG_LONG, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_read_at(file, 1LL << 60, bytes, 1, MPI_LONG_LONG, &status), MPI_ERR_ARG);
    MPI(MPI_File_close(&file));
}

/* As many pieces of memory as one call takes, and one more and less. */
static void many_pieces(void)
{
    enum { MOST = 2050, PIECE = 2100, STRIDE = 2500 };
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    unsigned char *memory = malloc((size_t) MOST * STRIDE), *back = malloc((size_t) MOST * STRIDE);
    MPI_Datatype piece, spaced;
    MPI_Status status;
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, STRIDE, &spaced));
    MPI(MPI_Type_commit(&spaced));
    for (int count = 1023; count <= MOST; count += count == 1025 ? 1022 : 1) {
        MPI_Offset at = (MPI_Offset) rank * MOST * PIECE;
        fill(memory, (size_t) MOST * STRIDE, (uint64_t) (count + rank));
        MPI(MPI_File_write_at(file, at, memory, count, spaced, &status));
        CHECK_MOVED(status, (long long) count * PIECE);
        memset(back, 0, (size_t) MOST * STRIDE);
        MPI(MPI_File_read_at_all(file, at, back, count, spaced, &status));
        CHECK_MOVED(status, (long long) count * PIECE);
        for (int i = 0; i < count; i++)
            if (memcmp(memory + (size_t) i * STRIDE, back + (size_t) i * STRIDE, PIECE) || back[(size_t) i * STRIDE + PIECE]) {
                check_failed(__FILE__, __LINE__, "piece %d of %d", i, count);
                break;
            }
    }
    MPI(MPI_Type_free(&spaced));
    MPI(MPI_Type_free(&piece));
    free(memory);
    free(back);
    MPI(MPI_File_close(&file));
}

static volatile int alarms;

static void count_alarm(int signal)
{
    (void) signal;
    alarms++;
}

static void interrupted(void)
{
    enum { BYTES = 6 * MIB, ROUNDS = 4 };
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    unsigned char *memory = malloc(BYTES);
    MPI_Datatype piece, view;
    MPI_Status status;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = count_alarm; /* no SA_RESTART */
    sigaction(SIGALRM, &act, NULL);
    MPI(MPI_Type_contiguous(96, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, 96 * size, &view));
    MPI(MPI_Type_commit(&view));
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        int bytes = slow() ? MIB / 96 * 96 : BYTES / 96 * 96;
        if (round % 2)
            MPI(MPI_File_set_view(file, 96 * rank, MPI_BYTE, view, "native", MPI_INFO_NULL));
        else
            MPI(MPI_File_set_view(file, (MPI_Offset) BYTES * rank, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        fill(memory, (size_t) bytes, (uint64_t) (rank + round));
        MPI(MPI_File_write_at_all(file, 0, memory, bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, bytes);
        memset(memory, 0, (size_t) bytes);
        if (round < 2)
            MPI(MPI_File_read_at_all(file, 0, memory, bytes, MPI_BYTE, &status));
        else
            MPI(MPI_File_read_at(file, 0, memory, bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, bytes);
        CHECK_PATTERN(memory, (size_t) bytes, (uint64_t) (rank + round));
        MPI(MPI_File_write_at(file, 0, memory, bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, bytes);
        barrier();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    MPI(MPI_Type_free(&view));
    MPI(MPI_Type_free(&piece));
    free(memory);
    MPI(MPI_File_close(&file));
}

/* A hole of more than 2 GiB is read, and its last bytes are there. */
static void read_whole(void)
{
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status status;
    for (int i = 1; i < 3; i++) {
        size_t bytes = (size_t) sizes[i] + 5;
        char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(memory != MAP_FAILED);
        MPI(MPI_File_set_size(file, 0));
        MPI(MPI_File_set_size(file, (MPI_Offset) bytes));
        MPI(MPI_File_write_at_all(file, (MPI_Offset) bytes - 3, "end", 3, MPI_BYTE, &status));
        memset(memory, 7, 100);
        MPI(MPI_File_read_at_all_c(file, 0, memory, (MPI_Count) bytes, MPI_BYTE, &status));
        CHECK_MOVED(status, bytes);
        CHECK(!memcmp(memory + bytes - 3, "end", 3) && memory[0] == 0 && memory[bytes - 4] == 0);
        barrier();
        munmap(memory, bytes);
    }
    MPI(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "large");
    if (argc > 1 && !strcmp(argv[1], "all"))
        read_whole();
    else {
        written_to_nowhere();
        far_away();
        many_pieces();
        interrupted();
    }
    return finish();
}
