/* Accesses of pieces of all ranks that lie between each other, collective and each rank for itself, at random, against a model of the file,
 * byte by byte: cyclic and irregular, of one byte to some kilobytes, with and without holes, overlapping, with ranks that have nothing, and
 * with the file's end inside. args: [rounds] [seed] */
#include "files.h"
#include "random_type.h"

enum { MODEL = 5 << 20, NOBODY = -1, PIECES = 6000 };
static unsigned char model[MODEL], found[MODEL];
/* Whose byte it is, and who else writes it, in this round. */
static short owner[MODEL], other[MODEL];

static unsigned char value(int of, long at, int round)
{
    return (unsigned char) ((unsigned long) (at * 31 + at / 251 + of * 7 + round * 13) * 2654435761UL >> 20);
}

struct part {
    long at;
    int bytes, of, also;
};

/* The pieces of all ranks, ascending. Returns how many; `period`: they are equal, and so far from turn to turn, or 0. */
static int pieces_of(uint64_t *state, struct part *pieces, long *period)
{
    static const int most[] = {1, 3, 17, 64, 600, 4095, 9000};
    int kind = below(state, 4), longest = most[below(state, 7)], number = 1 + below(state, below(state, 2) ? PIECES - 1 : 40);
    int holes = below(state, 3) == 0, overlaps = below(state, 5) == 0, without = below(state, 4) ? NOBODY : below(state, size);
    long at = below(state, 4) ? below(state, 3 << 20) : below(state, 100);
    int bytes = 1 + below(state, longest), gap = holes ? below(state, 2 * longest) : 0, n = 0;
    *period = kind < 2 && !overlaps && without == NOBODY ? (long) bytes * size + gap : 0;
    /* One rank ends early, one begins late. */
    int early = *period && below(state, 2) ? below(state, size) : NOBODY, late = *period && below(state, 2) ? below(state, size) : NOBODY;
    int until = number - below(state, 4 * size), from = below(state, 4 * size);
    for (int i = 0; n < number; i++) {
        struct part *it = &pieces[n];
        if (kind >= 2) {
            bytes = 1 + below(state, longest);
            gap = holes && below(state, kind == 2 ? 3 : 200) == 0 ? below(state, 2 * longest) : 0;
        }
        if (at + bytes + gap >= MODEL - 1000)
            break;
        *it = (struct part){at, bytes, kind < 2 ? i % size : below(state, size), NOBODY};
        if (overlaps && below(state, 10) == 0)
            it->also = below(state, size);
        at += bytes + (kind >= 2 || i % size == size - 1 ? gap : 0);
        if (it->of != without && (it->of != early || i < until) && (it->of != late || i >= from))
            n++;
    }
    return n;
}

static void round_of(uint64_t *state, MPI_File file, const char *name, int round)
{
    static struct part pieces[PIECES];
    static int lengths[PIECES];
    static MPI_Aint places[PIECES];
    long period;
    int number = pieces_of(state, pieces, &period), n = 0, how = below(state, 5), loose = below(state, 2), cut = below(state, 3);
    int shares_shape = below(state, 4) > 0;
    long bytes = 0, last = 0;
    memset(owner, 0xff, sizeof owner);
    memset(other, 0xff, sizeof other);
    for (int i = 0; i < number; i++) {
        for (int b = 0; b < pieces[i].bytes; b++) {
            owner[pieces[i].at + b] = (short) pieces[i].of;
            other[pieces[i].at + b] = (short) pieces[i].also;
        }
        last = pieces[i].at + pieces[i].bytes;
        if (pieces[i].of == rank || pieces[i].also == rank) {
            lengths[n] = pieces[i].bytes;
            places[n++] = pieces[i].at;
            bytes += pieces[i].bytes;
        }
    }
    /* In memory three bytes of five, or all. */
    MPI_Datatype filetype, memtype = MPI_BYTE, three;
    MPI_Offset disp = 0, first = 0;
    if (period > 0 && n > 0 && shares_shape) {
        /* One piece is a filetype; the view begins some of them earlier. */
        long back = places[0] / period < 3 ? places[0] / period : 3;
        disp = places[0] - back * period;
        first = back * lengths[0];
        MPI(MPI_Type_contiguous(lengths[0], MPI_BYTE, &three));
        MPI(MPI_Type_create_resized(three, 0, period, &filetype));
        MPI(MPI_Type_free(&three));
    } else
        MPI(MPI_Type_create_hindexed(n, lengths, places, MPI_BYTE, &filetype));
    MPI(MPI_Type_commit(&filetype));
    long step = 1, most = bytes, wide;
    int count = (int) bytes;
    if (loose) {
        MPI(MPI_Type_contiguous(3, MPI_BYTE, &three));
        MPI(MPI_Type_create_resized(three, 0, 5, &memtype));
        MPI(MPI_Type_commit(&memtype));
        MPI(MPI_Type_free(&three));
        count = (int) (bytes / 3);
        most = 3L * count;
        step = 0;
    }
    wide = loose ? 5L * count : bytes;
    unsigned char *memory = malloc((size_t) wide + 1), *packed = malloc((size_t) bytes + 1), *copy = malloc((size_t) wide + 1);
    long k = 0;
    for (int i = 0; i < n; i++)
        for (int b = 0; b < lengths[i]; b++, k++)
            packed[k] = value(rank, places[i] + b, round);
    memset(memory, 0x5a, (size_t) wide + 1);
    for (k = 0; k < most; k++)
        memory[step ? k : k / 3 * 5 + k % 3] = packed[k];
    /* What a loose memory has no room for is not written. */
    MPI_Status status;
    long lost = bytes - most;
    MPI(MPI_File_set_view(file, disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    MPI(MPI_File_seek(file, first, MPI_SEEK_SET));
    spoil(&status);
    MPI_Request request;
    int behind = how < 2 && round % 2;
    switch (behind ? 10 + how : how) {
    case 0: MPI(MPI_File_write_all(file, memory, count, memtype, &status)); break;
    case 1: MPI(MPI_File_write_at_all(file, first, memory, count, memtype, &status)); break;
    case 2:
        MPI(MPI_File_write_at_all_begin(file, first, memory, count, memtype));
        MPI(MPI_File_write_at_all_end(file, memory, &status));
        break;
    case 3:
        MPI(MPI_File_write_all_begin(file, memory, count, memtype));
        MPI(MPI_File_write_all_end(file, memory, &status));
        break;
    case 10:
        MPI(MPI_File_iwrite_all(file, memory, count, memtype, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    case 11:
        MPI(MPI_File_iwrite_at_all(file, first, memory, count, memtype, &request));
        MPI(MPI_Wait(&request, &status));
        break;
    default:
        MPI(MPI_File_write(file, memory, count, memtype, &status));
        barrier();
    }
    CHECK_MOVED(status, most);
    /* The last bytes of each rank that were not written are in nobody's name. */
    int left[2] = {(int) lost, 0}, all_left[2 * 64];
    MPI(MPI_Allgather(left, 2, MPI_INT, all_left, 2, MPI_INT, MPI_COMM_WORLD));
    for (int of = 0; of < size; of++)
        for (long at = last - 1; all_left[2 * of] > 0 && at >= 0; at--)
            if (owner[at] == of || other[at] == of) {
                if (owner[at] == of)
                    owner[at] = other[at] == of ? NOBODY : other[at];
                other[at] = NOBODY;
                all_left[2 * of]--;
            }
    long reach = 0;
    for (long at = 0; at < last; at++)
        if (owner[at] != NOBODY) {
            model[at] = value(owner[at], at, round);
            reach = at + 1;
        }
    long length = file_read(name, found, MODEL, 0);
    CHECK(length >= reach);
    for (long at = 0; at < length; at++)
        if (found[at] != model[at]) {
            if (other[at] != NOBODY && found[at] == value(other[at], at, round)) {
                model[at] = found[at];
                continue;
            }
            check_failed(__FILE__, __LINE__, "byte %ld of the file is %d, expected %d of rank %d (%d pieces, last %ld)", at, found[at],
                         model[at], owner[at], number, last);
            break;
        }
    barrier();
    /* The end of the file somewhere. */
    MPI_Offset end = length;
    if (cut == 0 && last > 0)
        end = below(state, (int) last);
    if (cut == 1)
        end = last > 0 ? last - below(state, last < 50 ? (int) last : 50) : 0;
    end = end < length ? end : length;
    MPI(MPI_File_set_size(file, end));
    if (end < MODEL)
        memset(model + end, 0, (size_t) (MODEL - end));
    long there = 0;
    k = 0;
    for (int i = 0; i < n; i++)
        for (int b = 0; b < lengths[i] && k < most; b++, k++) {
            packed[k] = model[places[i] + b];
            there += places[i] + b < end;
        }
    memset(memory, 0xa5, (size_t) wide + 1);
    memcpy(copy, memory, (size_t) wide + 1);
    for (k = 0; k < there; k++)
        copy[step ? k : k / 3 * 5 + k % 3] = packed[k];
    spoil(&status);
    MPI(MPI_File_seek(file, first, MPI_SEEK_SET));
    if (how == 4)
        MPI(MPI_File_read(file, memory, count, memtype, &status));
    else if (behind) {
        MPI(MPI_File_iread_at_all(file, first, memory, count, memtype, &request));
        MPI(MPI_Wait(&request, &status));
    } else if (how % 2 == 0)
        MPI(MPI_File_read_all(file, memory, count, memtype, &status));
    else {
        MPI(MPI_File_read_at_all_begin(file, first, memory, count, memtype));
        MPI(MPI_File_read_at_all_end(file, memory, &status));
    }
    CHECK_MOVED(status, there);
    for (k = 0; k <= wide; k++)
        if (memory[k] != copy[k]) {
            check_failed(__FILE__, __LINE__, "byte %ld of %ld of the memory is %d, expected %d; %ld are in the file", k, wide, memory[k], copy[k],
                         there);
            break;
        }
    MPI(MPI_Type_free(&filetype));
    if (loose)
        MPI(MPI_Type_free(&memtype));
    free(memory);
    free(packed);
    free(copy);
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    MPI_File file;
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 40, failed = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 9;
    if (slow())
        rounds /= 10;
    file_name(name, "interleaved");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < rounds && !failed; i++) {
        uint64_t state = seed + (uint64_t) i * 7919;
        round_of(&state, file, name, i);
        int own = check_failures;
        MPI(MPI_Allreduce(&own, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        if (failed && rank == 0)
            fprintf(stderr, "round %d of seed %llu\n", i, (unsigned long long) seed);
    }
    MPI(MPI_File_close(&file));
    return finish();
}
