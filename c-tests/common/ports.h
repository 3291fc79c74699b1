/* For programs that connect by a port: text that one process leaves for another in a file, and programs that start others. */
#ifndef OXMPI_PORTS_H
#define OXMPI_PORTS_H

#include "spawned.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The file is there whole or not at all. */
static CHECK_UNUSED void leave(const char *path, const char *text)
{
    char part_of[300];
    snprintf(part_of, sizeof part_of, "%s.part", path);
    FILE *file = fopen(part_of, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK_INT(rename(part_of, path), 0);
}

/* Waits for the file; the watchdog ends it. */
static CHECK_UNUSED void fetch(const char *path, char *text, int capacity)
{
    FILE *file;
    while (!(file = fopen(path, "r"))) {
        CHECK_HERE;
        usleep(5000);
    }
    CHECK(fgets(text, capacity, file) != NULL);
    fclose(file);
}

/* What begins from now on is on another host, as it pretends, if the last word says so. */
static CHECK_UNUSED void go_apart(int argc, char **argv)
{
    if (!strcmp(argv[argc - 1], "apart"))
        setenv("OXMPI_PRETEND", "host=1", 1);
}

/* Starts a program, under mpiexec if there are to be ranks. Words end with NULL. */
static CHECK_UNUSED pid_t begin(int ranks, char **words)
{
    char number[20], *all[40];
    int count = 0;
    if (ranks > 0) {
        snprintf(number, sizeof number, "%d", ranks);
        all[count++] = getenv("C_SUITE_LAUNCHER");
        all[count++] = "-n";
        all[count++] = number;
        if (!all[0]) {
            fprintf(stderr, "C_SUITE_LAUNCHER, the path of mpiexec, is not set\n");
            exit(94);
        }
    }
    while (*words && count < 39)
        all[count++] = *words++;
    all[count] = NULL;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execvp(all[0], all);
        perror(all[0]);
        _exit(93);
    }
    return pid;
}

/* The program's exit code, 128 more than the signal if it was killed. */
static CHECK_UNUSED int end(pid_t pid)
{
    int status = -1;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        CHECK_HERE;
    CHECK_INT(ended, pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A program that starts others and uses no MPI itself: prints the closing line for one rank. */
static CHECK_UNUSED void start_driver(char *path)
{
    watchdog(path);
    program = path;
    rank = 0;
    size = 1;
}

/* A side of MPI_Comm_accept and MPI_Comm_connect, without a closing line. */
static CHECK_UNUSED int finish_side(void)
{
    MPI(MPI_Finalize());
    return check_failures ? 95 : 0;
}

#endif
