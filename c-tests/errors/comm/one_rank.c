/* One rank has a wrong argument: it gets its error, the others get one too, nobody waits, and the communicator works on. */
#include "wrong.h"

static int last_class;

/* The class on the rank that is wrong, any error elsewhere. */
static void expect(int code, int is_wrong, int class_, int line)
{
    last_class = check_class_of(code);
    if (code == MPI_SUCCESS || (is_wrong && last_class != class_))
        check_failed(__FILE__, line, "%s, expected %s", class_name(last_class), is_wrong ? "another" : "an error");
}
#define EXPECT(code, class_) do { CHECK_HERE; expect(code, rank == wrong, class_, __LINE__); } while (0)

int main(int argc, char **argv)
{
    MPI_Group all, empty = MPI_GROUP_EMPTY;
    MPI_Comm comm, half, inter;
    int sum;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int wrong = 0; wrong < size; wrong++) {
        int is = rank == wrong;
        EXPECT(MPI_Comm_create(MPI_COMM_WORLD, is ? MPI_GROUP_NULL : all, &comm), MPI_ERR_GROUP);
        EXPECT(MPI_Comm_split(MPI_COMM_WORLD, is ? -7 : 1, 0, &comm), MPI_ERR_ARG);
        EXPECT(MPI_Comm_split_type(MPI_COMM_WORLD, is ? 99 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
        if (size > 1)
            EXPECT(MPI_Comm_split_type(MPI_COMM_WORLD, is ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
        /* a subset of the world, but not of half of it */
        if (size > 1) {
            int low = rank < size / 2;
            MPI(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half));
            int with = wrong < size / 2, code = MPI_Comm_create(half, is ? all : empty, &comm);
            if (low == with)
                EXPECT(code, MPI_ERR_GROUP);
            else
                CHECK(code == MPI_SUCCESS && comm == MPI_COMM_NULL);
            MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, wrong, &inter));
            MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
            EXPECT(MPI_Comm_create(inter, is ? all : empty, &comm), MPI_ERR_GROUP);
            EXPECT(MPI_Comm_split(inter, is ? -7 : 1, 0, &comm), MPI_ERR_ARG);
            int of_group = with ? size / 2 : size - size / 2;
            if (of_group > 1)
                EXPECT(MPI_Intercomm_merge(inter, is, &comm), MPI_ERR_ARG);
            MPI(MPI_Intercomm_merge(inter, low, &comm));
            MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            CHECK_INT(sum, size * (size - 1) / 2);
            MPI(MPI_Comm_free(&comm));
            MPI(MPI_Comm_free(&inter));
            MPI(MPI_Comm_free(&half));
        }
    }
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size * (size - 1) / 2);
    MPI(MPI_Group_free(&all));
    return finish();
}
