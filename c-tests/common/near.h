/* Whether the ranks of a communicator share memory. */
#ifndef OXMPI_NEAR_H
#define OXMPI_NEAR_H

#include "check.h"

/* As far as the library says. Collective. */
static CHECK_UNUSED int share_memory(MPI_Comm comm)
{
    MPI_Comm node;
    int ranks, all;
    MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(MPI_Comm_size(node, &ranks));
    MPI(MPI_Comm_free(&node));
    MPI(MPI_Comm_size(comm, &all));
    return ranks == all;
}

#endif
