/* mpiexec -gdb: commands on its standard input, of whose output equal lines come once, with their ranks; on one host, on two, and at a terminal, where
 * Ctrl-C interrupts the programs. This program starts it on itself. */
#include "../common/ports.h"
#include <pty.h>

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

/* Each of these ranks has written this, in a line of its own or together with others: lines that come apart are not put together. */
static void each(const char *text, int first, int last, const char *words)
{
    for (int rank = first; rank <= last; rank++) {
        int found = 0;
        for (const char *line = text; line && !found; line = strchr(line, '\n')) {
            int low, high, read = 0;
            line += *line == '\n';
            while (*line == '(' && strchr(line, ' ')) /* a prompt */
                line = strchr(line, ' ') + 1;
            if (sscanf(line, "%d-%d:  %n", &low, &high, &read) != 2 || !read) {
                read = 0;
                if (sscanf(line, "%d:  %n", &low, &read) != 1 || !read)
                    continue;
                high = low;
            }
            found = low <= rank && rank <= high && !strncmp(line + read, words, strlen(words));
        }
        if (!found)
            check_failed(__FILE__, __LINE__, "rank %d has not written \"%s\" in:\n%s", rank, words, text);
    }
}

static void examine(char **words)
{
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
    each(text, 0, 2, "Breakpoint 1 at");
    for (int i = 0; i < 3; i++) {
        char line[40];
        snprintf(line, sizeof line, "$1 = %d\n", i);
        each(text, i, i, line);
    }
    each(text, 0, 2, "$2 = 42\n");
    each(text, 1, 1, "$3 = 11\n");
    each(text, 2, 2, "$3 = 12\n");
    expect(text, "z: there is no rank 7\n");
    expect(text, "z: 'nonsense' is neither");
    each(text, 0, 0, "$3 = 77\n");
    each(text, 1, 2, "$4 = 77\n");
    if (strstr(text, "0:  $3 = 1"))
        check_failed(__FILE__, __LINE__, "rank 0 has got what was for others");
}

/* Reads from a terminal until the text has a part. */
static void await(int terminal, char *text, int capacity, const char *part)
{
    int used = (int) strlen(text);
    while (!strstr(text, part)) {
        int got = used < capacity - 1 ? (int) read(terminal, text + used, capacity - 1 - used) : 0;
        if (got <= 0) {
            check_failed(__FILE__, __LINE__, "\"%s\" is not in:\n%s", part, text);
            return;
        }
        text[used += got] = 0;
    }
}

/* Says something at the terminal; what came before is forgotten. */
static void type(int terminal, char *text, const char *words)
{
    text[0] = 0;
    CHECK_INT(write(terminal, words, strlen(words)), (int) strlen(words));
}

/* At a terminal: the programs run until Ctrl-C, which is for them and not for the job. */
static void interrupt(char **words)
{
    enum { CAPACITY = 1 << 16 };
    static char text[CAPACITY];
    int terminal;
    fflush(NULL);
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    if (pid == 0) {
        execvp(words[0], words);
        _exit(93);
    }
    await(terminal, text, CAPACITY, "(0-1) ");
    type(terminal, text, "break stop_here\n");
    await(terminal, text, CAPACITY, "Breakpoint 1 at");
    type(terminal, text, "run\n");
    await(terminal, text, CAPACITY, "stop_here (number=1)");
    await(terminal, text, CAPACITY, "stop_here (number=0)");
    for (int i = 0; i < 2; i++) {
        type(terminal, text, "continue\n");
        await(terminal, text, CAPACITY, "Continuing.");
        sleep(1);
        type(terminal, text, "\003");
        await(terminal, text, CAPACITY, "SIGINT");
        type(terminal, text, "print turns > 0\n");
        await(terminal, text, CAPACITY, "1:  $");
    }
    type(terminal, text, "kill\n");
    await(terminal, text, CAPACITY, "(0-1) ");
    type(terminal, text, "quit\n");
    /* Its end is an error at a terminal. */
    while (read(terminal, text, CAPACITY) > 0)
        continue;
    close(terminal);
    end(pid);
}

static volatile long turns;

int main(int argc, char **argv)
{
    if (argc > 1) {
        start(&argc, &argv);
        stop_here(rank);
        while (!strcmp(argv[1], "turns"))
            turns++;
        MPI(MPI_Barrier(MPI_COMM_WORLD));
        return finish();
    }
    start_driver(argv[0]);
    char *mpiexec = getenv("C_SUITE_LAUNCHER");
    char *here[] = {mpiexec, "-gdb", "-n", "3", program, "rank", NULL};
    examine(here);
    char *loops[] = {mpiexec, "-gdb", "-n", "2", program, "turns", NULL};
    interrupt(loops);
    setenv("OXMPI_FABRIC", "tcp", 1);
    setenv("OXMPI_INTERFACE", "lo", 1);
#define HOSTS "-launcher-exec", "tests/hosts/agent", "-hosts", "localhost:2,192.0.2.1:2", "-map-by", "node"
    char *there[] = {mpiexec, "-gdb", HOSTS, "-n", "3", program, "rank", NULL};
    examine(there);
    char *loops_there[] = {mpiexec, "-gdb", HOSTS, "-n", "2", program, "turns", NULL};
    interrupt(loops_there);
    return conclude();
}
