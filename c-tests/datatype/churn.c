/* Many types made of each other, freed in every order, their contents asked for in between: what is alive stays right. */
#include "check.h"

enum { SLOTS = 40 };

static struct slot {
    MPI_Datatype type;
    MPI_Aint extent;
    int size;
} slots[SLOTS];

static void check_slot(const struct slot *slot)
{
    MPI_Aint lower, extent;
    int bytes;
    MPI(MPI_Type_get_extent(slot->type, &lower, &extent));
    MPI(MPI_Type_size(slot->type, &bytes));
    CHECK_INT(extent, slot->extent);
    CHECK_INT(bytes, slot->size);
}

/* Packs one element of numbered ints, and looks at the first and the last. */
static void use(struct slot *slot)
{
    static int data[1 << 16];
    static int packed[1 << 16];
    int position = 0;
    if (slot->extent > (MPI_Aint) sizeof data)
        return;
    for (int i = 0; i < (int) (slot->extent / (MPI_Aint) sizeof *data); i++)
        data[i] = i;
    MPI(MPI_Type_commit(&slot->type));
    MPI(MPI_Pack(data, 1, slot->type, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK_INT(position, slot->size);
    CHECK_INT(packed[0], 0);
    CHECK_INT(packed[slot->size / 4 - 1], slot->extent / 4 - 1);
}

static void make(struct slot *slot, const struct slot *old, int how)
{
    MPI_Datatype from = old ? old->type : MPI_INT, types[2] = {from, from};
    MPI_Aint extent = old ? old->extent : 4;
    int bytes = old ? old->size : 4;
    if (extent > 5000)
        from = types[0] = types[1] = MPI_INT, extent = bytes = 4;
    switch (how) {
    case 0: MPI(MPI_Type_contiguous(3, from, &slot->type)); slot->extent = 3 * extent; slot->size = 3 * bytes; break;
    case 1: MPI(MPI_Type_vector(2, 1, 3, from, &slot->type)); slot->extent = 4 * extent; slot->size = 2 * bytes; break;
    case 2: MPI(MPI_Type_dup(from, &slot->type)); slot->extent = extent; slot->size = bytes; break;
    default:
        MPI(MPI_Type_create_struct(2, (int[]) {1, 1}, (MPI_Aint[]) {0, 2 * extent}, types, &slot->type));
        slot->extent = 3 * extent;
        slot->size = 2 * bytes;
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 5;
    start(&argc, &argv);
    for (int i = 0; i < SLOTS; i++)
        slots[i].type = MPI_DATATYPE_NULL;
    for (int round = 0; round < (slow() ? 300 : 20000); round++) {
        struct slot *slot = &slots[next_random(&state) % SLOTS], *other = &slots[next_random(&state) % SLOTS];
        int integers[8], count[4];
        MPI_Aint addresses[4];
        MPI_Datatype inner[2];
        if (slot->type == MPI_DATATYPE_NULL) {
            make(slot, other->type == MPI_DATATYPE_NULL ? NULL : other, (int) (next_random(&state) % 4));
            continue;
        }
        check_slot(slot);
        switch (next_random(&state) % 3) {
        case 0:
            MPI(MPI_Type_free(&slot->type));
            break;
        case 1:
            use(slot);
            break;
        default: /* goes on as what it was made from */
            MPI(MPI_Type_get_envelope(slot->type, &count[0], &count[1], &count[2], &count[3]));
            MPI(MPI_Type_get_contents(slot->type, 8, 4, 2, integers, addresses, inner));
            MPI(MPI_Type_free(&slot->type));
            for (int i = 0; i < count[2]; i++) {
                int a, b, c, combiner;
                MPI(MPI_Type_get_envelope(inner[i], &a, &b, &c, &combiner));
                if (combiner == MPI_COMBINER_NAMED)
                    continue;
                if (slot->type != MPI_DATATYPE_NULL) {
                    MPI(MPI_Type_free(&inner[i]));
                    continue;
                }
                MPI_Aint lower;
                slot->type = inner[i];
                MPI(MPI_Type_get_extent(slot->type, &lower, &slot->extent));
                MPI(MPI_Type_size(slot->type, &slot->size));
                use(slot);
            }
        }
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].type != MPI_DATATYPE_NULL)
            MPI(MPI_Type_free(&slots[i].type));
    return finish();
}
