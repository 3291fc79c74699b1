/* For programs in which the last rank is killed, and the others are told in the calls that depend on it. For mpiexec with
 * -disable-auto-cleanup: the job goes on. */
#ifndef OXMPI_LOST_RANK_H
#define OXMPI_LOST_RANK_H

#include "check.h"

/* What the texts name besides the rank. */
static const char *lost_object = "window \"heat\"";

/* The code is of this class, and its text names the rank that was killed, the function, and the object. */
static CHECK_UNUSED void check_loss_at(const char *file, int line, int code, int class, const char *function)
{
    char text[MPI_MAX_ERROR_STRING], wanted[60];
    int length;
    if (check_class_of(code) != class)
        check_failed(file, line, "the class is %d", check_class_of(code));
    MPI(MPI_Error_string(code, text, &length));
    snprintf(wanted, sizeof wanted, "rank %d of MPI_COMM_WORLD has ended", size - 1);
    if (!strstr(text, wanted) || !strstr(text, lost_object) || !strstr(text, function))
        check_failed(file, line, "the text is %s", text);
}

#define IS_LOSS(call, class, function) check_loss_at(__FILE__, __LINE__, (call), (class), (function))

/* Errors at the window are returned, and it has the name that is looked for. */
static CHECK_UNUSED void name_window(MPI_Win win)
{
    return_errors();
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI(MPI_Win_set_name(win, "heat"));
}

static MPI_Group all_but_the_last(void)
{
    MPI_Group all, others;
    int last = size - 1;
    MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI(MPI_Group_excl(all, 1, &last, &others));
    MPI(MPI_Group_free(&all));
    return others;
}

/* No rank may end before all have met the one that was killed, and not one that has left. */
static void end_of_others(void)
{
    int one = rank;
    MPI_Comm rest;
    MPI(MPI_Comm_create_group(MPI_COMM_WORLD, all_but_the_last(), 5, &rest));
    MPI(MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, rest));
    if (check_failures == 0)
        fprintf(stderr, "rank %d: all was right\n", rank);
    _exit(check_failures != 0);
}

#endif
