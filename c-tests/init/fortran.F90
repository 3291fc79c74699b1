! Sessions in Fortran: before MPI_Init with a handler, process sets by name and length, a communicator from a set.
#include "fortran.h"
program sessions
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
#if !defined(REFERENCE) && !defined(MODULES_OF_REFERENCE)
  T_SESSION :: session
  T_GROUP :: group
  T_COMM :: comm
  T_INFO :: info
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  character(len=20) :: value
  character(len=3) :: short
  integer :: n, length, i, found, total, me, number
  logical :: flag

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr); OK
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, n, ierr); OK
  CHECK(n >= 2)
  found = 0
  do i = 0, n - 1
    length = 0
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierr); OK
    CHECK(length > 0)
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierr); OK
    CHECK(length == len_trim(name))
    length = 3
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, short, ierr); OK
    CHECK(length == len_trim(name) .and. short == name(1:3))
    if (name == 'mpi://WORLD' .or. name == 'mpi://SELF') found = found + 1
  end do
  CHECK(found == 2)
  call MPI_Session_get_pset_info(session, 'mpi://SELF  ', info, ierr); OK
  length = len(value)
  call MPI_Info_get_string(info, 'mpi_size', length, value, flag, ierr); OK
  CHECK(flag .and. value == '1')
  call MPI_Info_free(info, ierr); OK
  call MPI_Session_get_pset_info(session, 'none', info, ierr); FAILS(MPI_ERR_ARG)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, ierr); OK
  call MPI_Comm_create_from_group(group, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierr); OK
  call MPI_Group_free(group, ierr); OK
  call MPI_Comm_rank(comm, me, ierr); OK
  call MPI_Comm_size(comm, number, ierr); OK
  call MPI_Allreduce(me, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr); OK
  CHECK(total == number * (number - 1) / 2)
  call MPI_Initialized(flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Comm_free(comm, ierr); OK
  call MPI_Session_finalize(session, ierr); OK
  CHECK(session == MPI_SESSION_NULL)
#endif
  call start()
#if !defined(REFERENCE) && !defined(MODULES_OF_REFERENCE)
  CHECK(me == rank .and. number == size_)
#endif
  call finish()
contains
#include "check.inc"
end program
