/* Info: create, set, overwrite, get, get_string, lengths, nth key, delete, dup, free. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int flag = -1, length = -1, count = -1;
    start(&argc, &argv);
    MPI(MPI_Info_create(&info));
    CHECK(info != MPI_INFO_NULL);
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 0);
    MPI(MPI_Info_set(info, "first", "one"));
    MPI(MPI_Info_set(info, "second", "two"));
    MPI(MPI_Info_set(info, "third", "3"));
    MPI(MPI_Info_set(info, "second", "zwei")); /* overwritten in place */
    MPI(MPI_Info_set(info, "First", "other case"));
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 4);
    static const char *const keys[] = {"first", "second", "third", "First"}, *const values[] = {"one", "zwei", "3", "other case"};
    for (int i = 0; i < 4; i++) {
        int found = 0;
        MPI(MPI_Info_get_valuelen(info, keys[i], &length, &flag));
        CHECK_INT(flag, 1);
        CHECK_INT(length, strlen(values[i]));
        memset(value, 'x', sizeof value);
        MPI(MPI_Info_get(info, keys[i], MPI_MAX_INFO_VAL, value, &flag));
        CHECK_INT(flag, 1);
        CHECK_STRING(value, values[i]);
        length = sizeof value;
        memset(value, 'x', sizeof value);
        MPI(MPI_Info_get_string(info, keys[i], &length, value, &flag));
        CHECK_INT(flag, 1);
        CHECK_INT(length, strlen(values[i]) + 1);
        CHECK_STRING(value, values[i]);
        /* only its length */
        length = 0;
        MPI(MPI_Info_get_string(info, keys[i], &length, value, &flag));
        CHECK_INT(flag, 1);
        CHECK_INT(length, strlen(values[i]) + 1);
        for (int n = 0; n < 4; n++) {
            memset(key, 'x', sizeof key);
            MPI(MPI_Info_get_nthkey(info, n, key));
            found += !strcmp(key, keys[i]);
        }
        CHECK_INT(found, 1);
    }
    /* less room than the value: cut, with a zero at the end */
    if (!reference) { /* an error there */
        memset(value, 'x', sizeof value);
        MPI(MPI_Info_get(info, "First", 4, value, &flag));
        CHECK_INT(flag, 1);
        CHECK(!strncmp(value, "othe", 4));
        CHECK_INT(value[4], 0);
    }
    memset(value, 'x', sizeof value);
    length = 5;
    MPI(MPI_Info_get_string(info, "First", &length, value, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(length, 11);
    CHECK_STRING(value, "othe");
    CHECK_INT(value[5], 'x');
    /* not there: the value stays */
    memset(value, 'x', sizeof value);
    MPI(MPI_Info_get(info, "fourth", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_INT(flag, 0);
    CHECK_INT(value[0], 'x');
    length = sizeof value;
    MPI(MPI_Info_get_string(info, "fourth", &length, value, &flag));
    CHECK_INT(flag, 0);
    CHECK_INT(length, sizeof value);
    MPI(MPI_Info_get_valuelen(info, "fourth", &length, &flag));
    CHECK_INT(flag, 0);
    /* a copy is independent */
    MPI(MPI_Info_dup(info, &copy));
    MPI(MPI_Info_delete(info, "first"));
    MPI(MPI_Info_set(info, "third", "changed"));
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 3);
    MPI(MPI_Info_get(info, "first", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_INT(flag, 0);
    MPI(MPI_Info_get_nkeys(copy, &count));
    CHECK_INT(count, 4);
    MPI(MPI_Info_get(copy, "third", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_STRING(value, "3");
    MPI(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    MPI(MPI_Info_get(copy, "first", MPI_MAX_INFO_VAL, value, &flag));
    CHECK_STRING(value, "one");
    MPI(MPI_Info_free(&copy));
    return finish();
}
