/* Ranks that come to one operation with different amounts: those who read what another one has given are told both numbers, where the
 * operation goes through shared memory, and nothing passes silently. A longer message is MPI_ERR_TRUNCATE, a shorter one MPI_ERR_COUNT. */
#include "wrong.h"

enum { FEW = 10, MORE = 20 };

int main(int argc, char **argv)
{
    int in[MORE] = {0}, out[MORE] = {0};
    start(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD;
    for (int i = 0; i < 6; i++)
        MPI(MPI_Allreduce(in, out, FEW, MPI_INT, MPI_SUM, w));
    return_errors();
    for (int longest = 0; longest < 2; longest++)
        for (int root = 0; root < size; root++) {
            /* the root against the others */
            int count = (rank == root) == longest ? MORE : FEW;
            int class = longest ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
            const char *theirs = longest ? "80 bytes" : "40 bytes", *mine = longest ? "40" : "80";
            if (rank == root)
                MPI(MPI_Bcast(in, count, MPI_INT, root, w));
            else
                ERROR(MPI_Bcast(in, count, MPI_INT, root, w), class, theirs, mine);
            /* the root reads what the others give */
            class = longest ? MPI_ERR_COUNT : MPI_ERR_TRUNCATE;
            theirs = longest ? "40 bytes" : "80 bytes", mine = longest ? "80" : "40";
            if (rank == root && size > 1)
                ERROR(MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, w), class, theirs, mine);
            else
                MPI(MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, w));
            /* all read: at least one is told */
            int code = MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, w), told = code != MPI_SUCCESS, all = 0;
            if (told)
                CHECK(check_class_of(code) == MPI_ERR_COUNT || check_class_of(code) == MPI_ERR_TRUNCATE);
            MPI(MPI_Allreduce(&told, &all, 1, MPI_INT, MPI_SUM, w));
            CHECK((all > 0) == (size > 1));
            MPI(MPI_Barrier(w));
        }
    return finish();
}
