/* A signal to mpiexec ends the jobs that were spawned and have disconnected, too: none of their processes is left when it has ended, and the exit
 * code is that of the signal. Arguments: the signal, and that mpiexec's exit code; how many generations of jobs there are, each spawned by the one before
 * and disconnected from it; "stay", or "end" if all but the last have ended by then; and what the processes do at SIGTERM and SIGINT ("die", "ignore").
 * What follows are options of mpiexec. */
#include "ports.h"

enum { RANKS = 2, MOST_GENERATIONS = 4 };

static void name_file(char *path, int capacity, const char *folder, int generation, int of)
{
    snprintf(path, capacity, "%s/%d-%d", folder, generation, of);
}

/* A rank of a job: generation, generations, "stay" or "end", "die" or "ignore", folder. */
static int rank_of_job(int argc, char **argv)
{
    int generation = atoi(argv[2]), generations = atoi(argv[3]);
    char path[100], text[20], next[20], *folder = argv[6];
    if (!strcmp(argv[5], "ignore")) {
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
    }
    start_family(&argc, &argv);
    if (is_child)
        part(&parent);
    if (generation < generations) {
        snprintf(next, sizeof next, "%d", generation + 1);
        char *words[] = {"rank", next, argv[3], argv[4], argv[5], folder, NULL};
        MPI_Comm children = spawn(MPI_COMM_WORLD, RANKS, words);
        part(&children);
    }
    if (check_failures)
        MPI_Abort(MPI_COMM_WORLD, 95);
    name_file(path, sizeof path, folder, generation, rank);
    snprintf(text, sizeof text, "%d", (int) getpid());
    leave(path, text);
    while (generation == generations || !strcmp(argv[4], "stay"))
        pause();
    MPI(MPI_Finalize());
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "rank"))
        return rank_of_job(argc, argv);
    char folder[] = "/tmp/signalled_XXXXXX", path[100], text[20], *words[30];
    int pids[MOST_GENERATIONS * RANKS], count = 0, generations = atoi(argv[3]);
    start_driver(argv[0]);
    signal(atoi(argv[1]), SIG_DFL); /* nohup has SIGHUP ignored */
    CHECK(generations <= MOST_GENERATIONS && mkdtemp(folder) != NULL);
    for (int i = 6; i < argc; i++)
        words[count++] = argv[i];
    char *last[] = {argv[0], "rank", "1", argv[3], argv[4], argv[5], folder, NULL};
    memcpy(&words[count], last, sizeof last);
    pid_t job = begin(RANKS, words);
    for (int i = 0; i < generations * RANKS; i++) {
        name_file(path, sizeof path, folder, 1 + i / RANKS, i % RANKS);
        fetch(path, text, sizeof text);
        pids[i] = atoi(text);
        CHECK_INT(unlink(path), 0);
    }
    CHECK_INT(rmdir(folder), 0);
    for (int i = 0; !strcmp(argv[4], "end") && i < (generations - 1) * RANKS; i++)
        wait_for_end(pids[i]);
    for (int i = 0; i < RANKS; i++)
        CHECK(!has_ended(pids[(generations - 1) * RANKS + i]));
    CHECK_INT(kill(job, atoi(argv[1])), 0);
    CHECK_INT(end(job), atoi(argv[2]));
    for (int i = 0; i < generations * RANKS; i++)
        CHECK(has_ended(pids[i]));
    return conclude();
}
