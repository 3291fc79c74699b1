/* The objects whose addresses stand for constants, and what is done once for both kinds of names.
   A program that uses mpif.h or the modules has copies of its own, which take the place of these. */

#include "fortran.h"

struct mpipriv1 mpipriv1_;
struct mpipriv2 mpipriv2_;
struct mpiprivc mpiprivc_;
MPI_Fint mpifcmb5_, mpifcmb9_, oxmpiblk_;

MPI_Fint __mpi_f08_link_constants_MOD_mpi_unweighted[1];
MPI_Fint __mpi_f08_link_constants_MOD_mpi_weights_empty[1];
MPI_Fint __mpi_f08_link_constants_MOD_mpi_errcodes_ignore[1];
char __mpi_f08_link_constants_MOD_mpi_argv_null[1];
char __mpi_f08_link_constants_MOD_mpi_argvs_null[1];

/* MPI_Status_f2c and its like ask for these. */
__attribute__((constructor)) static void tell_the_addresses(void)
{
  MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
  MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
}

char *text_in(char copy[SHORT_TEXT], const void *text, size_t length, int strip)
{
  const char *start = text;
  while (length > 0 && start[length - 1] == ' ') length--;
  while (strip && length > 0 && *start == ' ') start++, length--;
  char *c = length < SHORT_TEXT ? copy : malloc(length + 1);
  if (!c) abort();
  memcpy(c, start, length);
  c[length] = 0;
  return c;
}

void text_out(char *text, size_t length, const char *c)
{
  size_t there = strlen(c);
  if (there > length) there = length;
  memcpy(text, c, there);
  memset(text + there, ' ', length - there);
}
