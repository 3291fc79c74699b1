/* The state of a process as the kernel gives it: 'S' sleeps, 'T' is stopped; '?' if it cannot be read. */
#ifndef OXMPI_PROCESS_H
#define OXMPI_PROCESS_H

#include "check.h"
#include <dirent.h>

static CHECK_UNUSED char state_of(int pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file)
        fclose(file);
    return state;
}

/* Whether all threads of a process are stopped: one by one they learn of SIGSTOP. */
static CHECK_UNUSED int is_stopped(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    int all = tasks != NULL;
    for (struct dirent *task; all && (task = readdir(tasks));)
        if (task->d_name[0] != '.')
            all = state_of(atoi(task->d_name)) == 'T';
    if (tasks)
        closedir(tasks);
    return all;
}

#endif
