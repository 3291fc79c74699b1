/* MPI_Comm_idup: many outstanding, beside blocking collectives, completed backwards; all kinds of completion. */
#include "check.h"

static int copies = 0, deletes = 0;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) key, (void) extra;
    *(intptr_t *) out = (intptr_t) in + 1;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm, (void) key, (void) value, (void) extra;
    deletes++;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) key, (void) extra, (void) in, (void) out;
    *flag = 0;
    return rank == size - 1 ? MPI_ERR_KEYVAL : MPI_SUCCESS;
}

static void use(MPI_Comm comm, int seed)
{
    int out = rank + seed, in = -1, result, sum;
    MPI(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    MPI(MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in, (rank + size - 1) % size + seed);
    MPI(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
    enum { MANY = 64 };
    MPI_Comm comms[MANY], dup;
    MPI_Request requests[MANY];
    int key, found, flag, sum;
    void *value;
    start(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            MPI(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
            if (i % 16 == 5) {
                MPI(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
                CHECK_INT(sum, i * size);
                MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
                use(dup, i);
                MPI(MPI_Comm_free(&dup));
            }
        }
        if (round == 0) {
            for (int i = MANY - 1; i >= 0; i--)
                MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        } else if (round == 1) {
            MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        } else {
            for (int done = 0; done < MANY; done++) {
                int index = -1;
                flag = 0;
                while (!flag)
                    MPI(MPI_Testany(MANY, requests, &index, &flag, MPI_STATUS_IGNORE));
                CHECK(index >= 0 && index < MANY && requests[index] == MPI_REQUEST_NULL);
            }
        }
        for (int i = 0; i < MANY; i++) {
            CHECK(requests[i] == MPI_REQUEST_NULL);
            use(comms[i], i);
        }
        for (int i = 0; i < MANY; i++)
            MPI(MPI_Comm_free(&comms[i]));
    }
    /* a duplicate of a duplicate; the parent is freed at once */
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI(MPI_Comm_idup(dup, &comms[0], &requests[0]));
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Comm_idup(comms[0], &comms[1], &requests[1]));
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    use(comms[1], 9);
    MPI(MPI_Comm_free(&comms[0]));
    MPI(MPI_Comm_free(&comms[1]));
    /* what needs no communication works at once */
    MPI(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &requests[0]));
    if (!reference) {
        MPI(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
        MPI(MPI_Comm_set_name(dup, "to be"));
    }
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    use(dup, 3);
    MPI(MPI_Comm_free(&dup));
    /* attributes are copied as they are when the call is made */
    MPI(MPI_Comm_create_keyval(copy, delete_, &key, NULL));
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *) 10));
    MPI(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &requests[0]));
    CHECK_INT(copies, 1);
    MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *) 20));
    CHECK_INT(deletes, 1);
    MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI(MPI_Comm_get_attr(dup, key, &value, &found));
    CHECK(found && (intptr_t) value == 11);
    MPI(MPI_Comm_free(&dup));
    CHECK_INT(deletes, 2);
    MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
    MPI(MPI_Comm_free_keyval(&key));
    /* a copy callback fails on the last rank: it gets the error and nothing else, the others get their duplicates */
    if (!reference) {
        MPI_Comm parent;
        MPI(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL));
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
        MPI(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
        MPI(MPI_Comm_set_attr(parent, key, NULL));
        for (int i = 0; i < 20; i++) {
            int code = MPI_Comm_idup(parent, &dup, &requests[0]);
            if (rank == size - 1) {
                CHECK_CLASS(code, MPI_ERR_KEYVAL);
            } else {
                MPI(code);
                MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
                MPI(MPI_Comm_free(&dup));
            }
            MPI(MPI_Barrier(MPI_COMM_WORLD));
        }
        MPI(MPI_Comm_delete_attr(parent, key));
        MPI(MPI_Comm_dup(parent, &dup));
        use(dup, 5);
        MPI(MPI_Comm_free(&dup));
        MPI(MPI_Comm_free(&parent));
        MPI(MPI_Comm_free_keyval(&key));
    }
    return finish();
}
