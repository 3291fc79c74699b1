/* Datatypes and copies for array sections. The calls made here are PMPI's: a profiling tool sees the
   program's calls only. Compiled twice like the others, but there is one of each function. */

#include "section.h"

#include <stdio.h>

#ifndef PROFILING

/* An error code for each text, so that a program that goes on after a refusal does not fill the list of codes. Codes are
   never given out twice, so these last as long as the process. */
struct refusal {
  struct refusal *next;
  int code;
  char text[MPI_MAX_ERROR_STRING];
};

static struct refusal *refusals;

static int code_of(const char *text)
{
  struct refusal *first = __atomic_load_n(&refusals, __ATOMIC_ACQUIRE);
  for (struct refusal *known = first; known; known = known->next)
    if (strcmp(known->text, text) == 0) return known->code;
  struct refusal *new = malloc(sizeof *new);
  if (!new || PMPI_Add_error_code(MPI_ERR_BUFFER, &new->code) != MPI_SUCCESS) {
    free(new);
    return MPI_ERR_BUFFER;
  }
  strcpy(new->text, text);
  PMPI_Add_error_string(new->code, text);
  /* Two threads may add the same text: each has a code then. */
  do new->next = first;
  while (!__atomic_compare_exchange_n(&refusals, &first, new, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return new->code;
}

int part_refuse(const struct part *part, const char *why)
{
  char text[MPI_MAX_ERROR_STRING];
  snprintf(text, sizeof text, "%s: %s %s", part->function, part->name, why);
  int code = code_of(text);
  switch (part->owner) {
  case OF_COMM: PMPI_Comm_call_errhandler(part->handle, code); break;
  case OF_WIN: PMPI_Win_call_errhandler(part->handle, code); break;
  case OF_FILE: PMPI_File_call_errhandler(PMPI_File_f2c(part->handle), code); break;
  case OF_SESSION: PMPI_Session_call_errhandler(part->handle, code); break;
  }
  return code;
}

static MPI_Count elements(const struct descriptor *array, int dimensions)
{
  MPI_Count n = 1;
  for (int i = 0; i < dimensions; i++) n *= array->dim[i].extent;
  return n;
}

static void as_it_is(struct part *part, const struct descriptor *array, MPI_Count count,
                     MPI_Datatype type)
{
  part->array = array;
  part->address = f08_place(array->base_addr);
  part->count = count;
  part->type = type;
}

/* Replaces `*type` by another, made of it. */
static int replace(int code, MPI_Datatype *type, MPI_Datatype made)
{
  PMPI_Type_free(type);
  *type = made;
  return code;
}

/* The first `total` elements of the first `dimensions` dimensions, each a `unit`. */
static int describe(const struct descriptor *array, int dimensions, MPI_Count total,
                    MPI_Datatype unit, MPI_Datatype *type)
{
  MPI_Datatype made;
  if (dimensions == 0) return PMPI_Type_dup(unit, type);
  MPI_Count inner = elements(array, dimensions - 1);
  MPI_Count full = total / inner, rest = total % inner;
  ptrdiff_t stride = array->dim[dimensions - 1].sm;
  int code = describe(array, dimensions - 1, inner, unit, type);
  if (code == MPI_SUCCESS) {
    code = PMPI_Type_create_hvector_c(full, 1, stride, *type, &made);
    if (code == MPI_SUCCESS) replace(code, type, made);
  }
  if (code != MPI_SUCCESS || rest == 0) return code;
  MPI_Datatype pieces[2] = {*type};
  MPI_Count lengths[2] = {1, 1}, displacements[2] = {0, full * stride};
  code = describe(array, dimensions - 1, rest, unit, &pieces[1]);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Type_create_struct_c(2, lengths, displacements, pieces, &made);
  PMPI_Type_free(&pieces[1]);
  return code == MPI_SUCCESS ? replace(code, type, made) : code;
}

/* The extent of a type without holes, else 0. */
static MPI_Count dense(MPI_Datatype type)
{
  MPI_Count size, lb, extent, true_lb, true_extent;
  if (PMPI_Type_size_c(type, &size) || PMPI_Type_get_extent_c(type, &lb, &extent) ||
      PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent))
    return 0;
  return lb == 0 && true_lb == 0 && extent == size && true_extent == size ? extent : 0;
}

int part_typed(struct part *part, const struct descriptor *array, MPI_Count count,
               MPI_Datatype type, int writes, int may_copy)
{
  as_it_is(part, array, count, type);
  if (whole(array) || count <= 0 || elements(array, array->rank) == 0) return MPI_SUCCESS;
  MPI_Count extent = dense(type), length = (MPI_Count)array->elem_len, total;
  MPI_Datatype unit;
  int code;
  if (extent > 0 && length % extent == 0 && count % (length / extent) == 0) {
    total = count / (length / extent);
    code = PMPI_Type_contiguous_c(length / extent, type, &unit);
  } else if (extent > 0 && extent % length == 0) {
    total = count * (extent / length);
    code = PMPI_Type_contiguous_c(length, MPI_BYTE, &unit);
  } else if (may_copy) {
    return part_copied(part, array, count, type, writes);
  } else {
    return part_refuse(part, "is an array section that is not contiguous, which needs a datatype "
                                   "without holes whose extent fits its elements");
  }
  if (code != MPI_SUCCESS) return code;
  if (total > elements(array, array->rank)) {
    PMPI_Type_free(&unit);
    return part_refuse(part, "is an array section with fewer elements than the count says");
  }
  code = describe(array, array->rank, total, unit, &part->type);
  PMPI_Type_free(&unit);
  if (code != MPI_SUCCESS) return code;
  part->made_type = 1;
  part->count = 1;
  return PMPI_Type_commit(&part->type);
}

int part_element(struct part *part, const struct descriptor *array, MPI_Datatype type, int writes,
                 int may_copy)
{
  as_it_is(part, array, 0, type);
  if (whole(array)) return MPI_SUCCESS;
  MPI_Count extent = dense(type);
  if (array->rank != 1 || extent != (MPI_Count)array->elem_len) {
    if (may_copy) return part_copied(part, array, 0, type, writes);
    return part_refuse(part, "is an array section that is not contiguous, of which this call can "
                                   "only take one dimension of elements of the datatype");
  }
  int code = PMPI_Type_create_resized_c(type, 0, array->dim[0].sm, &part->type);
  if (code != MPI_SUCCESS) return code;
  part->made_type = 1;
  return PMPI_Type_commit(&part->type);
}

/* Copies the elements of the first `dimensions` dimensions at `place` to `copy`, or back. */
static char *copy_elements(const struct descriptor *array, int dimensions, char *place, char *copy,
                           int back)
{
  if (dimensions == 0) {
    memcpy(back ? place : copy, back ? copy : place, array->elem_len);
    return copy + array->elem_len;
  }
  ptrdiff_t stride = array->dim[dimensions - 1].sm;
  for (ptrdiff_t i = 0; i < array->dim[dimensions - 1].extent; i++, place += stride)
    copy = copy_elements(array, dimensions - 1, place, copy, back);
  return copy;
}

int part_copied(struct part *part, const struct descriptor *array, MPI_Count count, MPI_Datatype type,
                int writes)
{
  as_it_is(part, array, count, type);
  if (whole(array) || elements(array, array->rank) == 0) return MPI_SUCCESS;
  MPI_Count size = elements(array, array->rank) * (MPI_Count)array->elem_len, needed;
  /* What is wrong with the count or the datatype itself is the call's to say. */
  if (count > 0 && type != MPI_DATATYPE_NULL && PMPI_Type_size_c(type, &needed) == MPI_SUCCESS &&
      needed > 0 && count > size / needed)
    return part_refuse(part, "is an array section with fewer elements than the count says");
  part->copy = malloc(size);
  if (!part->copy) return part_refuse(part, "is an array section that there is no memory to copy");
  copy_elements(array, array->rank, array->base_addr, part->copy, 0);
  part->address = part->copy;
  if (writes) part->copy_back_to = array;
  return MPI_SUCCESS;
}

int part_first(struct part *part, const struct descriptor *array, MPI_Datatype type)
{
  MPI_Count lb, extent;
  as_it_is(part, array, 1, type);
  /* What is wrong with the datatype itself is the call's to say. */
  if (whole(array) || type == MPI_DATATYPE_NULL ||
      PMPI_Type_get_true_extent_c(type, &lb, &extent) != MPI_SUCCESS ||
      lb + extent <= (MPI_Count)array->elem_len)
    return MPI_SUCCESS;
  return part_refuse(part, "is an array section that is not contiguous, whose elements are smaller than the datatype");
}

int part_whole(struct part *part, const struct descriptor *array)
{
  as_it_is(part, array, 0, MPI_DATATYPE_NULL);
  if (whole(array) || elements(array, array->rank) == 0) return MPI_SUCCESS;
  return part_refuse(part, "is an array section that is not contiguous, which this call cannot take");
}

int part_unused(struct part *part, const struct descriptor *array, MPI_Datatype type)
{
  as_it_is(part, array, 0, type);
  return MPI_SUCCESS;
}

int at_root(int root, MPI_Comm comm)
{
  int inter = 0, rank = MPI_PROC_NULL;
  if (root == MPI_ROOT) return 1;
  /* A wrong communicator is the call's to refuse. */
  if (root < 0 || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
    return 0;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

void copy_back(const struct descriptor *array, void *copy)
{
  copy_elements(array, array->rank, array->base_addr, copy, 1);
}

void part_done(struct part *part)
{
  if (part->copy_back_to) copy_back(part->copy_back_to, part->copy);
  free(part->copy);
  if (part->made_type) PMPI_Type_free(&part->type);
}

#endif
