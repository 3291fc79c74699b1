/* Every constructor on an intercommunicator: what it copies of the attributes (callbacks counted), hints, and that the new one
 * works; several idups at once; the errors of those that need an intracommunicator. */
#include "check.h"

static MPI_Comm half;
static int low, here, there, me;
static int keyval, counted, copies, deletes;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm;
    (void) key;
    CHECK(extra == &copies);
    copies++;
    *(void **) out = (char *) in + 1;
    *flag = in != (void *) 1000; /* that value is not handed on */
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) value;
    (void) extra;
    deletes++;
    return MPI_SUCCESS;
}

/* Of sizes a and b; every rank sends its rank to each of the other side. */
static void use(MPI_Comm inter, int a, int b)
{
    int flag, local, remote, mine, sum = 0;
    MPI(MPI_Comm_test_inter(inter, &flag));
    MPI(MPI_Comm_size(inter, &local));
    MPI(MPI_Comm_remote_size(inter, &remote));
    MPI(MPI_Comm_rank(inter, &mine));
    CHECK(flag);
    CHECK_INT(local, a);
    CHECK_INT(remote, b);
    for (int to = 0; to < remote; to++)
        MPI(MPI_Send(&mine, 1, MPI_INT, to, 3, inter));
    for (int from = 0; from < remote; from++) {
        int value = -1;
        MPI(MPI_Recv(&value, 1, MPI_INT, from, 3, inter, MPI_STATUS_IGNORE));
        CHECK_INT(value, from);
        sum += value;
    }
    CHECK_INT(sum, b * (b - 1) / 2);
    MPI(MPI_Barrier(inter));
}

static void has(MPI_Comm comm, int key, intptr_t expected)
{
    void *value;
    int flag;
    MPI(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_INT(flag, expected != 0);
    if (flag)
        CHECK_INT((intptr_t) value, expected);
}

/* A copy: of counted, which the callback changes, and of keyval as it is; then its end. */
static void end_copy(MPI_Comm *comm, intptr_t of_counted)
{
    int before = deletes;
    has(*comm, counted, of_counted);
    has(*comm, keyval, 77);
    use(*comm, here, there);
    MPI(MPI_Comm_free(comm));
    CHECK_INT(deletes, before + (of_counted != 0));
}

static void end_new(MPI_Comm *comm, int a, int b)
{
    has(*comm, counted, 0);
    has(*comm, keyval, 0);
    if (b)
        use(*comm, a, b);
    MPI(MPI_Comm_free(comm));
}

static void copying(MPI_Comm inter, intptr_t expected)
{
    enum { MANY = 5 };
    MPI_Comm comm, many[MANY];
    MPI_Request requests[MANY];
    MPI_Info info, used;
    char value[20];
    int flag, before = copies;
    MPI(MPI_Comm_dup(inter, &comm));
    CHECK_INT(copies, before + 1);
    end_copy(&comm, expected);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    MPI(MPI_Comm_dup_with_info(inter, info, &comm));
    MPI(MPI_Comm_get_info(comm, &used));
    MPI(MPI_Info_get(used, "mpi_assert_no_any_tag", 19, value, &flag));
    if (!reference)
        CHECK(flag && !strcmp(value, "true"));
    MPI(MPI_Info_free(&used));
    end_copy(&comm, expected);
    for (int i = 0; i < MANY; i++) {
        if (i % 2 && !reference) /* 4.0.2 has the newer function, its mpi.h may not */
            MPI(MPI_Comm_idup_with_info(inter, info, &many[i], &requests[i]));
        else
            MPI(MPI_Comm_idup(inter, &many[i], &requests[i]));
    }
    for (int i = MANY - 1; i >= 0; i--)
        MPI(MPI_Wait(&requests[(i + rank) % MANY], MPI_STATUS_IGNORE));
    CHECK_INT(copies, before + 2 + MANY);
    for (int i = 0; i < MANY; i++)
        end_copy(&many[i], expected);
    MPI(MPI_Info_free(&info));
}

static void dividing(MPI_Comm inter)
{
    MPI_Comm comm;
    MPI_Group mine, some;
    int before = copies, upper = me >= here / 2, a, b;
    MPI(MPI_Comm_group(inter, &mine));
    MPI(MPI_Comm_create(inter, mine, &comm));
    end_new(&comm, here, there);
    MPI(MPI_Group_range_incl(mine, 1, (int[][3]) {{here - 1, 0, -1}}, &some));
    MPI(MPI_Comm_create(inter, some, &comm));
    MPI(MPI_Comm_rank(comm, &a));
    CHECK_INT(a, here - 1 - me);
    end_new(&comm, here, there);
    MPI(MPI_Group_free(&some));
    MPI(MPI_Group_free(&mine));
    /* the lower halves together, and the upper ones */
    a = upper ? here - here / 2 : here / 2;
    b = upper ? there - there / 2 : there / 2;
    MPI(MPI_Comm_split(inter, upper, me, &comm));
    CHECK((comm == MPI_COMM_NULL) == (b == 0));
    if (comm != MPI_COMM_NULL)
        end_new(&comm, a, b);
    if (!reference) { /* does not do it on intercommunicators */
        MPI(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &comm));
        MPI(MPI_Comm_rank(comm, &a));
        CHECK_INT(a, here - 1 - me);
        end_new(&comm, here, there);
        MPI(MPI_Comm_split_type(inter, me ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
        CHECK((comm == MPI_COMM_NULL) == (me > 0));
        if (comm != MPI_COMM_NULL)
            end_new(&comm, 1, 1);
        /* one whole side says nothing: the other has nobody to talk to */
        MPI(MPI_Comm_split_type(inter, low ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI(MPI_Intercomm_merge(inter, low, &comm));
    MPI(MPI_Comm_rank(comm, &a));
    CHECK_INT(a, low ? there + me : me);
    MPI(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(b, size * (size - 1) / 2);
    end_new(&comm, 0, 0);
    CHECK_INT(copies, before);
}

static void refusals(MPI_Comm inter)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Group mine;
    MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_group(inter, &mine));
    CHECK_CLASS(MPI_Comm_create_group(inter, mine, 0, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(half, 0, &comm), MPI_ERR_COMM);
    MPI(MPI_Group_free(&mine));
}

int main(int argc, char **argv)
{
    MPI_Comm inter, of_part, deeper;
    start(&argc, &argv);
    int first = (size + 2) / 3;
    low = rank < first;
    here = low ? first : size - first;
    there = size - here;
    me = low ? rank : rank - first;
    MPI(MPI_Comm_create_keyval(copy, drop, &counted, &copies));
    MPI(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    MPI(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));
    MPI(MPI_Intercomm_create(half, here - 1, MPI_COMM_WORLD, low ? size - 1 : first - 1, 9, &inter));
    MPI(MPI_Comm_set_attr(inter, counted, (void *) 500));
    MPI(MPI_Comm_set_attr(inter, keyval, (void *) 77));
    copying(inter, 501);
    dividing(inter);
    MPI(MPI_Comm_set_attr(inter, counted, (void *) 1000));
    copying(inter, 0);
    MPI(MPI_Comm_set_attr(inter, counted, (void *) 500));
    /* constructors of what constructors made */
    MPI(MPI_Comm_split(inter, 0, -me, &of_part));
    MPI(MPI_Comm_dup(of_part, &deeper));
    MPI(MPI_Comm_free(&of_part));
    use(deeper, here, there);
    MPI(MPI_Intercomm_merge(deeper, !low, &of_part));
    MPI(MPI_Comm_free(&deeper));
    MPI(MPI_Barrier(of_part));
    MPI(MPI_Comm_free(&of_part));
    refusals(inter);
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_free_keyval(&counted));
    MPI(MPI_Comm_free_keyval(&keyval));
    return finish();
}
