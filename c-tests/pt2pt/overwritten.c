/* A buffer belongs to the program again once a send is complete, in whatever mode and by whatever way the data left: it is
 * overwritten at once, and the receiver must not see that. Argument: "holes" for data that is not contiguous. */
#include "check.h"

enum { MOST = 131072, HOLE = 64, HOW = 5, ROUNDS = 400 };

static const int sizes[] = {16384, 16385, 20000, 32768, 40000, 60000, 65535, 65536, 65537, MOST};
static unsigned char out[MOST + HOLE], in[MOST + HOLE];

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int hole = argc > 1 && strcmp(argv[1], "holes") == 0 ? HOLE : 0;
    int partner = rank ^ 1;
    for (int round = 0; partner < size && round < (slow() ? 20 : ROUNDS); round++) {
        int bytes = sizes[round / HOW % (int) (sizeof sizes / sizeof *sizes)], wrong = 0;
        unsigned char mine = (unsigned char) (1 + (round + rank) % 100), theirs = (unsigned char) (1 + (round + partner) % 100);
        MPI_Request receive, send;
        int lengths[] = {bytes / 2, bytes - bytes / 2}, displacements[] = {0, bytes / 2 + hole};
        MPI_Datatype type;
        MPI(MPI_Type_indexed(2, lengths, displacements, MPI_BYTE, &type));
        MPI(MPI_Type_commit(&type));
        memset(in, 0, sizeof in);
        MPI(MPI_Irecv(in, 1, type, partner, 1, MPI_COMM_WORLD, &receive));
        memset(out, mine, sizeof out);
        switch (round % HOW) {
        case 0:
            MPI(MPI_Ssend(out, 1, type, partner, 1, MPI_COMM_WORLD));
            break;
        case 1:
            MPI(MPI_Issend(out, 1, type, partner, 1, MPI_COMM_WORLD, &send));
            MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
            break;
        case 2:
            MPI(MPI_Ssend_init(out, 1, type, partner, 1, MPI_COMM_WORLD, &send));
            MPI(MPI_Start(&send));
            MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
            MPI(MPI_Request_free(&send));
            break;
        case 3:
            MPI(MPI_Send(out, 1, type, partner, 1, MPI_COMM_WORLD));
            break;
        case 4:
            MPI(MPI_Isend(out, 1, type, partner, 1, MPI_COMM_WORLD, &send));
            MPI(MPI_Wait(&send, MPI_STATUS_IGNORE));
            break;
        }
        memset(out, 0xEE, sizeof out);
        MPI(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < bytes; i++)
            wrong += in[i < lengths[0] ? i : i + hole] != theirs;
        if (wrong)
            check_failed(__FILE__, __LINE__, "round %d, mode %d: %d of %d bytes are wrong", round, round % HOW, wrong, bytes);
        MPI(MPI_Type_free(&type));
    }
    return finish();
}
