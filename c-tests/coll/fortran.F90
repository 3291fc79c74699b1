! Collectives from Fortran: MPI_IN_PLACE, operations of the program, sections as buffers.
#include "fortran.h"
module operations
#ifdef STYLE_F08
  use, intrinsic :: iso_c_binding
#endif
  USE_MPI
  implicit none
contains
  ! 2 a + b is not the same as 2 b + a.
#ifdef STYLE_F08
  subroutine combine(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    call c_f_pointer(invec, from, [len])
    call c_f_pointer(inoutvec, to, [len])
    if (datatype == MPI_INTEGER) to = 2 * from + to
  end subroutine
#else
  subroutine combine(from, to, len, datatype)
    INCLUDE_MPI
    integer :: len, datatype
    integer :: from(len), to(len)
    if (datatype == MPI_INTEGER) to = 2 * from + to
  end subroutine
#endif
end module

program collectives
  USE_MPI
  use operations
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: i, a(10), b(10), total
  integer, allocatable :: all_of_them(:), matrix(:, :)
  double precision :: x
  logical :: flag, both(2)
  T_OP :: op

  call start()
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  a = rank
  call MPI_Bcast(a, 10, MPI_INTEGER, size_ - 1, MPI_COMM_WORLD, ierr); OK
  CHECK(all(a == size_ - 1))
  a = rank
  call MPI_Bcast(a(2:10:2), 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); OK
  CHECK(all(a(2:10:2) == 0) .and. all(a(1:9:2) == rank))

  a = [(i * (rank + 1), i = 1, 10)]
  total = size_ * (size_ + 1) / 2
  call MPI_Allreduce(a, b, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b == [(i * total, i = 1, 10)]))
  call MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
  CHECK(all(a == b))
  b = 0
  a = rank + 1
  call MPI_Allreduce(a(1:10:3), b(10:1:-3), 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b(10:1:-3) == size_) .and. sum(b) == 4 * size_)
  x = 0.5d0
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, MPI_PROD, MPI_COMM_WORLD, ierr); OK
  CHECK(abs(x - 0.5d0 ** size_) < 1d-15)
  flag = rank == 0
  both = .true.
  call MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr); OK
  CHECK(flag)
  call MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr); OK
  CHECK(all(both))

  call MPI_Op_create(combine, .false., op, ierr); OK
  call MPI_Op_commutative(op, flag, ierr); OK
  CHECK(.not. flag)
  a = rank + 1
  call MPI_Allreduce(a, b, 10, MPI_INTEGER, op, MPI_COMM_WORLD, ierr); OK
  if (size_ == 2) then
    CHECK(all(b == 4))
  end if
  call MPI_Reduce_local(a, b, 10, MPI_INTEGER, op, ierr); OK
  call MPI_Op_free(op, ierr); OK
  CHECK(op == MPI_OP_NULL)
  call MPI_Op_commutative(MPI_SUM, flag, ierr); OK
  CHECK(flag)

  allocate (all_of_them(3 * size_), matrix(size_, 6))
  all_of_them = -1
  a = [(100 * rank + i, i = 1, 10)]
  call MPI_Gather(a, 3, MPI_INTEGER, all_of_them, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); OK
  if (rank == 0) then
    CHECK(all(all_of_them == [((100 * i + total, total = 1, 3), i = 0, size_ - 1)]))
  end if
  all_of_them = -1
  call MPI_Allgather(a(1:9:4), 3, MPI_INTEGER, all_of_them, 3, MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
  CHECK(all(all_of_them == [((100 * i + total, total = 1, 9, 4), i = 0, size_ - 1)]))
  ! Two numbers of each rank, into columns 1 and 4, one element after the other.
  matrix = -1
  call MPI_Allgather(a, 2, MPI_INTEGER, matrix(:, 1:4:3), 2, MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
  CHECK(all([matrix(:, 1:4:3)] == [((100 * i + total, total = 1, 2), i = 0, size_ - 1)]))
  CHECK(all(matrix(:, 2:3) == -1))

  call return_errors()
  call MPI_Bcast(a, -1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_COUNT)
  call MPI_Allreduce(a, b, 1, MPI_INTEGER, MPI_OP_NULL, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_OP)
  call finish()
contains
#include "check.inc"
end program
