/* For the programs of chapter rma: windows of every kind over so many bytes, and ways to wait without a call of MPI. */
#ifndef OXMPI_WINDOWS_H
#define OXMPI_WINDOWS_H

#include "near.h"
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

/* MPI_Win_allocate; _allocate_shared; _create over malloc's memory, over MPI_Alloc_mem's; _allocate with atomic elements; dynamic. */
enum window_kind { ALLOCATED, SHARED, PRIVATE, OF_ALLOC_MEM, ELEMENTS, DYNAMIC, WINDOW_KINDS };

static CHECK_UNUSED const char *const window_names[] = {"allocated", "shared", "private", "of MPI_Alloc_mem", "elements", "dynamic"};

struct window {
    MPI_Win win;
    enum window_kind kind;
    char *base;
    MPI_Aint bytes;
    int unit;
    MPI_Aint *addresses; /* of all ranks' bases, in a dynamic window */
};

/* Collective over MPI_COMM_WORLD; the memory is zero. MPI_Win_allocate_shared keeps lines apart, so that bases are aligned; where there are
 * (pretended) nodes, MPI_Win_allocate takes its place. */
static CHECK_UNUSED struct window window_make(enum window_kind kind, MPI_Aint bytes, int unit)
{
    if (kind == SHARED && !share_memory(MPI_COMM_WORLD))
        kind = ALLOCATED;
    struct window made = {MPI_WIN_NULL, kind, NULL, bytes, unit, NULL};
    MPI_Info info = MPI_INFO_NULL;
    MPI_Aint address;
    switch (kind) {
    case ELEMENTS:
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "mpi_accumulate_granularity", "8"));
        /* fall through */
    case ALLOCATED: MPI(MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, &made.base, &made.win)); break;
    case SHARED:
        MPI(MPI_Info_create(&info));
        MPI(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
        MPI(MPI_Win_allocate_shared(bytes, unit, info, MPI_COMM_WORLD, &made.base, &made.win));
        break;
    case OF_ALLOC_MEM:
        MPI(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &made.base));
        MPI(MPI_Win_create(made.base, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
        break;
    case DYNAMIC:
        made.base = malloc((size_t) bytes + 1);
        MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
        MPI(MPI_Win_attach(made.win, made.base, bytes));
        made.addresses = malloc((size_t) size * sizeof *made.addresses);
        MPI(MPI_Get_address(made.base, &address));
        MPI(MPI_Allgather(&address, 1, MPI_AINT, made.addresses, 1, MPI_AINT, MPI_COMM_WORLD));
        made.unit = 1;
        break;
    default:
        made.base = malloc((size_t) bytes + 1);
        MPI(MPI_Win_create(made.base, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &made.win));
    }
    if (info != MPI_INFO_NULL)
        MPI(MPI_Info_free(&info));
    memset(made.base, 0, (size_t) bytes);
    MPI(MPI_Win_lock_all(0, made.win));
    MPI(MPI_Win_sync(made.win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    return made;
}

/* The displacement of a byte, which is a multiple of the unit, at a rank. */
static CHECK_UNUSED MPI_Aint window_at(const struct window *of, int target, MPI_Aint byte)
{
    return of->kind == DYNAMIC ? MPI_Aint_add(of->addresses[target], byte) : byte / of->unit;
}

/* All operations of all ranks are complete, and their results are visible to loads. */
static CHECK_UNUSED void window_settle(const struct window *of)
{
    MPI(MPI_Win_flush_all(of->win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Win_sync(of->win));
}

static CHECK_UNUSED void window_free(struct window *of)
{
    MPI(MPI_Win_unlock_all(of->win));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (of->kind == DYNAMIC)
        MPI(MPI_Win_detach(of->win, of->base));
    MPI(MPI_Win_free(&of->win));
    if (of->kind == OF_ALLOC_MEM)
        MPI(MPI_Free_mem(of->base));
    if (of->kind == PRIVATE || of->kind == DYNAMIC)
        free(of->base);
    free(of->addresses);
}

static CHECK_UNUSED void rest(void)
{
    struct timespec pause = {0, 200000};
    nanosleep(&pause, NULL);
}

#endif
