! Intercommunicators, hints, copies that do not block, and user operations in Fortran; wrong arguments.
#include "fortran.h"
program intercommunicators
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: n, mine, number
  logical :: flag
  T_COMM :: half, inter, merged, copy
  T_GROUP :: group
  T_INFO :: info
  T_REQUEST ASYNC :: request
  character(len=30) :: value
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call start()
  call return_errors()
  mine = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, mine, rank, half, ierr); OK
  if (size_ > 1) then
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mine, 5, inter, ierr); OK
    call MPI_Comm_test_inter(inter, flag, ierr); OK
    CHECK(flag)
    call MPI_Comm_remote_size(inter, n, ierr); OK
    CHECK(n == (size_ + mine) / 2)
    call MPI_Comm_remote_group(inter, group, ierr); OK
    call MPI_Group_size(group, number, ierr); OK
    CHECK(number == n)
    call MPI_Group_free(group, ierr); OK
    call MPI_Allreduce(rank, number, 1, MPI_INTEGER, MPI_MAX, inter, ierr); OK
    CHECK(number == size_ - 1 - mod(size_ - 1 - (1 - mine), 2))
    call MPI_Intercomm_merge(inter, mine == 1, merged, ierr); OK
    call MPI_Comm_rank(merged, n, ierr); OK
    CHECK(n == rank / 2 + mine * ((size_ + 1) / 2))
    call MPI_Comm_free(merged, ierr); OK
    call MPI_Comm_disconnect(inter, ierr); OK
    CHECK(inter == MPI_COMM_NULL)
  end if
  call MPI_Intercomm_merge(half, .false., merged, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Comm_remote_size(half, n, ierr); FAILS(MPI_ERR_COMM)

  call MPI_Comm_set_name(half, 'half of it   ', ierr); OK
  call MPI_Comm_get_name(half, name, n, ierr); OK
  CHECK(name == 'half of it' .and. n == 10)
  call MPI_Info_create(info, ierr); OK
  call MPI_Info_set(info, ' mpi_assert_no_any_tag ', ' true ', ierr); OK
  call MPI_Comm_dup_with_info(half, info, copy, ierr); OK
  call MPI_Info_free(info, ierr); OK
  call MPI_Comm_get_info(copy, info, ierr); OK
  call MPI_Info_get(info, 'mpi_assert_no_any_tag', len(value), value, flag, ierr); OK
  CHECK(.not. flag .or. value == 'true')
  call MPI_Comm_set_info(copy, info, ierr); OK
  call MPI_Info_free(info, ierr); OK
  call MPI_Comm_free(copy, ierr); OK
  call MPI_Comm_idup(half, copy, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_Comm_compare(half, copy, n, ierr); OK
  CHECK(n == MPI_CONGRUENT)
  call MPI_Comm_free(copy, ierr); OK
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, copy, ierr); OK
  call MPI_Comm_size(copy, n, ierr); OK
  CHECK(n == size_)
  call MPI_Comm_free(copy, ierr); OK
  call MPI_Comm_group(half, group, ierr); OK
  call MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, copy, ierr); OK
  call MPI_Comm_compare(half, copy, n, ierr); OK
  CHECK(n == MPI_CONGRUENT)
  call MPI_Comm_free(copy, ierr); OK
  call MPI_Group_free(group, ierr); OK
  call MPI_Comm_free(half, ierr); OK

  call MPI_Comm_idup(MPI_COMM_NULL, copy, request, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Comm_free(half, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Comm_get_parent(copy, ierr); OK
  CHECK(copy == MPI_COMM_NULL)
  call finish()
contains
#include "check.inc"
end program
