/* mpiexec -gdb: commands on its standard input, of whose output equal lines come once, with their ranks. This program starts it on itself. */
#include "../common/ports.h"

static __attribute__((noinline)) void stop_here(int number)
{
    check_place = number ? "stopped" : "stopped at rank 0";
}

/* Runs mpiexec with these commands; its output. */
static char *debug(char **words, const char *commands)
{
    enum { CAPACITY = 1 << 20 };
    static char text[CAPACITY];
    int in[2], out[2], used = 0, got;
    CHECK_INT(pipe(in), 0);
    CHECK_INT(pipe(out), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
        }
        execvp(words[0], words);
        _exit(93);
    }
    close(in[0]);
    close(out[1]);
    CHECK_INT(write(in[1], commands, strlen(commands)), (int) strlen(commands));
    close(in[1]);
    while (used < CAPACITY - 1 && (got = read(out[0], text + used, CAPACITY - 1 - used)) > 0)
        used += got;
    text[used] = 0;
    close(out[0]);
    end(pid);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        check_failed(__FILE__, __LINE__, "\"%s\" is not in:\n%s", part, text);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        start(&argc, &argv);
        stop_here(rank);
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        return finish();
    }
    start_driver(argv[0]);
    char *words[] = {getenv("C_SUITE_LAUNCHER"), "-gdb", "-n", "3", program, "rank", NULL};
    char *text = debug(words,
                       "break stop_here\n"
                       "run\n"
                       "print number\n"
                       "print 6 * 7\n"
                       "z 1-2\n"
                       "print number + 10\n"
                       "z 7\n"
                       "z nonsense\n"
                       "z\n"
                       "print 7 * 11\n"
                       "kill\n"
                       "quit\n");
    expect(text, "0-2:  Breakpoint 1 at");
    for (int i = 0; i < 3; i++) {
        char line[40];
        snprintf(line, sizeof line, " %d:  $1 = %d\n", i, i);
        expect(text, line + 1);
    }
    expect(text, "0-2:  $2 = 42\n");
    expect(text, "1:  $3 = 11\n");
    expect(text, "2:  $3 = 12\n");
    expect(text, "z: there is no rank 7\n");
    expect(text, "z: 'nonsense' is neither");
    expect(text, "0:  $3 = 77\n");
    expect(text, "1-2:  $4 = 77\n");
    if (strstr(text, "0:  $3 = 1"))
        check_failed(__FILE__, __LINE__, "rank 0 has got what was for others");
    return conclude();
}
