/* Intercommunicators: creation by different leaders, messages and probes across, duplicates, parts, merging. */
#include "check.h"

static MPI_Comm half;
static int low, local_rank, local_size, other_size;

/* Messages to and from every remote rank; the source is a rank of the remote group. */
static void use(MPI_Comm inter, int here, int there)
{
    int flag, local, remote, me, value, matched;
    MPI_Status status;
    MPI_Message message;
    MPI(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    MPI(MPI_Comm_size(inter, &local));
    MPI(MPI_Comm_remote_size(inter, &remote));
    MPI(MPI_Comm_rank(inter, &me));
    CHECK_INT(local, here);
    CHECK_INT(remote, there);
    MPI_Request *requests = malloc(2 * remote * sizeof *requests);
    int *out = malloc(remote * sizeof *out), *in = malloc(remote * sizeof *in);
    for (int i = 0; i < remote; i++) {
        out[i] = 1000 * me + i;
        MPI(MPI_Irecv(&in[i], 1, MPI_INT, i, 4, inter, &requests[i]));
    }
    for (int i = 0; i < remote; i++)
        MPI(MPI_Isend(&out[i], 1, MPI_INT, i, 4, inter, &requests[remote + i]));
    MPI(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < remote; i++)
        CHECK_INT(in[i], 1000 * i + me);
    for (int i = 0; i < remote; i++)
        MPI(MPI_Isend(&out[i], 1, MPI_INT, i, 5, inter, &requests[i]));
    for (int i = 0; i < remote; i++) {
        MPI(MPI_Probe(MPI_ANY_SOURCE, 5, inter, &status));
        CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < remote);
        if (i % 2) {
            MPI(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 5, inter, &status));
        } else {
            MPI(MPI_Improbe(MPI_ANY_SOURCE, 5, inter, &matched, &message, &status));
            CHECK(matched);
            MPI(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
        }
        CHECK_INT(value, 1000 * status.MPI_SOURCE + me);
    }
    MPI(MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE));
    if (local == remote) {
        MPI(MPI_Sendrecv(&out[me], 1, MPI_INT, me, 6, &value, 1, MPI_INT, me, 6, inter, &status));
        CHECK_INT(value, out[me]);
        CHECK_INT(status.MPI_SOURCE, me);
    }
    free(requests);
    free(out);
    free(in);
}

static void merge(MPI_Comm inter, int low_says, int high_says, int here, int there)
{
    MPI_Comm merged;
    MPI_Group group, mine;
    int r, s, me, sum, flag, first;
    MPI(MPI_Intercomm_merge(inter, low ? low_says : high_says, &merged));
    MPI(MPI_Comm_test_inter(merged, &flag));
    CHECK(!flag);
    MPI(MPI_Comm_rank(merged, &r));
    MPI(MPI_Comm_size(merged, &s));
    MPI(MPI_Comm_rank(inter, &me));
    CHECK_INT(s, here + there);
    if (low_says != high_says)
        CHECK_INT(r, (low ? low_says : high_says) ? there + me : me);
    MPI(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, merged));
    CHECK_INT(sum, s * (s - 1) / 2);
    MPI(MPI_Comm_group(merged, &group));
    MPI(MPI_Comm_group(inter, &mine));
    MPI(MPI_Group_translate_ranks(mine, 1, (int[]) {0}, group, &first));
    CHECK(first == 0 || first == there);
    CHECK_INT(r, first + me);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&mine));
    MPI(MPI_Comm_free(&merged));
}

static void parts(MPI_Comm inter)
{
    MPI_Comm dup, some;
    MPI_Group group, mine, remote;
    MPI_Request request;
    int result;
    MPI(MPI_Comm_dup(inter, &dup));
    MPI(MPI_Comm_compare(inter, dup, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    MPI(MPI_Comm_compare(inter, half, &result));
    CHECK_INT(result, MPI_UNEQUAL);
    use(dup, local_size, other_size);
    MPI(MPI_Comm_free(&dup));
    MPI(MPI_Comm_idup(inter, &dup, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    use(dup, local_size, other_size);
    MPI(MPI_Comm_remote_group(inter, &remote));
    MPI(MPI_Comm_group(inter, &mine));
    MPI(MPI_Group_size(remote, &result));
    CHECK_INT(result, other_size);
    MPI(MPI_Group_intersection(mine, remote, &group));
    CHECK(group == MPI_GROUP_EMPTY);
    MPI(MPI_Group_free(&remote));
    /* the first of each side, and all of one with none of the other */
    MPI(MPI_Group_incl(mine, 1, (int[]) {0}, &group));
    MPI(MPI_Comm_create(dup, group, &some));
    CHECK((some == MPI_COMM_NULL) == (local_rank > 0));
    if (some != MPI_COMM_NULL) {
        use(some, 1, 1);
        MPI(MPI_Comm_free(&some));
    }
    MPI(MPI_Comm_create(dup, low ? mine : MPI_GROUP_EMPTY, &some));
    CHECK(some == MPI_COMM_NULL);
    MPI(MPI_Group_free(&group));
    MPI(MPI_Group_free(&mine));
    /* even with even, odd with odd, backwards; and a colour that only one side has */
    int colour = local_rank % 2, here = (local_size + 1 - colour) / 2, there = (other_size + 1 - colour) / 2;
    MPI(MPI_Comm_split(dup, colour, -local_rank, &some));
    CHECK((some == MPI_COMM_NULL) == (there == 0));
    if (some != MPI_COMM_NULL) {
        int r;
        MPI(MPI_Comm_rank(some, &r));
        CHECK_INT(r, here - 1 - local_rank / 2);
        use(some, here, there);
        MPI(MPI_Comm_free(&some));
    }
    MPI(MPI_Comm_split(dup, low ? 1 : 2, 0, &some));
    CHECK(some == MPI_COMM_NULL);
    MPI(MPI_Comm_split(dup, local_rank ? MPI_UNDEFINED : 3, 0, &some));
    if (local_rank == 0) {
        use(some, 1, 1);
        MPI(MPI_Comm_free(&some));
    }
    CHECK(some == MPI_COMM_NULL);
    MPI(MPI_Comm_free(&dup));
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    start(&argc, &argv);
    int first = size > 2 ? (size + 2) / 3 : 1;
    low = rank < first;
    local_size = low ? first : size - first;
    other_size = size - local_size;
    local_rank = low ? rank : rank - first;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));
    for (int round = 0; round < 3; round++) {
        int leader = round % local_size, other_leader = round % other_size;
        int remote = low ? first + other_leader : other_leader;
        if (rank != (low ? leader : first + leader) && !reference)
            remote = -77; /* of the leader only */
        MPI(MPI_Intercomm_create(half, leader, MPI_COMM_WORLD, remote, 17 + round, &inter));
        use(inter, local_size, other_size);
        /* a barrier of both groups: what was sent before it is there after it */
        int before = rank, after = -1, flag = 0;
        MPI_Request request;
        for (int i = 0; i < 3; i++) {
            MPI(MPI_Isend(&before, 1, MPI_INT, (rank + 1) % size, 30 + i, MPI_COMM_WORLD, &request));
            MPI(MPI_Barrier(inter));
            if (!reference) {
                MPI(MPI_Iprobe((rank + size - 1) % size, 30 + i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                CHECK(flag);
            }
            MPI(MPI_Recv(&after, 1, MPI_INT, (rank + size - 1) % size, 30 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        merge(inter, 0, 1, local_size, other_size);
        merge(inter, 1, 0, local_size, other_size);
        merge(inter, 0, 0, local_size, other_size);
        merge(inter, 1, 1, local_size, other_size);
        parts(inter);
        MPI(MPI_Comm_free(&inter));
    }
    MPI(MPI_Comm_free(&half));
    return finish();
}
