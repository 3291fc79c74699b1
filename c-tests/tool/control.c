/* Control variables: every one has a name, a type and a text; values are read before and after MPI_Init and set before it; their
 * enumerations; categories. */
#include "check.h"

static int index_of(const char *name)
{
    int index = -1;
    MPI(MPI_T_cvar_get_index(name, &index));
    return index;
}

/* Each variable by its index and by its name, all of its words, and its value in range. */
static void all(void)
{
    int num, n, found, count, items, verbosity, bind, scope, value, length;
    unsigned long number;
    double real;
    char name[200], text[1000], word[200];
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_handle handle;
    MPI(MPI_T_cvar_get_num(&num));
    CHECK(num > 0);
    for (int i = 0; i < num; i++) {
        int name_length = sizeof name, text_length = sizeof text;
        MPI(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &words, text, &text_length, &bind, &scope));
        CHECK(name_length == (int) strlen(name) + 1 && name_length > 1);
        CHECK(text_length == (int) strlen(text) + 1);
        MPI(MPI_T_cvar_get_index(name, &found));
        CHECK_INT(found, i);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        if (!reference) {
            CHECK_INT(count, 1);
            if (type == MPI_UNSIGNED_LONG) {
                MPI(MPI_T_cvar_read(handle, &number));
            } else if (type == MPI_DOUBLE) {
                MPI(MPI_T_cvar_read(handle, &real));
                CHECK(real >= 0);
            } else {
                CHECK(type == MPI_INT && words != MPI_T_ENUM_NULL);
                MPI(MPI_T_cvar_read(handle, &value));
                length = sizeof word;
                MPI(MPI_T_enum_get_info(words, &items, word, &length));
                CHECK(items > 0 && value >= 0 && value < items);
                for (int item = 0; item < items; item++) {
                    length = sizeof word;
                    MPI(MPI_T_enum_get_item(words, item, &n, word, &length));
                    CHECK(n == item && length > 1);
                }
                CHECK_INT(MPI_T_enum_get_item(words, items, &n, word, &length), MPI_T_ERR_INVALID_ITEM);
            }
        }
        MPI(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_cvar_get_info(num, name, NULL, &verbosity, &type, &words, text, NULL, &bind, &scope) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_get_index("no such variable", &found) == MPI_T_ERR_INVALID_NAME);
}

static void cut(void)
{
    char name[200] = "";
    int length = 6, need = 0;
    MPI(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(strlen(name), 5);
    MPI(MPI_T_cvar_get_info(0, NULL, &need, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    /* What all of it needs: the standard says so of a text that was cut, MPICH says what was written. */
    CHECK_INT(length, reference ? 6 : need);
    length = sizeof name;
    MPI(MPI_T_cvar_get_info(0, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(need, strlen(name) + 1);
}

/* Values of ours: set before MPI_Init, then fixed. */
static void set(int before)
{
    int count, value = -1, scope, limit = index_of("OXMPI_EAGER_BYTES"), route = index_of("OXMPI_BCAST");
    unsigned long bytes = 0;
    MPI_T_cvar_handle eager, choice;
    MPI(MPI_T_cvar_handle_alloc(limit, NULL, &eager, &count));
    MPI(MPI_T_cvar_handle_alloc(route, NULL, &choice, &count));
    MPI(MPI_T_cvar_get_info(route, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &scope));
    CHECK_INT(scope, MPI_T_SCOPE_ALL_EQ);
    if (before) {
        bytes = 12345;
        MPI(MPI_T_cvar_write(eager, &bytes));
        value = 99;
        CHECK(MPI_T_cvar_write(choice, &value) == MPI_T_ERR_INVALID);
        value = 3;
        MPI(MPI_T_cvar_write(choice, &value));
    } else {
        bytes = 1;
        CHECK(MPI_T_cvar_write(eager, &bytes) == MPI_T_ERR_CVAR_SET_NEVER);
    }
    MPI(MPI_T_cvar_read(eager, &bytes));
    CHECK_INT(bytes, 12345);
    MPI(MPI_T_cvar_read(choice, &value));
    CHECK_INT(value, 3);
    CHECK_INT(index_of("MPIR_CVAR_CTXID_EAGER_SIZE"), index_of("OXMPI_CONTEXT_EAGER_WORDS"));
    MPI(MPI_T_cvar_handle_free(&eager));
    MPI_T_cvar_handle stale = choice;
    MPI(MPI_T_cvar_handle_free(&choice));
    CHECK(MPI_T_cvar_read(stale, &value) == MPI_T_ERR_INVALID_HANDLE);
}

static void categories(void)
{
    int num, seen = 0, variables, counters, inner, changed, found, indices[500], all_variables;
    MPI(MPI_T_category_get_num(&num));
    MPI(MPI_T_cvar_get_num(&all_variables));
    for (int i = 0; i < num; i++) {
        char name[200], text[500];
        int name_length = sizeof name, text_length = sizeof text;
        MPI(MPI_T_category_get_info(i, name, &name_length, text, &text_length, &variables, &counters, &inner));
        MPI(MPI_T_category_get_index(name, &found));
        CHECK_INT(found, i);
        MPI(MPI_T_category_get_cvars(i, 500, indices));
        for (int k = 0; k < variables && k < 500; k++)
            CHECK(indices[k] >= 0 && indices[k] < all_variables);
        MPI(MPI_T_category_get_pvars(i, 500, indices));
        MPI(MPI_T_category_get_categories(i, 500, indices));
        seen += variables;
    }
    if (!reference)
        CHECK_INT(seen, all_variables);
    MPI(MPI_T_category_changed(&changed));
    CHECK(MPI_T_category_get_index("no such category", &found) == MPI_T_ERR_INVALID_NAME);
}

int main(int argc, char **argv)
{
    int provided, num;
    watchdog(argv[0]);
    CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    MPI(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MPI(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    all();
    cut();
    categories();
    if (!reference)
        set(1);
    start(&argc, &argv);
    all();
    if (!reference) {
        MPI_Comm comm;
        set(0);
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* by the strategy that was set */
        MPI(MPI_Barrier(comm));
        MPI(MPI_Comm_free(&comm));
    }
    MPI(MPI_T_finalize());
    MPI(MPI_T_cvar_get_num(&num));
    int result = finish();
    MPI(MPI_T_cvar_get_num(&num));
    MPI(MPI_T_finalize());
    CHECK(MPI_T_cvar_get_num(&num) == MPI_T_ERR_NOT_INITIALIZED);
    return check_failures ? 95 : result;
}
