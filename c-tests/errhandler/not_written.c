/* A function that is not written yet says so once in a process, also where its error is returned and ignored, and whatever
 * threads call it. */
#include "threads.h"
#include <fcntl.h>

enum { THREADS = 4, CALLS = 50 };

static void *call(void *number)
{
    MPIX_Stream stream;
    (void) number;
    for (int i = 0; i < CALLS; i++) {
        MPIX_Start_progress_thread(0);
        MPIX_Comm_get_stream(MPI_COMM_WORLD, 0, &stream);
    }
    return NULL;
}

static int occurrences(const char *text, const char *of)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, of)); at++)
        count++;
    return count;
}

int main(int argc, char **argv)
{
    static char text[100000];
    char name[] = "/tmp/not_written_XXXXXX", words[100];
    start_multiple(&argc, &argv);
    return_errors();
    int file = mkstemp(name), stderr_copy = dup(2);
    CHECK(file >= 0 && stderr_copy >= 0);
    unlink(name);
    dup2(file, 2);
    int code = MPIX_Start_progress_thread(0);
    run_threads(THREADS, call);
    dup2(stderr_copy, 2);
    CHECK(pread(file, text, sizeof text - 1, 0) >= 0);
    /* When they are written one day, another function has to be found for this test. */
    CHECK_CLASS(code, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_INT(occurrences(text, "MPIX_Start_progress_thread is not written yet"), 1);
    CHECK_INT(occurrences(text, "MPIX_Comm_get_stream is not written yet"), 1);
    CHECK_INT(occurrences(text, "\n"), 2);
    snprintf(words, sizeof words, "rank %d ", rank);
    CHECK_INT(occurrences(text, words), 2);
    return finish();
}
