/* Datasets of parallel HDF5: contiguous and chunked, of one and of three dimensions, written and read by all ranks together and by
 * each for itself. Every element is verified, by other ranks than the one that wrote it, and by HDF5 without MPI.
 * usage: blocks FILE */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;
static MPI_Info info = MPI_INFO_NULL;

#define CHECK(condition) do { \
        if (!(condition)) { \
            fprintf(stderr, "[rank %d of %d] %s:%d: %s does not hold\n", rank, ranks, __FILE__, __LINE__, #condition); \
            if (++failures > 10) MPI_Abort(MPI_COMM_WORLD, 3); \
        } } while (0)

/* Fails at once: a rank that goes on alone would leave the others waiting. */
#define H5(call) h5_checked((long long) (call), #call, __LINE__)

static hid_t h5_checked(long long result, const char *call, int line)
{
    if (result < 0) {
        fprintf(stderr, "[rank %d of %d] %s:%d: %s failed\n", rank, ranks, __FILE__, line, call);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return (hid_t) result;
}

enum { DIMENSIONS = 3 };

/* A part of a dataset. */
struct part {
    int dimensions;
    hsize_t start[DIMENSIONS], stride[DIMENSIONS], count[DIMENSIONS];
};

struct dataset {
    const char *name;
    int dimensions;
    hsize_t size[DIMENSIONS];
    /* 0: contiguous. */
    hsize_t chunk[DIMENSIONS];
};

static hsize_t elements(const struct part *part)
{
    hsize_t all = 1;
    for (int i = 0; i < part->dimensions; i++)
        all *= part->count[i];
    return all;
}

/* What an element has, by its place. */
static int value_at(const struct dataset *set, const hsize_t *place, int seed)
{
    hsize_t index = 0;
    for (int i = 0; i < set->dimensions; i++)
        index = index * set->size[i] + place[i];
    return (int) (index * 2654435761u + (unsigned) seed);
}

/* Fills memory with a part's elements, or counts those in it that are wrong. */
static long visit(const struct dataset *set, const struct part *part, int seed, int *memory, int fill)
{
    long wrong = 0;
    hsize_t all = elements(part);
    for (hsize_t n = 0; n < all; n++) {
        hsize_t place[DIMENSIONS], rest = n;
        for (int i = part->dimensions - 1; i >= 0; i--) {
            place[i] = part->start[i] + rest % part->count[i] * part->stride[i];
            rest /= part->count[i];
        }
        int value = value_at(set, place, seed);
        if (fill)
            memory[n] = value;
        else
            wrong += memory[n] != value;
    }
    return wrong;
}

/* Block number `of` of as many as there are ranks, cut along each dimension as MPI_Dims_create says. */
static struct part block(const struct dataset *set, int of)
{
    struct part part = {set->dimensions, {0}, {1, 1, 1}, {0}};
    int grid[DIMENSIONS] = {0};
    MPI_Dims_create(ranks, set->dimensions, grid);
    for (int i = set->dimensions - 1; i >= 0; i--) {
        hsize_t at = (hsize_t) (of % grid[i]), parts = (hsize_t) grid[i];
        of /= grid[i];
        part.start[i] = set->size[i] * at / parts;
        part.count[i] = set->size[i] * (at + 1) / parts - part.start[i];
    }
    return part;
}

/* Every so many-th element of the last dimension. */
static struct part cyclic(const struct dataset *set, int of)
{
    struct part part = {set->dimensions, {0}, {1, 1, 1}, {0}};
    int last = set->dimensions - 1;
    memcpy(part.count, set->size, sizeof part.count);
    part.start[last] = (hsize_t) of;
    part.stride[last] = (hsize_t) ranks;
    part.count[last] = (set->size[last] - (hsize_t) of + (hsize_t) ranks - 1) / (hsize_t) ranks;
    return part;
}

/* The first rank has all of it. */
static struct part only_one(const struct dataset *set, int of)
{
    struct part part = {set->dimensions, {0}, {1, 1, 1}, {0}};
    if (of == 0)
        memcpy(part.count, set->size, sizeof part.count);
    return part;
}

typedef struct part distribution(const struct dataset *, int);

/* Without MPI. */
enum { SERIAL = -1 };

/* Writes or reads a part, whose elements lie together in memory. */
static void move(hid_t set, const struct part *part, int *memory, int mode, int writes)
{
    hsize_t all = elements(part), one = all ? all : 1;
    hid_t file_space = H5(H5Dget_space(set)), space = H5(H5Screate_simple(1, &one, NULL)), how = H5(H5Pcreate(H5P_DATASET_XFER));
    if (all)
        H5(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, part->start, part->stride, part->count, NULL));
    else {
        H5(H5Sselect_none(file_space));
        H5(H5Sselect_none(space));
    }
    if (mode != SERIAL)
        H5(H5Pset_dxpl_mpio(how, (H5FD_mpio_xfer_t) mode));
    if (writes)
        H5(H5Dwrite(set, H5T_NATIVE_INT, space, file_space, how, memory));
    else
        H5(H5Dread(set, H5T_NATIVE_INT, space, file_space, how, memory));
    H5(H5Pclose(how));
    H5(H5Sclose(space));
    H5(H5Sclose(file_space));
}

static hid_t create(hid_t file, const struct dataset *set)
{
    hid_t space = H5(H5Screate_simple(set->dimensions, set->size, NULL)), how = H5(H5Pcreate(H5P_DATASET_CREATE));
    if (set->chunk[0])
        H5(H5Pset_chunk(how, set->dimensions, set->chunk));
    hid_t made = H5(H5Dcreate2(file, set->name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
    H5(H5Pclose(how));
    H5(H5Sclose(space));
    return made;
}

/* Written in one way, and read in all. */
static void write_and_read(hid_t file, const struct dataset *set, distribution *given, H5FD_mpio_xfer_t mode, int seed)
{
    hid_t opened = H5(H5Dopen2(file, set->name, H5P_DEFAULT));
    struct part part = given(set, rank);
    int *memory = malloc(sizeof(int) * (elements(&part) + 1));
    visit(set, &part, seed, memory, 1);
    move(opened, &part, memory, mode, 1);
    free(memory);
    H5(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MPI_Barrier(MPI_COMM_WORLD);
    static distribution *const all[] = {block, cyclic, only_one};
    for (int i = 0; i < 3; i++)
        for (H5FD_mpio_xfer_t way = H5FD_MPIO_INDEPENDENT; way <= H5FD_MPIO_COLLECTIVE; way++) {
            part = all[i](set, (rank + 1) % ranks);
            memory = malloc(sizeof(int) * (elements(&part) + 1));
            memset(memory, 0x5a, sizeof(int) * (elements(&part) + 1));
            move(opened, &part, memory, way, 0);
            CHECK(visit(set, &part, seed, memory, 0) == 0);
            CHECK(memory[elements(&part)] == 0x5a5a5a5a);
            free(memory);
        }
    H5(H5Dclose(opened));
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct dataset SETS[] = {
    {"line", 1, {10007}, {0}},
    {"line in chunks", 1, {10007}, {64}},
    {"grid", 3, {24, 20, 30}, {0}},
    {"grid in chunks", 3, {24, 20, 30}, {5, 7, 11}},
};
enum { NUMBER = sizeof SETS / sizeof *SETS };

static hid_t access_by_all(int collective_metadata)
{
    hid_t access = H5(H5Pcreate(H5P_FILE_ACCESS));
    H5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info));
    if (collective_metadata) {
        H5(H5Pset_all_coll_metadata_ops(access, 1));
        H5(H5Pset_coll_metadata_write(access, 1));
    }
    return access;
}

static void make(const char *name)
{
    hid_t access = access_by_all(0), file = H5(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    hsize_t one = 1;
    hid_t group = H5(H5Gcreate2(file, "settings", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)), space = H5(H5Screate_simple(1, &one, NULL));
    hid_t attribute = H5(H5Acreate2(group, "ranks", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    H5(H5Awrite(attribute, H5T_NATIVE_INT, &ranks));
    H5(H5Aclose(attribute));
    H5(H5Gclose(group));
    H5(H5Sclose(space));
    for (int i = 0; i < NUMBER; i++)
        H5(H5Dclose(create(file, &SETS[i])));
    for (int i = 0; i < NUMBER; i++)
        for (H5FD_mpio_xfer_t mode = H5FD_MPIO_INDEPENDENT; mode <= H5FD_MPIO_COLLECTIVE; mode++) {
            write_and_read(file, &SETS[i], block, mode, 10 * i + 1);
            write_and_read(file, &SETS[i], cyclic, mode, 10 * i + 2);
            write_and_read(file, &SETS[i], only_one, mode, 10 * i + 3);
        }
    H5(H5Pclose(access));
    H5(H5Fclose(file));
}

/* What was written last, by another opening of the file, with metadata read and written by all together, in atomic mode; and a
 * dataset that grows. */
static void again(const char *name)
{
    static const struct dataset growing = {"growing", 1, {1000}, {10}};
    hid_t access = access_by_all(1), file = H5(H5Fopen(name, H5F_ACC_RDWR, access));
    hbool_t atomic = 0;
    H5(H5Fset_mpi_atomicity(file, 1));
    H5(H5Fget_mpi_atomicity(file, &atomic));
    CHECK(atomic);
    for (int i = 0; i < NUMBER; i++) {
        hid_t set = H5(H5Dopen2(file, SETS[i].name, H5P_DEFAULT));
        struct part part = block(&SETS[i], (rank + 1) % ranks);
        int *memory = malloc(sizeof(int) * (elements(&part) + 1));
        move(set, &part, memory, H5FD_MPIO_COLLECTIVE, 0);
        CHECK(visit(&SETS[i], &part, 10 * i + 3, memory, 0) == 0);
        free(memory);
        H5(H5Dclose(set));
    }
    hsize_t size = 100, most = H5S_UNLIMITED, chunk = 10;
    hid_t space = H5(H5Screate_simple(1, &size, &most)), how = H5(H5Pcreate(H5P_DATASET_CREATE));
    H5(H5Pset_chunk(how, 1, &chunk));
    hid_t set = H5(H5Dcreate2(file, growing.name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
    for (hsize_t from = 0; from < growing.size[0]; from = size, size += 300) {
        H5(H5Dset_extent(set, &size));
        struct part part = {1, {from + (hsize_t) rank}, {(hsize_t) ranks}, {0}};
        part.count[0] = (size - from - (hsize_t) rank + (hsize_t) ranks - 1) / (hsize_t) ranks;
        int *memory = malloc(sizeof(int) * (elements(&part) + 1));
        visit(&growing, &part, 99, memory, 1);
        move(set, &part, memory, H5FD_MPIO_COLLECTIVE, 1);
        free(memory);
    }
    H5(H5Dclose(set));
    H5(H5Pclose(how));
    H5(H5Sclose(space));
    H5(H5Pclose(access));
    H5(H5Fclose(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    /* Without MPI. */
    file = H5(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT));
    int found = 0;
    hid_t attribute = H5(H5Aopen_by_name(file, "settings", "ranks", H5P_DEFAULT, H5P_DEFAULT));
    H5(H5Aread(attribute, H5T_NATIVE_INT, &found));
    H5(H5Aclose(attribute));
    CHECK(found == ranks);
    for (int i = 0; i <= NUMBER; i++) {
        const struct dataset *expected = i < NUMBER ? &SETS[i] : &growing;
        struct part all = only_one(expected, 0);
        int *memory = malloc(sizeof(int) * elements(&all));
        set = H5(H5Dopen2(file, expected->name, H5P_DEFAULT));
        move(set, &all, memory, SERIAL, 0);
        CHECK(visit(expected, &all, i < NUMBER ? 10 * i + 3 : 99, memory, 0) == 0);
        H5(H5Dclose(set));
        free(memory);
    }
    H5(H5Fclose(file));
}

int main(int argc, char **argv)
{
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 4);
    make(argv[1]);
    again(argv[1]);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    H5(H5close());
    MPI_Finalize();
    if (rank == 0 && all == 0)
        printf("%d ranks, all elements are right\n", ranks);
    return failures != 0;
}
