/* Wrong arguments of MPI_Comm_spawn and MPI_Comm_spawn_multiple: the root's own are heard by all ranks, and nobody waits. */
#include "wrong.h"
#include <limits.h>

/* All ranks call; others hear at least that somebody was wrong. */
static int heard(int code, int class_)
{
    return check_class_of(code) == class_ || check_class_of(code) == MPI_ERR_OTHER;
}

#define ALL(call, class_, argument) do { \
        if (rank == 0) ERROR(call, class_, argument, NULL); else CHECK(heard(call, class_)); } while (0)

int main(int argc, char **argv)
{
    MPI_Comm children = MPI_COMM_NULL, world = MPI_COMM_WORLD, inter, half;
    int codes[4] = {-7, -7, -7, -7}, sum = 0, one = 1;
    char *none = NULL, program[] = "/nowhere/program";
    start(&argc, &argv);
    return_errors();
    void *volatile nothing = NULL;
    MPI_Info null = MPI_INFO_NULL, freed = freed_info();
#define SPAWN(command, count, info, root, comm, result) MPI_Comm_spawn(command, MPI_ARGV_NULL, count, info, root, comm, result, codes)
    ALL(SPAWN(nothing, 1, null, 0, world, &children), MPI_ERR_ARG, "command");
    ALL(SPAWN(program, 0, null, 0, world, &children), MPI_ERR_ARG, "maxprocs");
    ALL(SPAWN(program, -1, null, 0, world, &children), MPI_ERR_ARG, "maxprocs");
    ALL(SPAWN(program, 1, freed, 0, world, &children), MPI_ERR_INFO, "info");
    ALL(SPAWN(program, 1, null, -1, world, &children), MPI_ERR_ROOT, "root");
    ALL(SPAWN(program, 1, null, size, world, &children), MPI_ERR_ROOT, "root");
    ALL(SPAWN(program, 1, null, 0, MPI_COMM_NULL, &children), MPI_ERR_COMM, "comm");
    ALL(SPAWN(program, 1, null, 0, freed_comm(), &children), MPI_ERR_COMM, "comm");
    ALL(SPAWN(program, 1, null, 0, world, nothing), MPI_ERR_ARG, "intercomm");
    ALL(MPI_Comm_get_parent(nothing), MPI_ERR_ARG, "parent");
    for (int i = 0; i < 4; i++)
        CHECK_INT(codes[i], -7);

    char *commands[] = {program, program}, *absent[] = {program, none};
    int processes[] = {1, 1}, zero[] = {1, 0};
    MPI_Info infos[] = {null, null}, wrong[] = {null, freed};
#define MULTIPLE(count, commands, processes, infos, root, comm) \
    MPI_Comm_spawn_multiple(count, commands, MPI_ARGVS_NULL, processes, infos, root, comm, &children, codes)
    ALL(MULTIPLE(0, commands, processes, infos, 0, world), MPI_ERR_ARG, "count");
    ALL(MULTIPLE(-2, commands, processes, infos, 0, world), MPI_ERR_ARG, "count");
    ALL(MULTIPLE(2, nothing, processes, infos, 0, world), MPI_ERR_ARG, "array_of_commands");
    ALL(MULTIPLE(2, absent, processes, infos, 0, world), MPI_ERR_ARG, "array_of_commands");
    ALL(MULTIPLE(2, commands, zero, infos, 0, world), MPI_ERR_ARG, "maxprocs");
    ALL(MULTIPLE(2, commands, nothing, infos, 0, world), MPI_ERR_ARG, "array_of_maxprocs");
    ALL(MULTIPLE(2, commands, processes, nothing, 0, world), MPI_ERR_ARG, "array_of_info");
    ALL(MULTIPLE(2, commands, processes, wrong, 0, world), MPI_ERR_INFO, "info");
    ALL(MULTIPLE(2, commands, processes, infos, size, world), MPI_ERR_ROOT, "root");
    ALL(MULTIPLE(2, commands, processes, infos, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm");

    /* One rank alone is wrong: all hear of it. */
    int last = size - 1;
    CHECK(heard(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, null, 0, world, rank == last ? nothing : (void *) &children, codes),
                MPI_ERR_ARG));
    /* Others' arguments do not matter: the root's are wrong. */
    CHECK(heard(MPI_Comm_spawn(rank == 0 ? nothing : program, rank == 0 ? MPI_ARGV_NULL : (char **) 8, rank == 0 ? 1 : -1,
                               rank == 0 ? null : freed, 0, world, &children, codes), MPI_ERR_ARG));
    if (size > 1) {
        MPI(MPI_Comm_split(world, rank == 0, 0, &half));
        MPI(MPI_Intercomm_create(half, 0, world, rank == 0, 1, &inter));
        MPI(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        ALL(SPAWN(program, 1, null, 0, inter, &children), MPI_ERR_COMM, "comm");
        ALL(MULTIPLE(2, commands, processes, infos, 0, inter), MPI_ERR_COMM, "comm");
        MPI(MPI_Comm_free(&inter));
        MPI(MPI_Comm_free(&half));
    }
    /* Values of infos are those of the root; the second of two programs is looked at, too. */
    MPI_Info soft;
    MPI(MPI_Info_create(&soft));
    MPI(MPI_Info_set(soft, "soft", "many"));
    MPI_Info second[] = {null, soft};
    ALL(SPAWN(program, 1, soft, 0, world, &children), MPI_ERR_INFO_VALUE, "soft");
    ALL(MULTIPLE(2, commands, processes, second, 0, world), MPI_ERR_INFO_VALUE, "soft");
    MPI(MPI_Info_free(&soft));
    /* More than a job can have, on all ranks. The codes are only those that there is room for. */
    int wanted[] = {10000000, INT_MAX};
    for (int i = 0; i < 2 && !reference; i++) {
        ERROR(MPI_Comm_spawn(program, MPI_ARGV_NULL, wanted[i], null, 0, world, &children, MPI_ERRCODES_IGNORE), MPI_ERR_SPAWN,
              "maxprocs", "65536");
        int two[] = {1, wanted[i]};
        ERROR(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, two, infos, 0, world, &children, MPI_ERRCODES_IGNORE),
              MPI_ERR_SPAWN, "maxprocs", "65536");
    }
    CHECK(children == MPI_COMM_NULL);
    MPI(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, world));
    CHECK_INT(sum, size);
    return finish();
}
