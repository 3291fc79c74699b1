/* Datatypes and copies for array sections. The calls made here are PMPI's: a profiling tool sees the
   program's calls only. Compiled twice like the others, but there is one of each function. */

/* dladdr */
#define _GNU_SOURCE

#include "section.h"

#include <dlfcn.h>
#include <stdio.h>

#ifndef PROFILING

/* A scalar CLASS(*) of gfortran 12 is a record: address, table of its type, length. A newer one gives the address itself, of
   maybe three words of the program's; but those are not an address, and a table that an object file has, with the procedure
   that copies such a thing at its place. */
const void *inside_record(const struct descriptor *array)
{
  struct table {
    int hash;
    size_t size;
    void *parent, *initial;
    void (*copy)(void);
  };
  const struct {
    const void *address;
    const struct table *table;
    size_t length;
  } *record = array->base_addr;
  Dl_info file;
  if (!record || !record->address || (uintptr_t)record->table % sizeof(void *) != 0 ||
      !dladdr(record->table, &file) || !dladdr((const void *)record->table->copy, &file))
    return record;
  return record->address;
}

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
  part->address = f08_address(array);
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

/* Do the bytes of a type without holes come in the order of their addresses, each once? */
static int in_order(MPI_Datatype type)
{
  MPI_Count pieces, size, found, i;
  MPI_Aint at = 0;
  if (PMPIX_Type_iov_len(type, -1, &pieces, &size) != MPI_SUCCESS) return 0;
  MPIX_Iov *list = malloc(pieces * sizeof *list);
  if (!list || PMPIX_Type_iov(type, 0, list, pieces, &found) != MPI_SUCCESS) found = 0;
  for (i = 0; i < found && (MPI_Aint)list[i].iov_base == at; i++) at += list[i].iov_len;
  free(list);
  return found == pieces && i == pieces;
}

/* The predefined type that all basic elements are of, else MPI_DATATYPE_NULL. `made`: whether the type is another one. */
static MPI_Datatype basic_of(MPI_Datatype type, int *made)
{
  MPI_Count integers, addresses, counts, types;
  MPI_Datatype basic = MPI_DATATYPE_NULL;
  int combiner;
  *made = 0;
  if (PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner) != MPI_SUCCESS)
    return basic;
  if (types == 0) return type;
  *made = 1;
  int *some = malloc((integers + 1) * sizeof *some);
  MPI_Aint *places = malloc((addresses + 1) * sizeof *places);
  MPI_Count *numbers = malloc((counts + 1) * sizeof *numbers);
  MPI_Datatype *inner = malloc(types * sizeof *inner);
  if (some && places && numbers && inner &&
      PMPI_Type_get_contents_c(type, integers, addresses, counts, types, some, places, numbers, inner) ==
        MPI_SUCCESS) {
    for (MPI_Count i = 0; i < types; i++) {
      int made_inner;
      MPI_Datatype its = basic_of(inner[i], &made_inner);
      if (made_inner) PMPI_Type_free(&inner[i]);
      basic = i == 0 || its == basic ? its : MPI_DATATYPE_NULL;
    }
  }
  free(some), free(places), free(numbers), free(inner);
  return basic;
}

/* What a predefined type has two of, else MPI_DATATYPE_NULL. */
static MPI_Datatype half_of(MPI_Datatype type)
{
  static const MPI_Datatype halves[][2] = {
    {MPI_COMPLEX, MPI_REAL},
    {MPI_DOUBLE_COMPLEX, MPI_DOUBLE_PRECISION},
    {MPI_COMPLEX8, MPI_REAL4},
    {MPI_COMPLEX16, MPI_REAL8},
    {MPI_COMPLEX32, MPI_REAL16},
    {MPI_C_FLOAT_COMPLEX, MPI_FLOAT},
    {MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE},
    {MPI_C_LONG_DOUBLE_COMPLEX, MPI_LONG_DOUBLE},
    {MPI_2INTEGER, MPI_INTEGER},
    {MPI_2REAL, MPI_REAL},
    {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
    {MPI_2INT, MPI_INT},
  };
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
    if (halves[i][0] == type) return halves[i][1];
  return MPI_DATATYPE_NULL;
}

static int fits(MPI_Datatype type, MPI_Count length)
{
  MPI_Count size;
  return type != MPI_DATATYPE_NULL && PMPI_Type_size_c(type, &size) == MPI_SUCCESS && size > 0 &&
         length % size == 0;
}

/* What elements of `length` bytes consist of, if the elements of `type`, which has no holes, lie over several of them. A copy
   is better than what has other basic elements. */
static MPI_Datatype part_of(MPI_Datatype type, MPI_Count length, int call)
{
  int made;
  if (!in_order(type)) return MPI_DATATYPE_NULL;
  MPI_Datatype basic = basic_of(type, &made), half = half_of(basic);
  if (fits(basic, length)) return basic;
  if (call & (MAY_COPY | OPERATES)) return MPI_DATATYPE_NULL;
  if (fits(half, length)) return half;
  return call & CONVERTS ? MPI_DATATYPE_NULL : MPI_BYTE;
}

int part_typed(struct part *part, const struct descriptor *array, MPI_Count count,
               MPI_Datatype type, int writes, int call)
{
  as_it_is(part, array, count, type);
  if (whole(array) || count <= 0 || elements(array, array->rank) == 0) return MPI_SUCCESS;
  MPI_Count extent = dense(type), length = (MPI_Count)element_length(array), size = 1;
  MPI_Datatype unit = type;
  if (extent > 0 && count > elements(array, array->rank) * length / extent)
    return part_refuse(part, "is an array section with fewer elements than the count says");
  if (extent == 0 || count * extent % length != 0) unit = MPI_DATATYPE_NULL;
  else if (length % extent != 0) unit = part_of(type, length, call);
  if (unit == MPI_DATATYPE_NULL) {
    if (call & MAY_COPY) return part_copied(part, array, count, type, writes);
    return part_refuse(part, "is an array section that is not contiguous, which needs a datatype without "
                             "holes, in order, whose basic elements fit its elements");
  }
  int code = PMPI_Type_size_c(unit, &size);
  if (code == MPI_SUCCESS) code = PMPI_Type_contiguous_c(length / size, unit, &unit);
  if (code != MPI_SUCCESS) return code;
  code = describe(array, array->rank, count * extent / length, unit, &part->type);
  PMPI_Type_free(&unit);
  if (code != MPI_SUCCESS) return code;
  part->made_type = 1;
  part->count = 1;
  return PMPI_Type_commit(&part->type);
}

int part_element(struct part *part, const struct descriptor *array, MPI_Datatype type, int writes,
                 int call)
{
  as_it_is(part, array, 0, type);
  if (whole(array)) return MPI_SUCCESS;
  MPI_Count extent = dense(type);
  if (array->rank != 1 || extent != (MPI_Count)element_length(array)) {
    if (call & MAY_COPY) return part_copied(part, array, 0, type, writes);
    return part_refuse(part, "is an array section that is not contiguous, of which this call can "
                                   "only take one dimension of elements of the datatype");
  }
  int code = PMPI_Type_create_resized_c(type, 0, array->dim[0].sm, &part->type);
  if (code != MPI_SUCCESS) return code;
  part->made_type = 1;
  return PMPI_Type_commit(&part->type);
}

/* Copies the elements of the first `dimensions` dimensions at `place` to `copy`, or back, up to `end` of the copy. */
static char *copy_elements(const struct descriptor *array, int dimensions, char *place, char *copy,
                           const char *end, int back)
{
  if (dimensions == 0) {
    size_t bytes = element_length(array);
    if ((size_t)(end - copy) < bytes) bytes = end - copy;
    memcpy(back ? place : copy, back ? copy : place, bytes);
    return copy + bytes;
  }
  ptrdiff_t stride = array->dim[dimensions - 1].sm;
  for (ptrdiff_t i = 0; i < array->dim[dimensions - 1].extent && copy < end; i++, place += stride)
    copy = copy_elements(array, dimensions - 1, place, copy, end, back);
  return copy;
}

/* How many of `size` bytes `count` elements of a type reach over; more than `size` if it is too small. */
static MPI_Count reach(MPI_Count count, MPI_Datatype type, MPI_Count size)
{
  MPI_Count lb, extent, true_lb, true_extent;
  /* What is wrong with the count or the datatype itself is the call's to say. */
  if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_get_extent_c(type, &lb, &extent) ||
      PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent) || extent < 0 || true_lb < 0)
    return size;
  MPI_Count one = true_lb + true_extent;
  if (one > size || (extent > 0 && count - 1 > (size - one) / extent)) return size + 1;
  return one + (count - 1) * extent;
}

int part_copied(struct part *part, const struct descriptor *array, MPI_Count count, MPI_Datatype type,
                int writes)
{
  as_it_is(part, array, count, type);
  if (whole(array) || elements(array, array->rank) == 0) return MPI_SUCCESS;
  MPI_Count size = elements(array, array->rank) * (MPI_Count)element_length(array);
  part->bytes = reach(count, type, size);
  if (part->bytes > size)
    return part_refuse(part, "is an array section with fewer elements than the count says");
  part->copy = malloc(part->bytes + 1);
  if (!part->copy) return part_refuse(part, "is an array section that there is no memory to copy");
  copy_elements(array, array->rank, array->base_addr, part->copy, (char *)part->copy + part->bytes, 0);
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
      lb + extent <= (MPI_Count)element_length(array))
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

void copy_back(const struct descriptor *array, void *copy, MPI_Count bytes)
{
  copy_elements(array, array->rank, array->base_addr, copy, (char *)copy + bytes, 1);
}

void part_done(struct part *part)
{
  if (part->copy_back_to) copy_back(part->copy_back_to, part->copy, part->bytes);
  free(part->copy);
  if (part->made_type) PMPI_Type_free(&part->type);
}

#endif
