/* Files that are open at MPI_Finalize: what was written is there, as mpiexec's next program or "cat" would see it. */
#include "files.h"

int main(int argc, char **argv)
{
    char name[NAME_BYTES], text[8];
    MPI_File world, self;
    MPI_Request request;
    start(&argc, &argv);
    file_name(name, "unfreed");
    world = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    self = file_open(MPI_COMM_SELF, name, MPI_MODE_RDWR);
    MPI(MPI_File_write_at(world, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI(MPI_File_iwrite_at(self, size + rank, "y", 1, MPI_CHAR, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    barrier();
    CHECK_INT(file_read(name, text, 1, 2 * size - 1), 1);
    CHECK_INT(text[0], 'y');
    barrier();
    if (rank == 0)
        unlink(name);
    return finish();
}
