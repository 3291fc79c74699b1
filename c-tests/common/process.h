/* What the kernel says of a process. */
#ifndef OXMPI_PROCESS_H
#define OXMPI_PROCESS_H

#include "check.h"
#include <dirent.h>

/* 'S' sleeps, 'T' is stopped; '?' if it cannot be read. */
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

/* Open descriptors of this process. */
static CHECK_UNUSED int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Bytes of this process in memory, its own and shared ones. Pages of files are left out: the kernel maps 64 KB of the library's
 * code at a time, whenever a part of it first runs. */
static CHECK_UNUSED long resident_bytes(void)
{
    char line[256];
    long anonymous = 0, shared = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "RssAnon: %ld", &anonymous);
        sscanf(line, "RssShmem: %ld", &shared);
    }
    if (file)
        fclose(file);
    CHECK(anonymous > 0);
    return (anonymous + shared) * 1024;
}

#endif
