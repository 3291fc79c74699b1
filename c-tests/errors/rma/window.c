/* Wrong arguments of the functions that make, name and end windows; those of a creation meet the communicator's handler. */
#include "wrong.h"

static char memory[100];

static void creation(void)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    char *base;
    ERROR(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, world, &win), MPI_ERR_SIZE, "size", "-1");
    ERROR(MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, world, &win), MPI_ERR_DISP, "disp_unit", "0");
    ERROR(MPI_Win_create(memory, 8, -4, MPI_INFO_NULL, world, &win), MPI_ERR_DISP, "disp_unit", "-4");
    ERROR(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, world, &win), MPI_ERR_BASE, "base", NULL);
    ERROR(MPI_Win_create((void *) -8, 100, 1, MPI_INFO_NULL, world, &win), MPI_ERR_SIZE, "size", "100");
    ERROR(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM, "comm", "MPI_COMM_NULL");
    ERROR(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, freed_comm(), &win), MPI_ERR_COMM, "comm", NULL);
    ERROR(MPI_Win_create(memory, 8, 1, freed_info(), world, &win), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, world, NULL), MPI_ERR_ARG, "win", "NULL");
    ERROR(MPI_Win_allocate(-5, 1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_SIZE, "size", "-5");
    ERROR(MPI_Win_allocate(5, -1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_DISP, "disp_unit", "-1");
    ERROR(MPI_Win_allocate(5, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win), MPI_ERR_COMM, "comm", "MPI_COMM_NULL");
    ERROR(MPI_Win_allocate(5, 1, MPI_INFO_NULL, world, NULL, &win), MPI_ERR_ARG, "baseptr", "NULL");
    ERROR(MPI_Win_allocate_shared(-5, 1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_SIZE, "size", "-5");
    ERROR(MPI_Win_allocate_shared(5, 0, MPI_INFO_NULL, world, &base, &win), MPI_ERR_DISP, "disp_unit", "0");
    ERROR(MPI_Win_allocate_shared(5, 1, MPI_INFO_NULL, world, NULL, &win), MPI_ERR_ARG, "baseptr", "NULL");
    ERROR(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM, "comm", "MPI_COMM_NULL");
    ERROR(MPI_Win_create_dynamic(MPI_INFO_NULL, world, NULL), MPI_ERR_ARG, "win", "NULL");
    /* One rank alone is wrong: all are told. */
    int code = MPI_Win_allocate(rank == size - 1 ? -1 : 8, 1, MPI_INFO_NULL, world, &base, &win);
    CHECK_CLASS(code, MPI_ERR_SIZE);
    code = MPI_Win_create(memory, 8, rank == 0 ? 0 : 8, MPI_INFO_NULL, world, &win);
    CHECK_CLASS(code, MPI_ERR_DISP);
    CHECK(win == MPI_WIN_NULL);
}

static void intercommunicator(void)
{
    MPI_Comm half, inter;
    MPI_Win win;
    char *base;
    if (size < 2)
        return;
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &inter));
    MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    ERROR(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM, "comm", "intercommunicator");
    ERROR(MPI_Win_allocate(8, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM, "comm", "intercommunicator");
    ERROR(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM, "comm", "intercommunicator");
    ERROR(MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win), MPI_ERR_COMM, "comm", "intercommunicator");
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
}

static void handles(void)
{
    MPI_Win win, freed, null = MPI_WIN_NULL;
    MPI_Aint bytes;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME], *base;
    int unit, length, flag, key;
    void *value;
    MPI(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    freed = win;
    MPI(MPI_Win_free(&win));
    MPI_Win wrong[] = {MPI_WIN_NULL, freed, (MPI_Win) MPI_COMM_WORLD};
    MPI(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
    for (int i = 0; i < 3; i++) {
        MPI_Win bad = wrong[i];
        ERROR(MPI_Win_free(&bad), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_get_group(bad, &group), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_get_info(bad, &info), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_set_info(bad, MPI_INFO_NULL), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_set_name(bad, "x"), MPI_ERR_WIN, "win", NULL);
        if (bad != MPI_WIN_NULL)
            ERROR(MPI_Win_get_name(bad, name, &length), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_attach(bad, memory, 8), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_detach(bad, memory), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_shared_query(bad, 0, &bytes, &unit, &base), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_get_attr(bad, MPI_WIN_SIZE, &value, &flag), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_set_attr(bad, key, &flag), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_delete_attr(bad, key), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_get_errhandler(bad, &handler), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_set_errhandler(bad, MPI_ERRORS_RETURN), MPI_ERR_WIN, "win", NULL);
        ERROR(MPI_Win_call_errhandler(bad, MPI_ERR_OTHER), MPI_ERR_WIN, "win", NULL);
    }
    ERROR(MPI_Win_free(NULL), MPI_ERR_ARG, "win", "NULL");
    ERROR(MPI_Win_free(&null), MPI_ERR_WIN, "MPI_WIN_NULL", NULL);
    MPI(MPI_Win_free_keyval(&key));
}

static void others(void)
{
    MPI_Win win, dynamic;
    MPI_Aint bytes;
    MPI_Errhandler of_comm;
    int unit, key, flag;
    char *base, name[MPI_MAX_OBJECT_NAME];
    void *value;
    MPI(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN));
    ERROR(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR, "dynamic", NULL);
    ERROR(MPI_Win_shared_query(win, size, &bytes, &unit, &base), MPI_ERR_RANK, "rank", number(size));
    ERROR(MPI_Win_shared_query(win, -7, &bytes, &unit, &base), MPI_ERR_RANK, "rank", "-7");
    ERROR(MPI_Win_shared_query(win, 0, NULL, &unit, &base), MPI_ERR_ARG, "size", "NULL");
    ERROR(MPI_Win_shared_query(win, 0, &bytes, NULL, &base), MPI_ERR_ARG, "disp_unit", "NULL");
    ERROR(MPI_Win_shared_query(win, 0, &bytes, &unit, NULL), MPI_ERR_ARG, "NULL", NULL);
    ERROR(MPI_Win_attach(win, memory, 8), MPI_ERR_RMA_FLAVOR, "MPI_Win_create_dynamic", NULL);
    ERROR(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR, "MPI_Win_create_dynamic", NULL);
    ERROR(MPI_Win_attach(dynamic, memory, -3), MPI_ERR_SIZE, "size", "-3");
    ERROR(MPI_Win_attach(dynamic, NULL, 3), MPI_ERR_BASE, "base", "NULL");
    ERROR(MPI_Win_attach(dynamic, (void *) -8, 100), MPI_ERR_SIZE, "size", "100");
    ERROR(MPI_Win_detach(dynamic, memory), MPI_ERR_RMA_ATTACH, "base", NULL);
    ERROR(MPI_Win_get_group(win, NULL), MPI_ERR_ARG, "group", "NULL");
    ERROR(MPI_Win_get_info(win, NULL), MPI_ERR_ARG, "info_used", "NULL");
    ERROR(MPI_Win_set_info(win, freed_info()), MPI_ERR_INFO, "info", NULL);
    ERROR(MPI_Win_set_name(win, NULL), MPI_ERR_ARG, "win_name", "NULL");
    ERROR(MPI_Win_get_name(win, name, NULL), MPI_ERR_ARG, "resultlen", "NULL");
    ERROR(MPI_Win_get_errhandler(win, NULL), MPI_ERR_ARG, "errhandler", "NULL");
    MPI(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *) abort, &of_comm));
    ERROR(MPI_Win_set_errhandler(win, of_comm), at_least(4, 1) ? err_errhandler : MPI_ERR_ARG, "errhandler", NULL);
    MPI(MPI_Errhandler_free(&of_comm));
    ERROR(MPI_Win_call_errhandler(win, -5), MPI_ERR_ARG, "errorcode", "-5");
    MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    ERROR(MPI_Win_set_attr(win, key, &unit), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Win_get_attr(win, MPI_TAG_UB, &value, &flag), MPI_ERR_KEYVAL, "keyval", NULL);
    ERROR(MPI_Win_get_attr(win, MPI_WIN_SIZE, NULL, &flag), MPI_ERR_ARG, "attribute_val", NULL);
    ERROR(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, NULL), MPI_ERR_ARG, "flag", "NULL");
    ERROR(MPI_Win_delete_attr(win, MPI_WIN_SIZE), MPI_ERR_KEYVAL, "keyval", NULL);
    MPI(MPI_Comm_free_keyval(&key));
    MPI(MPI_Win_free(&win));
    MPI(MPI_Win_free(&dynamic));
}

static void memory_functions(void)
{
    char *given, *inside;
    ERROR(MPI_Alloc_mem(-1, MPI_INFO_NULL, &given), MPI_ERR_ARG, "size", "-1");
    ERROR(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "baseptr", "NULL");
    ERROR(MPI_Alloc_mem(8, freed_info(), &given), MPI_ERR_INFO, "info", NULL);
    MPI(MPI_Alloc_mem(5000, MPI_INFO_NULL, &given));
    inside = given + 64;
    ERROR(MPI_Free_mem(inside), MPI_ERR_BASE, "base", NULL);
    MPI(MPI_Free_mem(given));
    ERROR(MPI_Free_mem(given), MPI_ERR_BASE, "base", NULL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors();
    creation();
    intercommunicator();
    handles();
    others();
    memory_functions();
    return finish();
}
