/* The state of a process as the kernel gives it: 'S' sleeps, 'T' is stopped; '?' if it cannot be read. */
#ifndef OXMPI_PROCESS_H
#define OXMPI_PROCESS_H

#include "check.h"

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

#endif
