/* Ranks of several nodes: memory is shared within each, and an error says where it cannot be. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint bytes;
    char *base;
    int unit, ranks;
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(MPI_Comm_size(node, &ranks));
    CHECK(ranks < size);
    CHECK_CLASS(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
    MPI(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, node, &base, &win));
    for (int of = 0; of < ranks; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &base));
        CHECK_INT(bytes, 8);
    }
    MPI(MPI_Win_free(&win));
    /* Within each, an empty part is where it would begin. */
    int me;
    char *first;
    MPI(MPI_Comm_rank(node, &me));
    MPI(MPI_Win_allocate_shared(me ? 0 : 24, 1, MPI_INFO_NULL, node, &base, &win));
    MPI(MPI_Win_shared_query(win, 0, &bytes, &unit, &first));
    CHECK(first != NULL && base == first + (me ? 24 : 0));
    MPI(MPI_Win_free(&win));
    /* Windows of other flavours are made, and show what is near. */
    MPI(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    int near = 0;
    for (int of = 0; of < size; of++) {
        MPI(MPI_Win_shared_query(win, of, &bytes, &unit, &base));
        CHECK((bytes == 0) == (base == NULL));
        near += bytes == 8;
    }
    CHECK_INT(near, ranks);
    MPI(MPI_Win_free(&win));
    MPI(MPI_Comm_free(&node));
    return finish();
}
