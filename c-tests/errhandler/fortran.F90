! Error handlers in Fortran: procedures of the program, the predefined ones, and what a wrong argument gives.
#include "fortran.h"
module handlers
  USE_MPI
  implicit none
  integer :: calls = 0, last_class = -1
  logical :: of_world = .false.
contains
  subroutine handler(comm, error_code)
    INCLUDE_MPI
    T_COMM :: comm
    integer :: error_code, ignored
    calls = calls + 1
    of_world = comm == MPI_COMM_WORLD
    call MPI_Error_class(error_code, last_class, ignored)
  end subroutine
end module

program errhandlers
  USE_MPI
  use handlers
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  T_ERRHANDLER :: mine, now
  T_COMM :: comm
  T_REQUEST :: request
  T_DATATYPE :: type
  T_GROUP :: group, other
  integer :: a(4), ranks(2), class

  call start()
  a = 0
  call MPI_Comm_create_errhandler(handler, mine, ierr); OK
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine, ierr); OK
  call MPI_Send(a, -1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_COUNT)
  CHECK(calls == 1 .and. of_world .and. last_class == MPI_ERR_COUNT)
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, now, ierr); OK
  CHECK(now == mine)
  call MPI_Errhandler_free(now, ierr); OK
  CHECK(now == MPI_ERRHANDLER_NULL)
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierr); OK
  CHECK(calls == 2 .and. last_class == MPI_ERR_OTHER)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr); OK
  call MPI_Errhandler_free(mine, ierr); OK
  call MPI_Send(a, 1, MPI_INTEGER, size_, 1, comm, ierr); FAILS(MPI_ERR_RANK)
  CHECK(calls == 3 .and. .not. of_world)
  call MPI_Comm_free(comm, ierr); OK

  call return_errors()
  call MPI_Send(a, 1, MPI_INTEGER, 0, -3, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_TAG)
  call MPI_Send(a, 1, MPI_DATATYPE_NULL, 0, 3, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_TYPE)
  call MPI_Irecv(a, 1, MPI_INTEGER, -7, 3, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Comm_rank(MPI_COMM_NULL, rank, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr); OK
  call MPI_Type_contiguous(-1, MPI_INTEGER, type, ierr); FAILS(MPI_ERR_COUNT)
  call MPI_Comm_group(MPI_COMM_WORLD, group, ierr); OK
  ranks = [0, size_]
  call MPI_Group_incl(group, 2, ranks, other, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Group_free(group, ierr); OK
  call MPI_Error_class(MPI_ERR_TRUNCATE, class, ierr); OK
  CHECK(class == MPI_ERR_TRUNCATE)
  call finish()
contains
#include "check.inc"
end program
