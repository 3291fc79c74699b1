/* Atomic mode: what two ranks write over each other, with holes, is all of one or all of the other for whoever reads. */
#include "files.h"

enum { PIECES = 200 };

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    int values[PIECES], rounds;
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Status status;
    start(&argc, &argv);
    rounds = slow() || reference ? 20 : 200;
    file_name(name, "atomic");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_set_size(file, PIECES * 12));
    MPI(MPI_Type_create_resized(MPI_INT, 0, 12, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_File_set_atomicity(file, 1));
    for (int round = 1; round <= rounds; round++) {
        if (rank % 2) {
            MPI(MPI_File_read_at(file, 0, values, PIECES, MPI_INT, &status));
            for (int i = 1; i < PIECES; i++)
                if (values[i] != values[0]) {
                    check_failed(__FILE__, __LINE__, "value %d is %d, the first is %d", i, values[i], values[0]);
                    break;
                }
        }
        for (int i = 0; i < PIECES; i++)
            values[i] = rank * 1000 + round;
        MPI(MPI_File_write_at(file, 0, values, PIECES, MPI_INT, &status));
        CHECK_MOVED(status, 4 * PIECES);
    }
    MPI(MPI_File_close(&file));
    return finish();
}
