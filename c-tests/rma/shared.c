/* MPI_Win_allocate_shared and MPI_Win_shared_query: places of all parts, what others store there, MPI_PROC_NULL, other flavours. */
#include "check.h"

/* Part of each rank, in bytes. */
static MPI_Aint part(int kind, int of)
{
    switch (kind) {
    case 0: return 10 + of;
    case 1: return of % 2 ? 0 : 100;
    case 2: return of == 0 ? 0 : 4096;
    case 3: return 0;
    case 4: return of == size - 1 ? 100000 : 0;
    default: return 5000 * (of + 1);
    }
}

/* An empty part of consecutive memory is where it would begin, unless all are empty; one of a rank's own is nowhere. */
static void places(const char *base, int of, int kind, int contiguous, const char *end)
{
    long long total = 0;
    for (int i = 0; i < size; i++)
        total += part(kind, i);
    if (total == 0 || (!contiguous && part(kind, of) == 0))
        CHECK(base == NULL);
    else
        CHECK(base != NULL);
    if (contiguous && end)
        CHECK(base == end);
}

static void everyone_sees(MPI_Win win, int kind, int contiguous)
{
    char *end = NULL;
    int lowest = -1;
    MPI_Aint bytes = -1;
    int unit = -1;
    char *base = (char *) 1;
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &base));
        CHECK_INT(bytes, part(kind, of));
        CHECK_INT(unit, 1 + of);
        /* The reference has no place for nothing. */
        if (!reference)
            places(base, of, kind, contiguous, end);
        if (bytes == 0) {
            if (!reference && contiguous)
                end = base;
            continue;
        }
        if (lowest < 0)
            lowest = of;
        CHECK_PATTERN(base, (size_t) bytes, (uint64_t) (of + 100 * kind));
        if (contiguous && end)
            CHECK(base == end);
        end = base + bytes;
    }
    MPI(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base));
    if (lowest < 0) {
        CHECK_INT(bytes, 0);
        /* The standard wants NULL; the reference has some address. */
        if (!reference)
            CHECK(base == NULL);
        return;
    }
    char *first;
    MPI_Aint first_bytes;
    int first_unit;
    MPI(MPI_Win_shared_query(win, lowest, &first_bytes, &first_unit, &first));
    CHECK(base == first);
    CHECK_INT(bytes, first_bytes);
    CHECK_INT(unit, first_unit);
}

/* The address that the maker of the window gives is that of its attribute and of the query. */
static void own_place(MPI_Win win, const char *base)
{
    void *attribute;
    int flag, unit;
    char *query;
    MPI_Aint bytes;
    MPI(MPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &flag));
    CHECK(flag && attribute == base);
    MPI(MPI_Win_shared_query(win, rank, &bytes, &unit, &query));
    CHECK(query == base);
}

static void shared(MPI_Info info, int contiguous)
{
    for (int kind = 0; kind < 6; kind++) {
        MPI_Win win;
        char *base = NULL;
        MPI_Aint bytes = part(kind, rank);
        MPI(MPI_Win_allocate_shared(bytes, 1 + rank, info, MPI_COMM_WORLD, &base, &win));
        own_place(win, base);
        fill(base, (size_t) bytes, (uint64_t) (rank + 100 * kind));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        everyone_sees(win, kind, contiguous);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        /* A neighbour's memory is written, too. */
        MPI_Aint theirs;
        int unit, next = (rank + 1) % size;
        char *their_base;
        MPI(MPI_Win_shared_query(win, next, &theirs, &unit, &their_base));
        if (theirs)
            their_base[theirs - 1] = (char) (77 + next);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (bytes)
            CHECK_INT(base[bytes - 1], 77 + rank);
        MPI(MPI_Win_free(&win));
    }
}

/* Memory of MPI_Win_create: what cannot be addressed has no size. */
static void other_flavors(void)
{
    static char memory[100];
    MPI_Win win;
    MPI_Aint bytes;
    int unit;
    char *base, *query;
    MPI(MPI_Win_create(memory, 100, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &query));
        CHECK(bytes == 0 || bytes == 100);
        CHECK((bytes == 0) == (query == NULL));
        if (of == rank)
            CHECK(query == memory);
    }
    MPI(MPI_Win_free(&win));
    MPI(MPI_Win_allocate(16 + rank, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    base[15 + rank] = (char) rank;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &query));
        CHECK_INT(bytes, 16 + of);
        CHECK_INT(query[15 + of], of);
    }
    MPI(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &query));
    CHECK_INT(bytes, 16);
    CHECK_INT(query[15], 0);
    MPI_Win second;
    /* A window over another one's memory is as direct. */
    MPI(MPI_Win_create(base, 16 + rank, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &second));
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(second, of, &bytes, &unit, &query));
        CHECK_INT(bytes, 16 + of);
        CHECK_INT(unit, 2);
        CHECK_INT(query[15 + of], of);
    }
    MPI(MPI_Win_free(&second));
    MPI(MPI_Win_free(&win));
    /* Nothing of one's own has no address; memory without a window has. */
    MPI(MPI_Win_allocate(rank ? 0 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK((base == NULL) == (rank != 0));
    own_place(win, base);
    MPI(MPI_Win_free(&win));
    char *own;
    MPI(MPI_Alloc_mem(0, MPI_INFO_NULL, &own));
    CHECK(own != NULL);
    MPI(MPI_Free_mem(own));
    MPI(MPI_Alloc_mem(5000, MPI_INFO_NULL, &own));
    fill(own, 5000, (uint64_t) rank);
    MPI(MPI_Win_create(own + 8, 4992, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &query));
        CHECK_INT(bytes, 4992);
        CHECK_PATTERN(query - 8, 5000, (uint64_t) of);
    }
    MPI(MPI_Win_free(&win));
    MPI(MPI_Free_mem(own));
}

int main(int argc, char **argv)
{
    MPI_Info info;
    start(&argc, &argv);
    shared(MPI_INFO_NULL, 1);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    shared(info, 0);
    /* Only some ask for it. */
    MPI(MPI_Info_set(info, "alloc_shared_noncontig", rank ? "false" : "true"));
    if (!reference)
        shared(info, size > 1);
    MPI(MPI_Info_free(&info));
    if (!reference) /* MPI 4.1 */
        other_flavors();
    return finish();
}
