/* What every test program uses: start, checks that name rank and line, a watchdog, finish.
 * A failed CHECK is printed and counted, and the program goes on, so that no peer is left waiting;
 * a failed MPI() call ends the job. finish() prints the closing line which the runner looks for.
 */
#ifndef OXMPI_CHECK_H
#define OXMPI_CHECK_H

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__)
#define CHECK_UNUSED __attribute__((unused))
#define CHECK_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define CHECK_UNUSED
#define CHECK_FORMAT(text, first)
#endif

/* For what the standard says and MPICH does not do: `if (!reference)`, with the reason beside it. */
#ifdef REFERENCE
enum { reference = 1 };
#else
enum { reference = 0 };
#endif

#ifdef MPI_ABI_VERSION
/* The standard ABI has no Fortran integers in C, but their datatypes; and NULL is its MPI_STATUS_IGNORE. */
typedef int MPI_Fint;
enum { ignores_null_status = 1 };
/* Not of the standard: the value that oxmpi gives. */
enum { MPIX_ERR_PROC_FAILED = 101 };
/* A handle's integer is what Fortran has. */
#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_File_f2c MPI_File_fromint
#define MPI_File_c2f MPI_File_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Type_c2f MPI_Type_toint
#else
enum { ignores_null_status = 0 };
#endif

/* Which MPICH 4.0 has no name for. */
#ifdef MPI_ERR_ERRHANDLER
enum { err_errhandler = MPI_ERR_ERRHANDLER };
#else
enum { err_errhandler = 80 };
#endif

/* Rank and size in MPI_COMM_WORLD, set by start(). */
static int rank = -1, size = -1;
static volatile int check_failures = 0;
static const char *volatile check_place = "the start";
static volatile int check_line = 0;
static char check_program[256] = "?";

static void check_watchdog_fired(int signal_number)
{
    char text[400];
    int length = snprintf(text, sizeof text, "[rank %d of %d] %s: watchdog: still waiting, last check at %s:%d\n",
                          rank, size, check_program, check_place, check_line);
    ssize_t written = write(2, text, length > 0 && length < (int) sizeof text ? (size_t) length : sizeof text);
    (void) written;
    (void) signal_number;
    _exit(97);
}

/* Chapter and name of the program, from its path below the build directory. */
static CHECK_UNUSED void check_name(const char *path)
{
    const char *name = getenv("C_SUITE_PROGRAM");
    snprintf(check_program, sizeof check_program, "%s", name ? name : path);
}

static CHECK_UNUSED void watchdog(const char *path)
{
    const char *seconds = getenv("C_SUITE_WATCHDOG");
    check_name(path);
    signal(SIGALRM, check_watchdog_fired);
    alarm(seconds ? (unsigned) atoi(seconds) : 45);
}

/* Under valgrind and the like: programs choose smaller sizes. */
static CHECK_UNUSED int slow(void)
{
    const char *text = getenv("C_SUITE_SLOW");
    return text && atoi(text);
}

static CHECK_UNUSED CHECK_FORMAT(3, 4) void check_failed(const char *file, int line, const char *format, ...)
{
    char text[1600];
    va_list list;
    if (++check_failures > 20)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "[rank %d of %d] %s:%d: %s\n", rank, size, file, line, text);
    fflush(stderr);
}

static CHECK_UNUSED const char *class_name(int class_)
{
    static char other[40];
#define NAME(x) case x: return #x
    switch (class_) {
        NAME(MPI_SUCCESS); NAME(MPI_ERR_BUFFER); NAME(MPI_ERR_COUNT); NAME(MPI_ERR_TYPE);
        NAME(MPI_ERR_TAG); NAME(MPI_ERR_COMM); NAME(MPI_ERR_RANK); NAME(MPI_ERR_REQUEST);
        NAME(MPI_ERR_ROOT); NAME(MPI_ERR_GROUP); NAME(MPI_ERR_OP); NAME(MPI_ERR_TOPOLOGY);
        NAME(MPI_ERR_DIMS); NAME(MPI_ERR_ARG); NAME(MPI_ERR_UNKNOWN); NAME(MPI_ERR_TRUNCATE);
        NAME(MPI_ERR_OTHER); NAME(MPI_ERR_INTERN); NAME(MPI_ERR_IN_STATUS); NAME(MPI_ERR_PENDING);
        NAME(MPI_ERR_KEYVAL); NAME(MPI_ERR_NO_MEM); NAME(MPI_ERR_BASE); NAME(MPI_ERR_INFO_KEY);
        NAME(MPI_ERR_INFO_VALUE); NAME(MPI_ERR_INFO_NOKEY); NAME(MPI_ERR_INFO);
        NAME(MPI_ERR_UNSUPPORTED_OPERATION); NAME(MPI_ERR_WIN); NAME(MPI_ERR_FILE); NAME(MPI_ERR_SESSION);
    }
#undef NAME
    snprintf(other, sizeof other, "class %d", class_);
    return other;
}

static CHECK_UNUSED int check_class_of(int code)
{
    int class_ = code;
    MPI_Error_class(code, &class_);
    return class_;
}

#define CHECK_HERE (check_place = __FILE__, check_line = __LINE__)

/* Ends the job if a call that has to work does not. */
#define MPI(call) do { \
        CHECK_HERE; \
        int check_code = (call); \
        if (check_code != MPI_SUCCESS) { \
            char check_text[MPI_MAX_ERROR_STRING] = ""; int check_length; \
            MPI_Error_string(check_code, check_text, &check_length); \
            check_failed(__FILE__, __LINE__, "%s: %s", #call, check_text); \
            MPI_Abort(MPI_COMM_WORLD, 96); \
        } } while (0)

#define CHECK(condition) do { CHECK_HERE; \
        if (!(condition)) check_failed(__FILE__, __LINE__, "%s does not hold", #condition); } while (0)

#define CHECK_INT(actual, expected) do { CHECK_HERE; \
        long long check_actual = (long long) (actual), check_expected = (long long) (expected); \
        if (check_actual != check_expected) \
            check_failed(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #actual, check_actual, #expected, check_expected); \
    } while (0)

#define CHECK_STRING(actual, expected) do { CHECK_HERE; \
        const char *check_actual = (actual), *check_expected = (expected); \
        if (strcmp(check_actual, check_expected)) \
            check_failed(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #actual, check_actual, check_expected); \
    } while (0)

#define CHECK_CLASS(code, class_) do { CHECK_HERE; check_class(__FILE__, __LINE__, #code, code, class_); } while (0)

static CHECK_UNUSED void check_class(const char *file, int line, const char *call, int code, int expected)
{
    int found = check_class_of(code), length;
    char text[MPI_MAX_ERROR_STRING] = "", name[48];
    if (found == expected)
        return;
    snprintf(name, sizeof name, "%s", class_name(found));
    MPI_Error_string(code, text, &length);
    check_failed(file, line, "%s gives %s, expected %s (text: %s)", call, name, class_name(expected), text);
}

/* A call with one wrong argument: the class of its error, and that the text names the function (taken
 * from the call as it is written), the argument, and its value (left out if value is NULL). The reference
 * has texts of its own. */
#define ERROR(call, class_, argument, value) do { CHECK_HERE; \
        int check_error_code = (call); \
        check_class(__FILE__, __LINE__, #call, check_error_code, class_); \
        check_error_text(__FILE__, __LINE__, check_error_code, #call, argument, value); } while (0)

static CHECK_UNUSED void check_error_text(const char *file, int line, int code, const char *call,
                                          const char *argument, const char *value)
{
    char text[MPI_MAX_ERROR_STRING] = "", function[80];
    int length = -1;
    size_t end = strcspn(call, "( ");
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length != (int) strlen(text))
        check_failed(file, line, "%s: MPI_Error_string of code %d fails or gives length %d for \"%s\"", call, code, length, text);
    if (end >= sizeof function)
        end = sizeof function - 1;
    memcpy(function, call, end);
    function[end] = 0;
#ifndef REFERENCE
    if (!strstr(text, function))
        check_failed(file, line, "%s: the text does not name %s: %s", call, function, text);
    if (argument && !strstr(text, argument))
        check_failed(file, line, "%s: the text does not name the argument %s: %s", call, argument, text);
    if (value && !strstr(text, value))
        check_failed(file, line, "%s: the text does not give the value %s: %s", call, value, text);
#else
    (void) argument;
    (void) value;
#endif
}

/* Byte number i of a message with this seed. */
static CHECK_UNUSED unsigned char pattern_byte(uint64_t seed, size_t i)
{
    uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15ull + (i >> 3) * 0xD1B54A32D192ED03ull;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9ull;
    return (unsigned char) (x >> (8 * (i & 7)));
}

static CHECK_UNUSED void fill(void *buffer, size_t bytes, uint64_t seed)
{
    unsigned char *to = (unsigned char *) buffer;
    for (size_t i = 0; i < bytes; i++)
        to[i] = pattern_byte(seed, i);
}

/* First byte that differs from the pattern, or bytes. */
static CHECK_UNUSED size_t differs(const void *buffer, size_t bytes, uint64_t seed)
{
    const unsigned char *from = (const unsigned char *) buffer;
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != pattern_byte(seed, i))
            return i;
    return bytes;
}

#define CHECK_PATTERN(buffer, bytes, seed) do { CHECK_HERE; \
        size_t check_bytes = (bytes), check_at = differs(buffer, check_bytes, seed); \
        if (check_at != check_bytes) \
            check_failed(__FILE__, __LINE__, "%s: byte %zu of %zu is wrong", #buffer, check_at, check_bytes); } while (0)

/* A status of a message from source with tag, and its length in bytes. */
#define CHECK_STATUS(status, source, tag, bytes) do { \
        int check_count = -99; \
        CHECK_INT((status).MPI_SOURCE, source); \
        CHECK_INT((status).MPI_TAG, tag); \
        MPI(MPI_Get_count(&(status), MPI_BYTE, &check_count)); \
        CHECK_INT(check_count, bytes); } while (0)

/* The empty status of MPI 4.1, section 3.7.3. */
#define CHECK_EMPTY_STATUS(status) do { \
        int check_cancelled = -1; \
        CHECK_STATUS(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0); \
        MPI(MPI_Test_cancelled(&(status), &check_cancelled)); \
        CHECK_INT(check_cancelled, 0); } while (0)

static CHECK_UNUSED void spoil(MPI_Status *status)
{
    memset(status, 0x5a, sizeof *status);
}

/* A seeded generator, the same on every machine. */
static CHECK_UNUSED uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += 0x9E3779B97F4A7C15ull);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

static CHECK_UNUSED void check_ranks(void)
{
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
}

static CHECK_UNUSED void start(int *argc, char ***argv)
{
    watchdog((*argv)[0]);
    MPI(MPI_Init(argc, argv));
    check_ranks();
}

static CHECK_UNUSED void return_errors(void)
{
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

/* The closing line and the exit code, after MPI_Finalize. */
static CHECK_UNUSED int conclude(void)
{
    if (check_failures > 20)
        fprintf(stderr, "[rank %d of %d] %d failures in all\n", rank, size, check_failures);
    if (rank == 0 && !check_failures)
        printf("%s: passed on %d ranks\n", check_program, size);
    fflush(stdout);
    return check_failures ? 95 : 0;
}

static CHECK_UNUSED int finish(void)
{
    MPI(MPI_Finalize());
    return conclude();
}

#endif
