/* MPI_Pcontrol does nothing, with any number of further arguments. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI(MPI_Pcontrol(0));
    MPI(MPI_Pcontrol(1));
    MPI(MPI_Pcontrol(2, "text", 4, 5.0));
    MPI(PMPI_Pcontrol(3));
    return finish();
}
