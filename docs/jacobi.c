/* Jacobi iteration for Laplace's equation on a square plate, a block of rows a process, that goes on when processes die. Every few sweeps
 * each process gives a copy of its rows to the next one, its buddy. When a process has died, the others shrink the communicator, share out the
 * rows of the last copies anew and go on from there. docs/failures.md explains it.
 *
 * usage: jacobi [SWEEPS [ROWS]] */
#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY = 20 };                       /* sweeps from one copy to the next */

static int rows = 240, width;              /* of the plate; the row above is hot, what is around it else is cold */
static MPI_Comm comm;
static int rank, size, mine;               /* rows of this process */
static double *plate, *next;               /* they, between the last row of the process above and the first one of that below */
static double *buddys;                     /* the copy that is being received */

/* The copies that all have agreed on, and who took part in them. */
static struct {
    MPI_Group group;
    int sweeps;
    double *own, *buddys;
} saved = {MPI_GROUP_NULL, 0, NULL, NULL};

static int first_row(int rank, int size) { return (int) ((long) rows * rank / size); }
static int rows_of(int rank, int size) { return first_row(rank + 1, size) - first_row(rank, size); }
static size_t bytes(int rows) { return (size_t) rows * (size_t) width * sizeof(double); }

/* The communicator to go on with. */
static void use(MPI_Comm new)
{
    comm = new;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = rows_of(rank, size);
    plate = realloc(plate, bytes(mine + 2));
    next = realloc(next, bytes(mine + 2));
    buddys = realloc(buddys, bytes(rows_of((rank + size - 1) % size, size)));
    memset(plate, 0, bytes(mine + 2));
    for (int i = 0; i < width && rank == 0; i++)
        plate[i] = 1;
    memcpy(next, plate, bytes(mine + 2));
}

static int sweep(void)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    int code = MPI_Sendrecv(plate + width, width, MPI_DOUBLE, above, 0, plate + (mine + 1) * width, width, MPI_DOUBLE, below, 0, comm,
                            MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(plate + mine * width, width, MPI_DOUBLE, below, 1, plate, width, MPI_DOUBLE, above, 1, comm,
                            MPI_STATUS_IGNORE);
    for (int i = 1; i <= mine && code == MPI_SUCCESS; i++)
        for (int j = 1; j < width - 1; j++) {
            double *at = plate + i * width + j;
            next[i * width + j] = (at[-width] + at[width] + at[-1] + at[1]) / 4;
        }
    double *old = plate;
    plate = next, next = old;
    return code;
}

/* To the buddy, and from the one whose buddy this process is. */
static int give_copy(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    return MPI_Sendrecv(plate + width, mine * width, MPI_DOUBLE, to, 2, buddys, rows_of(from, size) * width, MPI_DOUBLE, from, 2, comm,
                        MPI_STATUS_IGNORE);
}

/* All have their copies: these count from now on. */
static void keep_copies(int sweeps)
{
    if (saved.group != MPI_GROUP_NULL)
        MPI_Group_free(&saved.group);
    MPI_Comm_group(comm, &saved.group);
    saved.sweeps = sweeps;
    saved.own = realloc(saved.own, bytes(mine));
    memcpy(saved.own, plate + width, bytes(mine));
    saved.buddys = realloc(saved.buddys, bytes(rows_of((rank + size - 1) % size, size)));
    memcpy(saved.buddys, buddys, bytes(rows_of((rank + size - 1) % size, size)));
}

/* Puts the rows of the last copies together, each from its process or else from the buddy, and takes those that are this process's now. */
static int take_back(void)
{
    if (saved.group == MPI_GROUP_NULL)
        return MPI_SUCCESS;
    MPI_Group living;
    int before;
    MPI_Comm_group(comm, &living);
    MPI_Group_size(saved.group, &before);
    double *all = calloc(1, bytes(rows));
    for (int old = 0; old < before; old++) {
        int both[2] = {old, (old + 1) % before}, now[2];
        MPI_Group_translate_ranks(saved.group, 2, both, living, now);
        if (now[0] == MPI_UNDEFINED && now[1] == MPI_UNDEFINED) {
            fprintf(stderr, "jacobi: a process and its buddy have died: their rows are lost\n");
            MPI_Abort(comm, 3);
        }
        if (now[0] == rank || (now[0] == MPI_UNDEFINED && now[1] == rank))
            memcpy(all + first_row(old, before) * width, now[0] == rank ? saved.own : saved.buddys, bytes(rows_of(old, before)));
    }
    int code = MPI_Allreduce(MPI_IN_PLACE, all, rows * width, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(plate + width, all + first_row(rank, size) * width, bytes(mine));
    free(all);
    MPI_Group_free(&living);
    return code;
}

/* Of all bits of the plate: it does not depend on who has which rows. */
static int print_sum(int sweeps)
{
    uint64_t sum = 0, bits, all;
    for (int i = width; i < (mine + 1) * width; i++) {
        memcpy(&bits, plate + i, sizeof bits);
        sum += bits;
    }
    int code = MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    if (code == MPI_SUCCESS && rank == 0)
        printf("jacobi: %d sweeps of %d rows: sum %016llx\n", sweeps, rows, (unsigned long long) all);
    fflush(stdout);
    return code;
}

int main(int argc, char **argv)
{
    int sweeps = argc > 1 ? atoi(argv[1]) : 2000, done = 0, restored = 1;
    double begin = 0;
    MPI_Comm new;
    rows = argc > 2 ? atoi(argv[2]) : rows;
    width = rows + 2;
    MPI_Init(&argc, &argv);
    /* As MPI_Comm_dup, but a process may have died by now. */
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &new) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 4);
    use(new);
    if (rank == 0)
        printf("jacobi: %d processes begin\n", size);
    fflush(stdout);
    for (;;) {
        /* The next sweeps, or after a death none; and copies. */
        int code = restored ? take_back() : MPI_SUCCESS, at = saved.sweeps;
        for (int i = 0; i < EVERY && !restored && code == MPI_SUCCESS; i++, at++)
            code = sweep();
        if (code == MPI_SUCCESS)
            code = give_copy();
        if (code == MPI_SUCCESS && at >= sweeps)
            done = (code = print_sum(at)) == MPI_SUCCESS;
        /* Others may wait for one that is alive and does not come: revoking ends their calls, too. Then all learn whether all were well. */
        int good = code == MPI_SUCCESS;
        if (!good && begin == 0)
            begin = MPI_Wtime();
        if (!good)
            MPIX_Comm_revoke(comm);
        if (MPIX_Comm_agree(comm, &good) == MPI_SUCCESS && good) {
            keep_copies(at);
            if (begin != 0 && rank == 0)
                printf("jacobi: %d processes go on at sweep %d, after %.2f ms\n", size, at, (MPI_Wtime() - begin) * 1e3);
            fflush(stdout);
            begin = restored = 0;
            if (done)
                break;
            continue;
        }
        if (begin == 0)
            begin = MPI_Wtime();
        if (MPIX_Comm_shrink(comm, &new) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 4);
        MPI_Comm_free(&comm);
        use(new);
        restored = 1, done = 0;
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
