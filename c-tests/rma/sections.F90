! Array sections in one-sided communication: calls that use one element take any section, and a refusal goes to the handler of
! the window, each with one error code only.
#include "fortran.h"
program sections
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, parameter :: n = 8
  integer, asynchronous :: memory(n), a(40), b(40)
  integer :: i, peer
  integer(MPI_ADDRESS_KIND) :: bytes, at
  real, asynchronous :: x(16)
  T_WIN :: win

  call start()
  peer = mod(rank + 1, size_)
  bytes = 4 * n
  at = 0
  a = [(1000 * (rank + 1) + i, i = 1, 40)]
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr); OK
  call one_element()
  call larger_types()
  call refused()
  call MPI_Win_free(win, ierr); OK
  call finish()
contains
#include "check.inc"

  subroutine one_element()
    memory = 5
    b = -1
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Fetch_and_op(a(2:40:3), b(1:40:5), MPI_INTEGER, peer, at, MPI_SUM, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    CHECK(b(1) == 5 .and. all(b(2:) == -1) .and. memory(1) == 5 + 1000 * (modulo(rank - 1, size_) + 1) + 2)
    call MPI_Win_fence(0, win, ierr); OK
    a(3) = 5 + a(2)
    call MPI_Compare_and_swap(a(1:40:3), a(3:40:2), b(7:40:5), MPI_INTEGER, peer, at, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    CHECK(b(7) == a(3) .and. all(b(8:) == -1) .and. memory(1) == 1000 * (modulo(rank - 1, size_) + 1) + 1)
    call MPI_Win_fence(0, win, ierr); OK
  end subroutine

  ! Datatypes that are larger than an element of the array; operations need the real basic elements.
  subroutine larger_types()
    type(MPI_Datatype) :: two
    integer :: from
    from = 1000 * (modulo(rank - 1, size_) + 1)
    call MPI_Type_contiguous(2, MPI_INTEGER, two, ierr); OK
    call MPI_Type_commit(two, ierr); OK
    memory = 7
    a = [(1000 * (rank + 1) + i, i = 1, 40)]
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(a(1:16:3), 2, two, peer, at, 2, two, MPI_SUM, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    CHECK(all(memory == [8 + from, 11 + from, 14 + from, 17 + from, 7, 7, 7, 7]))
    call MPI_Win_fence(0, win, ierr); OK
    x = [(real(i), i = 1, 16)]
    memory = 0
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Put(x(1:16:4), 2, MPI_COMPLEX, peer, at, 2, MPI_COMPLEX, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    CHECK(all(memory(1:4) == transfer([1., 5., 9., 13.], memory(1:4))) .and. all(memory(5:) == 0))
    call MPI_Win_fence(0, win, ierr); OK
    x = 0
    call MPI_Get(x(16:1:-5), 2, MPI_COMPLEX, rank, at, 2, MPI_COMPLEX, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    CHECK(all(x(16:1:-5) == [1., 5., 9., 13.]) .and. sum(x) == 28)
    call MPI_Accumulate(x(1:8:2), 2, MPI_COMPLEX, peer, at, 2, MPI_COMPLEX, MPI_SUM, win, ierr); FAILS(MPI_ERR_BUFFER)
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Type_free(two, ierr); OK
  end subroutine

  ! An element that the array has in two pieces; more elements than there are. The handler of MPI_COMM_SELF is fatal.
  subroutine refused()
    integer(MPI_ADDRESS_KIND) :: codes, later
    logical :: flag
    integer :: code
    x = 1
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Fetch_and_op(x(1:8:2), x(9:16:2), MPI_COMPLEX, peer, at, MPI_SUM, win, ierr); FAILS(MPI_ERR_BUFFER)
    call MPI_Put(a(1:10:2), 8, MPI_INTEGER, peer, at, 8, MPI_INTEGER, win, ierr); FAILS(MPI_ERR_BUFFER)
    code = ierr
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, codes, flag, ierr); OK
    do i = 1, 10
      call MPI_Put(a(1:10:2), 8, MPI_INTEGER, peer, at, 8, MPI_INTEGER, win, ierr); FAILS(MPI_ERR_BUFFER)
      CHECK(ierr == code)
    end do
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, later, flag, ierr); OK
    CHECK(later == codes)
    call MPI_Win_fence(0, win, ierr); OK
  end subroutine
end program
