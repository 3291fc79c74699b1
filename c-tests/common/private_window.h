/* For the programs about windows over memory of the program: passive windows over all ranks, what they tell, and how they end. */
#ifndef OXMPI_PRIVATE_WINDOW_H
#define OXMPI_PRIVATE_WINDOW_H

#include "check.h"
#include <stdlib.h>
#include <string.h>

/* A value of MPI_Win_get_info, "none" if there is none. */
static CHECK_UNUSED const char *told(MPI_Win win, const char *key)
{
    static char value[40];
    int flag, room = sizeof value;
    MPI_Info info;
    strcpy(value, "none");
    MPI(MPI_Win_get_info(win, &info));
    MPI(MPI_Info_get_string(info, key, &room, value, &flag));
    MPI(MPI_Info_free(&info));
    return value;
}

/* `hint`: of oxmpi_share, or NULL. */
static CHECK_UNUSED MPI_Win window_of(void *base, MPI_Aint bytes, const char *hint)
{
    MPI_Win win;
    MPI_Info info;
    MPI(MPI_Info_create(&info));
    if (hint)
        MPI(MPI_Info_set(info, "oxmpi_share", hint));
    MPI(MPI_Win_create(base, bytes, 1, info, MPI_COMM_WORLD, &win));
    MPI(MPI_Info_free(&info));
    const char *setting = getenv("OXMPI_SHARE_WINDOWS");
    CHECK_STRING(told(win, "oxmpi_share"), hint ? hint : setting ? setting : "auto");
    MPI(MPI_Win_lock_all(0, win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return win;
}

static CHECK_UNUSED void settle(MPI_Win win)
{
    MPI(MPI_Win_flush_all(win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(win));
}

static CHECK_UNUSED void end(MPI_Win *win)
{
    MPI(MPI_Win_unlock_all(*win));
    MPI(MPI_Win_free(win));
}
#endif
