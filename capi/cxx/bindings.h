/* The classes of the C++ bindings, which the standard removed, for programs that were built with
 * them: not installed, nothing new is to be written with it.
 *
 * Invariant: order of the virtual functions, members and mangled names are those of MPICH 4.0, whose
 * programs call through tables of this layout. */
#ifndef OXMPI_BINDINGS_H
#define OXMPI_BINDINGS_H

#include <mpi.h>

namespace MPI {

typedef long Aint;
typedef long Offset;

class Cartcomm;
class Comm;
class Datatype;
class Graphcomm;
class Group;
class Intercomm;
class Intracomm;
class Request;
class Prequest;
class Status;
class Win;

typedef void User_function(const void *in, void *inout, int length, const Datatype &datatype);
typedef int Datarep_conversion_function(void *, Datatype &, int, void *, Offset, void *);
typedef int Datarep_extent_function(const Datatype &, Aint &, void *);

class Exception {
public:
  explicit Exception(int error) : code(error) { text[0] = 0; }
  virtual ~Exception() {}

private:
  int code;
  char text[MPI_MAX_ERROR_STRING];
};

class Errhandler {
public:
  Errhandler() : handle(MPI_ERRHANDLER_NULL) {}
  Errhandler(MPI_Errhandler other) : handle(other) {}
  virtual ~Errhandler() {}
  operator MPI_Errhandler() const { return handle; }

  virtual void Free();

protected:
  MPI_Errhandler handle;
};

class Info {
public:
  Info() : handle(MPI_INFO_NULL) {}
  Info(MPI_Info other) : handle(other) {}
  virtual ~Info() {}
  operator MPI_Info() const { return handle; }

  virtual void Delete(const char *);
  virtual void Get_nthkey(int, char *) const;
  virtual void Free();
  virtual void Set(const char *, const char *);
  virtual bool Get_valuelen(const char *, int &) const;
  virtual bool Get(const char *, int, char *) const;
  virtual int Get_nkeys() const;

protected:
  MPI_Info handle;
};

class Group {
public:
  Group() : handle(MPI_GROUP_NULL) {}
  Group(MPI_Group other) : handle(other) {}
  virtual ~Group() {}
  operator MPI_Group() const { return handle; }

  virtual Group Excl(int, const int *) const;
  virtual int Get_rank() const;
  virtual void Free();
  virtual Group Range_excl(int, const int (*) [3]) const;
  virtual Group Range_incl(int, const int (*) [3]) const;
  virtual Group Incl(int, const int *) const;
  virtual int Get_size() const;

protected:
  MPI_Group handle;
};

class Datatype {
public:
  typedef int Copy_attr_function(const Datatype &, int, void *, void *, void *, bool &);
  typedef int Delete_attr_function(Datatype &, int, void *, void *);

  Datatype() : handle(MPI_DATATYPE_NULL) {}
  Datatype(MPI_Datatype other) : handle(other) {}
  virtual ~Datatype() {}
  operator MPI_Datatype() const { return handle; }

  virtual void Commit();
  virtual void Free();
  virtual Datatype Create_indexed(int, const int *, const int *) const;
  virtual Datatype Create_contiguous(int) const;
  virtual Datatype Create_vector(int, int, int) const;
  virtual int Pack_size(int, const Comm &) const;
  virtual void Pack(const void *, int, void *, int, int &, const Comm &) const;
  virtual int Get_size() const;
  virtual void Get_envelope(int &, int &, int &, int &) const;
  virtual Datatype Create_hvector(int, int, Aint) const;
  virtual Datatype Create_resized(Aint, Aint) const;
  virtual Datatype Create_indexed_block(int, int, const int *) const;
  virtual Aint Pack_external_size(const char *, int) const;
  virtual Datatype Create_hindexed(int, const int *, const Aint *) const;
  virtual bool Get_attr(int, void *) const;
  virtual void Get_true_extent(Aint &, Aint &) const;
  virtual Datatype Create_darray(int, int, int, const int *, const int *, const int *, const int *, int) const;
  virtual void Get_contents(int, int, int, int *, Aint *, Datatype *) const;
  virtual void Set_attr(int, const void *);
  virtual void Set_name(const char *);
  virtual Datatype Create_subarray(int, const int *, const int *, const int *, int) const;
  virtual void Unpack_external(const char *, const void *, Aint, Aint &, void *, int) const;
  virtual void Pack_external(const char *, const void *, int, void *, Aint, Aint &) const;
  virtual void Get_extent(Aint &, Aint &) const;
  virtual void Delete_attr(int);
  virtual void Get_name(char *, int &) const;

  void Unpack(const void *, int, void *, int, int &, const Comm &) const;
  static int Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra);
  static int NULL_COPY_FN(const Datatype &, int, void *, void *, void *, bool &);
  static int NULL_DELETE_FN(Datatype &, int, void *, void *);

protected:
  MPI_Datatype handle;
};

class Status {
public:
  Status() : handle() {}
  virtual ~Status() {}

  virtual bool Is_cancelled() const;
  virtual int Get_elements(const Datatype &) const;
  virtual int Get_count(const Datatype &) const;
  virtual void Set_cancelled(bool);
  virtual void Set_elements(const Datatype &, int);

  MPI_Status handle;
};

class Op {
public:
  Op() : handle(MPI_OP_NULL) {}
  Op(MPI_Op other) : handle(other) {}
  virtual ~Op() {}
  operator MPI_Op() const { return handle; }

  virtual void Free();
  virtual bool Is_commutative() const;
  virtual void Reduce_local(const void *, void *, int, const Datatype &) const;

  void Init(User_function *function, bool commute);

protected:
  MPI_Op handle;
};

/* A communicator of any kind; only its kinds can be made. */
class Comm {
public:
  typedef int Copy_attr_function(const Comm &, int, void *, void *, void *, bool &);
  typedef int Delete_attr_function(Comm &, int, void *, void *);

  Comm() : handle(MPI_COMM_NULL) {}
  Comm(MPI_Comm other) : handle(other) {}
  virtual ~Comm() {}
  operator MPI_Comm() const { return handle; }

  virtual Group Get_group() const;
  virtual int Get_rank() const;
  virtual Prequest Bsend_init(const void *, int, const Datatype &, int, int) const;
  virtual Prequest Ssend_init(const void *, int, const Datatype &, int, int) const;
  virtual bool Is_inter() const;
  virtual Prequest Rsend_init(const void *, int, const Datatype &, int, int) const;
  virtual Request Ibsend(const void *, int, const Datatype &, int, int) const;
  virtual void Abort(int) const;
  virtual void Free();
  virtual Prequest Send_init(const void *, int, const Datatype &, int, int) const;
  virtual void Recv(void *, int, const Datatype &, int, int, Status &) const;
  virtual void Recv(void *, int, const Datatype &, int, int) const;
  virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int, Status &) const;
  virtual void Sendrecv(const void *, int, const Datatype &, int, int, void *, int, const Datatype &, int, int) const;
  virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int, Status &) const;
  virtual void Sendrecv_replace(void *, int, const Datatype &, int, int, int, int) const;
  virtual int Get_topology() const;
  virtual Request Isend(const void *, int, const Datatype &, int, int) const;
  virtual void Probe(int, int, Status &) const;
  virtual void Probe(int, int) const;
  virtual int Get_size() const;
  virtual Request Issend(const void *, int, const Datatype &, int, int) const;
  virtual void Set_errhandler(const Errhandler &);
  virtual void Send(const void *, int, const Datatype &, int, int) const;
  virtual Request Irsend(const void *, int, const Datatype &, int, int) const;
  virtual void Ssend(const void *, int, const Datatype &, int, int) const;
  virtual Prequest Recv_init(void *, int, const Datatype &, int, int) const;
  virtual bool Iprobe(int, int, Status &) const;
  virtual bool Iprobe(int, int) const;
  virtual void Bsend(const void *, int, const Datatype &, int, int) const;
  virtual Request Irecv(void *, int, const Datatype &, int, int) const;
  virtual Errhandler Get_errhandler() const;
  virtual void Rsend(const void *, int, const Datatype &, int, int) const;
  virtual void Gatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &, int) const;
  virtual void Disconnect();
  virtual void Allreduce(const void *, void *, int, const Datatype &, const Op &) const;
  virtual void Alltoallw(const void *, const int *, const int *, const Datatype *, void *, const int *, const int *, const Datatype *) const;
  virtual void Alltoall(const void *, int, const Datatype &, void *, int, const Datatype &) const;
  virtual bool Get_attr(int, void *) const;
  virtual void Barrier() const;
  virtual void Bcast(void *, int, const Datatype &, int) const;
  virtual void Set_attr(int, const void *);
  virtual void Set_name(const char *);
  virtual void Alltoallv(const void *, const int *, const int *, const Datatype &, void *, const int *, const int *, const Datatype &) const;
  virtual void Reduce_scatter(const void *, void *, const int *, const Datatype &, const Op &) const;
  virtual void Scatter(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
  virtual void Gather(const void *, int, const Datatype &, void *, int, const Datatype &, int) const;
  virtual void Reduce(const void *, void *, int, const Datatype &, const Op &, int) const;
  virtual void Allgather(const void *, int, const Datatype &, void *, int, const Datatype &) const;
  virtual void Delete_attr(int);
  virtual void Scatterv(const void *, const int *, const int *, const Datatype &, void *, int, const Datatype &, int) const;
  virtual void Get_name(char *, int &) const;
  virtual void Allgatherv(const void *, int, const Datatype &, void *, const int *, const int *, const Datatype &) const;
  virtual Comm &Clone() const = 0;
  virtual void Call_errhandler(int) const;
  virtual void Reduce_scatter_block(const void *, void *, int, const Datatype &, const Op &) const;

  static Errhandler Create_errhandler(void (*function)(Comm &, int *, ...));
  static int Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra);
  static int NULL_COPY_FN(const Comm &, int, void *, void *, void *, bool &);
  static int NULL_DELETE_FN(Comm &, int, void *, void *);
  static Intercomm Get_parent();
  static Intercomm Join(int fd);

protected:
  MPI_Comm handle;
};

/* MPI_COMM_NULL. */
class Nullcomm : public Comm {
public:
  Nullcomm() {}
  Nullcomm(MPI_Comm other) : Comm(other) {}
  virtual ~Nullcomm() {}

  virtual Nullcomm &Clone() const;
};

class Intercomm : public Comm {
public:
  Intercomm() {}
  Intercomm(MPI_Comm other) : Comm(other) {}
  virtual ~Intercomm() {}

  virtual Intercomm &Clone() const;
  virtual Intracomm Merge(bool) const;
  virtual Group Get_remote_group() const;
  virtual int Get_remote_size() const;
  virtual Intercomm Split(int, int) const;
};

class Intracomm : public Comm {
public:
  Intracomm() {}
  Intracomm(MPI_Comm other) : Comm(other) {}
  virtual ~Intracomm() {}

  virtual Intracomm &Clone() const;
  virtual Intercomm Create_intercomm(int, const Comm &, int, int) const;
  virtual Intracomm Split(int, int) const;
  virtual Graphcomm Create_graph(int, const int *, const int *, bool) const;
  virtual Cartcomm Create_cart(int, const int *, const bool *, bool) const;
  virtual Intracomm Create(const Group &) const;
  virtual void Scan(const void *, void *, int, const Datatype &, const Op &) const;
  virtual void Exscan(const void *, void *, int, const Datatype &, const Op &) const;
  virtual Intercomm Accept(const char *, const Info &, int) const;
  virtual Intercomm Connect(const char *, const Info &, int) const;
};

class Cartcomm : public Intracomm {
public:
  Cartcomm() {}
  Cartcomm(MPI_Comm other) : Intracomm(other) {}
  virtual ~Cartcomm() {}

  virtual Cartcomm &Clone() const;
  virtual void Get_coords(int, int, int *) const;
  virtual int Get_cart_rank(const int *) const;
  virtual int Get_dim() const;
  virtual void Get_topo(int, int *, bool *, int *) const;
  virtual int Map(int, const int *, const bool *) const;
  virtual Cartcomm Sub(const bool *) const;
  virtual void Shift(int, int, int &, int &) const;
};

class Graphcomm : public Intracomm {
public:
  Graphcomm() {}
  Graphcomm(MPI_Comm other) : Intracomm(other) {}
  virtual ~Graphcomm() {}

  virtual Graphcomm &Clone() const;
  virtual void Get_dims(int *, int *) const;
  virtual void Get_topo(int, int, int *, int *) const;
  virtual int Map(int, const int *, const int *) const;
  virtual void Get_neighbors(int, int, int *) const;
  virtual int Get_neighbors_count(int) const;
};

class Win {
public:
  typedef int Copy_attr_function(const Win &, int, void *, void *, void *, bool &);
  typedef int Delete_attr_function(Win &, int, void *, void *);

  Win() : handle(MPI_WIN_NULL) {}
  Win(MPI_Win other) : handle(other) {}
  virtual ~Win() {}
  operator MPI_Win() const { return handle; }

  virtual Group Get_group() const;
  virtual void Fence(int) const;
  virtual void Start(const Group &, int) const;
  virtual void Free();
  virtual void Put(const void *, int, const Datatype &, int, Aint, int, const Datatype &) const;
  virtual void Wait() const;
  virtual bool Test() const;
  virtual void Get(void *, int, const Datatype &, int, Aint, int, const Datatype &) const;
  virtual bool Get_attr(int, void *) const;
  virtual void Set_attr(int, const void *);
  virtual void Complete() const;
  virtual void Set_errhandler(const Errhandler &);
  virtual void Set_name(const char *);
  virtual void Accumulate(const void *, int, const Datatype &, int, Aint, int, const Datatype &, const Op &) const;
  virtual void Post(const Group &, int) const;
  virtual void Unlock(int) const;
  virtual void Delete_attr(int);
  virtual void Lock(int, int, int) const;
  virtual Errhandler Get_errhandler() const;
  virtual void Get_name(char *, int &) const;
  virtual void Call_errhandler(int) const;

  static Errhandler Create_errhandler(void (*function)(Win &, int *, ...));
  static int Create_keyval(Copy_attr_function *copy, Delete_attr_function *remove, void *extra);
  static int NULL_COPY_FN(const Win &, int, void *, void *, void *, bool &);
  static int NULL_DELETE_FN(Win &, int, void *, void *);

protected:
  MPI_Win handle;
};

class File {
public:
  File() : handle(MPI_FILE_NULL) {}
  File(MPI_File other) : handle(other) {}
  virtual ~File() {}
  operator MPI_File() const { return handle; }

  virtual Aint Get_type_extent(const Datatype &) const;
  virtual void Read_ordered_end(void *, Status &);
  virtual void Read_ordered_end(void *);
  virtual void Seek_shared(Offset, int);
  virtual void Read_ordered(void *, int, const Datatype &, Status &);
  virtual void Read_ordered(void *, int, const Datatype &);
  virtual Request Iread_shared(void *, int, const Datatype &);
  virtual Info Get_info() const;
  virtual void Write_ordered_begin(const void *, int, const Datatype &);
  virtual void Set_info(const Info &);
  virtual void Write_ordered(const void *, int, const Datatype &, Status &);
  virtual void Write_ordered(const void *, int, const Datatype &);
  virtual void Sync();
  virtual void Read(void *, int, const Datatype &, Status &);
  virtual void Read(void *, int, const Datatype &);
  virtual void Write_all(const void *, int, const Datatype &, Status &);
  virtual void Write_all(const void *, int, const Datatype &);
  virtual Offset Get_size() const;
  virtual void Write_all_end(const void *, Status &);
  virtual void Write_all_end(const void *);
  virtual void Read_ordered_begin(void *, int, const Datatype &);
  virtual Request Iread_at(Offset, void *, int, const Datatype &);
  virtual void Write_at_all_end(const void *, Status &);
  virtual void Write_at_all_end(const void *);
  virtual Offset Get_position_shared() const;
  virtual void Write_shared(const void *, int, const Datatype &, Status &);
  virtual void Write_shared(const void *, int, const Datatype &);
  virtual Request Iwrite_at(Offset, const void *, int, const Datatype &);
  virtual void Get_view(Offset &, Datatype &, Datatype &, char *) const;
  virtual void Write_all_begin(const void *, int, const Datatype &);
  virtual void Read_all_end(void *, Status &);
  virtual void Read_all_end(void *);
  virtual Offset Get_byte_offset(Offset) const;
  virtual Request Iread(void *, int, const Datatype &);
  virtual void Read_at_all_end(void *, Status &);
  virtual void Read_at_all_end(void *);
  virtual void Write_at(Offset, const void *, int, const Datatype &, Status &);
  virtual void Write_at(Offset, const void *, int, const Datatype &);
  virtual void Write_at_all_begin(Offset, const void *, int, const Datatype &);
  virtual Errhandler Get_errhandler() const;
  virtual int Get_amode() const;
  virtual void Set_atomicity(bool);
  virtual Group Get_group() const;
  virtual Offset Get_position() const;
  virtual void Seek(Offset, int);
  virtual void Read_all_begin(void *, int, const Datatype &);
  virtual void Read_at_all_begin(Offset, void *, int, const Datatype &);
  virtual void Read_all(void *, int, const Datatype &, Status &);
  virtual void Read_all(void *, int, const Datatype &);
  virtual void Preallocate(Offset);
  virtual void Read_at_all(Offset, void *, int, const Datatype &, Status &);
  virtual void Read_at_all(Offset, void *, int, const Datatype &);
  virtual void Read_shared(void *, int, const Datatype &, Status &);
  virtual void Read_shared(void *, int, const Datatype &);
  virtual Request Iwrite(const void *, int, const Datatype &);
  virtual Request Iwrite_shared(const void *, int, const Datatype &);
  virtual void Set_errhandler(const Errhandler &);
  virtual void Write_at_all(Offset, const void *, int, const Datatype &, Status &);
  virtual void Write_at_all(Offset, const void *, int, const Datatype &);
  virtual void Set_size(Offset);
  virtual void Set_view(Offset, const Datatype &, Datatype, const char *, const Info &);
  virtual void Read_at(Offset, void *, int, const Datatype &, Status &);
  virtual void Read_at(Offset, void *, int, const Datatype &);
  virtual void Close();
  virtual void Write_ordered_end(const void *, Status &);
  virtual void Write_ordered_end(const void *);
  virtual void Write(const void *, int, const Datatype &, Status &);
  virtual void Write(const void *, int, const Datatype &);
  virtual bool Get_atomicity() const;
  virtual void Call_errhandler(int) const;

  static Errhandler Create_errhandler(void (*function)(File &, int *, ...));

protected:
  MPI_File handle;
};

class Request {
public:
  Request() : handle(MPI_REQUEST_NULL) {}
  Request(MPI_Request other) : handle(other) {}
  virtual ~Request() {}
  operator MPI_Request() const { return handle; }

  virtual void Free();
  virtual void Wait(Status &);
  virtual void Wait();
  virtual bool Test(Status &);
  virtual bool Test();
  virtual void Cancel() const;
  virtual bool Get_status(Status &) const;
  virtual bool Get_status() const;

protected:
  MPI_Request handle;
};

class Prequest : public Request {
public:
  Prequest() {}
  Prequest(MPI_Request other) : Request(other) {}
  virtual ~Prequest() {}

  virtual void Start();
};

class Grequest : public Request {
public:
  Grequest() {}
  Grequest(MPI_Request other) : Request(other) {}
  virtual ~Grequest() {}

  virtual void Complete();

  static Grequest Start(int (*query)(void *, Status &), int (*release)(void *), int (*cancel)(void *, bool), void *extra);
};

#define INTERNAL __attribute__((visibility("hidden")))

/* Throws if the call failed and the handler of the object, or of MPI_COMM_WORLD, says so. */
INTERNAL void check(MPI_Comm comm, int code);
INTERNAL void check(int code);

/* Truth values as C has them. */
class INTERNAL Ints {
public:
  explicit Ints(int length);
  Ints(const bool *values, int length);
  ~Ints() { delete[] ints; }
  operator int *() { return ints; }
  void give(bool *values) const;

private:
  Ints(const Ints &);
  Ints &operator=(const Ints &);
  int length;
  int *ints;
};

} // namespace MPI

#endif
