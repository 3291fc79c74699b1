/* Extensions: what programs include beside mpi.h where they use functions for failed processes (docs/failures.md). */
#ifndef OXMPI_MPI_EXT_H
#define OXMPI_MPI_EXT_H

#include <mpi.h>

/* As Open MPI says which it has. */
#define OMPI_HAVE_MPI_EXT 1
#define OMPI_HAVE_MPI_EXT_FTMPI 1
#define OMPI_HAVE_MPIX_COMM_GET_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ACK_FAILED 1
#define OMPI_HAVE_MPIX_COMM_FAILURE_ACK 1
#define OMPI_HAVE_MPIX_COMM_FAILURE_GET_ACKED 1
#define OMPI_HAVE_MPIX_COMM_IS_REVOKED 1
#define OMPI_HAVE_MPIX_COMM_REVOKE 1
#define OMPI_HAVE_MPIX_COMM_AGREE 1
#define OMPI_HAVE_MPIX_COMM_IAGREE 1
#define OMPI_HAVE_MPIX_COMM_SHRINK 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1

#endif
