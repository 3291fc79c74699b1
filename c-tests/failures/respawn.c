/* Dead processes are replaced: MPI_Comm_spawn on a communicator with a dead process ends with an error; on the shrunken one it works. Those that are left and the
 * new ones merge, and each new one gets the rank of a dead one. Round after round, and nothing that is held grows. Arguments: rounds. */
#include "failing.h"
#include "spawned.h"

/* The whole job, `count` ranks, `from` which one is dead; the new one has been told its rank. */
static MPI_Comm replace(MPI_Comm world, MPI_Comm children, int old_rank)
{
    MPI_Comm merged, new;
    MPI(MPI_Intercomm_merge(world == MPI_COMM_NULL ? parent : children, world == MPI_COMM_NULL, &merged));
    MPI(MPI_Comm_split(merged, 0, old_rank, &new));
    MPI(MPI_Comm_set_errhandler(new, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_free(&merged));
    return new;
}

int main(int argc, char **argv)
{
    MPI_Comm world, left, children = MPI_COMM_NULL;
    int me, count, sum, round = 0, before = 0, codes[1], rounds;
    start_family(&argc, &argv);
    rounds = atoi(argv[1]);
    if (is_child) {
        int news[3];
        MPI(MPI_Bcast(news, 3, MPI_INT, 0, parent));
        round = news[1] + 1;
        world = replace(MPI_COMM_NULL, MPI_COMM_NULL, news[0]);
        MPI(MPI_Comm_disconnect(&parent));
    } else {
        MPI(MPI_Comm_dup(MPI_COMM_WORLD, &world));
        MPI(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    }
    for (;; round++) {
        MPI(MPI_Comm_rank(world, &me));
        MPI(MPI_Comm_size(world, &count));
        MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, world));
        CHECK_INT(sum, count * (count - 1) / 2);
        if (round == rounds)
            break;
        /* Rank 0 lives: it has been there from the beginning. */
        int victim = 1 + round % (count - 1), flag = 1, seen;
        before_deaths(world, me == victim);
        if (me == victim)
            raise(SIGKILL);
        for (int failed = 0; !failed; usleep(1000)) {
            MPI_Group group;
            MPI(MPIX_Comm_get_failed(world, &group));
            MPI(MPI_Group_size(group, &failed));
            if (group != MPI_GROUP_EMPTY)
                MPI(MPI_Group_free(&group));
        }
        char *words[] = {argv[1], NULL};
        int code = MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, world, &children, codes);
        CHECK(code != MPI_SUCCESS);
        CHECK(children == MPI_COMM_NULL);
        MPI(MPIX_Comm_failure_ack(world));
        MPI(MPIX_Comm_agree(world, &flag));
        MPI(MPIX_Comm_shrink(world, &left));
        MPI(MPI_Comm_size(left, &seen));
        CHECK_INT(seen, count - 1);
        MPI(MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, left, &children, codes));
        int news[3] = {victim, round, 0}, at;
        MPI(MPI_Comm_rank(left, &at));
        MPI(MPI_Bcast(news, 3, MPI_INT, at == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
        MPI(MPI_Comm_free(&world));
        world = replace(left, children, me);
        MPI(MPI_Comm_disconnect(&children));
        MPI(MPI_Comm_free(&left));
        MPI(MPI_Comm_size(world, &seen));
        CHECK_INT(seen, count);
        /* Not in the first rounds, in which what is kept is made. */
        if (me == 0 && round == rounds / 2)
            before = descriptors();
    }
    if (me == 0 && rounds >= 6 && descriptors() > before + 4)
        check_failed(__FILE__, __LINE__, "%d descriptors, %d some rounds ago", descriptors(), before);
    MPI(MPI_Barrier(world));
    MPI(MPI_Comm_free(&world));
    parent = MPI_COMM_NULL;
    return finish_family();
}
