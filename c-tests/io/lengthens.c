/* Small pieces that ranks write between the end of a file and data which rank 0 writes behind it at that moment. None is lost, though the file
 * system zeroes what lies between: it does so after it has told of the new length. args: [rounds] */
#include "files.h"

enum { RUNS = 40, APART = 8 };

static void number(int *numbers, int round)
{
    for (int k = 0; k < RUNS; k++)
        numbers[k] = round * RUNS + k + 1;
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    MPI_File file;
    MPI_Datatype filetype;
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 40000, lost = 0, behind = 1, numbers[RUNS], found[RUNS];
    MPI_Offset end = (MPI_Offset) size * RUNS * APART;
    if (slow())
        rounds /= 20;
    file_name(name, "lengthens");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_Type_create_resized(MPI_INT, 0, APART, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    /* Ranks that share a core wait for it in each round. */
    double until = MPI_Wtime() + 3;
    int i = 0, late = 0;
    for (; i < rounds && !late; i++) {
        MPI(MPI_File_set_size(file, end));
        number(numbers, i);
        /* The page is in use, and changed, before the file gets longer. */
        MPI(MPI_File_write_at(file, rank * RUNS, numbers, RUNS, MPI_INT, MPI_STATUS_IGNORE));
        barrier();
        if (rank == 0)
            MPI(MPI_File_write_at(file, 2 * size * RUNS, &behind, 1, MPI_INT, MPI_STATUS_IGNORE));
        else {
            MPI_Offset length;
            do
                MPI(MPI_File_get_size(file, &length));
            while (length <= end);
            MPI(MPI_File_write_at(file, (size + rank) * RUNS, numbers, RUNS, MPI_INT, MPI_STATUS_IGNORE));
        }
        barrier();
        if (rank > 0) {
            MPI(MPI_File_read_at(file, (size + rank) * RUNS, found, RUNS, MPI_INT, MPI_STATUS_IGNORE));
            lost += memcmp(numbers, found, sizeof found) != 0;
        }
        late = i % 64 == 63 && MPI_Wtime() > until;
        MPI(MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (lost)
        check_failed(__FILE__, __LINE__, "%d of %d times bytes were lost that were written while another rank made the file longer", lost, i);
    MPI(MPI_File_close(&file));
    MPI(MPI_Type_free(&filetype));
    return finish();
}
