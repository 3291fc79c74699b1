/* Many keyvals and attributes on several communicators: each finds its own. */
#include "check.h"

enum { KEYS = 300 };

int main(int argc, char **argv)
{
    static int keyvals[KEYS], values[3][KEYS];
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
    int flag, *value;
    start(&argc, &argv);
    MPI(MPI_Comm_dup(MPI_COMM_SELF, &comms[2]));
    for (int k = 0; k < KEYS; k++) {
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyvals[k], NULL));
        for (int c = 0; c < 3; c++)
            MPI(MPI_Comm_set_attr(comms[c], keyvals[k], &values[c][k]));
    }
    for (int k = 0; k < KEYS; k += 2)
        MPI(MPI_Comm_delete_attr(comms[k % 3], keyvals[k]));
    for (int k = 0; k < KEYS; k++)
        for (int c = 0; c < 3; c++) {
            MPI(MPI_Comm_get_attr(comms[c], keyvals[k], &value, &flag));
            CHECK_INT(flag, !(k % 2 == 0 && c == k % 3));
            if (flag)
                CHECK(value == &values[c][k]);
        }
    MPI(MPI_Comm_free(&comms[2]));
    for (int k = 0; k < KEYS; k++) {
        for (int c = 0; c < 2; c++)
            if (!(k % 2 == 0 && c == k % 3))
                MPI(MPI_Comm_delete_attr(comms[c], keyvals[k]));
        MPI(MPI_Comm_free_keyval(&keyvals[k]));
    }
    return finish();
}
