/* Parents spawn two jobs, whose processes have never met. The parents merge with the first job; the merged group and the second job make an
 * intercommunicator, merge, use both, and leave each other. args: how many of each job, "A" or "B" in a child; "again": some stay connected
 * meanwhile, and all meet once more; "port": they meet by a port, where the parents know both sides. */
#include "spawned.h"

enum { PARENT, FIRST, SECOND };
static int job, again, by_port;

static void use(MPI_Comm comm)
{
    int number, me, sum = -1, left = -1;
    MPI(MPI_Comm_size(comm, &number));
    MPI(MPI_Comm_rank(comm, &me));
    for (int distance = 1; distance < number; distance++) {
        MPI(MPI_Sendrecv(&me, 1, MPI_INT, (me + distance) % number, 5, &left, 1, MPI_INT, (me + number - distance) % number, 5, comm,
                         MPI_STATUS_IGNORE));
        CHECK_INT(left, (me + number - distance) % number);
    }
    MPI(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, number * (number - 1) / 2);
    int bytes = 300000, all_failures = 0;
    char *data = malloc(bytes);
    for (int root = 0; root < number; root += number - 1) {
        fill(data, bytes, me);
        MPI(MPI_Bcast(data, bytes, MPI_BYTE, root, comm));
        CHECK_PATTERN(data, bytes, root);
        if (number == 1)
            break;
    }
    free(data);
    int failures = check_failures;
    MPI(MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_MAX, comm));
    CHECK_INT(all_failures, 0);
}

/* `mine` is the merged group or the second job's world; both leaders are in `bridge`. */
static MPI_Comm meet(MPI_Comm mine, MPI_Comm bridge, int other)
{
    MPI_Comm inter, all;
    int flag = 0, number = 0, me = -1;
    if (by_port) {
        char port[MPI_MAX_PORT_NAME] = "";
        if (job == PARENT && rank == 0)
            MPI(MPI_Open_port(MPI_INFO_NULL, port));
        if (bridge != MPI_COMM_NULL)
            MPI(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, bridge));
        if (job == SECOND)
            MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, mine, &inter));
        else
            MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, mine, &inter));
        if (job == PARENT && rank == 0)
            MPI(MPI_Close_port(port));
    } else {
        MPI(MPI_Intercomm_create(mine, 0, bridge, other, 12, &inter));
    }
    MPI(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    exchange(inter, 70000, job == SECOND ? 500 : 0, job == SECOND ? 0 : 500);
    MPI(MPI_Intercomm_merge(inter, job == SECOND, &all));
    MPI(MPI_Comm_size(all, &number));
    MPI(MPI_Comm_size(mine, &me));
    CHECK(number > me);
    use(all);
    if (again) { /* the last of the merged group and the first of the second job stay connected */
        MPI_Comm pair;
        int remote, local;
        MPI(MPI_Comm_remote_size(inter, &remote));
        MPI(MPI_Comm_size(inter, &local));
        MPI(MPI_Comm_rank(all, &me));
        int first_of_second = job == SECOND ? remote : local;
        MPI(MPI_Comm_split(all, me == first_of_second || me == first_of_second - 1 ? 0 : MPI_UNDEFINED, 0, &pair));
        MPI(MPI_Comm_disconnect(&inter));
        MPI(MPI_Comm_disconnect(&all));
        return pair;
    }
    MPI(MPI_Comm_disconnect(&inter));
    return all;
}

int main(int argc, char **argv)
{
    start_family(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : 1, other = -1;
    char *mode = argc > (is_child ? 3 : 2) ? argv[is_child ? 3 : 2] : NULL;
    again = mode && !strcmp(mode, "again");
    by_port = mode && !strcmp(mode, "port");
    job = !is_child ? PARENT : strcmp(argv[2], "A") ? SECOND : FIRST;
    MPI_Comm merged = MPI_COMM_NULL, bridge = MPI_COMM_NULL, mine, first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    if (job == PARENT) {
        char number[20], *words[] = {number, "A", mode, NULL};
        snprintf(number, sizeof number, "%d", count);
        first = spawn(MPI_COMM_WORLD, count, words);
        words[1] = "B";
        second = spawn(MPI_COMM_WORLD, count, words);
        MPI(MPI_Intercomm_merge(second, 0, &bridge));
        MPI(MPI_Intercomm_merge(first, 0, &merged));
        other = size;
    } else if (job == FIRST) {
        MPI(MPI_Intercomm_merge(parent, 1, &merged));
    } else {
        MPI(MPI_Intercomm_merge(parent, 1, &bridge));
        other = 0;
    }
    mine = job == SECOND ? MPI_COMM_WORLD : merged;
    MPI_Comm kept[3];
    for (int time = 0; time < 3; time++) {
        kept[time] = meet(mine, bridge, other);
        if (kept[time] != MPI_COMM_NULL)
            use(kept[time]);
        /* The pair of one time stays on through the next. */
        if (!again && kept[time] != MPI_COMM_NULL)
            MPI(MPI_Comm_disconnect(&kept[time]));
        else if (time && kept[time - 1] != MPI_COMM_NULL)
            MPI(MPI_Comm_disconnect(&kept[time - 1]));
    }
    if (again && kept[2] != MPI_COMM_NULL)
        MPI(MPI_Comm_disconnect(&kept[2]));
    if (merged != MPI_COMM_NULL)
        MPI(MPI_Comm_disconnect(&merged));
    if (bridge != MPI_COMM_NULL)
        MPI(MPI_Comm_disconnect(&bridge));
    if (job == PARENT) {
        part(&first);
        part(&second);
    }
    return finish_family();
}
