/* Every rank writes whole lines and pieces of lines: none is torn by another rank's. The runner compares with the reference. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    setvbuf(stdout, NULL, _IOLBF, 4096);
    for (int i = 0; i < 50; i++)
        printf("rank %d of %d says line %d %.*s end\n", rank, size, i, i, "--------------------------------------------------");
    fflush(stdout);
    return finish();
}
