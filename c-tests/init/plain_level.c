/* args: the level that a variable asks for; without: any. After MPI_Init the level is one of the four and this is the main
 * thread. */
#include "check.h"

int main(int argc, char **argv)
{
    int level = -1, flag = -1;
    start(&argc, &argv);
    MPI(MPI_Query_thread(&level));
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    if (argc > 1)
        CHECK_INT(level, atoi(argv[1]));
    MPI(MPI_Is_thread_main(&flag));
    CHECK_INT(flag, 1);
    return finish();
}
