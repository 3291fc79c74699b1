/* Children that pretend to be on another host, spawned one after the other: all parents and children send to each other at once, so their connections over
 * the fabric meet, and one of each two gives way. No living process is taken for dead for that. args: rounds, children, bytes */
#include "spawned.h"

int main(int argc, char **argv)
{
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    start_family(&argc, &argv);
    int rounds = atoi(argv[1]), count = atoi(argv[2]), bytes = atoi(argv[3]);
    if (is_child) {
        talk(parent, bytes, 1);
        return finish_family();
    }
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "env", "OXMPI_PRETEND=host=1"));
    for (int round = 0; round < rounds; round++) {
        MPI(MPI_Comm_spawn(program, argv + 1, count, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
        talk(children, bytes, 0);
        part(&children);
    }
    MPI(MPI_Info_free(&info));
    return finish_family();
}
