/* For the programs of errors/: handles of objects that are gone, and numbers as text. */
#ifndef OXMPI_WRONG_H
#define OXMPI_WRONG_H

#include "check.h"

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

/* The library's version of MPI, which may be above the header's. */
static CHECK_UNUSED int at_least(int major, int minor)
{
    int version, subversion;
    MPI(MPI_Get_version(&version, &subversion));
    return version > major || (version == major && subversion >= minor);
}

static CHECK_UNUSED char number_text[32];
static CHECK_UNUSED const char *number(long long value)
{
    snprintf(number_text, sizeof number_text, "%lld", value);
    return number_text;
}

#endif
