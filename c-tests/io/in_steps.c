/* Small collective accesses behind a call are the program's threads' own: no thread of the library's is made for them, which would have to
 * be woken for each. Large ones may have one, and go together with small ones. */
#include "../common/files.h"
#include <dirent.h>

enum { ROUNDS = 50, AT_ONCE = 8, LARGE = 256 << 10 };

/* Threads of the library's that work on files. */
static int workers(void)
{
    int found = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    while (tasks && (entry = readdir(tasks))) {
        char path[300], name[40] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file))
            found += !strncmp(name, "oxmpi-files", 11);
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

int main(int argc, char **argv)
{
    char name[NAME_BYTES];
    MPI_File file;
    MPI_Status status;
    MPI_Request requests[AT_ONCE];
    int own[AT_ONCE], back, round, at;
    unsigned char *large;
    start(&argc, &argv);
    file_name(name, "in_steps");
    file = file_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (round = 0; round < ROUNDS; round++) {
        int value = 100 * round + rank;
        MPI_Offset place = (MPI_Offset) round * size + rank;
        MPI(MPI_File_write_at_all_begin(file, place, &value, 1, MPI_INT));
        MPI(MPI_File_write_at_all_end(file, &value, &status));
        CHECK_MOVED(status, sizeof(int));
        back = -1;
        MPI(MPI_File_read_at_all_begin(file, (MPI_Offset) round * size + (rank + 1) % size, &back, 1, MPI_INT));
        MPI(MPI_File_read_at_all_end(file, &back, &status));
        CHECK_INT(back, 100 * round + (rank + 1) % size);
        MPI(MPI_File_seek(file, place, MPI_SEEK_SET));
        MPI(MPI_File_read_all_begin(file, &back, 1, MPI_INT));
        MPI(MPI_File_read_all_end(file, &back, &status));
        CHECK_INT(back, value);
        MPI(MPI_File_write_all_begin(file, &value, 1, MPI_INT));
        MPI(MPI_File_write_all_end(file, &value, &status));
        MPI(MPI_File_write_ordered_begin(file, &value, 1, MPI_INT));
        MPI(MPI_File_write_ordered_end(file, &value, &status));
        CHECK_MOVED(status, sizeof(int));
    }
    MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (round = 0; round < ROUNDS; round++) {
        MPI(MPI_File_read_ordered_begin(file, &back, 1, MPI_INT));
        MPI(MPI_File_read_ordered_end(file, &back, &status));
        CHECK_INT(back, 100 * round + rank);
    }
    /* Several at once. */
    for (round = 0; round < ROUNDS; round++) {
        for (at = 0; at < AT_ONCE; at++) {
            own[at] = 1000 * round + 10 * rank + at;
            MPI(MPI_File_iwrite_at_all(file, (MPI_Offset) at * size + rank, &own[at], 1, MPI_INT, &requests[at]));
        }
        MPI(MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE));
        for (at = 0; at < AT_ONCE; at++)
            MPI(MPI_File_iread_at_all(file, (MPI_Offset) at * size + (rank + 1) % size, &own[at], 1, MPI_INT, &requests[at]));
        MPI(MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE));
        for (at = 0; at < AT_ONCE; at++)
            CHECK_INT(own[at], 1000 * round + 10 * ((rank + 1) % size) + at);
    }
    if (!reference)
        CHECK_INT(workers(), 0);
    /* Small ones before and behind a large one. */
    large = malloc(LARGE);
    memset(large, 7, LARGE);
    for (round = 0; round < ROUNDS; round++) {
        enum { INTS = LARGE / sizeof(int) };
        int first = round, last = -round;
        MPI_Offset place = (MPI_Offset) rank * (INTS + 2);
        MPI(MPI_File_iwrite_at_all(file, place, &first, 1, MPI_INT, &requests[0]));
        MPI(MPI_File_iwrite_at_all(file, place + 1, large, INTS, MPI_INT, &requests[1]));
        MPI(MPI_File_iwrite_at_all(file, place + 1 + INTS, &last, 1, MPI_INT, &requests[2]));
        MPI(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        MPI(MPI_File_read_at(file, place, &back, 1, MPI_INT, &status));
        CHECK_INT(back, first);
        MPI(MPI_File_read_at(file, place + INTS, &back, 1, MPI_INT, &status));
        CHECK_INT(back, 0x07070707);
        MPI(MPI_File_read_at(file, place + 1 + INTS, &back, 1, MPI_INT, &status));
        CHECK_INT(back, last);
    }
    free(large);
    MPI(MPI_File_close(&file));
    return finish();
}
