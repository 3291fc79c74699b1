/* args: steps threads seed. Threads make and free communicators in every way at once: each thread has a chain of its own of dup,
 * idup, split, create, create_group on one common parent with a tag of its own, and merges; all ranks draw the same choices.
 * Less than zero steps: so many seconds. */
#include "threads.h"

static int steps, count, first_seed;
static MPI_Comm own[16], common;

/* All members exchange something that only this communicator and this step have. */
static void use(MPI_Comm comm, int mark)
{
    int r, s, in[2], out[2];
    MPI(MPI_Comm_rank(comm, &r));
    MPI(MPI_Comm_size(comm, &s));
    out[0] = mark;
    out[1] = r;
    MPI(MPI_Sendrecv(out, 2, MPI_INT, (r + 1) % s, 9, in, 2, MPI_INT, (r + s - 1) % s, 9, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in[0], mark);
    CHECK_INT(in[1], (r + s - 1) % s);
    MPI(MPI_Allreduce(&mark, in, 1, MPI_INT, MPI_MAX, comm));
    CHECK_INT(in[0], mark);
}

static void end(MPI_Comm *comm, int mark)
{
    if (*comm == MPI_COMM_NULL)
        return;
    use(*comm, mark);
    MPI(MPI_Comm_free(comm));
}

static void *run(void *argument)
{
    enum { LIVE = 6 };
    int id = (int) (intptr_t) argument;
    uint64_t seed = first_seed * 1000 + id;
    MPI_Comm live[LIVE], pending[LIVE];
    MPI_Request requests[LIVE];
    MPI_Group all;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int i = 0; i < LIVE; i++)
        live[i] = MPI_COMM_NULL;
    int step;
    for (step = 0; !is_over(own[id], step, steps); step++) {
        int mark = step * 100 + id, at = (int) (next_random(&seed) % LIVE);
        uint64_t choice = next_random(&seed), detail = next_random(&seed);
        MPI_Comm parent = own[id], comm = MPI_COMM_NULL;
        MPI_Group group;
        switch (choice % 7) {
        case 0:
            MPI(MPI_Comm_dup(parent, &comm));
            break;
        case 1: {
            int many = 1 + (int) (detail % LIVE);
            for (int i = 0; i < many; i++)
                MPI(MPI_Comm_idup(parent, &pending[i], &requests[i]));
            MPI(MPI_Comm_dup(parent, &comm));
            if (detail & 64) {
                MPI(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
            } else {
                for (int i = many - 1; i >= 0; i--)
                    MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            }
            for (int i = 0; i < many; i++)
                end(&pending[i], mark);
            break;
        }
        case 2:
            MPI(MPI_Comm_split(parent, detail % 3 == 0 ? 0 : rank % (int) (1 + detail % 3), (int) (detail >> 8) % 5 * rank, &comm));
            break;
        case 3: {
            int range[1][3] = {{(int) (detail % size), size - 1, 1}};
            MPI(MPI_Group_range_incl(all, 1, range, &group));
            MPI(MPI_Comm_create(parent, group, &comm));
            MPI(MPI_Group_free(&group));
            break;
        }
        case 4:
        case 5: {
            /* all threads on one parent, each with its tag; only the members call */
            int first = (int) (detail % size), last = (int) (first + (detail >> 8) % (size - first));
            int range[1][3] = {{last, first, -1}};
            if (rank >= first && rank <= last) {
                MPI(MPI_Group_range_incl(all, 1, range, &group));
                MPI(MPI_Comm_create_group(choice % 7 == 4 ? common : parent, group, id, &comm));
                MPI(MPI_Group_free(&group));
            }
            break;
        }
        case 6:
            if (size > 1) {
                int low = 1 + (int) (detail % (size - 1)), mine = rank < low;
                MPI_Comm half, inter;
                MPI(MPI_Comm_split(parent, mine, 0, &half));
                MPI(MPI_Intercomm_create(half, 0, parent, mine ? low : 0, id, &inter));
                MPI(MPI_Intercomm_merge(inter, mine, &comm));
                MPI(MPI_Comm_free(&half));
                MPI(MPI_Comm_free(&inter));
            }
            break;
        }
        if (comm != MPI_COMM_NULL)
            use(comm, mark);
        /* what was made in an earlier step is used once more before it goes */
        end(&live[at], 7);
        live[at] = comm;
    }
    for (int i = 0; i < LIVE; i++)
        end(&live[i], 7);
    MPI(MPI_Group_free(&all));
    if (steps < 0 && rank == 0)
        fprintf(stderr, "thread %d: %d steps\n", id, step);
    return NULL;
}

int main(int argc, char **argv)
{
    steps = argc > 1 ? atoi(argv[1]) : 100;
    count = argc > 2 ? atoi(argv[2]) : 2;
    first_seed = argc > 3 ? atoi(argv[3]) : 1;
    start_multiple(&argc, &argv);
    if (slow())
        steps = 10;
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &common));
    for (int i = 0; i < count; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    run_threads(count, run);
    for (int i = 0; i < count; i++)
        MPI(MPI_Comm_free(&own[i]));
    MPI(MPI_Comm_free(&common));
    return finish();
}
