/* MPI_Pack and MPI_Unpack: several types one after the other, taken apart differently, sent as MPI_PACKED, absolute addresses, positions
 * of MPI_Pack_c beyond an int. */
#include "check.h"

/* MPI_BOTTOM with absolute addresses. MPICH packs nothing from there. */
static void bottom(int to, int from)
{
    int position = 0, one = 41;
    double two = 4.25;
    char three[4] = "abc", packed[64];
    MPI_Aint places[3];
    MPI_Datatype absolute;
    MPI_Status status;
    MPI(MPI_Get_address(&one, &places[0]));
    MPI(MPI_Get_address(&two, &places[1]));
    MPI(MPI_Get_address(three, &places[2]));
    CHECK_INT(MPI_Aint_diff(places[1], places[0]), (char *) &two - (char *) &one);
    CHECK_INT(MPI_Aint_add(places[0], (char *) &two - (char *) &one), places[1]);
    MPI(MPI_Type_create_struct(3, (int[]) {1, 1, 4}, places, (MPI_Datatype[]) {MPI_INT, MPI_DOUBLE, MPI_CHAR}, &absolute));
    MPI(MPI_Type_commit(&absolute));
    if (!reference) {
        MPI(MPI_Pack(MPI_BOTTOM, 1, absolute, packed, sizeof packed, &position, MPI_COMM_WORLD));
        CHECK_INT(position, 16);
        one = 0, two = 0, three[0] = 0;
        position = 0;
        MPI(MPI_Unpack(packed, 16, &position, MPI_BOTTOM, 1, absolute, MPI_COMM_WORLD));
    }
    CHECK(one == 41 && two == 4.25 && !strcmp(three, "abc"));
    one += rank;
    MPI(MPI_Sendrecv_replace(MPI_BOTTOM, 1, absolute, to, 5, from, 5, MPI_COMM_WORLD, &status));
    CHECK_INT(one, 41 + from);
    MPI(MPI_Type_free(&absolute));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int numbers[6] = {rank, 1, 2, 3, 4, 5}, back[6], position = 0, at = 0, bytes, most = 0;
    double reals[4] = {0.5, 1.5, 2.5, 3.5}, every[2];
    char letters[] = "letters", packed[400], read[8];
    MPI_Datatype second;
    MPI_Status status;
    MPI(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &second));
    MPI(MPI_Type_commit(&second));
    MPI(MPI_Pack(numbers, 6, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    MPI(MPI_Pack(reals, 1, second, packed, sizeof packed, &position, MPI_COMM_WORLD));
    MPI(MPI_Pack(letters, 8, MPI_CHAR, packed, sizeof packed, &position, MPI_COMM_WORLD));
    MPI(MPI_Pack_size(6, MPI_INT, MPI_COMM_WORLD, &bytes));
    most += bytes;
    MPI(MPI_Pack_size(1, second, MPI_COMM_WORLD, &bytes));
    most += bytes;
    MPI(MPI_Pack_size(8, MPI_CHAR, MPI_COMM_WORLD, &bytes));
    CHECK(position <= most + bytes);
    char arrived[sizeof packed];
    MPI(MPI_Sendrecv(packed, position, MPI_PACKED, to, 3, arrived, sizeof arrived, MPI_PACKED, from, 3, MPI_COMM_WORLD, &status));
    MPI(MPI_Get_count(&status, MPI_PACKED, &bytes));
    CHECK_INT(bytes, position);
    MPI(MPI_Unpack(arrived, bytes, &at, back, 2, MPI_INT, MPI_COMM_WORLD));
    MPI(MPI_Unpack(arrived, bytes, &at, back + 2, 4, MPI_INT, MPI_COMM_WORLD));
    MPI(MPI_Unpack(arrived, bytes, &at, every, 2, MPI_DOUBLE, MPI_COMM_WORLD));
    MPI(MPI_Unpack(arrived, bytes, &at, read, 8, MPI_CHAR, MPI_COMM_WORLD));
    CHECK_INT(at, bytes);
    CHECK_INT(back[0], from);
    CHECK_INT(back[5], 5);
    CHECK(every[0] == 0.5 && every[1] == 2.5);
    CHECK_STRING(read, "letters");
    /* packed here, received there as what it is */
    int ints[6] = {0};
    position = 0;
    MPI(MPI_Pack(numbers, 6, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    MPI(MPI_Sendrecv(packed, position, MPI_PACKED, to, 4, ints, 6, MPI_INT, from, 4, MPI_COMM_WORLD, &status));
    CHECK_INT(ints[0], from);
    CHECK_INT(ints[5], 5);

    bottom(to, from);

    /* large counts: the same on few bytes, and sizes beyond an int */
    MPI_Count large = 0, size_;
    MPI_Aint external;
    MPI_Datatype huge;
    MPI(MPI_Pack_c(numbers, 6, MPI_INT, packed, sizeof packed, &large, MPI_COMM_WORLD));
    CHECK_INT(large, 24);
    large = 0;
    MPI(MPI_Unpack_c(packed, 24, &large, back, 6, MPI_INT, MPI_COMM_WORLD));
    CHECK_INT(large, 24);
    MPI(MPI_Type_contiguous(1 << 30, MPI_INT, &huge));
    MPI(MPI_Type_commit(&huge));
    MPI(MPI_Pack_size_c(4, huge, MPI_COMM_WORLD, &size_));
    CHECK_INT(size_, (MPI_Count) 1 << 34);
    if (!reference) { /* which wraps */
        MPI(MPI_Pack_size(4, huge, MPI_COMM_WORLD, &bytes));
        CHECK_INT(bytes, MPI_UNDEFINED);
    }
    if (!reference) {
        MPI(MPI_Pack_external_size("external32", 4, huge, &external));
        CHECK_INT(external, (MPI_Aint) 1 << 34);
    }
    MPI(MPI_Type_free(&huge));
    MPI(MPI_Type_free(&second));
    return finish();
}
