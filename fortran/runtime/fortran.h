/* What all C files of the Fortran library share: names, places that stand for constants, texts.
   Each file but places.c is compiled twice, the second time with PROFILING: then it defines pmpi_x_
   and calls PMPI_X. */

#ifndef OXMPI_FORTRAN_H
#define OXMPI_FORTRAN_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* These are functions here. */
#undef MPI_DUP_FN
#undef MPI_NULL_COPY_FN
#undef MPI_NULL_DELETE_FN
#undef MPI_COMM_DUP_FN
#undef MPI_COMM_NULL_COPY_FN
#undef MPI_COMM_NULL_DELETE_FN
#undef MPI_TYPE_DUP_FN
#undef MPI_TYPE_NULL_COPY_FN
#undef MPI_TYPE_NULL_DELETE_FN
#undef MPI_WIN_DUP_FN
#undef MPI_WIN_NULL_COPY_FN
#undef MPI_WIN_NULL_DELETE_FN
#undef MPI_CONVERSION_FN_NULL
#undef MPI_CONVERSION_FN_NULL_C

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

#ifdef PROFILING
#define FN(name) JOIN(p, name)
#define UPPER(name) JOIN(P, name)
#define CALL(name) JOIN(P, name)
#else
#define FN(name) name
#define UPPER(name) name
#define CALL(name) name
#endif

#define ALIAS(name, old) extern __typeof__(old) name __attribute__((alias(TEXT(old))))

/* The names that compilers give to a Fortran procedure: mpi_x_ is there. */
#define NAMES(lower, upper) \
  ALIAS(FN(lower##__), FN(lower##_)); \
  ALIAS(FN(lower), FN(lower##_)); \
  ALIAS(UPPER(upper), FN(lower##_));

/* The name of the specific procedure in mpi_f08, and MPICH's name for its profiling twin. */
#ifdef PROFILING
#define F08_NAMES(lower, short) \
  ALIAS(p##lower##_f08_, p##lower##_); \
  ALIAS(pmpir##short##_f08_, p##lower##_);
#define LARGE_NAMES(lower, short) ALIAS(pmpir##short##_f08_large_, p##lower##_c_f08_);
#else
#define F08_NAMES(lower, short) ALIAS(lower##_f08_, lower##_);
#define LARGE_NAMES(lower, short) ALIAS(lower##_f08_large_, lower##_c_f08_);
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define HIDDEN __attribute__((visibility("hidden")))

/* The common blocks of mpif.h and of the module mpi. A program has its own copies, and the dynamic
   linker makes these names mean those: so they are only ever reached by name. */
extern struct mpipriv1 {
  MPI_Fint bottom, in_place, status_ignore[5];
} mpipriv1_;
extern struct mpipriv2 {
  MPI_Fint statuses_ignore[5], errcodes_ignore[1];
} mpipriv2_;
extern struct mpiprivc {
  char argvs_null[1], argv_null[1];
} mpiprivc_;
extern MPI_Fint mpifcmb5_, mpifcmb9_; /* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
extern MPI_Fint oxmpiblk_;            /* MPI_BUFFER_AUTOMATIC */

/* The same constants in mpi_f08. */
extern MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
extern MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_unweighted[1];
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_weights_empty[1];
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_errcodes_ignore[1];
extern char __mpi_f08_link_constants_MOD_mpi_argv_null[1];
extern char __mpi_f08_link_constants_MOD_mpi_argvs_null[1];

/* A Fortran array as mpi_f08 passes it: the parts of CFI_cdesc_t that are the same in all compilers
   (gfortran, flang and ifx order `attribute` and `type` differently). */
struct descriptor {
  void *base_addr;
  size_t elem_len;
  int version;
  signed char rank;
  signed char of_compiler[3];
  struct {
    ptrdiff_t lower_bound, extent, sm;
  } dim[15];
};

/* gfortran 12 gives a CLASS(*) argument the length of its own record: three words and, of an array, a descriptor. A newer
   one gives the length of an element. */
enum { OF_GFORTRAN = 1, TYPE_OTHER = -1, RECORD = 24, ARRAY_RECORD = 56, DIMENSION_RECORD = 24, MOST_DIMENSIONS = 15 };

static inline int is_class(const struct descriptor *array)
{
  return array->version == OF_GFORTRAN && array->of_compiler[1] == TYPE_OTHER && array->of_compiler[2] == TYPE_OTHER;
}

/* The length of an element. Elements do not overlap, so a length above their distance is wrong; the distance is all that is
   known then. */
static inline size_t element_length(const struct descriptor *array)
{
  size_t length = array->elem_len;
  if (array->version != OF_GFORTRAN || array->rank < 1) return length;
  ptrdiff_t distance = array->dim[0].sm < 0 ? -array->dim[0].sm : array->dim[0].sm;
  int of_record = is_class(array) && (length == ARRAY_RECORD + (size_t)array->rank * DIMENSION_RECORD ||
                                      length == ARRAY_RECORD + MOST_DIMENSIONS * DIMENSION_RECORD);
  return distance > 0 && ((size_t)distance < length || of_record) ? (size_t)distance : length;
}

static inline void *place(const void *address)
{
  if (UNLIKELY((uintptr_t)address - (uintptr_t)&mpipriv1_ < sizeof mpipriv1_)) {
    if (address == &mpipriv1_.bottom) return MPI_BOTTOM;
    if (address == &mpipriv1_.in_place) return MPI_IN_PLACE;
  }
  if (UNLIKELY(address == &oxmpiblk_)) return MPI_BUFFER_AUTOMATIC;
  return (void *)address;
}

static inline void *f08_place(const void *address)
{
  if (UNLIKELY(address == &MPIR_F08_MPI_BOTTOM)) return MPI_BOTTOM;
  if (UNLIKELY(address == &MPIR_F08_MPI_IN_PLACE)) return MPI_IN_PLACE;
  return place(address);
}

/* Where the elements of an argument begin. */
HIDDEN const void *inside_record(const struct descriptor *);

static inline void *f08_address(const struct descriptor *array)
{
  if (UNLIKELY(array->elem_len == RECORD) && array->rank == 0 && is_class(array)) return f08_place(inside_record(array));
  return f08_place(array->base_addr);
}

static inline MPI_Status *status_of(const void *status)
{
  if (status == mpipriv1_.status_ignore || status == &MPIR_F08_MPI_STATUS_IGNORE_OBJ)
    return MPI_STATUS_IGNORE;
  return (MPI_Status *)status;
}

static inline MPI_Status *statuses_of(const void *statuses)
{
  if (statuses == mpipriv2_.statuses_ignore || statuses == &MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
    return MPI_STATUSES_IGNORE;
  return (MPI_Status *)statuses;
}

static inline int *error_codes_of(int *codes)
{
  if (codes == mpipriv2_.errcodes_ignore || codes == __mpi_f08_link_constants_MOD_mpi_errcodes_ignore)
    return MPI_ERRCODES_IGNORE;
  return codes;
}

static inline int *weights_of(const int *weights)
{
  if (weights == &mpifcmb5_ || weights == __mpi_f08_link_constants_MOD_mpi_unweighted)
    return MPI_UNWEIGHTED;
  if (weights == &mpifcmb9_ || weights == __mpi_f08_link_constants_MOD_mpi_weights_empty)
    return MPI_WEIGHTS_EMPTY;
  return (int *)weights;
}

/* A zero-terminated copy of a Fortran text without the blanks at its end (and, if `strip`, at its
   beginning), in `copy` if it fits there. */
#define SHORT_TEXT 256
#define LONGEST_TEXT 8192
HIDDEN char *text_in(char copy[SHORT_TEXT], const void *text, size_t length, int strip);
HIDDEN void text_out(char *text, size_t length, const char *c);

static inline void text_done(char *c, const char *copy)
{
  if (c != copy) free(c);
}

#endif
