/* A rank that comes late to a reduction of little data, and gives more than the others: it is told both numbers, whether it reduces for all,
 * as the last of ranks that share cores does, or for itself; in every form. */
#include "wrong.h"
#include <string.h>
#include <unistd.h>

static double out[2] = {1, 1}, in[2];
static MPI_Request equal, unequal;

enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* One of equal amounts, or one where the last rank gives twice as much. */
static int reduce(enum form form, int count, MPI_Request *started)
{
    MPI_Request request;
    int code = MPI_SUCCESS;
    if (form == BLOCKING)
        return MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (form == PERSISTENT)
        code = MPI_Start(started);
    else
        code = MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    return code ? code : MPI_Wait(form == PERSISTENT ? started : &request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int late = rank == size - 1, count = late ? 2 : 1;
    MPI_Allreduce_init(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &equal);
    MPI_Allreduce_init(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &unequal);
    return_errors();
    for (int form = BLOCKING; form <= PERSISTENT; form++) {
        /* as many as there are areas, and more: the next one finds its area */
        for (int i = 0; i < 8; i++)
            MPI(reduce(form, 1, &equal));
        /* what it starts with is the first use of its area, where nothing can be begun at once */
        for (int i = 0; i < (form == PERSISTENT ? 2 : 1); i++) {
            MPI(MPI_Barrier(MPI_COMM_WORLD));
            if (late)
                usleep(100000);
            int code = reduce(form, count, &unequal), class = check_class_of(code);
            char text[MPI_MAX_ERROR_STRING] = "";
            int length;
            MPI(MPI_Error_string(code, text, &length));
            if (late)
                CHECK(class == MPI_ERR_COUNT && strstr(text, "has given 8 bytes") && strstr(text, "16"));
            else
                CHECK(class == MPI_ERR_TRUNCATE || class == MPI_ERR_COUNT);
        }
    }
    MPI(MPI_Request_free(&equal));
    MPI(MPI_Request_free(&unequal));
    return finish();
}
