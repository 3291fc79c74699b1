// A program of the removed C++ bindings: objects, callbacks of every kind, exceptions.
#include <mpi.h>

#include <cstdio>

static void sum(const void *in, void *inout, int length, const MPI::Datatype &) {
  for (int at = 0; at < length; at++)
    static_cast<int *>(inout)[at] += static_cast<const int *>(in)[at];
}

static int next(const MPI::Comm &, int, void *, void *value, void *copy, bool &flag) {
  *static_cast<void **>(copy) = static_cast<char *>(value) + 1;
  flag = true;
  return MPI::SUCCESS;
}

static void report(MPI::Comm &comm, int *, ...) { std::printf("handler of %d ranks\n", comm.Get_size()); }

int main(int argc, char **argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();

  int mine = rank + 1, theirs = 0, total = 0;
  MPI::Request requests[2] = {comm.Irecv(&theirs, 1, MPI::INT, (rank + size - 1) % size, 3),
                              comm.Isend(&mine, 1, MPI::INT, (rank + 1) % size, 3)};
  MPI::Request::Waitall(2, requests);

  MPI::Op op;
  op.Init(sum, true);
  comm.Allreduce(&mine, &total, 1, MPI::INT, op);
  op.Free();

  int key = MPI::Comm::Create_keyval(next, MPI::Comm::NULL_DELETE_FN, 0);
  comm.Set_attr(key, reinterpret_cast<void *>(40));
  MPI::Comm &clone = comm.Clone();
  void *value = 0;
  bool found = clone.Get_attr(key, &value);

  bool caught = false;
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  try {
    MPI::COMM_WORLD.Send(&mine, 1, MPI::INT, size + 5, 0);
  } catch (MPI::Exception error) {
    caught = error.Get_error_class() == MPI::ERR_RANK;
  }
  comm.Set_errhandler(MPI::Comm::Create_errhandler(report));
  if (rank == 0)
    comm.Send(&mine, 1, MPI::INT, size + 5, 0);

  bool right = theirs == (rank + size - 1) % size + 1 && total == size * (size + 1) / 2 && found &&
               value == reinterpret_cast<void *>(41) && caught;
  std::printf("rank %d is %s\n", rank, right ? "right" : "wrong");
  clone.Free();
  delete &clone;
  comm.Free();
  MPI::Finalize();
  return right ? 0 : 1;
}
