/* Variables set with -genv and in the environment reach every rank; the working directory is mpiexec's. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(getenv("C_SUITE_FROM_OUTSIDE") && !strcmp(getenv("C_SUITE_FROM_OUTSIDE"), "two words"));
    CHECK(getenv("C_SUITE_GENV") && !strcmp(getenv("C_SUITE_GENV"), "given"));
    CHECK_INT(access("c-tests/launch/testlist", R_OK), 0);
    return finish();
}
