/* args: before, after or both. Every control variable, written with another value than it has: it reads back what was written, or the
 * write is refused for good, and its scope agrees with that. Asked before MPI_Init, after it, or both: then what was said first stays. */
#include "check.h"

enum { MOST = 1000 };

/* The variable, whose value is that of its type, with another one; whether there is one. */
static int change(MPI_Datatype type, int items, char *value)
{
    if (type == MPI_UNSIGNED_LONG)
        *(unsigned long *) value += 1;
    else if (type == MPI_DOUBLE)
        *(double *) value += 1;
    else if (items > 1)
        *(int *) value = (*(int *) value + 1) % items;
    else
        return 0;
    return 1;
}

/* Returns how many could be written. */
static int walk(int *scopes, int is_first)
{
    int num, written = 0;
    MPI(MPI_T_cvar_get_num(&num));
    CHECK(num > 0 && num <= MOST);
    for (int i = 0; i < num && i < MOST; i++) {
        char name[200], old[8] = {0}, new[8] = {0}, found[8] = {0};
        int length = sizeof name, count, scope, items = 0;
        MPI_Datatype type;
        MPI_T_enum words;
        MPI_T_cvar_handle handle;
        MPI(MPI_T_cvar_get_info(i, name, &length, NULL, &type, &words, NULL, NULL, NULL, &scope));
        if (is_first)
            scopes[i] = scope;
        CHECK_INT(scope, scopes[i]);
        if (words != MPI_T_ENUM_NULL)
            MPI(MPI_T_enum_get_info(words, &items, NULL, NULL));
        MPI(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        MPI(MPI_T_cvar_read(handle, old));
        memcpy(new, old, sizeof new);
        int has_other = change(type, items, new);
        /* The second value stands for the first one's successor. */
        for (int time = 0; time < 2; time++) {
            int code = MPI_T_cvar_write(handle, new);
            MPI(MPI_T_cvar_read(handle, found));
            if (code == MPI_SUCCESS) {
                written += time;
                if (memcmp(found, new, sizeof new) || scope == MPI_T_SCOPE_CONSTANT || !has_other)
                    check_failed(__FILE__, __LINE__, "%s was written, and is not what was, or its scope is %d", name, scope);
                memcpy(new, old, sizeof new);
            } else if (code != MPI_T_ERR_CVAR_SET_NEVER || memcmp(found, old, sizeof old) || (is_first && scope != MPI_T_SCOPE_CONSTANT)) {
                check_failed(__FILE__, __LINE__, "%s: the write gave %d, its scope is %d", name, code, scope);
            }
        }
        MPI(MPI_T_cvar_handle_free(&handle));
    }
    return written;
}

int main(int argc, char **argv)
{
    static int scopes[MOST];
    int provided, is_first = 1;
    const char *when = argc > 1 ? argv[1] : "after";
    watchdog(argv[0]);
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (strcmp(when, "after")) {
        CHECK(walk(scopes, is_first) > 10);
        is_first = 0;
    }
    start(&argc, &argv);
    if (strcmp(when, "before"))
        CHECK_INT(walk(scopes, is_first), 0);
    MPI(MPI_T_finalize());
    return finish();
}
