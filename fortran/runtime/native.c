/* gfortran's own descriptors for profiling tools in Fortran. Programs pass those of BIND(C) instead, because
   gfortran makes a copy of a component of a derived type for a procedure that is not BIND(C). */

#include "native.h"

#ifndef PROFILING

static ptrdiff_t common_divisor(ptrdiff_t a, ptrdiff_t b)
{
  while (b != 0) {
    ptrdiff_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* gfortran's numbers of types, by those that it has in descriptors of BIND(C): there CHARACTER is 5, a derived type 6,
   C_PTR and C_FUNPTR are 7 and 8. */
static signed char type_of(const struct descriptor *array)
{
  static const signed char types[] = {0, 1, 2, 3, 4, 6, 5, 10, 10};
  unsigned char type = (unsigned char)array->of_compiler[1];
  return type < sizeof types ? types[type] : 0;
}

void to_gfortran(struct gfortran_descriptor *made, const struct descriptor *array)
{
  /* Strides count elements, or a smaller unit where the distances are no multiples of one. */
  ptrdiff_t length = (ptrdiff_t)array->elem_len, unit = length;
  for (int i = 0; i < array->rank; i++) {
    if (length == 0 || array->dim[i].sm % length != 0) unit = 0;
  }
  for (int i = 0; unit == 0 && i < array->rank; i++) {
    ptrdiff_t divisor = 0;
    for (int j = 0; j < array->rank; j++) divisor = common_divisor(divisor, array->dim[j].sm);
    unit = divisor > 0 ? divisor : 1;
  }
  *made = (struct gfortran_descriptor){
    .base_addr = array->base_addr,
    .elem_len = array->elem_len,
    .rank = array->rank,
    .type = type_of(array),
    .attribute = array->of_compiler[0],
    .span = unit > 0 ? unit : length,
  };
  ptrdiff_t offset = 0;
  for (int i = 0; i < array->rank; i++) {
    ptrdiff_t stride = array->dim[i].sm / made->span;
    made->dim[i].stride = stride;
    made->dim[i].lbound = 1;
    /* An assumed-size array has -1 as its last extent, and as its upper bound. */
    made->dim[i].ubound = array->dim[i].extent;
    offset -= stride;
  }
  made->offset = (size_t)offset;
}

#endif
