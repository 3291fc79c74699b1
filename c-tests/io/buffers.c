/* Buffers of every kind: absolute addresses in each form of access, memory that can only be read, pages of the file itself, memory that is not
 * there, one buffer for many requests, nothing at all. */
#define _GNU_SOURCE
#include "files.h"
#include <sys/mman.h>

static char name[NAME_BYTES];
enum { PAGE = 4096, EACH = 3 * PAGE };

static MPI_Offset own_place(void)
{
    return (MPI_Offset) rank * EACH;
}

enum form { AT, POINTER, AT_ALL, ALL, SHARED, ORDERED, INDEPENDENT_REQUEST, COLLECTIVE_REQUEST, SPLIT, FORMS };

/* Writes or reads in one of the forms; errors of nonblocking ones come with either call. */
static int move(MPI_File file, enum form form, int writes, void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Offset at = own_place();
    int code = MPI_SUCCESS;
    if (form == POINTER || form == ALL)
        MPI(MPI_File_seek(file, at, MPI_SEEK_SET));
    if (form == ORDERED)
        MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
#define EITHER(name, ...) (writes ? MPI_File_write##name(__VA_ARGS__) : MPI_File_read##name(__VA_ARGS__))
#define EITHER_REQUEST(name, ...) (writes ? MPI_File_iwrite##name(__VA_ARGS__) : MPI_File_iread##name(__VA_ARGS__))
    switch (form) {
    case AT:
        return EITHER(_at, file, at, buffer, count, type, status);
    case POINTER:
        return EITHER(, file, buffer, count, type, status);
    case AT_ALL:
        return EITHER(_at_all, file, at, buffer, count, type, status);
    case ALL:
        return EITHER(_all, file, buffer, count, type, status);
    case SHARED: /* one rank after the other */
        for (int r = 0; r < size; r++) {
            barrier();
            if (r == rank)
                code = EITHER(_shared, file, buffer, count, type, status);
        }
        return code;
    case ORDERED:
        return EITHER(_ordered, file, buffer, count, type, status);
    case INDEPENDENT_REQUEST:
        code = EITHER_REQUEST(_at, file, at, buffer, count, type, &request);
        return code ? code : MPI_Wait(&request, status);
    case COLLECTIVE_REQUEST:
        code = EITHER_REQUEST(_at_all, file, at, buffer, count, type, &request);
        return code ? code : MPI_Wait(&request, status);
    default:
        code = EITHER(_at_all_begin, file, at, buffer, count, type);
        return code ? code : EITHER(_at_all_end, file, buffer, status);
    }
}

/* The shared pointer at the beginning, for the forms that use it. */
static void rewind_all(MPI_File file)
{
    barrier();
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

static void each_form(MPI_File file)
{
    static unsigned char memory[EACH], found[EACH];
    MPI_Datatype absolute, there;
    MPI_Status status;
    MPI_Aint at[2], at_found[2];
    int lengths[2] = {EACH / 3, EACH - EACH / 3};
    unsigned char *constant = mmap(NULL, EACH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(constant != MAP_FAILED);
    /* The parts in the other order than in memory. */
    MPI(MPI_Get_address(memory + lengths[1], &at[0]));
    MPI(MPI_Get_address(memory, &at[1]));
    MPI(MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &absolute));
    MPI(MPI_Type_commit(&absolute));
    MPI(MPI_Get_address(found + lengths[1], &at_found[0]));
    MPI(MPI_Get_address(found, &at_found[1]));
    MPI(MPI_Type_create_hindexed(2, lengths, at_found, MPI_BYTE, &there));
    MPI(MPI_Type_commit(&there));
    for (enum form form = 0; form < FORMS; form++) {
        fill(memory, EACH, (uint64_t) (100 * form + rank));
        memset(found, 0, EACH);
        rewind_all(file);
        MPI(move(file, form, 1, MPI_BOTTOM, 1, absolute, &status));
        CHECK_MOVED(status, EACH);
        rewind_all(file);
        MPI(move(file, form, 0, MPI_BOTTOM, 1, there, &status));
        CHECK_MOVED(status, EACH);
        CHECK_PATTERN(found, EACH, (uint64_t) (100 * form + rank));
        /* Memory that nobody may write to: also the library's own copies stay away from it. */
        CHECK_INT(mprotect(constant, EACH, PROT_READ | PROT_WRITE), 0);
        fill(constant, EACH, (uint64_t) (100 * form + rank + 50));
        CHECK_INT(mprotect(constant, EACH, PROT_READ), 0);
        rewind_all(file);
        MPI(move(file, form, 1, constant, EACH, MPI_BYTE, &status));
        CHECK_INT(file_read(name, found, EACH, own_place()), EACH);
        CHECK(!memcmp(found, constant, EACH));
        /* Into such memory: an error, and no signal. */
        rewind_all(file);
        CHECK_CLASS(move(file, form, 0, constant, EACH, MPI_BYTE, &status), MPI_ERR_BUFFER);
        CHECK_PATTERN(constant, EACH, (uint64_t) (100 * form + rank + 50));
        /* Nothing of no buffer. */
        rewind_all(file);
        MPI(move(file, form, 1, NULL, 0, MPI_BYTE, &status));
        CHECK_MOVED(status, 0);
        rewind_all(file);
        MPI(move(file, form, 0, NULL, 0, MPI_DOUBLE, &status));
        CHECK_MOVED(status, 0);
    }
    MPI(MPI_Type_free(&absolute));
    MPI(MPI_Type_free(&there));
    munmap(constant, EACH);
}

/* The last page of the buffer is not there: an error, and what was counted is right. */
static void unmapped(MPI_File file)
{
    unsigned char *memory = mmap(NULL, EACH + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), found[EACH];
    MPI_Status status;
    barrier();
    CHECK_INT(munmap(memory + EACH - PAGE, 2 * PAGE), 0);
    fill(memory, EACH - PAGE, (uint64_t) rank + 3);
    for (enum form form = 0; form < FORMS; form++) {
        rewind_all(file);
        CHECK_CLASS(move(file, form, 1, memory, EACH, MPI_BYTE, &status), MPI_ERR_BUFFER);
        if (form == AT || form == POINTER || form == SHARED) {
            long long done = moved(&status);
            CHECK(done >= 0 && done <= EACH - PAGE);
            CHECK(file_read(name, found, EACH, own_place()) >= done);
            CHECK_PATTERN(found, (size_t) done, (uint64_t) rank + 3);
        }
        rewind_all(file);
        CHECK_CLASS(move(file, form, 0, memory, EACH, MPI_BYTE, &status), MPI_ERR_BUFFER);
        fill(memory, EACH - PAGE, (uint64_t) rank + 3);
    }
    munmap(memory, EACH - PAGE);
    barrier();
}

/* Pages of the file as the buffer, for another part of it and for the same one. */
static void of_the_file(MPI_File file)
{
    MPI_Status status;
    unsigned char text[EACH];
    int descriptor;
    fill(text, EACH, (uint64_t) rank + 60);
    MPI(MPI_File_write_at_all(file, own_place(), text, EACH, MPI_BYTE, &status));
    barrier();
    descriptor = open(name, O_RDWR);
    unsigned char *map = mmap(NULL, (size_t) size * EACH, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), *here = map + own_place();
    int mapped = map != MAP_FAILED, mapped_by_all; /* not where the page cache is bypassed */
    MPI(MPI_Allreduce(&mapped, &mapped_by_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!mapped_by_all) {
        close(descriptor);
        return;
    }
    MPI(MPI_File_write_at(file, own_place(), here, EACH, MPI_BYTE, &status));
    CHECK_MOVED(status, EACH);
    CHECK(!memcmp(here, text, EACH));
    MPI(MPI_File_write_at(file, own_place() + PAGE, here, PAGE, MPI_BYTE, &status));
    CHECK(!memcmp(here + PAGE, text, PAGE));
    MPI(MPI_File_read_at(file, own_place(), here + 2 * PAGE, PAGE, MPI_BYTE, &status));
    CHECK_MOVED(status, PAGE);
    CHECK(!memcmp(here + 2 * PAGE, text, PAGE));
    munmap(map, (size_t) size * EACH);
    close(descriptor);
    barrier();
}

/* One buffer that many requests write, to many places. */
static void many_requests(MPI_File file)
{
    enum { MANY = 64 };
    static unsigned char text[EACH], found[EACH];
    MPI_Request requests[MANY];
    MPI_Status status[MANY];
    fill(text, EACH, (uint64_t) rank + 90);
    for (int i = 0; i < MANY; i++)
        MPI(MPI_File_iwrite_at(file, (MPI_Offset) (i * size + rank) * EACH, text, EACH, MPI_BYTE, &requests[i]));
    MPI(MPI_Waitall(MANY, requests, status));
    for (int i = 0; i < MANY; i++) {
        CHECK_MOVED(status[i], EACH);
        CHECK_INT(file_read(name, found, EACH, (off_t) (i * size + rank) * EACH), EACH);
        CHECK(!memcmp(found, text, EACH));
    }
    barrier();
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    file_name(name, "buffers");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI(MPI_File_set_size(file, (MPI_Offset) size * EACH));
    each_form(file);
    of_the_file(file);
    unmapped(file);
    many_requests(file);
    MPI(MPI_File_close(&file));
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
