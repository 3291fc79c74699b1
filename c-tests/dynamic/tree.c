/* Children spawn children: every process above the last level spawns two by itself, and the first ancestor counts all. args: levels. */
#include "spawned.h"

int main(int argc, char **argv)
{
    int levels, below = 0, total;
    char text[20];
    start_family(&argc, &argv);
    levels = argc > 1 ? atoi(argv[1]) : 2;
    if (levels > 0) {
        char *words[] = {text, NULL};
        snprintf(text, sizeof text, "%d", levels - 1);
        MPI_Comm children = spawn(MPI_COMM_SELF, 2, words);
        for (int i = 0; i < 2; i++) {
            int number = -1;
            MPI(MPI_Recv(&number, 1, MPI_INT, i, 1, children, MPI_STATUS_IGNORE));
            below += number;
        }
        part(&children);
    }
    total = below + 1;
    if (is_child)
        MPI(MPI_Send(&total, 1, MPI_INT, 0, 1, parent));
    else
        CHECK_INT(total, (2 << levels) - 1);
    return finish_family();
}
