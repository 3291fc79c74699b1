/* What belongs to no object, and what is static: errors, callbacks, functions of the namespace. */
#include "bindings.h"

extern "C" {
void MPII_Keyval_set_proxy(int keyval, void (*copy)(), void (*remove)());
void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*proxy)());
void MPII_Op_set_cxx(MPI_Op op, void (*proxy)());
}

namespace MPI {

/* Errors. The C function has called the handler already, and returned success if the handler is one of
 * C++; what is left is to throw. */

static bool throws(MPI_Errhandler handler) {
  bool throws = handler == MPIR_ERRORS_THROW_EXCEPTIONS;
  MPI_Errhandler_free(&handler);
  return throws;
}

void check(MPI_Comm comm, int code) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (code == MPI_SUCCESS)
    return;
  if (MPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS && throws(handler))
    throw Exception(code);
}

void check(int code) { check(MPI_COMM_WORLD, code); }

/* Called by functions that programs have inlined, with the code of a failed call. */

void Comm::Call_errhandler(int errorcode) const {
  check(handle == MPI_COMM_NULL ? MPI_COMM_WORLD : handle, errorcode);
  MPI_Comm_call_errhandler(handle, errorcode);
}

void Win::Call_errhandler(int errorcode) const {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Win_get_errhandler(handle, &handler) == MPI_SUCCESS && throws(handler))
    throw Exception(errorcode);
  MPI_Win_call_errhandler(handle, errorcode);
}

void File::Call_errhandler(int errorcode) const {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_File_get_errhandler(handle, &handler) == MPI_SUCCESS && throws(handler))
    throw Exception(errorcode);
  MPI_File_call_errhandler(handle, errorcode);
}

void MPIR_Call_world_errhand(int code) {
  check(code);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
}

Ints::Ints(int count) : length(count > 0 ? count : 0), ints(new int[length + 1]) {
  for (int at = 0; at < length; at++)
    ints[at] = 0;
}

Ints::Ints(const bool *values, int count) : length(count > 0 ? count : 0), ints(new int[length + 1]) {
  for (int at = 0; at < length; at++)
    ints[at] = values[at];
}

void Ints::give(bool *values) const {
  for (int at = 0; at < length; at++)
    values[at] = ints[at] != 0;
}

/* Callbacks of C++ are called by way of these. */

typedef void AnyFunction();

/* Of an error handler: what it was made for is 0 for communicators, 1 for files, 2 for windows. */
extern "C" void MPIR_Call_errhandler_function(int kind, int *object, int *code, AnyFunction *function) {
  if (kind == 0) {
    int inter = 0;
    MPI_Comm_test_inter(*object, &inter);
    if (inter) {
      Intercomm comm(*object);
      ((void (*)(Comm &, int *, ...))function)(comm, code);
    } else {
      Intracomm comm(*object);
      ((void (*)(Comm &, int *, ...))function)(comm, code);
    }
  } else if (kind == 1) {
    File file(*(MPI_File *)object);
    ((void (*)(File &, int *, ...))function)(file, code);
  } else if (kind == 2) {
    Win win(*object);
    ((void (*)(Win &, int *, ...))function)(win, code);
  }
}

extern "C" void MPIR_Call_op_fn(void *in, void *inout, int length, MPI_Datatype datatype,
                                AnyFunction *function) {
  ((User_function *)function)(in, inout, length, Datatype(datatype));
}

/* A key's callbacks: one pair for each kind of object. */
template <class Object, class Handle>
static int call_copy(AnyFunction *function, int object, int keyval, void *extra, int, void *value,
                     void **copy, int *flag) {
  typedef int Copy(const Object &, int, void *, void *, void *, bool &);
  bool copied = false;
  int code = ((Copy *)function)(Handle(object), keyval, extra, value, copy, copied);
  *flag = copied;
  return code;
}

template <class Object, class Handle>
static int call_delete(AnyFunction *function, int object, int keyval, int, void *value, void *extra) {
  typedef int Delete(Object &, int, void *, void *);
  Handle handle(object);
  return ((Delete *)function)(handle, keyval, value, extra);
}

/* A key of the C library whose callbacks are these functions of C++; `none` are the ones that stand
 * for no function. */
template <class Object, class Handle, class C_copy, class C_delete>
static int keyval(int (*create)(C_copy *, C_delete *, int *, void *),
                  typename Object::Copy_attr_function *copy,
                  typename Object::Delete_attr_function *remove, void *extra) {
  int keyval = MPI_KEYVAL_INVALID;
  C_copy *c_copy = copy == Object::NULL_COPY_FN ? 0 : (C_copy *)(AnyFunction *)copy;
  C_delete *c_delete = remove == Object::NULL_DELETE_FN ? 0 : (C_delete *)(AnyFunction *)remove;
  check(create(c_copy, c_delete, &keyval, extra));
  MPII_Keyval_set_proxy(keyval, (AnyFunction *)call_copy<Object, Handle>,
                        (AnyFunction *)call_delete<Object, Handle>);
  return keyval;
}

int Comm::Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra) {
  return keyval<Comm, Intracomm>(MPI_Comm_create_keyval, copy, remove, extra);
}

int Datatype::Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra) {
  return keyval<Datatype, Datatype>(MPI_Type_create_keyval, copy, remove, extra);
}

int Win::Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra) {
  return keyval<Win, Win>(MPI_Win_create_keyval, copy, remove, extra);
}

int Comm::NULL_COPY_FN(const Comm &, int, void *, void *, void *, bool &flag) {
  flag = false;
  return MPI_SUCCESS;
}

int Comm::NULL_DELETE_FN(Comm &, int, void *, void *) { return MPI_SUCCESS; }

int Datatype::NULL_COPY_FN(const Datatype &, int, void *, void *, void *, bool &flag) {
  flag = false;
  return MPI_SUCCESS;
}

int Datatype::NULL_DELETE_FN(Datatype &, int, void *, void *) { return MPI_SUCCESS; }

int Win::NULL_COPY_FN(const Win &, int, void *, void *, void *, bool &flag) {
  flag = false;
  return MPI_SUCCESS;
}

int Win::NULL_DELETE_FN(Win &, int, void *, void *) { return MPI_SUCCESS; }

template <class C_function>
static Errhandler errhandler(int (*create)(C_function *, MPI_Errhandler *), AnyFunction *function) {
  MPI_Errhandler result = MPI_ERRHANDLER_NULL;
  check(create((C_function *)function, &result));
  MPII_Errhandler_set_cxx(result, (AnyFunction *)MPIR_Call_errhandler_function);
  return Errhandler(result);
}

Errhandler Comm::Create_errhandler(void (*function)(Comm &, int *, ...)) {
  return errhandler(MPI_Comm_create_errhandler, (AnyFunction *)function);
}

Errhandler File::Create_errhandler(void (*function)(File &, int *, ...)) {
  return errhandler(MPI_File_create_errhandler, (AnyFunction *)function);
}

Errhandler Win::Create_errhandler(void (*function)(Win &, int *, ...)) {
  return errhandler(MPI_Win_create_errhandler, (AnyFunction *)function);
}

void Op::Init(User_function *function, bool commute) {
  check(MPI_Op_create((MPI_User_function *)(AnyFunction *)function, commute, &handle));
  MPII_Op_set_cxx(handle, (AnyFunction *)MPIR_Call_op_fn);
}

Intercomm Comm::Get_parent() {
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_get_parent(&result));
  return Intercomm(result);
}

Intercomm Comm::Join(int fd) {
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_join(fd, &result));
  return Intercomm(result);
}

/* A generalized request's callbacks and what they are to be given. */
struct GrequestState {
  int (*query)(void *, Status &);
  int (*release)(void *);
  int (*cancel)(void *, bool);
  void *extra;
};

extern "C" int MPIR_Grequest_call_query_fn(void *extra, MPI_Status *status) {
  GrequestState *state = (GrequestState *)extra;
  Status of_cxx;
  int code = state->query(state->extra, of_cxx);
  *status = of_cxx.handle;
  return code;
}

extern "C" int MPIR_Grequest_call_free_fn(void *extra) {
  GrequestState *state = (GrequestState *)extra;
  int code = state->release(state->extra);
  delete state;
  return code;
}

extern "C" int MPIR_Grequest_call_cancel_fn(void *extra, int complete) {
  GrequestState *state = (GrequestState *)extra;
  return state->cancel(state->extra, complete != 0);
}

Grequest Grequest::Start(int (*query)(void *, Status &), int (*release)(void *),
                         int (*cancel)(void *, bool), void *extra) {
  GrequestState *state = new GrequestState;
  state->query = query;
  state->release = release;
  state->cancel = cancel;
  state->extra = extra;
  MPI_Request result = MPI_REQUEST_NULL;
  check(MPI_Grequest_start(MPIR_Grequest_call_query_fn, MPIR_Grequest_call_free_fn,
                           MPIR_Grequest_call_cancel_fn, state, &result));
  return Grequest(result);
}

/* A data representation's callbacks. */
struct DatarepState {
  Datarep_conversion_function *read;
  Datarep_conversion_function *write;
  Datarep_extent_function *extent;
  void *extra;
};

extern "C" int MPIR_Call_datarep_read_fn(void *user, MPI_Datatype datatype, int count, void *file,
                                         MPI_Offset position, void *extra) {
  DatarepState *state = (DatarepState *)extra;
  Datatype of_cxx(datatype);
  return state->read(user, of_cxx, count, file, position, state->extra);
}

extern "C" int MPIR_Call_datarep_write_fn(void *user, MPI_Datatype datatype, int count, void *file,
                                          MPI_Offset position, void *extra) {
  DatarepState *state = (DatarepState *)extra;
  Datatype of_cxx(datatype);
  return state->write(user, of_cxx, count, file, position, state->extra);
}

extern "C" int MPIR_Call_datarep_extent_fn(MPI_Datatype datatype, MPI_Aint *extent, void *extra) {
  DatarepState *state = (DatarepState *)extra;
  return state->extent(Datatype(datatype), *extent, state->extra);
}

void Register_datarep(const char *name, Datarep_conversion_function *read,
                      Datarep_conversion_function *write, Datarep_extent_function *extent,
                      void *extra) {
  DatarepState *state = new DatarepState;
  state->read = read;
  state->write = write;
  state->extent = extent;
  state->extra = extra;
  check(MPI_Register_datarep(name, read ? MPIR_Call_datarep_read_fn : 0,
                             write ? MPIR_Call_datarep_write_fn : 0, MPIR_Call_datarep_extent_fn,
                             state));
}

/* The names of the types of C++, which are those of the C library. */
void MPIR_CXX_InitDatatypeNames() {}

void Init(int &argc, char **&argv) { check(MPI_Init(&argc, &argv)); }

void Init() { check(MPI_Init(0, 0)); }

int Init_thread(int &argc, char **&argv, int required) {
  int provided = 0;
  check(MPI_Init_thread(&argc, &argv, required, &provided));
  return provided;
}

int Init_thread(int required) {
  int provided = 0;
  check(MPI_Init_thread(0, 0, required, &provided));
  return provided;
}

void Finalize() { MPI_Finalize(); }

bool Is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

bool Is_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

bool Is_thread_main() {
  int flag = 0;
  check(MPI_Is_thread_main(&flag));
  return flag != 0;
}

int Query_thread() {
  int provided = 0;
  check(MPI_Query_thread(&provided));
  return provided;
}

double Wtime() { return MPI_Wtime(); }

double Wtick() { return MPI_Wtick(); }

void Pcontrol(int level, ...) { MPI_Pcontrol(level); }

void Get_version(int &version, int &subversion) { check(MPI_Get_version(&version, &subversion)); }

void Get_processor_name(char *name, int &length) { check(MPI_Get_processor_name(name, &length)); }

Aint Get_address(const void *location) {
  MPI_Aint address = 0;
  check(MPI_Get_address(location, &address));
  return address;
}

void *Alloc_mem(Aint size, const Info &info) {
  void *memory = 0;
  check(MPI_Alloc_mem(size, info, &memory));
  return memory;
}

void Free_mem(void *base) { check(MPI_Free_mem(base)); }

void Attach_buffer(void *buffer, int size) { check(MPI_Buffer_attach(buffer, size)); }

int Detach_buffer(void *&buffer) {
  int size = 0;
  check(MPI_Buffer_detach(&buffer, &size));
  return size;
}

void Compute_dims(int nnodes, int ndims, int *dims) { check(MPI_Dims_create(nnodes, ndims, dims)); }

int Get_error_class(int code) {
  int error_class = 0;
  check(MPI_Error_class(code, &error_class));
  return error_class;
}

void Get_error_string(int code, char *text, int &length) { check(MPI_Error_string(code, text, &length)); }

int Add_error_class() {
  int error_class = 0;
  check(MPI_Add_error_class(&error_class));
  return error_class;
}

int Add_error_code(int error_class) {
  int code = 0;
  check(MPI_Add_error_code(error_class, &code));
  return code;
}

void Add_error_string(int code, const char *text) { check(MPI_Add_error_string(code, text)); }

void Open_port(const Info &info, char *name) { check(MPI_Open_port(info, name)); }

void Close_port(const char *name) { check(MPI_Close_port(name)); }

void Publish_name(const char *service, const Info &info, const char *port) {
  check(MPI_Publish_name(service, info, port));
}

void Unpublish_name(const char *service, const Info &info, const char *port) {
  check(MPI_Unpublish_name(service, info, port));
}

void Lookup_name(const char *service, const Info &info, char *port) {
  check(MPI_Lookup_name(service, info, port));
}

} // namespace MPI
