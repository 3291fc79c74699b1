/* Objects and memory of the program live on after MPI_Finalize, and ranks may end with any code in their own time. */
#include "check.h"

int main(int argc, char **argv)
{
    char *kept = strdup("kept");
    start(&argc, &argv);
    MPI(MPI_Finalize());
    CHECK_STRING(kept, "kept");
    for (volatile int i = 0; i < 1000000 * rank; i++)
        ;
    free(kept);
    return conclude();
}
