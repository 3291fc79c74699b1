/* Module procedures of MPICH's modules, which programs compiled with them call by gfortran's names. New
   modules have no procedures. */

#include "fortran.h"

#ifndef PROFILING

#define SIZEOF(name, bytes) \
  void name(const void *x, int *size, int *ierror) \
  { \
    (void)x; \
    *size = bytes; \
    if (ierror) *ierror = MPI_SUCCESS; \
  }

/* Scalars and arrays. */
#define OLD_SIZEOF(name, bytes) \
  SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##name, bytes) \
  SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##name##v, bytes)
#define F08_SIZEOF(name, bytes) SIZEOF(__mpi_f08_types_MOD_mpi_sizeof_##name, bytes)

OLD_SIZEOF(ch, 1)
OLD_SIZEOF(i, 4)
OLD_SIZEOF(i1, 1)
OLD_SIZEOF(i2, 2)
OLD_SIZEOF(i8, 8)
OLD_SIZEOF(l, 4)
OLD_SIZEOF(r, 4)
OLD_SIZEOF(d, 8)
OLD_SIZEOF(cx, 8)

F08_SIZEOF(logical, 4)
F08_SIZEOF(xint8, 1)
F08_SIZEOF(xint16, 2)
F08_SIZEOF(xint32, 4)
F08_SIZEOF(xint64, 8)
F08_SIZEOF(xreal32, 4)
F08_SIZEOF(xreal64, 8)
F08_SIZEOF(xreal128, 16)
F08_SIZEOF(xcomplex32, 8)
F08_SIZEOF(xcomplex64, 16)
F08_SIZEOF(xcomplex128, 32)

void __mpi_f08_types_MOD_mpi_sizeof_character(const void *x, int *size, int *ierror, size_t length)
{
  (void)x;
  *size = (int)length;
  if (ierror) *ierror = MPI_SUCCESS;
}

void __mpi_f08_types_MOD_mpi_status_f082f(const MPI_F08_status *f08, MPI_Fint *words, int *ierror)
{
  int code = MPI_Status_f082f(f08, words);
  if (ierror) *ierror = code;
}

void __mpi_f08_types_MOD_mpi_status_f2f08(const MPI_Fint *words, MPI_F08_status *f08, int *ierror)
{
  int code = MPI_Status_f2f08(words, f08);
  if (ierror) *ierror = code;
}

#endif
