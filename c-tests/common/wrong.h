/* Wrong handles for the programs of errors/: null, of another kind, and of no object at all. */
#ifndef OXMPI_WRONG_H
#define OXMPI_WRONG_H

#include "check.h"

static CHECK_UNUSED MPI_Comm wrong_comm(void)
{
    return (MPI_Comm) 0x44000ff0; /* builtin, but no such */
}

static CHECK_UNUSED MPI_Comm freed_comm(void)
{
    MPI_Comm comm, copy;
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    copy = comm;
    MPI(MPI_Comm_free(&comm));
    return copy;
}

static CHECK_UNUSED MPI_Info freed_info(void)
{
    MPI_Info info, copy;
    MPI(MPI_Info_create(&info));
    copy = info;
    MPI(MPI_Info_free(&info));
    return copy;
}

/* Every communicator argument: null, of another kind, freed. */
#define COMM_ERRORS(call_with) do { \
        MPI_Comm bad = MPI_COMM_NULL; \
        call_with(bad); \
        bad = (MPI_Comm) MPI_INT; \
        call_with(bad); \
        bad = freed_comm(); \
        if (!reference) \
            call_with(bad); } while (0)

static CHECK_UNUSED char number_text[32];
static CHECK_UNUSED const char *number(long long value)
{
    snprintf(number_text, sizeof number_text, "%lld", value);
    return number_text;
}

#endif
