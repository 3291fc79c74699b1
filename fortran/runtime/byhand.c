/* Functions that no rule of the generator fits: lists of texts, texts with a length given, the old
   functions with narrow addresses, and what only Fortran has. */

#include "fortran.h"
#include "section.h"

static void set(int *ierror, int code)
{
  if (ierror) *ierror = code;
}

/* Lists of texts without blanks around them: `count` of them, or (count < 0) up to a blank one, each `length` long and
   `stride` after the one before. One piece of memory, to be freed as one. */
static char **list_in(const char *texts, size_t length, size_t stride, int count)
{
  int n = 0;
  if (count >= 0) {
    n = count;
  } else {
    for (const char *text = texts; length > 0; text += stride, n++) {
      size_t at = 0;
      while (at < length && text[at] == ' ') at++;
      if (at == length) break;
    }
  }
  char **list = malloc((n + 1) * sizeof *list + n * (length + 1));
  if (!list) abort();
  char *copy = (char *)(list + n + 1);
  for (int i = 0; i < n; i++, copy += length + 1) {
    const char *text = texts;
    size_t used = length;
    while (used > 0 && text[used - 1] == ' ') used--;
    while (used > 0 && *text == ' ') text++, used--;
    memcpy(copy, text, used);
    copy[used] = 0;
    list[i] = copy;
    texts += stride;
  }
  list[n] = NULL;
  return list;
}

static int is_argv_null(const void *argv)
{
  return argv == mpiprivc_.argv_null || argv == __mpi_f08_link_constants_MOD_mpi_argv_null;
}

static int is_argvs_null(const void *argvs)
{
  return argvs == mpiprivc_.argvs_null || argvs == __mpi_f08_link_constants_MOD_mpi_argvs_null;
}

/* Commands and arguments are the root's: elsewhere nobody looks at them, and they may have no end. */

void FN(mpi_comm_spawn_)(const char *command, const char *argv, const int *maxprocs,
                         const int *info, const int *root, const int *comm, int *intercomm,
                         int *codes, int *ierror, size_t command_length, size_t argv_length)
{
  char copy[SHORT_TEXT], *name = text_in(copy, command, command_length, 1), **list = NULL;
  if (!is_argv_null(argv) && at_root(*root, *comm)) list = list_in(argv, argv_length, argv_length, -1);
  set(ierror, CALL(MPI_Comm_spawn)(name, list, *maxprocs, *info, *root, *comm, intercomm,
                                   error_codes_of(codes)));
  free(list);
  text_done(name, copy);
}
NAMES(mpi_comm_spawn, MPI_COMM_SPAWN)
F08_NAMES(mpi_comm_spawn, _comm_spawn)

void FN(mpi_comm_spawn_multiple_)(const int *count, const char *commands, const char *argvs,
                                  const int *maxprocs, const int *infos, const int *root,
                                  const int *comm, int *intercomm, int *codes, int *ierror,
                                  size_t command_length, size_t argv_length)
{
  int n = *count > 0 && at_root(*root, *comm) ? *count : 0;
  char **names = n ? list_in(commands, command_length, command_length, n) : NULL;
  char ***lists = n && !is_argvs_null(argvs) ? calloc(n, sizeof *lists) : NULL;
  /* ARGVS(i, j) lies after ARGVS(i - 1, j): the texts of one command are `n` apart. */
  for (int i = 0; lists && i < n; i++)
    lists[i] = list_in(argvs + i * argv_length, argv_length, n * argv_length, -1);
  set(ierror, CALL(MPI_Comm_spawn_multiple)(*count, names, lists, maxprocs, infos, *root, *comm,
                                            intercomm, error_codes_of(codes)));
  for (int i = 0; lists && i < n; i++) free(lists[i]);
  free(lists);
  free(names);
}
NAMES(mpi_comm_spawn_multiple, MPI_COMM_SPAWN_MULTIPLE)
F08_NAMES(mpi_comm_spawn_multiple, _comm_spawn_multiple)

/* Texts whose length the caller says: C counts the zero at the end, Fortran has none. */

void FN(mpi_info_get_)(const int *info, const char *key, const int *valuelen, char *value, int *flag,
                       int *ierror, size_t key_length, size_t value_length)
{
  char copy[SHORT_TEXT], *name = text_in(copy, key, key_length, 1);
  char *c = malloc(*valuelen > 0 ? (size_t)*valuelen + 1 : 1);
  int code = MPI_ERR_NO_MEM;
  if (c) {
    code = CALL(MPI_Info_get)(*info, name, *valuelen, c, flag);
    if (code == MPI_SUCCESS && *flag) text_out(value, value_length, c);
    free(c);
  }
  text_done(name, copy);
  set(ierror, code);
}
NAMES(mpi_info_get, MPI_INFO_GET)
F08_NAMES(mpi_info_get, _info_get)

void FN(mpi_info_get_string_)(const int *info, const char *key, int *buflen, char *value, int *flag,
                              int *ierror, size_t key_length, size_t value_length)
{
  char copy[SHORT_TEXT], *name = text_in(copy, key, key_length, 1);
  int asked = *buflen, length = asked > 0 ? asked + 1 : asked;
  char *c = malloc(length > 0 ? length : 1);
  int code = MPI_ERR_NO_MEM;
  if (c) {
    code = CALL(MPI_Info_get_string)(*info, name, &length, c, flag);
    if (code == MPI_SUCCESS && *flag) {
      if (asked > 0) text_out(value, value_length, c);
      *buflen = length - 1;
    }
    free(c);
  }
  text_done(name, copy);
  set(ierror, code);
}
NAMES(mpi_info_get_string, MPI_INFO_GET_STRING)
F08_NAMES(mpi_info_get_string, _info_get_string)

void FN(mpi_session_get_nth_pset_)(const int *session, const int *info, const int *n, int *pset_len,
                                   char *pset_name, int *ierror, size_t name_length)
{
  int asked = *pset_len, length = asked > 0 ? asked + 1 : asked;
  char *c = malloc(length > 0 ? length : 1);
  int code = MPI_ERR_NO_MEM;
  if (c) {
    code = CALL(MPI_Session_get_nth_pset)(*session, *info, *n, &length, c);
    if (code == MPI_SUCCESS) {
      if (asked > 0) text_out(pset_name, name_length, c);
      /* What is needed, however much was there: C's number less the zero. */
      *pset_len = length - 1;
    }
    free(c);
  }
  set(ierror, code);
}
NAMES(mpi_session_get_nth_pset, MPI_SESSION_GET_NTH_PSET)
F08_NAMES(mpi_session_get_nth_pset, _session_get_nth_pset)

/* mpif.h and the module mpi do not give the address of a detached buffer; mpi_f08 does. */

void FN(mpi_buffer_detach_)(void *buffer, int *size, int *ierror)
{
  void *unused;
  (void)buffer;
  set(ierror, CALL(MPI_Buffer_detach)(&unused, size));
}
NAMES(mpi_buffer_detach, MPI_BUFFER_DETACH)

void FN(mpi_buffer_detach_f08_)(void **buffer, int *size, int *ierror)
{
  set(ierror, CALL(MPI_Buffer_detach)(buffer, size));
}

void FN(mpi_buffer_detach_c_f08_)(void **buffer, MPI_Count *size, int *ierror)
{
  set(ierror, CALL(MPI_Buffer_detach_c)(buffer, size));
}
LARGE_NAMES(mpi_buffer_detach, _buffer_detach)

#define DETACH(Object, lower, upper) \
  void FN(mpi_##lower##_detach_buffer_)(const int *object, void *buffer, int *size, int *ierror) \
  { \
    void *unused; \
    (void)buffer; \
    set(ierror, CALL(MPI_##Object##_detach_buffer)(*object, &unused, size)); \
  } \
  NAMES(mpi_##lower##_detach_buffer, MPI_##upper##_DETACH_BUFFER) \
  void FN(mpi_##lower##_detach_buffer_f08_)(const int *object, void **buffer, int *size, int *ierror) \
  { \
    set(ierror, CALL(MPI_##Object##_detach_buffer)(*object, buffer, size)); \
  } \
  void FN(mpi_##lower##_detach_buffer_c_f08_)(const int *object, void **buffer, MPI_Count *size, \
                                              int *ierror) \
  { \
    set(ierror, CALL(MPI_##Object##_detach_buffer_c)(*object, buffer, size)); \
  }

DETACH(Comm, comm, COMM)
DETACH(Session, session, SESSION)

void FN(mpi_pcontrol_)(const int *level)
{
  CALL(MPI_Pcontrol)(*level);
}
NAMES(mpi_pcontrol, MPI_PCONTROL)
F08_NAMES(mpi_pcontrol, _pcontrol)

/* Old functions whose addresses are default integers. */

static int narrow(int code, MPI_Aint wide, MPI_Fint *result)
{
  if (code != MPI_SUCCESS) return code;
  if (wide != (MPI_Fint)wide) return PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG), MPI_ERR_ARG;
  *result = (MPI_Fint)wide;
  return MPI_SUCCESS;
}

void FN(mpi_address_)(void *location, MPI_Fint *address, int *ierror)
{
  MPI_Aint wide = 0;
  int code = CALL(MPI_Get_address)(place(location), &wide);
  set(ierror, narrow(code, wide, address));
}
NAMES(mpi_address, MPI_ADDRESS)

#define EXTENT(Name, lower, upper) \
  void FN(lower##_)(const int *type, MPI_Fint *result, int *ierror) \
  { \
    MPI_Aint wide = 0; \
    int code = CALL(Name)(*type, &wide); \
    set(ierror, narrow(code, wide, result)); \
  } \
  NAMES(lower, upper)

EXTENT(MPI_Type_extent, mpi_type_extent, MPI_TYPE_EXTENT)
EXTENT(MPI_Type_lb, mpi_type_lb, MPI_TYPE_LB)
EXTENT(MPI_Type_ub, mpi_type_ub, MPI_TYPE_UB)

void FN(mpi_type_hvector_)(const int *count, const int *length, const MPI_Fint *stride,
                           const int *oldtype, int *newtype, int *ierror)
{
  set(ierror, CALL(MPI_Type_hvector)(*count, *length, *stride, *oldtype, newtype));
}
NAMES(mpi_type_hvector, MPI_TYPE_HVECTOR)

static MPI_Aint *widened(const MPI_Fint *narrow, int count)
{
  MPI_Aint *wide = malloc((count > 0 ? count : 1) * sizeof *wide);
  for (int i = 0; wide && i < count; i++) wide[i] = narrow[i];
  return wide;
}

void FN(mpi_type_hindexed_)(const int *count, int *lengths, const MPI_Fint *displacements,
                            const int *oldtype, int *newtype, int *ierror)
{
  MPI_Aint *wide = widened(displacements, *count);
  set(ierror, wide ? CALL(MPI_Type_hindexed)(*count, lengths, wide, *oldtype, newtype) : MPI_ERR_NO_MEM);
  free(wide);
}
NAMES(mpi_type_hindexed, MPI_TYPE_HINDEXED)

void FN(mpi_type_struct_)(const int *count, int *lengths, const MPI_Fint *displacements, int *types,
                          int *newtype, int *ierror)
{
  MPI_Aint *wide = widened(displacements, *count);
  set(ierror, wide ? CALL(MPI_Type_struct)(*count, lengths, wide, types, newtype) : MPI_ERR_NO_MEM);
  free(wide);
}
NAMES(mpi_type_struct, MPI_TYPE_STRUCT)

/* What only Fortran has. */

void FN(mpi_f_sync_reg_)(void *buffer)
{
  (void)buffer;
}
NAMES(mpi_f_sync_reg, MPI_F_SYNC_REG)

void FN(mpi_f_sync_reg_f08ts_)(const void *buffer)
{
  (void)buffer;
}

/* Names of MPICH 4.0 that only its old module mpi_f08 has. */
#ifdef PROFILING
#define OLD_NAME(short) pmpir##short
ALIAS(pmpir_buffer_detach_f08_, pmpi_buffer_detach_f08_);
ALIAS(pmpir_f_sync_reg_f08ts_, pmpi_f_sync_reg_f08ts_);
#else
#define OLD_NAME(short) mpi##short
#endif

void OLD_NAME(_delete_error_class_f08_)(const int *class, int *ierror)
{
  set(ierror, CALL(MPI_Remove_error_class)(*class));
}

void OLD_NAME(_delete_error_code_f08_)(const int *code, int *ierror)
{
  set(ierror, CALL(MPI_Remove_error_code)(*code));
}

void OLD_NAME(_delete_error_string_f08_)(const int *code, int *ierror)
{
  set(ierror, CALL(MPI_Remove_error_string)(*code));
}

void FN(mpi_f_sync_reg_cdesc_)(const struct descriptor *buffer)
{
  (void)buffer;
}

void FN(mpi_sizeof_cdesc_)(const struct descriptor *x, int *size, int *ierror)
{
  *size = (int)x->elem_len;
  set(ierror, MPI_SUCCESS);
}
