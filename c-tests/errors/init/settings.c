/* args: (variable value)... The odd ranks have other settings of what must be the same on all: their MPI_Init says so, or that of
 * the others, whichever come later. */
#include "check.h"

int main(int argc, char **argv)
{
    const char *number = getenv("PMI_RANK");
    if (argc < 3 || !number)
        return 2;
    for (int at = 1; atoi(number) % 2 && at + 1 < argc; at += 2)
        setenv(argv[at], argv[at + 1], 1);
    MPI_Init(&argc, &argv);
    /* The first rank to come waits here for one that differs. */
    MPI_Barrier(MPI_COMM_WORLD);
    fputs("different settings were accepted\n", stderr);
    return 0;
}
