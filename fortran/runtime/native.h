/* Descriptors that compilers pass to procedures that are not BIND(C), and profiling tools written as such. */

#ifndef OXMPI_NATIVE_H
#define OXMPI_NATIVE_H

#include "fortran.h"

/* gfortran's own descriptor, which it passes to a procedure that is not BIND(C). */
struct gfortran_descriptor {
  void *base_addr;
  size_t offset;
  size_t elem_len;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
  struct {
    ptrdiff_t stride, lbound, ubound;
  } dim[15];
};

/* What is rare stays out of the functions that programs call. */
#define APART static __attribute__((noinline, unused))

/* What a compiler passes to a procedure that is not BIND(C): gfortran's own descriptor, or (flang) that of
   BIND(C). The address of the first element comes first in both. */
union native {
  struct descriptor of_bind_c;
  struct gfortran_descriptor of_gfortran;
};

/* The upper half of the length of gfortran's elements is 0, below 4 GiB. Flang has rank and type of the array
   there, and a date before them (CFI_VERSION). */
static inline int is_gfortran(const union native *array)
{
  if (LIKELY(array->of_gfortran.elem_len >> 32 == 0)) return 1;
  return array->of_bind_c.version < 20180515 || array->of_bind_c.version > 20991231;
}

/* What strides count, in bytes. */
static inline ptrdiff_t unit(const struct gfortran_descriptor *array)
{
  return array->span ? array->span : (ptrdiff_t)array->elem_len;
}

static inline void from_native(struct descriptor *array, const union native *native)
{
  array->version = 0;
  if (!is_gfortran(native)) {
    array->base_addr = native->of_bind_c.base_addr;
    array->elem_len = native->of_bind_c.elem_len;
    array->rank = native->of_bind_c.rank;
    for (int i = 0; i < array->rank; i++) array->dim[i] = native->of_bind_c.dim[i];
    return;
  }
  const struct gfortran_descriptor *old = &native->of_gfortran;
  array->base_addr = old->base_addr;
  array->elem_len = old->elem_len;
  array->rank = old->rank;
  for (int i = 0; i < old->rank; i++) {
    array->dim[i].extent = old->dim[i].ubound - old->dim[i].lbound + 1;
    array->dim[i].sm = old->dim[i].stride * unit(old);
  }
}

/* For a profiling tool's procedure that is not BIND(C), what the compiler of the program would have passed: gfortran
   (CFI_VERSION 1) has descriptors of its own, flang has not. */
HIDDEN void to_gfortran(struct gfortran_descriptor *, const struct descriptor *);

static inline const union native *for_tool(union native *made, const struct descriptor *array)
{
  if (array->version != 1) return (const union native *)array;
  to_gfortran(&made->of_gfortran, array);
  return made;
}

/* MPICH's names for the specific procedures with choice buffers, where they are not those of the standard; and
   whether a tool has put a procedure of its own before the library's. */
#ifdef PROFILING
#define F08TS_NAMES(lower, short) ALIAS(pmpir##short##_f08ts_, p##lower##_f08ts_);
#define LARGE_F08TS_NAMES(lower, short) ALIAS(pmpir##short##_f08ts_large_, p##lower##_c_f08ts_);
#define HAS_TOOL(name) 0
#else
#define OWN(name) \
  extern __typeof__(name) own_##name __attribute__((alias(#name), visibility("hidden")));
#define F08TS_NAMES(lower, short) OWN(lower##_f08ts_)
#define LARGE_F08TS_NAMES(lower, short) \
  OWN(lower##_c_f08ts_) \
  ALIAS(lower##_f08ts_large_, lower##_c_f08ts_);
#define HAS_TOOL(name) UNLIKELY(name != own_##name)
#endif

#endif
