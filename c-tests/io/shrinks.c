/* A rank writes many small pieces with holes between them while another process makes the file shorter, again and again. No call ends the
 * process; after that all bytes are written. */
#include "files.h"

enum { PIECE = 16, STRIDE = 64, PIECES = 40000 };

int main(int argc, char **argv)
{
    static unsigned char bytes[PIECE * PIECES], found[STRIDE * PIECES];
    char name[NAME_BYTES];
    MPI_Datatype piece, filetype;
    MPI_Status status;
    start(&argc, &argv);
    file_name(name, "shrinks");
    MPI_File file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    MPI(MPI_Type_create_resized(piece, 0, STRIDE, &filetype));
    MPI(MPI_Type_commit(&filetype));
    MPI(MPI_File_set_view(file, 5, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    fill(bytes, sizeof bytes, 1);
    int rounds = slow() ? 3 : 60;
    if (rank == 0)
        for (int i = 0; i < rounds; i++) {
            MPI(MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
            CHECK_MOVED(status, sizeof bytes);
            MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
        }
    if (rank == 1)
        for (int i = 0, flag = 0; i < rounds; flag = 0) {
            CHECK_INT(truncate(name, i % 3 * 300001), 0);
            MPI(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            if (flag) {
                MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                i++;
            }
        }
    barrier();
    if (rank == 0) {
        MPI(MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_BYTE, &status));
        CHECK_INT(file_read(name, found, sizeof found, 5), STRIDE * (PIECES - 1) + PIECE);
        for (int i = 0; i < PIECES; i++)
            if (memcmp(found + i * STRIDE, bytes + i * PIECE, PIECE)) {
                check_failed(__FILE__, __LINE__, "piece %d", i);
                break;
            }
    }
    MPI(MPI_Type_free(&filetype));
    MPI(MPI_Type_free(&piece));
    MPI(MPI_File_close(&file));
    return finish();
}
