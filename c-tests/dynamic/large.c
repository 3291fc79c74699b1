/* Messages of up to 8 MB between parents and children: both ways at once, synchronous, strided, and in collective operations. */
#include "spawned.h"

int main(int argc, char **argv)
{
    static const int sizes[] = {4096, 65536, 1000001, 8 << 20};
    start_family(&argc, &argv);
    MPI_Comm comm = is_child ? parent : spawn(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 1, MPI_ARGV_NULL);
    int others, largest = sizes[3];
    MPI(MPI_Comm_remote_size(comm, &others));
    char *buffer = malloc(largest), *second = malloc(largest);
    for (int i = 0; i < (slow() ? 2 : 4); i++) {
        int bytes = sizes[i], seed = is_child ? 0 : 1;
        talk(comm, bytes, is_child);
        /* From the children's rank 0 to the parents' and back. */
        if (rank == 0) {
            memset(buffer, 0, bytes);
            if (is_child) {
                fill(second, bytes, 3);
                MPI(MPI_Ssend(second, bytes, MPI_BYTE, 0, 1, comm));
                MPI(MPI_Recv(buffer, bytes, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE));
                CHECK_PATTERN(buffer, bytes, 4);
            } else {
                MPI(MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
                CHECK_PATTERN(buffer, bytes, 3);
                fill(second, bytes, 4);
                MPI(MPI_Ssend(second, bytes, MPI_BYTE, 0, 2, comm));
            }
        }
        /* Every other integer. */
        MPI_Datatype strided;
        int count = bytes / 8;
        MPI(MPI_Type_vector(count, 1, 2, MPI_INT, &strided));
        MPI(MPI_Type_commit(&strided));
        if (rank == 0) {
            fill(second, bytes, 10 + seed);
            memset(buffer, 0x33, bytes);
            MPI(MPI_Sendrecv(second, 1, strided, 0, 3, buffer, 1, strided, 0, 3, comm, MPI_STATUS_IGNORE));
            fill(second, bytes, 11 - seed);
            int wrong = 0, *got = (int *) buffer, *expected = (int *) second;
            for (int j = 0; j < count; j++)
                wrong += got[2 * j] != expected[2 * j] || (2 * j + 1 < 2 * count - 1 && got[2 * j + 1] != 0x33333333);
            CHECK_INT(wrong, 0);
        }
        MPI(MPI_Type_free(&strided));
        fill(buffer, bytes, 5);
        if (is_child)
            memset(buffer, 0, bytes);
        MPI(MPI_Bcast(buffer, bytes, MPI_BYTE, is_child ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, comm));
        CHECK_PATTERN(buffer, bytes, 5);
    }
    free(buffer);
    free(second);
    if (!is_child)
        part(&comm);
    return finish_family();
}
