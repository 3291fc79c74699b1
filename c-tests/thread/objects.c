/* Objects made, used and freed in many threads at one time: infos, keyvals, attributes, error handlers, texts, requests. */
#include "threads.h"

enum { THREADS = 6 };

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void) comm, (void) code;
}

static void *run(void *number)
{
    int me = (int) (intptr_t) number, flag, length, keyval, in;
    char value[100], back[100], text[MPI_MAX_ERROR_STRING], tag[20];
    for (int i = 0; i < (slow() ? 20 : 400); i++) {
        MPI_Info info;
        MPI_Errhandler errhandler;
        MPI_Request request;
        void *found;
        MPI(MPI_Info_create(&info));
        snprintf(value, sizeof value, "thread %d round %d", me, i);
        MPI(MPI_Info_set(info, "key", value));
        MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
        MPI(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value));
        MPI(MPI_Comm_create_errhandler(handler, &errhandler));
        MPI(MPI_Irecv(&in, 1, MPI_INT, rank, me, MPI_COMM_WORLD, &request));
        if (i % 10 == 0) { /* a library keeps a bounded number of texts: few errors in all */
            int code = MPI_Send(&i, 1, MPI_INT, rank, -me * 1000 - i - 5, MPI_COMM_WORLD);
            CHECK_CLASS(code, MPI_ERR_TAG);
            MPI(MPI_Error_string(code, text, &length));
            snprintf(tag, sizeof tag, "%d", -me * 1000 - i - 5);
            CHECK(strstr(text, tag) != NULL || reference);
        }
        MPI(MPI_Send(&i, 1, MPI_INT, rank, me, MPI_COMM_WORLD));
        MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(in, i);
        MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag));
        CHECK(flag && found == value);
        MPI(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
        MPI(MPI_Comm_free_keyval(&keyval));
        MPI(MPI_Errhandler_free(&errhandler));
        MPI(MPI_Info_get(info, "key", 99, back, &flag));
        CHECK(flag && !strcmp(back, value));
        MPI(MPI_Info_free(&info));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_multiple(&argc, &argv);
    return_errors();
    run_threads(THREADS, run);
    return finish();
}
