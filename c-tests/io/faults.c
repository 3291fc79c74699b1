/* Calls of the system that fail, are interrupted or move less, at the n-th call, on one rank or on all (common/faults.h): classes, counts,
 * what was there before, descriptors, and that later calls work. */
#define _GNU_SOURCE
#include "faults.h"
#include "files.h"

static char name[NAME_BYTES];
enum { EACH = 5000, PIECE = 1000 };

static const struct {
    int error, class;
} KNOWN[] = {{EIO, MPI_ERR_IO},       {ENOSPC, MPI_ERR_NO_SPACE}, {EDQUOT, MPI_ERR_QUOTA},   {EROFS, MPI_ERR_READ_ONLY},
             {EACCES, MPI_ERR_ACCESS}, {EFBIG, MPI_ERR_IO},       {ENOMEM, MPI_ERR_NO_MEM}, {ESTALE, MPI_ERR_IO}};
enum { ERRORS = sizeof KNOWN / sizeof *KNOWN };

static MPI_Offset own_place(void)
{
    return (MPI_Offset) rank * EACH;
}

/* The file, with EACH bytes of each rank, of a pattern that its number gives. */
static MPI_File open_full(MPI_Comm comm)
{
    unsigned char own[EACH];
    MPI_File file = file_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    fill(own, EACH, (uint64_t) rank + 1);
    MPI(MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, MPI_STATUS_IGNORE));
    barrier();
    return file;
}

/* The first bytes of this rank's part have one pattern, the rest another. */
static void check_own(size_t bytes, uint64_t first, uint64_t rest)
{
    unsigned char found[EACH], expected[EACH];
    CHECK_INT(file_read(name, found, EACH, own_place()), EACH);
    CHECK_PATTERN(found, bytes, first);
    fill(expected, EACH, rest);
    CHECK(!memcmp(found + bytes, expected + bytes, EACH - bytes));
}

/* Transfers that are cut or interrupted are done anyway. */
static void go_on(void)
{
    unsigned char own[EACH], memory[2 * EACH];
    MPI_File file = open_full(MPI_COMM_WORLD);
    MPI_Datatype holes;
    MPI_Status status;
    for (int round = 0; round < 4; round++) {
        uint64_t seed = (uint64_t) (10 + round);
        fill(own, EACH, seed);
        if (round % 2)
            let_fail(WRITE, 1, 3, EINTR);
        else
            let_move(WRITE, ALWAYS, 7, 0);
        if (round < 2)
            MPI(MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, &status));
        else
            MPI(MPI_File_write_at_all(file, own_place(), own, EACH, MPI_BYTE, &status));
        CHECK_MOVED(status, EACH);
        if (round < 2)
            CHECK(calls(WRITE) > 3);
        all_works();
        barrier();
        check_own(EACH, seed, 0);
        memset(own, 0, EACH);
        if (round % 2)
            let_fail(READ, 1, 3, EINTR);
        else
            let_move(READ, ALWAYS, 11, 0);
        MPI(MPI_File_read_at(file, own_place(), own, EACH, MPI_BYTE, &status));
        CHECK_MOVED(status, EACH);
        CHECK(calls(READ) > 3);
        all_works();
        CHECK_PATTERN(own, EACH, seed);
        barrier();
    }
    /* A list of pieces: 2,500 bytes each, with a hole behind it. */
    MPI(MPI_Type_vector(2, EACH / 2, EACH, MPI_BYTE, &holes));
    MPI(MPI_Type_commit(&holes));
    fill(memory, sizeof memory, 77);
    let_move(WRITE, ALWAYS, 999, 0);
    MPI(MPI_File_write_at(file, own_place(), memory, 1, holes, &status));
    CHECK_MOVED(status, EACH);
    CHECK(calls(WRITE) > 2);
    all_works();
    CHECK_INT(file_read(name, own, EACH, own_place()), EACH);
    CHECK(!memcmp(own, memory, EACH / 2) && !memcmp(own + EACH / 2, memory + EACH, EACH / 2));
    memset(memory, 0, sizeof memory);
    let_move(READ, ALWAYS, 998, 0);
    MPI(MPI_File_read_at(file, own_place(), memory, 1, holes, &status));
    CHECK_MOVED(status, EACH);
    CHECK(calls(READ) > 2);
    all_works();
    CHECK(!memcmp(own, memory, EACH / 2) && !memcmp(own + EACH / 2, memory + EACH, EACH / 2));
    CHECK_INT(memory[EACH / 2], 0);
    MPI(MPI_Type_free(&holes));
    MPI(MPI_File_close(&file));
    barrier();
}

enum way { AT, POINTER, SHARED, NONBLOCKING, WAYS };

/* An independent access; errors of a nonblocking one come with either call. */
static int move(MPI_File file, enum way way, int writes, void *own, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;
    switch (way) {
    case AT:
        return writes ? MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, status)
                      : MPI_File_read_at(file, own_place(), own, EACH, MPI_BYTE, status);
    case POINTER:
        MPI(MPI_File_seek(file, own_place(), MPI_SEEK_SET));
        return writes ? MPI_File_write(file, own, EACH, MPI_BYTE, status) : MPI_File_read(file, own, EACH, MPI_BYTE, status);
    case SHARED:
        MPI(MPI_File_seek_shared(file, own_place(), MPI_SEEK_SET));
        return writes ? MPI_File_write_shared(file, own, EACH, MPI_BYTE, status) : MPI_File_read_shared(file, own, EACH, MPI_BYTE, status);
    default:
        code = writes ? MPI_File_iwrite_at(file, own_place(), own, EACH, MPI_BYTE, &request)
                      : MPI_File_iread_at(file, own_place(), own, EACH, MPI_BYTE, &request);
        return code ? code : MPI_Wait(&request, status);
    }
}

/* Each error in each way; nothing is moved, and the next call works. */
static void each_error(void)
{
    unsigned char own[EACH];
    MPI_File file = open_full(MPI_COMM_SELF);
    MPI_Status status;
    uint64_t before = (uint64_t) rank + 1;
    for (int error = 0; error < ERRORS; error++)
        for (enum way way = 0; way < WAYS; way++) {
            uint64_t seed = (uint64_t) (100 + 10 * error + (int) way);
            fill(own, EACH, seed);
            let_fail(WRITE, 1, ALWAYS, KNOWN[error].error);
            CHECK_CLASS(move(file, way, 1, own, &status), KNOWN[error].class);
            all_works();
            check_own(0, 0, before);
            MPI(move(file, way, 1, own, &status));
            CHECK_MOVED(status, EACH);
            check_own(EACH, seed, 0);
            let_fail(READ, 1, ALWAYS, KNOWN[error].error);
            CHECK_CLASS(move(file, way, 0, own, &status), KNOWN[error].class);
            all_works();
            memset(own, 0, EACH);
            MPI(move(file, way, 0, own, &status));
            CHECK_MOVED(status, EACH);
            CHECK_PATTERN(own, EACH, seed);
            before = seed;
        }
    MPI(MPI_File_close(&file));
    barrier();
}

/* Some short transfers and then an error: what was moved is in the status, the rest of the file as it was. */
static void counts_before_errors(void)
{
    unsigned char own[EACH];
    MPI_File file = open_full(MPI_COMM_SELF);
    MPI_Status status;
    uint64_t before = (uint64_t) rank + 1;
    for (int times = 0; times < 4; times++) {
        size_t done = (size_t) times * PIECE;
        fill(own, EACH, 33);
        let_move(WRITE, times, PIECE, ENOSPC);
        CHECK_CLASS(MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
        CHECK_MOVED(status, (long) done);
        all_works();
        check_own(done, 33, before);
        memset(own, 0xee, EACH);
        let_move(READ, times, PIECE, EIO);
        CHECK_CLASS(MPI_File_read_at(file, own_place(), own, EACH, MPI_BYTE, &status), MPI_ERR_IO);
        CHECK_MOVED(status, (long) done);
        CHECK_PATTERN(own, done, 33);
        CHECK_INT(own[EACH - 1], 0xee);
        all_works();
        fill(own, EACH, before);
        MPI(MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, &status));
    }
    /* A transfer that moves nothing, and does not say why. */
    let_move(WRITE, ALWAYS, 0, 0);
    CHECK_CLASS(MPI_File_write_at(file, own_place(), own, EACH, MPI_BYTE, &status), MPI_ERR_NO_SPACE);
    CHECK_MOVED(status, 0);
    all_works();
    check_own(0, 0, before);
    MPI(MPI_File_close(&file));
    barrier();
}

enum collective { WRITE_AT_ALL, WRITE_ALL, WRITE_ORDERED, SPLIT, READ_AT_ALL, READ_ORDERED, COLLECTIVES };

static int together(MPI_File file, enum collective what, void *own)
{
    MPI_Status status;
    int code;
    MPI(MPI_File_seek(file, own_place(), MPI_SEEK_SET));
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    switch (what) {
    case WRITE_AT_ALL:
        return MPI_File_write_at_all(file, own_place(), own, EACH, MPI_BYTE, &status);
    case WRITE_ALL:
        return MPI_File_write_all(file, own, EACH, MPI_BYTE, &status);
    case WRITE_ORDERED:
        return MPI_File_write_ordered(file, own, EACH, MPI_BYTE, &status);
    case READ_AT_ALL:
        return MPI_File_read_at_all(file, own_place(), own, EACH, MPI_BYTE, &status);
    case READ_ORDERED:
        return MPI_File_read_ordered(file, own, EACH, MPI_BYTE, &status);
    default:
        code = MPI_File_write_at_all_begin(file, own_place(), own, EACH, MPI_BYTE);
        return code ? code : MPI_File_write_at_all_end(file, own, &status);
    }
}

/* In a collective call the errors of all ranks, or of the last one, are one class for all; nobody waits, and the next call works. */
static void collective_errors(void)
{
    unsigned char own[EACH];
    MPI_File file = open_full(MPI_COMM_WORLD);
    for (int all = 0; all < 2; all++)
        for (enum collective what = 0; what < COLLECTIVES; what++)
            for (int error = 0; error < ERRORS; error++) {
                uint64_t seed = (uint64_t) (1000 + 100 * (int) what + 10 * error + all + 500 * rank);
                int reads = what >= READ_AT_ALL, code;
                fill(own, EACH, seed);
                if (reads)
                    MPI(MPI_File_write_at_all(file, own_place(), own, EACH, MPI_BYTE, MPI_STATUS_IGNORE));
                barrier();
                if (all || rank == size - 1)
                    let_fail(reads ? READ : WRITE, 1, ALWAYS, KNOWN[error].error);
                code = together(file, what, own);
                /* Another rank may have done it for the last one. */
                int worked = code == MPI_SUCCESS, worked_on_all, worked_on_some;
                MPI(MPI_Allreduce(&worked, &worked_on_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
                MPI(MPI_Allreduce(&worked, &worked_on_some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
                CHECK_INT(worked_on_some, worked_on_all);
                CHECK(!all || !worked);
                if (!worked)
                    CHECK_CLASS(code, KNOWN[error].class);
                all_works();
                fill(own, EACH, seed);
                MPI(together(file, what, own));
                CHECK_PATTERN(own, EACH, seed);
                barrier();
                check_own(EACH, seed, 0);
                barrier();
            }
    MPI(MPI_File_close(&file));
    barrier();
}

/* Small interleaved pieces of all ranks, whichever rank writes them. */
static void interleaved_errors(void)
{
    enum { PIECES = 500, BYTES = 16 };
    unsigned char own[PIECES * BYTES], *whole = malloc((size_t) size * sizeof own), *expected = malloc((size_t) size * sizeof own);
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Datatype piece, cyclic;
    MPI(MPI_Type_contiguous(BYTES, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, BYTES * size, &cyclic));
    MPI(MPI_Type_commit(&cyclic));
    MPI(MPI_File_set_view(file, BYTES * rank, MPI_BYTE, cyclic, "native", MPI_INFO_NULL));
    for (int error = 0; error < ERRORS; error++) {
        fill(own, sizeof own, (uint64_t) (error * 100 + rank));
        let_fail(WRITE, 1, ALWAYS, KNOWN[error].error);
        let_fail(MMAP, 1, ALWAYS, ENODEV);
        CHECK_CLASS(MPI_File_write_at_all(file, 0, own, sizeof own, MPI_BYTE, MPI_STATUS_IGNORE), KNOWN[error].class);
        all_works();
        MPI(MPI_File_write_at_all(file, 0, own, sizeof own, MPI_BYTE, MPI_STATUS_IGNORE));
        barrier();
        CHECK_INT(file_read(name, whole, (size_t) size * sizeof own, 0), (long long) size * (long long) sizeof own);
        for (int other = 0; other < size; other++) {
            fill(own, sizeof own, (uint64_t) (error * 100 + other));
            for (int i = 0; i < PIECES; i++)
                memcpy(expected + (i * size + other) * BYTES, own + i * BYTES, BYTES);
        }
        CHECK(!memcmp(whole, expected, (size_t) size * sizeof own));
        let_fail(READ, 1, ALWAYS, KNOWN[error].error);
        let_fail(MMAP, 1, ALWAYS, ENODEV);
        CHECK_CLASS(MPI_File_read_at_all(file, 0, own, sizeof own, MPI_BYTE, MPI_STATUS_IGNORE), KNOWN[error].class);
        all_works();
        MPI(MPI_File_read_at_all(file, 0, own, sizeof own, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_PATTERN(own, sizeof own, (uint64_t) (error * 100 + rank));
        barrier();
    }
    MPI(MPI_Type_free(&piece));
    MPI(MPI_Type_free(&cyclic));
    MPI(MPI_File_close(&file));
    free(whole);
    free(expected);
    barrier();
}

/* Opening fails on one rank, or on all: on all then, of one class, and no descriptor stays. */
static void opening(void)
{
    static const struct {
        enum call call;
        int error, class;
    } wrong[] = {{OPEN, EMFILE, MPI_ERR_IO},      {OPEN, ENFILE, MPI_ERR_IO},       {OPEN, EACCES, MPI_ERR_ACCESS}, {OPEN, EROFS, MPI_ERR_READ_ONLY},
                 {OPEN, ENOSPC, MPI_ERR_NO_SPACE}, {OPEN, EDQUOT, MPI_ERR_QUOTA},    {OPEN, ELOOP, MPI_ERR_BAD_FILE}, {OPEN, ENOTDIR, MPI_ERR_BAD_FILE},
                 {OPEN, ETXTBSY, MPI_ERR_FILE_IN_USE}, {OPEN, ENOMEM, MPI_ERR_NO_MEM}, {FSTAT, EIO, MPI_ERR_IO}};
    MPI_File file = MPI_FILE_NULL;
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE, before = descriptors();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int who = -1; who < size; who++) {
            if (who < 0 || who == rank)
                let_fail(wrong[i].call, 1, ALWAYS, wrong[i].error);
            CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), wrong[i].class);
            CHECK(file == MPI_FILE_NULL);
            all_works();
            CHECK_INT(descriptors(), before);
        }
    /* Interrupted, and then opened. */
    let_fail(OPEN, 1, 3, EINTR);
    file = file_open(MPI_COMM_WORLD, name, mode);
    CHECK(calls(OPEN) > 3);
    all_works();
    /* Closing says so, and is done. */
    let_fail(CLOSE, 1, 1, EIO);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_IO);
    all_works();
    CHECK_INT(descriptors(), before);
    file = file_open(MPI_COMM_WORLD, name, mode);
    let_fail(CLOSE, 1, 1, EINTR);
    MPI(MPI_File_close(&file));
    all_works();
    CHECK_INT(descriptors(), before);
    barrier();
    /* The name stays, and so all ranks are told. */
    file = file_open(MPI_COMM_WORLD, name, mode | MPI_MODE_DELETE_ON_CLOSE);
    let_fail(UNLINK, 1, 1, EBUSY);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE_IN_USE);
    all_works();
    CHECK_INT(descriptors(), before);
    CHECK(file_size(name) >= 0);
    barrier();
    if (rank == 0) {
        let_fail(UNLINK, 1, 1, EACCES);
        CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_ACCESS);
        CHECK(file_size(name) >= 0);
        let_fail(UNLINK, 1, 1, EINTR);
        MPI(MPI_File_delete(name, MPI_INFO_NULL));
        CHECK_INT(file_size(name), -1);
        all_works();
    }
    barrier();
}

/* Sizes and synchronisation, which one rank does for all. */
static void sizes(void)
{
    unsigned char own[EACH];
    MPI_File file = open_full(MPI_COMM_WORLD);
    MPI_Offset full = (MPI_Offset) size * EACH, bytes;
    MPI(MPI_File_set_size(file, full));
    static const struct {
        int error, class;
    } wrong[] = {{EIO, MPI_ERR_IO}, {ENOSPC, MPI_ERR_NO_SPACE}, {EDQUOT, MPI_ERR_QUOTA}, {EFBIG, MPI_ERR_IO}, {EROFS, MPI_ERR_READ_ONLY}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        /* The error of storing comes once to each descriptor: all ranks are told, and the next call is not. */
        all_works();
        let_fail(FSYNC, 1, 1, wrong[i].error);
        CHECK_CLASS(MPI_File_sync(file), wrong[i].class);
        int found = (int) calls(FSYNC), all;
        MPI(MPI_Allreduce(&found, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(all >= 1);
        CHECK_INT(calls(OPEN), 0); /* by a descriptor from before the writes */
        all_works();
        MPI(MPI_File_sync(file));
        let_fail(FTRUNCATE, 1, ALWAYS, wrong[i].error);
        CHECK_CLASS(MPI_File_set_size(file, 10), wrong[i].class);
        all_works();
        let_fail(FALLOCATE, 1, ALWAYS, wrong[i].error);
        CHECK_CLASS(MPI_File_preallocate(file, 10 * full), wrong[i].class);
        all_works();
        MPI(MPI_File_get_size(file, &bytes));
        CHECK_INT(bytes, full);
        barrier();
    }
    let_fail(FSYNC, 1, 2, EINTR);
    MPI(MPI_File_sync(file));
    let_fail(FTRUNCATE, 1, 2, EINTR);
    MPI(MPI_File_set_size(file, full + 1));
    let_fail(FALLOCATE, 1, 2, EINTR);
    MPI(MPI_File_preallocate(file, full + 2));
    all_works();
    MPI(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, full + 2);
    barrier();
    /* File systems that cannot allocate: zeros behind the end, and nothing before it is written. */
    static const int cannot[] = {EOPNOTSUPP, ENOSYS};
    for (int i = 0; i < 2; i++) {
        MPI(MPI_File_set_size(file, full));
        let_fail(FALLOCATE, 1, ALWAYS, cannot[i]);
        MPI(MPI_File_preallocate(file, full / 2));
        CHECK_INT(calls(WRITE), 0);
        MPI(MPI_File_preallocate(file, full + 200000));
        all_works();
        MPI(MPI_File_get_size(file, &bytes));
        CHECK_INT(bytes, full + 200000);
        check_own(EACH, (uint64_t) rank + 1, 0);
        CHECK_INT(file_read(name, own, EACH, full + 200000 - EACH), EACH);
        CHECK_INT(own[0] | own[EACH - 1], 0);
        barrier();
        MPI(MPI_File_set_size(file, full));
        let_fail(FALLOCATE, 1, ALWAYS, cannot[i]);
        let_fail(WRITE, 1, ALWAYS, ENOSPC);
        CHECK_CLASS(MPI_File_preallocate(file, full + 200000), MPI_ERR_NO_SPACE);
        all_works();
        check_own(EACH, (uint64_t) rank + 1, 0);
        barrier();
    }
    let_fail(FSTAT, 1, 1, EIO);
    CHECK_CLASS(MPI_File_get_size(file, &bytes), MPI_ERR_IO);
    all_works();
    MPI(MPI_File_close(&file));
    barrier();
}

/* A file system without mappings and locks, as some network and user-space ones are: views with holes are written anyway, and an access
 * of the atomic mode is done or says that it cannot. */
static void refused(void)
{
    enum { PIECES = 3000, BYTES = 16, STRIDE = 64 };
    static const int maps[] = {ENODEV, EACCES, EPERM, ENOMEM}, populates[] = {EINVAL, EFAULT, ENOMEM};
    unsigned char own[PIECES * BYTES], found[PIECES * BYTES], *whole = malloc(PIECES * STRIDE);
    MPI_File file = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Offset from = (MPI_Offset) rank * PIECES * STRIDE;
    MPI_Datatype piece, sparse;
    MPI_Status status;
    MPI(MPI_Type_contiguous(BYTES, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, STRIDE, &sparse));
    MPI(MPI_Type_commit(&sparse));
    for (size_t i = 0; i < sizeof maps / sizeof *maps + sizeof populates / sizeof *populates; i++) {
        memset(whole, 0x11, PIECES * STRIDE);
        MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI(MPI_File_write_at(file, from, whole, PIECES * STRIDE, MPI_BYTE, &status));
        MPI(MPI_File_set_view(file, from, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
        fill(own, sizeof own, (uint64_t) rank + i);
        if (i < sizeof maps / sizeof *maps)
            let_fail(MMAP, 1, ALWAYS, maps[i]);
        else
            let_fail(MADVISE, 1, ALWAYS, populates[i - sizeof maps / sizeof *maps]);
        MPI(MPI_File_write_at(file, 0, own, sizeof own, MPI_BYTE, &status));
        CHECK_MOVED(status, (long) sizeof own);
        MPI(MPI_File_read_at(file, 0, found, sizeof found, MPI_BYTE, &status));
        CHECK(!memcmp(own, found, sizeof own));
        all_works();
        CHECK_INT(file_read(name, whole, PIECES * STRIDE, from), PIECES * STRIDE);
        for (int n = 0; n < PIECES; n++) {
            CHECK(!memcmp(whole + n * STRIDE, own + n * BYTES, BYTES));
            for (int k = BYTES; k < STRIDE; k++)
                CHECK_INT(whole[n * STRIDE + k], 0x11);
        }
    }
    MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI(MPI_File_set_atomicity(file, 1));
    fill(own, sizeof own, 7);
    CHECK_INT(file_read(name, found, sizeof found, from), sizeof found);
    let_fail(LOCK, 1, ALWAYS, ENOLCK);
    int code = MPI_File_write_at(file, from, own, sizeof own, MPI_BYTE, &status);
    all_works();
    if (code)
        CHECK_CLASS(code, MPI_ERR_IO);
    CHECK_INT(file_read(name, whole, sizeof own, from), sizeof own);
    CHECK(!memcmp(whole, code ? found : own, sizeof own));
    MPI(MPI_File_write_at(file, from, own, sizeof own, MPI_BYTE, &status));
    MPI(MPI_File_set_atomicity(file, 0));
    MPI(MPI_Type_free(&piece));
    MPI(MPI_Type_free(&sparse));
    MPI(MPI_File_close(&file));
    free(whole);
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "faults");
    watch(name);
    int before = 0;
    /* The first time the library may open what it keeps. */
    for (int time = 0; time < 2; time++) {
        before = descriptors();
        go_on();
        each_error();
        counts_before_errors();
        collective_errors();
        interleaved_errors();
        sizes();
        refused();
        opening();
    }
    CHECK_INT(descriptors(), before);
    return finish();
}
