/* For the programs of chapter rma: a window whose memory all ranks reach by loads and stores, too. */
#ifndef OXMPI_SHARED_WINDOW_H
#define OXMPI_SHARED_WINDOW_H

#include "check.h"

enum { WINDOW_RANKS = 64 };

struct window {
    MPI_Win win;
    volatile long *of[WINDOW_RANKS]; /* the longs of each rank, zeros at first */
};

static CHECK_UNUSED void make_window(struct window *w, MPI_Comm comm, int longs)
{
    long *own;
    int ranks;
    MPI(MPI_Comm_size(comm, &ranks));
    MPI(MPI_Win_allocate_shared((MPI_Aint) (longs * sizeof *own), sizeof *own, MPI_INFO_NULL, comm, &own, &w->win));
    memset(own, 0, longs * sizeof *own);
    for (int i = 0; i < ranks; i++) {
        MPI_Aint bytes;
        int unit;
        MPI(MPI_Win_shared_query(w->win, i, &bytes, &unit, &w->of[i]));
    }
    MPI(MPI_Barrier(comm));
}

static CHECK_UNUSED MPI_Group group_of(MPI_Comm comm, int count, const int *ranks)
{
    MPI_Group all, some;
    MPI(MPI_Comm_group(comm, &all));
    MPI(MPI_Group_incl(all, count, ranks, &some));
    MPI(MPI_Group_free(&all));
    return some;
}

#endif
