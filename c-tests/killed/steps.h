/* A program that makes steps of calls, with errors returned: its plan, and what a call may return. */
#ifndef KILLED_STEPS_H
#define KILLED_STEPS_H

#include "death.h"

enum { MOST_STEPS = 24 };
/* What a rank does after its first error: makes all further calls, or ends. */
enum manner { GO_ON, LEAVE, MANNERS };
static const char *const manner_names[] = {"go_on", "leave"};

/* The victim dies in the step `deadly`. */
static struct {
    int victim, steps, deadly, events, microseconds;
    int death, step_of[MOST_STEPS];
    enum manner manner;
} plan;
/* The names of a program's own kinds of steps and deaths, and what its arguments want. */
static const char *const *names_of_steps, *const *names_of_deaths;
static int wanted_step = -1, wanted_death = -1, wanted_manner = -1;
static int is_victim, errors, traces, now_step;
/* Of the victim in its last step: calls until it dies; 0: something else ends it. */
static int calls_until_death;

static void hangs(int signal_number)
{
    char text[500];
    uint64_t died = board ? board->died_at[0] : 0;
    int length = snprintf(text, sizeof text, "[rank %d] HANG: (%s, %s): %s; %.1f s after the death, %d errors before\n", rank,
                          manner_names[plan.manner], names_of_deaths[plan.death], doing,
                          died ? (double) (nanoseconds() - died) / 1e9 : -1.0, errors);
    ssize_t written = write(2, text, (size_t) length);
    (void) written;
    (void) signal_number;
    _exit(97);
}

static void enter(const char *what)
{
    snprintf(doing, sizeof doing, "step %d of %d (%s), %s; the death in step %d", now_step, plan.steps,
             now_step < plan.steps ? names_of_steps[plan.step_of[now_step]] : "the end", what, plan.deadly);
    begin_call(traces);
}

/* Whether the call has succeeded. `says`: what the text of this rank's first error has to say. */
static int leave(int code, const char *says)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code != MPI_SUCCESS) {
        MPI(MPI_Error_string(code, text, &length));
        if (traces)
            fprintf(stderr, "[rank %d] %s\n", rank, text);
        if (!board->died_at[0])
            check_failed(__FILE__, __LINE__, "EARLY: %s: %s", doing, text);
        else if (!errors && !strstr(text, says))
            check_failed(__FILE__, __LINE__, "TEXT: %s: %s", doing, text);
        if (errors++ == 0)
            __atomic_fetch_add(&board->errors, 1, __ATOMIC_RELAXED);
        note_time();
    }
    if (calls_until_death && --calls_until_death == 0)
        die();
    return code == MPI_SUCCESS;
}

/* Reads an argument of the form step=NAME, kill=NAME, then=NAME or trace. */
static void read_argument(const char *argument, int steps, int deaths)
{
    const char *value = strchr(argument, '=') ? strchr(argument, '=') + 1 : "";
    if (!strcmp(argument, "trace"))
        traces = 1;
    else if (!strncmp(argument, "step=", 5))
        wanted_step = find_name(value, names_of_steps, steps);
    else if (!strncmp(argument, "kill=", 5))
        wanted_death = find_name(value, names_of_deaths, deaths);
    else if (!strncmp(argument, "then=", 5))
        wanted_manner = find_name(value, manner_names, MANNERS);
}

#endif
