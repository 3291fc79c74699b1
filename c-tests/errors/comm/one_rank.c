/* One rank has a wrong argument: it gets its error, the others get one too, nobody waits, and the communicator works on. */
#include "wrong.h"

static int last_class, wrong;

/* The class on the rank that is wrong, any error elsewhere. */
static void expect(int code, int is_wrong, int class_, int line)
{
    last_class = check_class_of(code);
    if (code == MPI_SUCCESS || (is_wrong && last_class != class_))
        check_failed(__FILE__, line, "%s, expected %s", class_name(last_class), is_wrong ? "another" : "an error");
}
#define EXPECT(code, class_) do { CHECK_HERE; expect(code, rank == wrong, class_, __LINE__); } while (0)

/* NULL instead of the place for the result, or another argument that does not say who takes part. What was created where all
 * was right is freed; who has talked with the wrong one has an error. */
#define ONE_FAILS(code, class_) do { CHECK_HERE; one_fails(code, rank == wrong, class_, &comm, __LINE__); } while (0)

static void one_fails(int code, int is_wrong, int class_, MPI_Comm *comm, int line)
{
    if (is_wrong)
        expect(code, 1, class_, line);
    else if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL)
        MPI(MPI_Comm_free(comm));
    *comm = MPI_COMM_NULL;
}

static void null_place(void)
{
    MPI_Comm comm = MPI_COMM_NULL, *place = rank == wrong ? NULL : &comm, other;
    MPI_Group world, group;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Info gone = freed_info();
    int sum;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
    /* often enough that the members talk in some of the rounds */
    for (int round = 0; round < 5; round++) {
        ONE_FAILS(MPI_Comm_dup(MPI_COMM_WORLD, place), MPI_ERR_ARG);
        ONE_FAILS(MPI_Comm_dup_with_info(MPI_COMM_WORLD, rank == wrong ? gone : MPI_INFO_NULL, &comm), MPI_ERR_INFO);
        int code = MPI_Comm_idup(MPI_COMM_WORLD, place, &request);
        if (rank == wrong)
            EXPECT(code, MPI_ERR_ARG);
        else if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            MPI(MPI_Comm_free(&comm));
        code = MPI_Comm_idup(MPI_COMM_WORLD, &comm, rank == wrong ? NULL : &request);
        if (rank == wrong)
            EXPECT(code, MPI_ERR_ARG);
        else if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            MPI(MPI_Comm_free(&comm));
        ONE_FAILS(MPI_Comm_create_group(MPI_COMM_WORLD, world, 3, place), MPI_ERR_ARG);
        EXPECT(MPI_Comm_create(MPI_COMM_WORLD, world, place), MPI_ERR_ARG);
        EXPECT(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, place), MPI_ERR_ARG);
        EXPECT(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, place), MPI_ERR_ARG);
        if (size > 1) { /* a process that is not in the communicator, in the group of one rank */
            MPI_Comm most;
            MPI_Group with, without;
            MPI(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, 0, &most));
            MPI(MPI_Comm_group(most, &without));
            MPI(MPI_Group_union(without, world, &with));
            int is = rank == wrong && rank < size - 1;
            int result = MPI_Comm_create_group(most, is ? with : without, 5, &comm);
            if (is)
                EXPECT(result, MPI_ERR_GROUP);
            else if (result == MPI_SUCCESS)
                MPI(MPI_Comm_free(&comm));
            /* another order, which the members notice if they talk: the tag is new in each round */
            if (size > 3 && rank < size - 1) {
                MPI(MPI_Group_incl(without, size - 1, (int[]) {1, 0, 2, 3, 4, 5, 6, 7}, &group));
                result = MPI_Comm_create_group(most, rank == wrong ? group : without, 100 * wrong + round, &comm);
                CHECK(wrong == size - 1 ? result == MPI_SUCCESS : check_class_of(result) == MPI_ERR_OTHER);
                if (result == MPI_SUCCESS)
                    MPI(MPI_Comm_free(&comm));
                MPI(MPI_Group_free(&group));
            }
            MPI(MPI_Group_free(&with));
            MPI(MPI_Group_free(&without));
            MPI(MPI_Comm_free(&most));
        }
        if (size > 1) {
            MPI_Comm half, inter;
            int low = rank < size / 2, mine;
            int with = low == (wrong < size / 2), of_group = wrong < size / 2 ? size / 2 : size - size / 2;
            MPI(MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half));
            MPI(MPI_Comm_size(half, &mine));
            int peer = low ? size / 2 : 0;
            EXPECT(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, peer, round, place), MPI_ERR_ARG);
            /* a wrong leader: the other group cannot be told if it is the leader who says so */
            int is_leader = wrong == 0 || wrong == size / 2;
            if (!is_leader)
                EXPECT(MPI_Intercomm_create(half, rank == wrong ? 77 : 0, MPI_COMM_WORLD, peer, round, &comm), MPI_ERR_RANK);
            if (of_group > 1 && with) /* only this group calls it: the ranks disagree before anybody talks to the other */
                EXPECT(MPI_Intercomm_create(half, rank == wrong, MPI_COMM_WORLD, peer, round, &comm), MPI_ERR_RANK);
            MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, peer, round, &inter));
            MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
            EXPECT(MPI_Intercomm_merge(inter, low, place), MPI_ERR_ARG);
            ONE_FAILS(MPI_Comm_dup(inter, place), MPI_ERR_ARG);
            EXPECT(MPI_Comm_split(inter, 0, 0, place), MPI_ERR_ARG);
            EXPECT(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, place), MPI_ERR_ARG);
            EXPECT(MPI_Comm_create(inter, MPI_GROUP_EMPTY, place), MPI_ERR_ARG);
            MPI(MPI_Comm_free(&inter));
            MPI(MPI_Comm_free(&half));
        }
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &other));
        MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other));
        CHECK_INT(sum, size * (size - 1) / 2);
        MPI(MPI_Comm_free(&other));
    }
    MPI(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    MPI_Group all, empty = MPI_GROUP_EMPTY;
    MPI_Comm comm, half, inter;
    int sum;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (wrong = 0; wrong < size; wrong++) {
        null_place();
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
