/* MPI_Get_count and MPI_Get_elements of what came as part of derived types, and MPI_Status_set_elements, in all forms. */
#include "check.h"

static void check_counts(int line, const MPI_Status *status, MPI_Datatype type, int count, int elements)
{
    int found = -9, found_elements = -9;
    MPI_Count large = -9, large_elements = -9, elements_x = -9;
    MPI(MPI_Get_count(status, type, &found));
    MPI(MPI_Get_elements(status, type, &found_elements));
    MPI(MPI_Get_count_c(status, type, &large));
    MPI(MPI_Get_elements_c(status, type, &large_elements));
    MPI(MPI_Get_elements_x(status, type, &elements_x));
    if (found != count || large != count)
        check_failed(__FILE__, line, "count %d, large %lld, expected %d", found, (long long) large, count);
    if (found_elements != elements || large_elements != elements || elements_x != elements)
        check_failed(__FILE__, line, "elements %d, large %lld, _x %lld, expected %d", found_elements, (long long) large_elements,
                     (long long) elements_x, elements);
}
#define COUNTS(status, type, count, elements) check_counts(__LINE__, status, type, count, elements)

/* Receives so many packed bytes as elements of a type. */
static MPI_Status received(MPI_Datatype type, int bytes)
{
    static char out[1000], in[4000];
    MPI_Status status;
    MPI(MPI_Sendrecv(out, bytes, MPI_PACKED, 0, 0, in, 10, type, 0, 0, MPI_COMM_SELF, &status));
    return status;
}

int main(int argc, char **argv)
{
    MPI_Datatype record, vector, nested, empty, huge;
    MPI_Status status;
    start(&argc, &argv);
    /* int, 3 doubles, 2 chars: sizes 4 8 8 8 1 1 */
    MPI(MPI_Type_create_struct(3, (int[]) {1, 3, 2}, (MPI_Aint[]) {0, 8, 32}, (MPI_Datatype[]) {MPI_INT, MPI_DOUBLE, MPI_CHAR}, &record));
    MPI(MPI_Type_commit(&record));
    const struct { int bytes, count, elements; } records[] = {
        {0, 0, 0}, {3, MPI_UNDEFINED, MPI_UNDEFINED}, {4, MPI_UNDEFINED, 1}, {12, MPI_UNDEFINED, 2}, {13, MPI_UNDEFINED, MPI_UNDEFINED},
        {28, MPI_UNDEFINED, 4}, {29, MPI_UNDEFINED, 5}, {30, 1, 6}, {34, MPI_UNDEFINED, 7}, {60, 2, 12}, {89, MPI_UNDEFINED, 17}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        status = received(record, records[i].bytes);
        if (reference && records[i].bytes % 30 && records[i].elements == MPI_UNDEFINED)
            continue; /* MPICH counts the whole elements */
        COUNTS(&status, record, records[i].count, records[i].elements);
    }
    MPI(MPI_Type_vector(4, 2, 5, MPI_SHORT, &vector));
    MPI(MPI_Type_commit(&vector));
    status = received(vector, 16);
    COUNTS(&status, vector, 1, 8);
    status = received(vector, 22);
    COUNTS(&status, vector, MPI_UNDEFINED, 11);
    MPI(MPI_Type_create_struct(2, (int[]) {2, 1}, (MPI_Aint[]) {0, 200}, (MPI_Datatype[]) {record, vector}, &nested));
    MPI(MPI_Type_commit(&nested));
    status = received(nested, 76);
    COUNTS(&status, nested, 1, 20);
    status = received(nested, 62);
    COUNTS(&status, nested, MPI_UNDEFINED, 13);

    /* what is set is what is got; MPICH takes elements of the type, not basic ones */
    for (int elements = 0; elements < 45 && !reference; elements++) {
        MPI_Datatype types[3] = {record, vector, nested};
        int got = -1;
        for (int t = 0; t < 3; t++) {
            memset(&status, 0, sizeof status);
            MPI(MPI_Status_set_elements(&status, types[t], elements));
            MPI(MPI_Get_elements(&status, types[t], &got));
            CHECK_INT(got, elements);
            MPI_Count large = -1;
            MPI(MPI_Status_set_elements_x(&status, types[t], elements + 1));
            MPI(MPI_Get_elements_x(&status, types[t], &large));
            CHECK_INT(large, elements + 1);
        }
    }
    memset(&status, 0, sizeof status);
    MPI(MPI_Status_set_elements(&status, record, reference ? 3 : 18));
    COUNTS(&status, record, 3, 18);

    MPI(MPI_Type_contiguous(0, MPI_INT, &empty));
    MPI(MPI_Type_commit(&empty));
    status = received(empty, 0);
    COUNTS(&status, empty, 0, 0);
    /* more elements than an int counts */
    MPI(MPI_Type_contiguous_c((MPI_Count) 3 << 30, MPI_CHAR, &huge));
    MPI(MPI_Type_commit(&huge));
    MPI_Count large = -1;
    int small = -1;
    memset(&status, 0, sizeof status);
    MPI(MPI_Status_set_elements_x(&status, huge, reference ? 2 : (MPI_Count) 6 << 30));
    MPI(MPI_Get_count_c(&status, huge, &large));
    CHECK_INT(large, 2);
    MPI(MPI_Get_count(&status, huge, &small));
    CHECK_INT(small, 2);
    MPI(MPI_Get_elements_x(&status, huge, &large));
    CHECK_INT(large, (MPI_Count) 6 << 30);
    MPI(MPI_Get_elements(&status, huge, &small));
    CHECK_INT(small, MPI_UNDEFINED);
    MPI(MPI_Type_size(huge, &small));
    CHECK_INT(small, MPI_UNDEFINED);
    MPI(MPI_Type_size_x(huge, &large));
    CHECK_INT(large, (MPI_Count) 3 << 30);
    MPI(MPI_Type_free(&huge));
    MPI(MPI_Type_free(&empty));
    MPI(MPI_Type_free(&nested));
    MPI(MPI_Type_free(&vector));
    MPI(MPI_Type_free(&record));
    return finish();
}
