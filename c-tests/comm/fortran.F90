! Communicators and groups from Fortran: splitting, ranges, translation, handles compared and kept; buffers of
! MPI_Bsend; matched probes; wrong arguments.
#include "fortran.h"
program communicators
#ifdef STYLE_F08
  use, intrinsic :: iso_c_binding
#endif
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: n, r, ranges(3, 1), result, count, i
  integer, target :: space(2000)
  integer :: a(10)
  integer :: mapped(2)
  logical :: flag
  T_COMM :: half, same
  T_GROUP :: world, evens, none
  T_MESSAGE :: message
  STATUS(status)
#ifdef STYLE_F08
  type(c_ptr) :: where_it_was
  class(*), allocatable :: anything
#endif

  call start()
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr); OK
  call MPI_Comm_size(half, n, ierr); OK
  CHECK(n == (size_ + 1 - mod(rank, 2)) / 2)
  call MPI_Comm_rank(half, r, ierr); OK
  CHECK(r == n - 1 - rank / 2)
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierr); OK
  ranges = reshape([0, size_ - 1, 2], [3, 1])
  call MPI_Group_range_incl(world, 1, ranges, evens, ierr); OK
  call MPI_Group_size(evens, n, ierr); OK
  CHECK(n == (size_ + 1) / 2)
  call MPI_Group_translate_ranks(world, 2, [0, size_ - 1], evens, mapped, ierr); OK
  CHECK(mapped(1) == 0 .and. (mapped(2) == (size_ - 1) / 2 .or. mapped(2) == MPI_UNDEFINED))
  call MPI_Group_difference(evens, world, none, ierr); OK
  CHECK(none == MPI_GROUP_EMPTY)
  call MPI_Comm_create(MPI_COMM_WORLD, evens, same, ierr); OK
  if (mod(rank, 2) == 0) then
    CHECK(same /= MPI_COMM_NULL)
    call MPI_Comm_compare(half, same, result, ierr); OK
    CHECK(result == merge(MPI_SIMILAR, MPI_CONGRUENT, size_ > 2))
    call MPI_Comm_free(same, ierr); OK
  end if
  CHECK(same == MPI_COMM_NULL .and. half /= MPI_COMM_WORLD)
#ifdef STYLE_F08
  CHECK(MPI_COMM_WORLD%MPI_VAL == MPI_COMM_WORLD .and. .not. half == MPI_COMM_WORLD%MPI_VAL)
  allocate (anything, source=half)
  CHECK(allocated(anything))
#endif
  call MPI_Comm_free(half, ierr); OK
  call MPI_Group_free(evens, ierr); OK
  call MPI_Group_free(world, ierr); OK

  call MPI_Buffer_attach(space, 8000, ierr); OK
  call MPI_Bsend([(i, i = 1, 10)], 10, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, ierr); OK
  call MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, message, status, ierr); OK
  call MPI_Get_count(status, MPI_INTEGER, count, ierr); OK
  CHECK(count == 10)
  call MPI_Mrecv(a, 10, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr); OK
  CHECK(all(a == [(i, i = 1, 10)]) .and. message == MPI_MESSAGE_NULL)
  call MPI_Improbe(rank, 5, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierr); OK
  CHECK(.not. flag)
#ifdef STYLE_F08
  call MPI_Buffer_detach(where_it_was, n, ierr); OK
  CHECK(c_associated(where_it_was, c_loc(space)))
#else
  call MPI_Buffer_detach(space, n, ierr); OK
#endif
  CHECK(n == 8000)

  call return_errors()
#ifndef REFERENCE
  ! MPICH takes it for MPI_UNDEFINED.
  call MPI_Comm_split(MPI_COMM_WORLD, -5, 0, half, ierr); FAILS(MPI_ERR_ARG)
#endif
  call MPI_Comm_dup(MPI_COMM_NULL, half, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Group_size(MPI_GROUP_NULL, n, ierr); FAILS(MPI_ERR_GROUP)
  call MPI_Group_size(MPI_GROUP_EMPTY, n, ierr); OK
  CHECK(n == 0)
  call finish()
contains
#include "check.inc"
end program
