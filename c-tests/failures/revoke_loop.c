/* Revoke and shrink again and again: what is shrunken works, stays as it was, and nothing that is held grows: neither memory of the node nor
 * communicators, whose handles come back. */
#include "revoked.h"

/* Pages of this process's shared memory. */
static long shared_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*d %*d %ld", &pages) == 1);
    if (file)
        fclose(file);
    return pages;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, new;
    enum { LOOPS = 600, BYTES = 100000 };
    static char data[BYTES];
    long before = 0;
    int x = 0, sum;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int i = 0; i < LOOPS; i++) {
        int revoker = i % size, one = 1, class;
        /* Something that the others do not take. */
        if (rank == revoker && size > 1)
            MPI(MPI_Send(data, 1, MPI_CHAR, (rank + 1) % size, i, comm));
        MPI(MPI_Bcast(data, BYTES, MPI_CHAR, 0, comm));
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == revoker) {
            MPI(MPIX_Comm_revoke(comm));
        } else {
            class = check_class_of(MPI_Recv(&x, 1, MPI_INT, rank, i, comm, MPI_STATUS_IGNORE));
            CHECK_INT(class, MPIX_ERR_REVOKED);
        }
        MPI(MPIX_Comm_shrink(comm, &new));
        MPI(MPI_Comm_free(&comm));
        comm = new;
        MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, size);
        if (i == LOOPS / 3)
            before = shared_pages();
    }
    /* Each round has used more than a hundred pages. */
    long grown = shared_pages() - before;
    if (grown > LOOPS)
        check_failed(__FILE__, __LINE__, "%ld more pages are shared", grown);
    MPI(MPI_Comm_free(&comm));
    return finish();
}
