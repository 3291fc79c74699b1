/* A communicator without a name is told in error texts by its handle and how it was made. With argument 1: in MPI_Abort; 2: in
 * the message of an error that ends the job; 3: the name of MPI_COMM_SELF is taken away. */
#include "check.h"

static void told(MPI_Comm comm, const char *how)
{
    char text[MPI_MAX_ERROR_STRING] = "", handle[20];
    int length, code, value = 0;
    snprintf(handle, sizeof handle, "0x%08x", (unsigned) MPI_Comm_c2f(comm));
    MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    code = MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
    CHECK_CLASS(code, MPI_ERR_RANK);
    MPI(MPI_Error_string(code, text, &length));
    if (!strstr(text, how) || !strstr(text, handle))
        check_failed(__FILE__, __LINE__, "the text says neither \"%s\" nor %s: %s", how, handle, text);
    MPI(MPI_Comm_set_name(comm, "named now"));
    code = MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
    MPI(MPI_Error_string(code, text, &length));
    if (!strstr(text, "named now") || strstr(text, "made by"))
        check_failed(__FILE__, __LINE__, "the text does not have the name: %s", text);
}

static void done(MPI_Comm comm, const char *how)
{
    told(comm, how);
    MPI(MPI_Comm_free(&comm));
}

static void constructors(void)
{
    MPI_Comm comm, cart, sub;
    MPI_Group group;
    MPI_Info info;
    MPI_Request request;
    int n = 1, periodic = 0, keep = 1, zero = 0, index = 0;
    MPI(MPI_Comm_group(MPI_COMM_SELF, &group));
    MPI(MPI_Info_create(&info));
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    done(comm, "made by MPI_Comm_dup of MPI_COMM_WORLD)");
    MPI(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    done(comm, "made by MPI_Comm_dup_with_info of MPI_COMM_WORLD)");
    MPI(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    done(comm, "made by MPI_Comm_idup of MPI_COMM_WORLD)");
    MPI(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &comm, &request));
    MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    done(comm, "made by MPI_Comm_idup_with_info of MPI_COMM_WORLD)");
    MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
    done(comm, "made by MPI_Comm_split of MPI_COMM_WORLD)");
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    done(comm, "made by MPI_Comm_split_type of MPI_COMM_WORLD)");
    MPI(MPI_Comm_create(MPI_COMM_SELF, group, &comm));
    done(comm, "made by MPI_Comm_create of MPI_COMM_SELF)");
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm));
    done(comm, "made by MPI_Comm_create_group of MPI_COMM_WORLD)");
    MPI(MPI_Comm_create_from_group(group, "unnamed", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    done(comm, "made by MPI_Comm_create_from_group)");
    MPI(MPI_Cart_create(MPI_COMM_SELF, 1, &n, &periodic, 0, &cart));
    MPI(MPI_Cart_sub(cart, &keep, &sub));
    told(cart, "made by MPI_Cart_create of MPI_COMM_SELF)");
    done(sub, "made by MPI_Cart_sub of named now)");
    MPI(MPI_Comm_free(&cart));
    MPI(MPI_Graph_create(MPI_COMM_SELF, 1, &zero, &index, 0, &comm));
    done(comm, "made by MPI_Graph_create of MPI_COMM_SELF)");
    MPI(MPI_Dist_graph_create(MPI_COMM_SELF, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    done(comm, "made by MPI_Dist_graph_create of MPI_COMM_SELF)");
    MPI(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    done(comm, "made by MPI_Dist_graph_create_adjacent of MPI_COMM_SELF)");
    MPI(MPI_Info_free(&info));
    MPI(MPI_Group_free(&group));
}

static void intercommunicators(void)
{
    MPI_Comm half, inter, merged;
    MPI_Group local, remote;
    int range[1][3] = {{0, 0, 1}};
    MPI(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half));
    MPI(MPI_Comm_set_name(half, "half"));
    MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 3, &inter));
    MPI(MPI_Intercomm_merge(inter, 0, &merged));
    told(inter, "made by MPI_Intercomm_create of half)");
    done(merged, "made by MPI_Intercomm_merge of named now)");
    MPI(MPI_Comm_free(&inter));
    MPI(MPI_Comm_free(&half));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &remote));
    MPI(MPI_Group_range_incl(remote, 1, range, &local));
    MPI(MPI_Group_free(&remote));
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &remote));
    MPI(MPI_Group_range_excl(remote, 1, range, &remote));
    MPI(MPI_Intercomm_create_from_groups(rank ? remote : local, 0, rank ? local : remote, 0, "unnamed sides", MPI_INFO_NULL,
                                         MPI_ERRORS_RETURN, &inter));
    done(inter, "made by MPI_Intercomm_create_from_groups)");
    MPI(MPI_Group_free(&local));
    MPI(MPI_Group_free(&remote));
}

static void parents(void)
{
    MPI_Comm parent, child;
    char how[100];
    MPI(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    MPI(MPI_Comm_dup(parent, &child));
    snprintf(how, sizeof how, "made by MPI_Comm_dup of 0x%08x)", (unsigned) MPI_Comm_c2f(parent));
    done(child, how);
    MPI(MPI_Comm_dup(parent, &child));
    snprintf(how, sizeof how, "made by MPI_Comm_dup of 0x%08x, since freed)", (unsigned) MPI_Comm_c2f(parent));
    MPI(MPI_Comm_free(&parent));
    done(child, how);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int value = 0, mode = argc > 1 ? atoi(argv[1]) : 0;
    start(&argc, &argv);
    if (mode) {
        MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
        if (mode == 1)
            MPI_Abort(comm, 3);
        else if (mode == 2)
            MPI_Send(&value, 1, MPI_INT, 99, 0, comm);
        MPI(MPI_Comm_set_name(MPI_COMM_SELF, ""));
        MPI_Abort(MPI_COMM_SELF, 3);
    }
    constructors();
    if (size > 1)
        intercommunicators();
    parents();
    return finish();
}
