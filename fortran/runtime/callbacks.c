/* Functions whose arguments are procedures of the program: attributes, generalized requests, data
   representations. C calls a proxy, and the proxy calls the Fortran procedure by reference. Its extra_state
   is the program's own variable: what either side changes, the other sees, as with MPICH.

   Reduction functions and the handlers of communicators, windows and sessions need none: what C gives
   them is what Fortran expects. */

#include "fortran.h"

/* Attributes: C's copy and delete functions see values, Fortran's see integers by reference. */

enum kind { KIND_POINTER = 0, KIND_ADDRESS = 1, KIND_INTEGER = 3 };

typedef void fortran_copy(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *);
typedef void fortran_delete(int *, int *, MPI_Aint *, MPI_Aint *, int *);
typedef void old_fortran_copy(int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *, int *, int *);
typedef void old_fortran_delete(int *, int *, MPI_Fint *, MPI_Fint *, int *);

void MPII_Keyval_set_proxy(int keyval, void *copy, void *delete);
int MPII_Comm_set_attr(MPI_Comm, int, void *, int);
int MPII_Type_set_attr(MPI_Datatype, int, void *, int);
int MPII_Win_set_attr(MPI_Win, int, void *, int);
int MPII_Comm_get_attr(MPI_Comm, int, void *, int *, int);
int MPII_Type_get_attr(MPI_Datatype, int, void *, int *, int);
int MPII_Win_get_attr(MPI_Win, int, void *, int *, int);

static int copy_proxy(fortran_copy *copy, int object, int keyval, void *extra_state, int kind,
                      void *value, void **copied, int *flag)
{
  MPI_Aint old = (MPI_Aint)value, new = 0;
  int found = 0, code = MPI_SUCCESS;
  (void)kind;
  copy(&object, &keyval, extra_state, &old, &new, &found, &code);
  *flag = found != 0;
  *copied = (void *)new;
  return code;
}

static int delete_proxy(fortran_delete *delete, int object, int keyval, int kind, void *value,
                        void *extra_state)
{
  MPI_Aint old = (MPI_Aint)value;
  int code = MPI_SUCCESS;
  (void)kind;
  delete(&object, &keyval, &old, extra_state, &code);
  return code;
}

static int old_copy_proxy(old_fortran_copy *copy, int object, int keyval, void *extra_state,
                          int kind, void *value, void **copied, int *flag)
{
  MPI_Fint old = (MPI_Fint)(MPI_Aint)value, new = 0;
  int found = 0, code = MPI_SUCCESS;
  (void)kind;
  copy(&object, &keyval, extra_state, &old, &new, &found, &code);
  *flag = found != 0;
  *copied = (void *)(MPI_Aint)new;
  return code;
}

static int old_delete_proxy(old_fortran_delete *delete, int object, int keyval, int kind,
                            void *value, void *extra_state)
{
  MPI_Fint old = (MPI_Fint)(MPI_Aint)value;
  int code = MPI_SUCCESS;
  (void)kind;
  delete(&object, &keyval, &old, extra_state, &code);
  return code;
}

#define KEYVALS(Name, lower, upper, Copy, Delete, integer, copier, deleter) \
  void FN(lower##_)(Copy *copy, Delete *delete, int *keyval, integer *extra_state, int *ierror) \
  { \
    int code = CALL(Name)(copy, delete, keyval, extra_state); \
    if (code == MPI_SUCCESS) MPII_Keyval_set_proxy(*keyval, copier, deleter); \
    if (ierror) *ierror = code; \
  } \
  NAMES(lower, upper)

KEYVALS(MPI_Comm_create_keyval, mpi_comm_create_keyval, MPI_COMM_CREATE_KEYVAL,
        MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Aint, copy_proxy,
        delete_proxy)
F08_NAMES(mpi_comm_create_keyval, _comm_create_keyval)
KEYVALS(MPI_Type_create_keyval, mpi_type_create_keyval, MPI_TYPE_CREATE_KEYVAL,
        MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Aint, copy_proxy,
        delete_proxy)
F08_NAMES(mpi_type_create_keyval, _type_create_keyval)
KEYVALS(MPI_Win_create_keyval, mpi_win_create_keyval, MPI_WIN_CREATE_KEYVAL,
        MPI_Win_copy_attr_function, MPI_Win_delete_attr_function, MPI_Aint, copy_proxy,
        delete_proxy)
F08_NAMES(mpi_win_create_keyval, _win_create_keyval)
KEYVALS(MPI_Keyval_create, mpi_keyval_create, MPI_KEYVAL_CREATE, MPI_Copy_function,
        MPI_Delete_function, MPI_Fint, old_copy_proxy, old_delete_proxy)

#define ATTRIBUTES(Object, lower, upper) \
  void FN(mpi_##lower##_set_attr_)(const int *object, const int *keyval, const MPI_Aint *value, \
                                   int *ierror) \
  { \
    int code = MPII_##Object##_set_attr(*object, *keyval, (void *)*value, KIND_ADDRESS); \
    if (ierror) *ierror = code; \
  } \
  NAMES(mpi_##lower##_set_attr, MPI_##upper##_SET_ATTR) \
  F08_NAMES(mpi_##lower##_set_attr, _##lower##_set_attr) \
  void FN(mpi_##lower##_get_attr_)(const int *object, const int *keyval, MPI_Aint *value, \
                                   int *flag, int *ierror) \
  { \
    int code = MPII_##Object##_get_attr(*object, *keyval, value, flag, KIND_ADDRESS); \
    if (ierror) *ierror = code; \
  } \
  NAMES(mpi_##lower##_get_attr, MPI_##upper##_GET_ATTR) \
  F08_NAMES(mpi_##lower##_get_attr, _##lower##_get_attr)

ATTRIBUTES(Comm, comm, COMM)
ATTRIBUTES(Type, type, TYPE)
ATTRIBUTES(Win, win, WIN)

void FN(mpi_attr_put_)(const int *comm, const int *keyval, const MPI_Fint *value, int *ierror)
{
  int code = MPII_Comm_set_attr(*comm, *keyval, (void *)(MPI_Aint)*value, KIND_INTEGER);
  if (ierror) *ierror = code;
}
NAMES(mpi_attr_put, MPI_ATTR_PUT)

void FN(mpi_attr_get_)(const int *comm, const int *keyval, MPI_Fint *value, int *flag, int *ierror)
{
  int code = MPII_Comm_get_attr(*comm, *keyval, value, flag, KIND_INTEGER);
  if (ierror) *ierror = code;
}
NAMES(mpi_attr_get, MPI_ATTR_GET)

/* Generalized requests. */

struct generalized {
  void (*query)(MPI_Aint *, MPI_Status *, int *);
  void (*free)(MPI_Aint *, int *);
  void (*cancel)(MPI_Aint *, int *, int *);
  MPI_Aint *extra_state;
};

static int query_proxy(void *state, MPI_Status *status)
{
  struct generalized *request = state;
  int code = MPI_SUCCESS;
  request->query(request->extra_state, status, &code);
  return code;
}

static int free_proxy(void *state)
{
  struct generalized *request = state;
  int code = MPI_SUCCESS;
  request->free(request->extra_state, &code);
  free(request);
  return code;
}

static int cancel_proxy(void *state, int complete)
{
  struct generalized *request = state;
  int code = MPI_SUCCESS;
  request->cancel(request->extra_state, &complete, &code);
  return code;
}

void FN(mpi_grequest_start_)(void (*query)(MPI_Aint *, MPI_Status *, int *),
                             void (*free_function)(MPI_Aint *, int *),
                             void (*cancel)(MPI_Aint *, int *, int *), MPI_Aint *extra_state,
                             int *request, int *ierror)
{
  int code = MPI_ERR_NO_MEM;
  struct generalized *state = malloc(sizeof *state);
  if (state) {
    *state = (struct generalized){query, free_function, cancel, extra_state};
    code = CALL(MPI_Grequest_start)(query_proxy, free_proxy, cancel_proxy, state, request);
    if (code != MPI_SUCCESS) free(state);
  }
  if (ierror) *ierror = code;
}
NAMES(mpi_grequest_start, MPI_GREQUEST_START)
F08_NAMES(mpi_grequest_start, _grequest_start)

/* Data representations of files. They stay until the program ends. */

struct representation {
  void (*read)(void *, int *, MPI_Count *, void *, MPI_Offset *, MPI_Aint *, int *);
  void (*write)(void *, int *, MPI_Count *, void *, MPI_Offset *, MPI_Aint *, int *);
  void (*extent)(int *, MPI_Aint *, MPI_Aint *, int *);
  MPI_Aint *extra_state;
  int large;
};

void FN(mpi_conversion_fn_null_)(void *, int *, MPI_Count *, void *, MPI_Offset *, MPI_Aint *, int *);
void FN(mpi_conversion_fn_null_c_)(void *, int *, MPI_Count *, void *, MPI_Offset *, MPI_Aint *,
                                   int *);

static int convert(struct representation *by, int reading, void *user, MPI_Datatype type,
                   MPI_Count count, void *file, MPI_Offset position)
{
  int code = MPI_SUCCESS, small = (int)count;
  void *number = by->large ? (void *)&count : (void *)&small;
  (reading ? by->read : by->write)(user, &type, number, file, &position, by->extra_state, &code);
  return code;
}

static int read_proxy(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                      void *by)
{
  return convert(by, 1, user, type, count, file, position);
}

static int write_proxy(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                       void *by)
{
  return convert(by, 0, user, type, count, file, position);
}

static int read_proxy_c(void *user, MPI_Datatype type, MPI_Count count, void *file,
                        MPI_Offset position, void *by)
{
  return convert(by, 1, user, type, count, file, position);
}

static int write_proxy_c(void *user, MPI_Datatype type, MPI_Count count, void *file,
                         MPI_Offset position, void *by)
{
  return convert(by, 0, user, type, count, file, position);
}

static int extent_proxy(MPI_Datatype type, MPI_Aint *extent, void *state)
{
  struct representation *by = state;
  int code = MPI_SUCCESS;
  by->extent(&type, extent, by->extra_state, &code);
  return code;
}

#define REGISTER_DATAREP(lower, Name, is_large, null_function, reader, writer, null_pointer) \
  void FN(lower)(const char *name, __typeof__(((struct representation *)0)->read) read, \
                 __typeof__(((struct representation *)0)->write) write, \
                 __typeof__(((struct representation *)0)->extent) extent, \
                 MPI_Aint *extra_state, int *ierror, size_t name_length) \
  { \
    int code = MPI_ERR_NO_MEM; \
    char copy[SHORT_TEXT], *c = text_in(copy, name, name_length, 0); \
    struct representation *by = malloc(sizeof *by); \
    if (by) { \
      *by = (struct representation){read, write, extent, extra_state, is_large}; \
      code = CALL(Name)(c, read == FN(null_function) ? null_pointer : reader, \
                        write == FN(null_function) ? null_pointer : writer, extent_proxy, by); \
      if (code != MPI_SUCCESS) free(by); \
    } \
    text_done(c, copy); \
    if (ierror) *ierror = code; \
  }

REGISTER_DATAREP(mpi_register_datarep_, MPI_Register_datarep, 0, mpi_conversion_fn_null_, read_proxy,
                 write_proxy, NULL)
NAMES(mpi_register_datarep, MPI_REGISTER_DATAREP)
F08_NAMES(mpi_register_datarep, _register_datarep)
REGISTER_DATAREP(mpi_register_datarep_c_f08_, MPI_Register_datarep_c, 1, mpi_conversion_fn_null_c_,
                 read_proxy_c, write_proxy_c, NULL)
LARGE_NAMES(mpi_register_datarep, _register_datarep)

/* A file's handler gets the file as an integer, so it needs a proxy with the procedure in its state. */

static void file_handler_proxy(MPI_File file, int code, void *handler)
{
  MPI_Fint number = PMPI_File_c2f(file);
  ((void (*)(MPI_Fint *, int *))handler)(&number, &code);
}

void FN(mpi_file_create_errhandler_)(void (*handler)(MPI_Fint *, int *), int *errhandler,
                                     int *ierror)
{
  int code = CALL(MPIX_File_create_errhandler_x)(file_handler_proxy, NULL, (void *)handler, errhandler);
  if (ierror) *ierror = code;
}
NAMES(mpi_file_create_errhandler, MPI_FILE_CREATE_ERRHANDLER)
F08_NAMES(mpi_file_create_errhandler, _file_create_errhandler)

/* Functions that programs pass by name. */

#ifdef PROFILING
#define MODULE_NAME(lower)
#else
#define MODULE_NAME(lower) ALIAS(__mpi_f08_callbacks_MOD_##lower, lower##_);
#endif

#define COPIERS(object, OBJECT, integer) \
  void FN(mpi_##object##dup_fn_)(int *old, int *keyval, integer *extra_state, integer *in, \
                                 integer *out, int *flag, int *ierror) \
  { \
    (void)old, (void)keyval, (void)extra_state; \
    *out = *in; \
    *flag = 1; \
    *ierror = MPI_SUCCESS; \
  } \
  NAMES(mpi_##object##dup_fn, MPI_##OBJECT##DUP_FN) \
  void FN(mpi_##object##null_copy_fn_)(int *old, int *keyval, integer *extra_state, integer *in, \
                                       integer *out, int *flag, int *ierror) \
  { \
    (void)old, (void)keyval, (void)extra_state, (void)in, (void)out; \
    *flag = 0; \
    *ierror = MPI_SUCCESS; \
  } \
  NAMES(mpi_##object##null_copy_fn, MPI_##OBJECT##NULL_COPY_FN) \
  void FN(mpi_##object##null_delete_fn_)(int *old, int *keyval, integer *value, \
                                         integer *extra_state, int *ierror) \
  { \
    (void)old, (void)keyval, (void)value, (void)extra_state; \
    *ierror = MPI_SUCCESS; \
  } \
  NAMES(mpi_##object##null_delete_fn, MPI_##OBJECT##NULL_DELETE_FN)

#define OF_MODULE(object) \
  MODULE_NAME(mpi_##object##_dup_fn) \
  MODULE_NAME(mpi_##object##_null_copy_fn) \
  MODULE_NAME(mpi_##object##_null_delete_fn)

COPIERS(, , MPI_Fint)
COPIERS(comm_, COMM_, MPI_Aint)
COPIERS(type_, TYPE_, MPI_Aint)
COPIERS(win_, WIN_, MPI_Aint)
OF_MODULE(comm)
OF_MODULE(type)
OF_MODULE(win)

#define CONVERSION(lower, upper) \
  void FN(lower##_)(void *user, int *type, MPI_Count *count, void *file, MPI_Offset *position, \
                    MPI_Aint *extra_state, int *ierror) \
  { \
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)extra_state; \
    *ierror = MPI_SUCCESS; \
  } \
  NAMES(lower, upper) \
  MODULE_NAME(lower)

CONVERSION(mpi_conversion_fn_null, MPI_CONVERSION_FN_NULL)
CONVERSION(mpi_conversion_fn_null_c, MPI_CONVERSION_FN_NULL_C)
