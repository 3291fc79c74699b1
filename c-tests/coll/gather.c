/* Gather to every root and Allgather: sizes, in place, order of the ranks. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 7, 300, 5000, 40000};
    start(&argc, &argv);
    for (int c = 0; c < (slow() ? 4 : 6); c++) {
        int count = counts[c], *out = malloc((count + 1) * sizeof *out), *in = malloc(((size_t) count * size + 1) * sizeof *in);
        for (int i = 0; i < count; i++)
            out[i] = rank * 100000 + i;
        for (int how = 0; how < 4; how++)
            for (int root = 0; root < (how < 2 ? size : 1); root++) {
                int mine = how >= 2 || rank == root;
                memset(in, 0xff, ((size_t) count * size + 1) * sizeof *in);
                if (how % 2)
                    memcpy(in + (size_t) rank * count, out, count * sizeof *in);
                if (how == 0)
                    MPI(MPI_Gather(out, count, MPI_INT, mine ? in : NULL, count, MPI_INT, root, MPI_COMM_WORLD));
                else if (how == 1)
                    MPI(MPI_Gather(mine ? MPI_IN_PLACE : out, count, MPI_INT, mine ? in : NULL, count, MPI_INT, root, MPI_COMM_WORLD));
                else if (how == 2)
                    MPI(MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD));
                else
                    MPI(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, MPI_COMM_WORLD));
                for (int r = 0; mine && r < size; r++)
                    for (int i = 0; i < count; i++)
                        if (in[(size_t) r * count + i] != r * 100000 + i) {
                            CHECK_INT(in[(size_t) r * count + i], r * 100000 + i);
                            break;
                        }
                CHECK_INT(in[(size_t) count * size], -1);
            }
        free(out);
        free(in);
    }
    return finish();
}
