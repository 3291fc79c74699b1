/* Array sections that are not contiguous, as arguments of a call. */

#ifndef OXMPI_SECTION_H
#define OXMPI_SECTION_H

#include "native.h"

/* Whose error handler a call has. */
enum owner { OF_COMM, OF_WIN, OF_FILE, OF_SESSION };

/* What is given to C for one buffer. */
struct part {
  const char *function, *name;
  enum owner owner;
  MPI_Fint handle;
  const struct descriptor *array;
  void *address;
  MPI_Count count;
  MPI_Datatype type;
  int made_type;
  void *copy;
  MPI_Count bytes;
  const struct descriptor *copy_back_to;
};

/* What a call allows, and what it asks of the datatype of a section. */
enum {
  MAY_COPY = 1,
  /* Its operation works on the basic elements. */
  OPERATES = 2,
  /* It converts the basic elements: files. */
  CONVERTS = 4,
};

/* An assumed-size array has -1 as its last extent. */
static inline int one_piece(const struct descriptor *array, size_t length)
{
  ptrdiff_t expected = (ptrdiff_t)length;
  for (int i = 0; i < array->rank; i++) {
    if (array->dim[i].extent != 1 && array->dim[i].sm != expected) return 0;
    expected *= array->dim[i].extent;
  }
  return 1;
}

/* Is the array one piece? */
static inline int whole(const struct descriptor *array)
{
  if (LIKELY(one_piece(array, array->elem_len))) return 1;
  size_t length = element_length(array);
  return length != array->elem_len && one_piece(array, length);
}

static inline int native_whole(const union native *native)
{
  if (UNLIKELY(!is_gfortran(native))) return whole(&native->of_bind_c);
  const struct gfortran_descriptor *array = &native->of_gfortran;
  ptrdiff_t expected = (ptrdiff_t)array->elem_len;
  for (int i = 0; i < array->rank; i++) {
    ptrdiff_t extent = array->dim[i].ubound - array->dim[i].lbound + 1;
    if (extent != 1 && array->dim[i].stride * unit(array) != expected) return 0;
    expected *= extent;
  }
  return 1;
}

/* Each fills in a part, or calls the error handler of its owner and returns the code. An array that is one
   piece stays as it is. */

/* By a datatype; if none can describe it, by a copy where that is allowed. */
HIDDEN int part_typed(struct part *, const struct descriptor *, MPI_Count count, MPI_Datatype,
                      int writes, int call);
/* By a datatype whose extent is the stride; the same. */
HIDDEN int part_element(struct part *, const struct descriptor *, MPI_Datatype, int writes,
                        int call);
/* By a contiguous copy of what the call uses, which part_done() copies back if the call `writes`. A count of 0: not known. */
HIDDEN int part_copied(struct part *, const struct descriptor *, MPI_Count count, MPI_Datatype,
                       int writes);
/* As it is, if the first element of the array has all of the one that the call uses. */
HIDDEN int part_first(struct part *, const struct descriptor *, MPI_Datatype);
/* Not at all. */
HIDDEN int part_whole(struct part *, const struct descriptor *);
/* As it is, because this process is not the root, which alone uses the buffer. */
HIDDEN int part_unused(struct part *, const struct descriptor *, MPI_Datatype);
HIDDEN int at_root(int root, MPI_Comm comm);

HIDDEN int part_refuse(const struct part *, const char *why);
HIDDEN void copy_back(const struct descriptor *, void *copy, MPI_Count bytes);
/* The call is nonblocking and at work: its copies live until `request`, which is replaced, is complete. */
HIDDEN int parts_keep(struct part *const parts[], int count, MPI_Request *request);
HIDDEN void part_done(struct part *);

#endif
