/* How much memory the ranks of a node share. */
#ifndef OXMPI_NODE_MEMORY_H
#define OXMPI_NODE_MEMORY_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that files without a name have on this process's descriptors. */
static long long allocated(void)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    long long sum = 0;
    ino_t seen[64];
    int count = 0;
    while (folder && (entry = readdir(folder))) {
        char path[300], name[64] = "";
        struct stat status;
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, name, sizeof name - 1) < 0 || strncmp(name, "/memfd:", 7) != 0 || stat(path, &status) != 0)
            continue;
        int known = 0;
        for (int i = 0; i < count; i++)
            known |= seen[i] == status.st_ino;
        if (!known && count < 64) {
            seen[count++] = status.st_ino;
            sum += (long long) status.st_blocks * 512;
        }
    }
    if (folder)
        closedir(folder);
    return sum;
}

#endif
