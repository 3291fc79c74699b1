/* The longest keys and values, empty values, odd characters, a thousand keys, a thousand infos. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info info, infos[1000];
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], back[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_INFO_KEY + 1];
    int flag, length, count;
    start(&argc, &argv);
    MPI(MPI_Info_create(&info));
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[MPI_MAX_INFO_KEY - 1] = 0; /* the constants count the zero at the end */
    value[MPI_MAX_INFO_VAL - 1] = 0;
    MPI(MPI_Info_set(info, key, value));
    MPI(MPI_Info_get_valuelen(info, key, &length, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(length, MPI_MAX_INFO_VAL - 1);
    MPI(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, back, &flag));
    CHECK_STRING(back, value);
    MPI(MPI_Info_get_nthkey(info, 0, name));
    CHECK_STRING(name, key);
    MPI(MPI_Info_delete(info, key));
    /* a longer key than fits is cut, not written past the end */
    memset(key, 'l', sizeof key);
    key[MPI_MAX_INFO_KEY] = 0;
    if (MPI_Info_set(info, key, value) == MPI_SUCCESS) {
        memset(name, 'x', sizeof name);
        MPI(MPI_Info_get_nthkey(info, 0, name));
        CHECK_INT(name[MPI_MAX_INFO_KEY - 1], 0);
        CHECK_INT(name[MPI_MAX_INFO_KEY], 'x');
        MPI(MPI_Info_delete(info, key));
    }
    MPI(MPI_Info_set(info, "odd \" ; = key", "\xc3\xbc\xe2\x82\xac\t|;="));
    MPI(MPI_Info_get(info, "odd \" ; = key", MPI_MAX_INFO_VAL, back, &flag));
    CHECK_INT(flag, 1);
    CHECK_STRING(back, "\xc3\xbc\xe2\x82\xac\t|;=");
    MPI(MPI_Info_free(&info));
    MPI(MPI_Info_create(&info));
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        snprintf(value, sizeof value, "value%d", i * 7);
        MPI(MPI_Info_set(info, key, value));
    }
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 1000);
    for (int i = 0; i < 1000; i += 37) {
        snprintf(key, sizeof key, "key%d", i);
        snprintf(value, sizeof value, "value%d", i * 7);
        MPI(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, back, &flag));
        CHECK_INT(flag, 1);
        CHECK_STRING(back, value);
    }
    MPI(MPI_Info_free(&info));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            MPI(MPI_Info_create(&infos[i]));
            snprintf(value, sizeof value, "%d", i);
            MPI(MPI_Info_set(infos[i], "n", value));
        }
        for (int i = 0; i < 1000; i++) {
            snprintf(value, sizeof value, "%d", i);
            MPI(MPI_Info_get(infos[i], "n", 10, back, &flag));
            CHECK_STRING(back, value);
            MPI(MPI_Info_free(&infos[i]));
        }
    }
    return finish();
}
