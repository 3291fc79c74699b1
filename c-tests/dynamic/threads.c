/* Several threads spawn at once, each over a communicator of its own. */
#include "threads.h"
#include "spawned.h"

enum { THREADS = 3 };
static MPI_Comm comms[THREADS];

static void *run(void *number)
{
    int mine = (int) (intptr_t) number;
    for (int round = 0; round < 2; round++) {
        MPI_Comm children = spawn(comms[mine], 1 + mine % 2, MPI_ARGV_NULL);
        talk(children, 100, 0);
        part(&children);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    meet_parent(argv[0]);
    if (is_child) {
        talk(parent, 100, 1);
        return finish_family();
    }
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    run_threads(THREADS, run);
    for (int i = 0; i < THREADS; i++)
        MPI(MPI_Comm_free(&comms[i]));
    return finish_family();
}
