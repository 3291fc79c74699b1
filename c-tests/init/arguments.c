/* args: three words. MPI_Init leaves the program's arguments alone. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK_INT(argc, 4);
    CHECK_STRING(argv[1], "one");
    CHECK_STRING(argv[2], "-n");
    CHECK_STRING(argv[3], "--three=3");
    CHECK(argv[4] == NULL);
    return finish();
}
