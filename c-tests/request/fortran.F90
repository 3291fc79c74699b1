! Generalized requests and partitioned communication in Fortran: callbacks with their extra state, the status that they fill,
! codes; partitions that are ready one by one, in a range and in a list.
#include "fortran.h"
module callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: queries = 0, frees = 0, cancels = 0, code = 0
  logical :: was_complete
  integer(kind=MPI_ADDRESS_KIND) :: seen = 0
  integer(kind=MPI_ADDRESS_KIND), save, target :: own = 0
contains
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS(status)
    integer :: ierror
    queries = queries + 1
    seen = extra_state
    call MPI_Status_set_elements(status, MPI_INTEGER, 6, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    SOURCE_OF(status) = 3
    TAG_OF(status) = 17
    ierror = code
  end subroutine

  subroutine release(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    frees = frees + 1
    seen = extra_state
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancels = cancels + 1
    seen = extra_state
    was_complete = complete
    ierror = MPI_SUCCESS
  end subroutine

  ! Each callback changes the state that the program gave.
  subroutine query_own(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS(status)
    integer :: ierror
    seen = extra_state
    extra_state = extra_state + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, 0, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release_own(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    extra_state = extra_state + 10
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel_own(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) extra_state = extra_state + 100
    ierror = MPI_SUCCESS
  end subroutine
end module

program requests
  USE_MPI
  use callbacks, only: query, release, cancel, queries, frees, cancels, code, was_complete, seen, &
    query_own, release_own, cancel_own, own
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  call start()
  call return_errors()
  call generalized()
  call own_state()
  call partitioned()
  call finish()
contains
#include "check.inc"

  subroutine generalized()
    T_REQUEST :: request, pair(2), copy
    STATUS(status)
    STATUSES(both,2)
    integer(kind=MPI_ADDRESS_KIND) :: state
    integer :: n
    integer, save ASYNC :: value
    logical :: flag
    state = 123456789012_MPI_ADDRESS_KIND
    call MPI_Grequest_start(query, release, cancel, state, request, ierr); OK
    call MPI_Test(request, flag, status, ierr); OK
    CHECK(.not. flag .and. queries == 0)
    call MPI_Cancel(request, ierr); OK
    CHECK(cancels == 1 .and. .not. was_complete .and. seen == state)
    call MPI_Grequest_complete(request, ierr); OK
    call MPI_Cancel(request, ierr); OK
    CHECK(cancels == 2 .and. was_complete)
    seen = 0
    call MPI_Request_get_status(request, flag, status, ierr); OK
    CHECK(flag .and. queries == 1 .and. frees == 0 .and. seen == state)
    call MPI_Wait(request, status, ierr); OK
    CHECK(queries == 2 .and. frees == 1 .and. request == MPI_REQUEST_NULL)
    CHECK(SOURCE_OF(status) == 3 .and. TAG_OF(status) == 17)
    call MPI_Get_count(status, MPI_INTEGER, n, ierr); OK
    CHECK(n == 6)

    ! Beside a receive.
    call MPI_Grequest_start(query, release, cancel, state, pair(1), ierr); OK
    call MPI_Irecv(value, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, pair(2), ierr); OK
    copy = pair(1)
    call MPI_Grequest_complete(copy, ierr); OK
    call MPI_Send(42, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierr); OK
    call MPI_Waitall(2, pair, both, ierr); OK
    CHECK(queries == 3 .and. frees == 2 .and. value == 42)
    CHECK(ITS_SOURCE(both,1) == 3 .and. ITS_SOURCE(both,2) == rank)

    ! A code of the callback's.
    code = MPI_ERR_TOPOLOGY
    call MPI_Grequest_start(query, release, cancel, state, request, ierr); OK
    call MPI_Grequest_complete(request, ierr); OK
    call MPI_Wait(request, status, ierr); FAILS(MPI_ERR_TOPOLOGY)
    CHECK(frees == 3)
  end subroutine

  ! The state is the program's variable: both sides see what the other changed.
  subroutine own_state()
    T_REQUEST :: request
    logical :: flag
    own = 1000
    call MPI_Grequest_start(query_own, release_own, cancel_own, own, request, ierr); OK
    CHECK(own == 1000)
    call MPI_Cancel(request, ierr); OK
    CHECK(own == 1100)
    own = 5000
    call MPI_Grequest_complete(request, ierr); OK
    call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE, ierr); OK
    CHECK(flag .and. seen == 5000 .and. own == 5001)
    own = own + 1000
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(seen == 6001 .and. own == 6012)
  end subroutine

  ! The module mpi of MPICH 4.0.2 wants an integer flag of MPI_Parrived.
#if !defined(REFERENCE) && !(defined(MODULES_OF_REFERENCE) && defined(STYLE_MPI))
#define PARTITIONED
#endif
  subroutine partitioned()
#ifdef PARTITIONED
    T_REQUEST :: out, in
    STATUS(status)
    integer, save ASYNC :: values(12), there(12)
    integer(kind=MPI_COUNT_KIND) :: three, four
    integer :: next, before, i, round, n, list(2)
    logical :: flag
    next = mod(rank + 1, size_)
    before = mod(rank + size_ - 1, size_)
    three = 3
    four = 4
    call MPI_Psend_init(values, 4, three, MPI_INTEGER, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, out, ierr); OK
    call MPI_Precv_init(there, 3, four, MPI_INTEGER, before, 8, MPI_COMM_WORLD, MPI_INFO_NULL, in, ierr); OK
    do round = 1, 3
      values = [(100 * round + i, i = 1, 12)]
      there = 0
      call MPI_Start(in, ierr); OK
      call MPI_Start(out, ierr); OK
      call MPI_Pready(3, out, ierr); OK
      if (round == 1) then
        call MPI_Pready_range(0, 2, out, ierr); OK
      else
        list = [2, 0]
        call MPI_Pready_list(2, list, out, ierr); OK
        call MPI_Pready(1, out, ierr); OK
      end if
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(in, 2, flag, ierr); OK
      end do
      CHECK(there(9) == 100 * round + 9 .and. there(12) == 100 * round + 12)
      call MPI_Wait(in, status, ierr); OK
      call MPI_Wait(out, MPI_STATUS_IGNORE, ierr); OK
      call MPI_Get_count(status, MPI_INTEGER, n, ierr); OK
      CHECK(n == 12 .and. SOURCE_OF(status) == before .and. TAG_OF(status) == 8)
      CHECK(all(there == [(100 * round + i, i = 1, 12)]))
    end do
    call MPI_Pready(0, out, ierr); FAILS(MPI_ERR_REQUEST)
    call MPI_Request_free(out, ierr); OK
    call MPI_Request_free(in, ierr); OK
#endif
  end subroutine
end program
