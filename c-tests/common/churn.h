/* For programs that look at what freed datatypes leave behind: types that come and go. */
#ifndef OXMPI_CHURN_H
#define OXMPI_CHURN_H

#include "process.h"

/* A vector of `blocks` doubles with holes, made from another type. */
static CHECK_UNUSED MPI_Datatype vector(int blocks, int stride)
{
    MPI_Datatype inner, type;
    MPI(MPI_Type_vector(blocks, 1, stride, MPI_DOUBLE, &inner));
    MPI(MPI_Type_contiguous(1, inner, &type));
    MPI(MPI_Type_free(&inner));
    MPI(MPI_Type_commit(&type));
    return type;
}

/* Many types come and go, so that what was freed before could be used again. */
static CHECK_UNUSED void churn(int types)
{
    for (int i = 0; i < types; i++) {
        MPI_Datatype type = vector(2 + i % 5, 2 + i % 3);
        MPI(MPI_Type_free(&type));
    }
}

#endif
