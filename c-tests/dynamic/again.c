/* Spawn, talk, disconnect, many times: after the first few rounds neither the ranks nor mpiexec have more descriptors, mappings, child
 * processes or memory. args: rounds; mpiexec: it is looked at, too; heap: what is allocated is counted by the byte. */
#include "spawned.h"
#include <dirent.h>
#include <malloc.h>

enum { FIRST = 10 };

/* Of a process: descriptors, mappings, children, memory in kilobytes. -1: not to be seen. */
struct amounts {
    int descriptors, mappings, children, memory;
};

static int entries(const char *format, int pid)
{
    char path[100];
    snprintf(path, sizeof path, format, pid);
    DIR *folder = opendir(path);
    int count = 0;
    if (!folder)
        return -1;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static int children_of(int pid)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    int count = 0;
    if (!folder)
        return -1;
    while ((entry = readdir(folder))) {
        char path[300];
        int its_parent = -1;
        if (atoi(entry->d_name) <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &its_parent) == 1)
            count += its_parent == pid;
        if (file)
            fclose(file);
    }
    closedir(folder);
    return count;
}

static struct amounts amounts_of(int pid)
{
    struct amounts found = {entries("/proc/%d/fd", pid), 0, children_of(pid), -1};
    char path[100], line[4096];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        found.mappings++;
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %d", &found.memory);
    if (file)
        fclose(file);
    return found;
}

/* Children that are just ending are waited for; the watchdog ends it. Some mappings and memory are the allocator's. */
static void settle(const char *who, int pid, struct amounts before, int rounds)
{
    struct amounts now = amounts_of(pid);
    static char state[200];
    while (now.children > before.children || now.descriptors > before.descriptors) {
        snprintf(state, sizeof state, "%s: %d children were %d, %d descriptors were %d", who, now.children, before.children,
                 now.descriptors, before.descriptors);
        check_place = state;
        usleep(10000);
        now = amounts_of(pid);
    }
    if (now.mappings > before.mappings + rounds / 4)
        check_failed(__FILE__, __LINE__, "%s: %d mappings were %d", who, now.mappings, before.mappings);
    if (now.memory > before.memory + 2048 + 10 * rounds)
        check_failed(__FILE__, __LINE__, "%s: %d KB of memory were %d", who, now.memory, before.memory);
}

/* The library keeps the memory of the last 256 communicators that were freed. */
enum { FIRST_OF_HEAP = 300 };

/* Bytes of the heap in use. */
static size_t heap(void)
{
    return mallinfo2().uordblks;
}

/* A process that has left is known by its name for good, and its node by its number: 32 bytes; vectors of them are twice as long at times. */
static void settle_heap(size_t before, int rounds)
{
    size_t now = heap(), most = before + 64 * (size_t) rounds + 4096;
    if (now > most)
        check_failed(__FILE__, __LINE__, "%zu bytes are allocated, %zu were, after %d rounds", now, before, rounds);
}

int main(int argc, char **argv)
{
    struct amounts mine = {0}, its = {0};
    start_family(&argc, &argv);
    if (is_child) {
        talk(parent, 5000, 1);
        return finish_family();
    }
    int rounds = argc > 1 ? atoi(argv[1]) : 20, by_heap = argc > 2 && !strcmp(argv[2], "heap");
    int first = by_heap ? FIRST_OF_HEAP : FIRST;
    size_t allocated = 0;
    for (int round = 0; round < rounds + first; round++) {
        MPI_Comm children = spawn(MPI_COMM_WORLD, 1, MPI_ARGV_NULL);
        talk(children, 5000, 0);
        part(&children);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        if (round == first - 1) {
            mine = amounts_of(getpid());
            its = amounts_of(getppid());
            allocated = heap();
        }
    }
    if (!reference)
        settle("this rank", getpid(), mine, rounds);
    if (by_heap && !reference)
        settle_heap(allocated, rounds);
    else if (argc > 2)
        settle("mpiexec", getppid(), its, rounds);
    return finish_family();
}
