/* Ranks that call one operation with different amounts of data, or different operations, and would wait for each other for ever: by which way
 * each goes depends on its amount. All calls end, some with an error that names the operation and, unless it was found in the data itself, the
 * other rank and both amounts; the communicator is of no use then, the others are.
 *
 *     apart OPERATIONS FORMS AMOUNTS      of blocking, nonblocking, persistent; 8:65536 those of the last rank behind those of the others */
#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT };

static const char *const names[] = {"bcast", "reduce", "allreduce", "scan", "reduce_scatter", "gather", "scatter", "allgather", "alltoall", "barrier"};
static const char *const functions[][3] = {
    {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init"},
    {"MPI_Reduce", "MPI_Ireduce", "MPI_Reduce_init"},
    {"MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init"},
    {"MPI_Scan", "MPI_Iscan", "MPI_Scan_init"},
    {"MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", "MPI_Reduce_scatter_block_init"},
    {"MPI_Gather", "MPI_Igather", "MPI_Gather_init"},
    {"MPI_Scatter", "MPI_Iscatter", "MPI_Scatter_init"},
    {"MPI_Allgather", "MPI_Iallgather", "MPI_Allgather_init"},
    {"MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init"},
    {"MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init"},
};
enum { OPERATIONS = sizeof names / sizeof *names, REDUCTIONS = 5 };

static char *in, *out;

/* As often as all ranks have, wherever the errors are. */
static int run(int operation, int form, int bytes, MPI_Comm c)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int n = bytes / 8, code = MPI_SUCCESS;
    MPI_Datatype t = MPI_LONG_LONG;
#define FORMS(name, iname, ininame, ...) \
    (form == BLOCKING ? name(__VA_ARGS__, c) : form == NONBLOCKING ? iname(__VA_ARGS__, c, &r) : ininame(__VA_ARGS__, c, MPI_INFO_NULL, &r))
    switch (operation) {
    case 0: code = FORMS(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, in, n, t, 0); break;
    case 1: code = FORMS(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, in, out, n, t, MPI_SUM, 0); break;
    case 2: code = FORMS(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, in, out, n, t, MPI_SUM); break;
    case 3: code = FORMS(MPI_Scan, MPI_Iscan, MPI_Scan_init, in, out, n, t, MPI_SUM); break;
    case 4: code = FORMS(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, in, out, n, t, MPI_SUM); break;
    case 5: code = FORMS(MPI_Gather, MPI_Igather, MPI_Gather_init, in, n, t, out, n, t, 0); break;
    case 6: code = FORMS(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, in, n, t, out, n, t, 0); break;
    case 7: code = FORMS(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in, n, t, out, n, t); break;
    case 8: code = FORMS(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, in, n, t, out, n, t); break;
    default:
        code = form == BLOCKING ? MPI_Barrier(c) : form == NONBLOCKING ? MPI_Ibarrier(c, &r) : MPI_Barrier_init(c, MPI_INFO_NULL, &r);
    }
    if (form != BLOCKING) {
        MPI(code);
        if (form == PERSISTENT)
            MPI(MPI_Start(&r));
        code = MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (form == PERSISTENT)
            MPI(MPI_Request_free(&r));
    }
    return code;
}

static int has(const char *text, long long value, const char *behind)
{
    char number[64];
    snprintf(number, sizeof number, "%lld%s", value, behind);
    return strstr(text, number) != NULL;
}

/* The last rank calls another operation, or with another amount. */
static void differ(int operation, int other, int form, int bytes, int theirs)
{
    MPI_Comm c;
    int length, last = rank == size - 1;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    MPI(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    MPI(run(2, BLOCKING, 8, c));
    int mine = last ? other : operation, code = run(mine, form, last ? theirs : bytes, c), class = check_class_of(code);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_COUNT || class == MPI_ERR_TRUNCATE || class == MPI_ERR_OTHER);
    if (code != MPI_SUCCESS) {
        MPI(MPI_Error_string(code, text, &length));
        CHECK(strstr(text, "byte") || strstr(text, "different") || strstr(text, " has called "));
        if (form == BLOCKING)
            CHECK(strstr(text, functions[mine][form]));
        if (class != MPI_ERR_OTHER && strstr(text, " has called ") && operation == other) {
            int each = operation == 4 ? size : 1;
            CHECK(has(text, each * theirs, "") && has(text, each * bytes, "") && strstr(text, functions[operation][0]));
        }
        if (getenv("APART_TRACE"))
            fprintf(stderr, "rank %d: %s\n", rank, text);
    }
    int failed = code != MPI_SUCCESS, any = 0;
    MPI(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    /* Where nobody waits for the last rank, and it for nobody: it takes nothing from a root or the ranks before it, or gives more than the
     * root of a reduction takes. */
    int silent = ((operation == 0 || operation == 3) && theirs == 0) || (operation == 1 && (bytes == 0 || (bytes > 8 && theirs > bytes)));
    if (operation != other || (operation < REDUCTIONS && !silent))
        CHECK(any);
    /* Who has noticed nothing still does not wait for ever. */
    MPI_Barrier(c);
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Comm_free(&c));
}

static int is_in(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ','))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *operations = argc > 1 ? argv[1] : "allreduce", *forms = argc > 2 ? argv[2] : "blocking";
    in = calloc(size, 1 << 20), out = calloc(size, 1 << 20);
    for (int form = 0; form < 3; form++) {
        if (!is_in(forms, ((const char *[]) {"blocking", "nonblocking", "persistent"})[form]))
            continue;
        for (int at = 3; at < argc; at++)
            for (int operation = 0; operation < OPERATIONS; operation++) {
                int bytes = atoi(argv[at]), theirs = atoi(strchr(argv[at], ':') + 1);
                if (is_in(operations, names[operation]))
                    differ(operation, operation, form, bytes, theirs);
            }
        if (is_in(operations, "different")) {
            differ(2, 9, form, 1 << 20, 0);
            differ(9, 2, form, 0, 1 << 20);
            differ(7, 3, form, 1 << 16, 8);
            differ(2, 8, form, 8, 1 << 16);
        }
    }
    free(in);
    free(out);
    return finish();
}
