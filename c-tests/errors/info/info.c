/* Wrong arguments of the info functions: handles, keys and values that are null, empty or too long, numbers out of range. */
#include "wrong.h"

int main(int argc, char **argv)
{
    MPI_Info info, copy, null = MPI_INFO_NULL, wrong = (MPI_Info) MPI_INT, env = MPI_INFO_ENV;
    char key[MPI_MAX_INFO_KEY + 10], value[MPI_MAX_INFO_VAL + 10];
    int flag, length = 10, count;
    start(&argc, &argv);
    return_errors();
    ERROR(MPI_Info_create(NULL), MPI_ERR_ARG, "info", NULL);
    MPI(MPI_Info_create(&info));
    MPI(MPI_Info_set(info, "key", "value"));
    MPI_Info bad[3] = {null, wrong, freed_info()};
    for (int i = 0; i < (reference ? 2 : 3); i++) {
        const int class_ = reference && i == 0 ? MPI_ERR_ARG : MPI_ERR_INFO; /* what MPICH says of null */
        ERROR(MPI_Info_set(bad[i], "key", "value"), class_, "info", NULL);
        ERROR(MPI_Info_get(bad[i], "key", 5, value, &flag), class_, "info", NULL);
        ERROR(MPI_Info_get_string(bad[i], "key", &length, value, &flag), class_, "info", NULL);
        ERROR(MPI_Info_get_valuelen(bad[i], "key", &length, &flag), class_, "info", NULL);
        ERROR(MPI_Info_get_nkeys(bad[i], &count), class_, "info", NULL);
        ERROR(MPI_Info_get_nthkey(bad[i], 0, key), class_, "info", NULL);
        ERROR(MPI_Info_delete(bad[i], "key"), class_, "info", NULL);
        ERROR(MPI_Info_dup(bad[i], &copy), class_, "info", NULL);
        ERROR(MPI_Info_free(&bad[i]), class_, "info", NULL);
    }
    if (!reference)
        ERROR(MPI_Info_free(&env), MPI_ERR_INFO, "info", NULL);
    (void) env;
    ERROR(MPI_Info_free(NULL), MPI_ERR_ARG, "info", NULL);
    ERROR(MPI_Info_dup(info, NULL), MPI_ERR_ARG, "newinfo", NULL);
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[sizeof key - 1] = 0;
    value[sizeof value - 1] = 0;
    ERROR(MPI_Info_set(info, NULL, "value"), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_set(info, key, "value"), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_set(info, "key", NULL), MPI_ERR_ARG, "value", NULL);
    ERROR(MPI_Info_set(info, "key", value), MPI_ERR_INFO_VALUE, "value", NULL);
    ERROR(MPI_Info_get(info, NULL, 5, value, &flag), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_get(info, "", 5, value, &flag), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_get(info, key, 5, value, &flag), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_get(info, "key", -1, value, &flag), MPI_ERR_ARG, "valuelen", "-1");
    ERROR(MPI_Info_get(info, "key", 5, NULL, &flag), MPI_ERR_ARG, "value", NULL);
    ERROR(MPI_Info_get(info, "key", 5, value, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Info_get_string(info, key, &length, value, &flag), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_get_string(info, "key", NULL, value, &flag), MPI_ERR_ARG, "buflen", NULL);
    ERROR(MPI_Info_get_string(info, "key", &length, value, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Info_get_valuelen(info, key, &length, &flag), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_get_valuelen(info, "key", NULL, &flag), MPI_ERR_ARG, "valuelen", NULL);
    ERROR(MPI_Info_get_valuelen(info, "key", &length, NULL), MPI_ERR_ARG, "flag", NULL);
    ERROR(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG, "nkeys", NULL);
    ERROR(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG, "n", "1");
    ERROR(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG, "n", "-1");
    ERROR(MPI_Info_get_nthkey(info, 0, NULL), MPI_ERR_ARG, "key", NULL);
    ERROR(MPI_Info_delete(info, "other"), MPI_ERR_INFO_NOKEY, "key", "other");
    ERROR(MPI_Info_delete(info, NULL), MPI_ERR_INFO_KEY, "key", NULL);
    ERROR(MPI_Info_delete(info, ""), MPI_ERR_INFO_KEY, "key", NULL);
    MPI(MPI_Info_get_nkeys(info, &count));
    CHECK_INT(count, 1);
    MPI(MPI_Info_free(&info));
    return finish();
}
