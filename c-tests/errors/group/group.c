/* Wrong arguments of the functions of groups. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Group all, one, gone;
    int value, ranks[3] = {0, 0, 0}, found[3];
    start(&argc, &argv);
    return_errors();
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_incl(all, 1, ranks, &gone));
    MPI_Group copy = gone;
    MPI(MPI_Group_free(&copy));
    MPI_Group wrong[3] = {MPI_GROUP_NULL, (MPI_Group) MPI_COMM_WORLD, gone};
    int range[1][3] = {{0, 0, 1}};
    for (int i = 0; i < (reference ? 2 : 3); i++) {
        MPI_Group it = wrong[i];
        ERROR(MPI_Group_size(it, &value), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_rank(it, &value), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_compare(it, all, &value), MPI_ERR_GROUP, "group1", NULL);
        ERROR(MPI_Group_compare(all, it, &value), MPI_ERR_GROUP, "group2", NULL);
        ERROR(MPI_Group_translate_ranks(it, 1, ranks, all, found), MPI_ERR_GROUP, "group1", NULL);
        ERROR(MPI_Group_translate_ranks(all, 1, ranks, it, found), MPI_ERR_GROUP, "group2", NULL);
        ERROR(MPI_Group_union(it, all, &one), MPI_ERR_GROUP, "group1", NULL);
        ERROR(MPI_Group_union(all, it, &one), MPI_ERR_GROUP, "group2", NULL);
        ERROR(MPI_Group_intersection(it, all, &one), MPI_ERR_GROUP, "group1", NULL);
        ERROR(MPI_Group_intersection(all, it, &one), MPI_ERR_GROUP, "group2", NULL);
        ERROR(MPI_Group_difference(it, all, &one), MPI_ERR_GROUP, "group1", NULL);
        ERROR(MPI_Group_difference(all, it, &one), MPI_ERR_GROUP, "group2", NULL);
        ERROR(MPI_Group_incl(it, 1, ranks, &one), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_excl(it, 1, ranks, &one), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_range_incl(it, 1, range, &one), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_range_excl(it, 1, range, &one), MPI_ERR_GROUP, "group", NULL);
        ERROR(MPI_Group_free(&it), MPI_ERR_GROUP, "group", NULL);
    }
    /* ranks that do not exist, and ranks named twice */
    int bad[3] = {-1, size, MPI_ANY_SOURCE};
    for (int i = 0; i < 3; i++) {
        char text[20];
        snprintf(text, sizeof text, "%d", bad[i]);
        ERROR(MPI_Group_incl(all, 1, &bad[i], &one), MPI_ERR_RANK, "rank", text);
        ERROR(MPI_Group_excl(all, 1, &bad[i], &one), MPI_ERR_RANK, "rank", text);
        if (bad[i] != -1) /* MPI_PROC_NULL is translated to itself */
            ERROR(MPI_Group_translate_ranks(all, 1, &bad[i], all, found), MPI_ERR_RANK, "rank", text);
    }
    if (!reference) { /* it does not see the repetition */
        ERROR(MPI_Group_incl(all, 2, ranks, &one), MPI_ERR_RANK, "rank", "0");
        ERROR(MPI_Group_excl(all, 2, ranks, &one), MPI_ERR_RANK, "rank", "0");
    }
    /* ranges that never end, leave the group, or meet */
    int never[3][1][3] = {{{0, 0, 0}}, {{0, 1, -1}}, {{1, 0, 1}}};
    for (int i = 0; i < 3; i++) {
        int class_ = reference ? check_class_of(MPI_Group_range_incl(all, 1, never[i], &one)) : MPI_ERR_ARG;
        ERROR(MPI_Group_range_incl(all, 1, never[i], &one), class_, "stride", NULL);
        ERROR(MPI_Group_range_excl(all, 1, never[i], &one), class_, "stride", NULL);
    }
    int beyond[2][1][3] = {{{0, size, 1}}, {{-1, 0, 1}}};
    for (int i = 0; i < 2; i++) {
        ERROR(MPI_Group_range_incl(all, 1, beyond[i], &one), MPI_ERR_ARG, "range", NULL);
        ERROR(MPI_Group_range_excl(all, 1, beyond[i], &one), MPI_ERR_ARG, "range", NULL);
    }
    if (!reference) {
        int twice[2][3] = {{0, 0, 1}, {0, 0, 1}};
        ERROR(MPI_Group_range_incl(all, 2, twice, &one), MPI_ERR_RANK, "range", NULL);
        int huge[1][3] = {{0, 2147483647, 1}};
        ERROR(MPI_Group_range_incl(all, 1, huge, &one), MPI_ERR_ARG, "range", "2147483647");
    }
    /* counts and NULL */
    ERROR(MPI_Group_incl(all, -1, ranks, &one), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Group_excl(all, -1, ranks, &one), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Group_translate_ranks(all, -1, ranks, all, found), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Group_range_incl(all, -1, range, &one), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Group_size(all, NULL), MPI_ERR_ARG, "size", NULL);
    ERROR(MPI_Group_rank(all, NULL), MPI_ERR_ARG, "rank", NULL);
    ERROR(MPI_Group_compare(all, all, NULL), MPI_ERR_ARG, "result", NULL);
    ERROR(MPI_Group_union(all, all, NULL), MPI_ERR_ARG, "newgroup", NULL);
    ERROR(MPI_Group_incl(all, 1, ranks, NULL), MPI_ERR_ARG, "newgroup", NULL);
    if (!reference) {
        ERROR(MPI_Group_incl(all, 1, NULL, &one), MPI_ERR_ARG, "ranks", NULL);
        ERROR(MPI_Group_range_incl(all, 1, NULL, &one), MPI_ERR_ARG, "ranges", NULL);
        ERROR(MPI_Group_translate_ranks(all, 1, NULL, all, found), MPI_ERR_ARG, "ranks1", NULL);
        ERROR(MPI_Group_translate_ranks(all, 1, ranks, all, NULL), MPI_ERR_ARG, "ranks2", NULL);
        ERROR(MPI_Group_free(NULL), MPI_ERR_ARG, "group", NULL);
    }
    MPI(MPI_Group_free(&all));
    return finish();
}
