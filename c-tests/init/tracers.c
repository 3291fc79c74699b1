/* Each process lets the descendants of a process that has started all of them access its memory (where Yama restricts that). The test
 * stands between the library and prctl, since most machines have no Yama. */
#include "check.h"
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long admitted;

int prctl(int option, ...)
{
    va_list list;
    unsigned long argument[4];
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_PTRACER)
        admitted = (long) argument[0];
    return (int) syscall(SYS_prctl, option, argument[0], argument[1], argument[2], argument[3]);
}

static long parent_of(long pid)
{
    char path[64], text[512], *end;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    size_t read = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[read] = 0;
    /* The name in brackets may have any characters. */
    end = strrchr(text, ')');
    return end ? strtol(end + 4, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    long least, most, ancestor = getpid();
    MPI(MPI_Allreduce(&admitted, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD));
    MPI(MPI_Allreduce(&admitted, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    CHECK(least == most && least > 1);
    while (ancestor > 1 && ancestor != admitted)
        ancestor = parent_of(ancestor);
    CHECK(ancestor == admitted);
    return finish();
}
