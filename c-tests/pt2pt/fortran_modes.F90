! The modes of sending in Fortran, each blocking, nonblocking, persistent; exchanges in one call; buffers of
! communicators; sections as buffers, in nonblocking calls in mpi_f08; wrong arguments.
#include "fortran.h"
program modes
#ifdef STYLE_F08
  use, intrinsic :: iso_c_binding
#endif
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  type cell
    sequence
    integer :: from, to
  end type
  integer :: i, n, next, before
  integer, target ASYNC :: a(9), b(9)
  type(cell), target ASYNC :: cells(4)
  integer, target ASYNC :: space(4000)
  STATUS(status)
  T_REQUEST :: requests(8)
#ifdef STYLE_F08
  type(c_ptr) :: place
#endif
#ifdef STYLE_F08
#define PART(x) x(9:1:-4)
#else
#define PART(x) x(1:3)
#endif

  call start()
  call return_errors()
  next = mod(rank + 1, size_)
  before = mod(rank + size_ - 1, size_)
  a = [(100 * rank + i, i = 1, 9)]
  b = -1
  call MPI_Sendrecv(a(1:9:4), 3, MPI_INTEGER, next, 1, b(9:1:-4), 3, MPI_INTEGER, before, 1, MPI_COMM_WORLD, status, ierr); OK
  CHECK(all(b(9:1:-4) == 100 * before + [1, 5, 9]) .and. count(b == -1) == 6)
  b = [(100 * rank + i, i = 1, 9)]
  call MPI_Sendrecv_replace(b(2:8:3), 3, MPI_INTEGER, next, 2, before, 2, MPI_COMM_WORLD, status, ierr); OK
  CHECK(all(b(2:8:3) == 100 * before + [2, 5, 8]) .and. b(1) == 100 * rank + 1 .and. b(3) == 100 * rank + 3)

  b = -1
  do i = 1, 3
    call MPI_Irecv(b(3 * i - 2), 3, MPI_INTEGER, before, 10 + i, MPI_COMM_WORLD, requests(i), ierr); OK
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Rsend(a, 3, MPI_INTEGER, next, 11, MPI_COMM_WORLD, ierr); OK
  call MPI_Issend(PART(a), 3, MPI_INTEGER, next, 12, MPI_COMM_WORLD, requests(4), ierr); OK
  call MPI_Irsend(PART(a), 3, MPI_INTEGER, next, 13, MPI_COMM_WORLD, requests(5), ierr); OK
  call MPI_Waitall(5, requests, MPI_STATUSES_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1:3) == 100 * before + [1, 2, 3]))
#ifdef STYLE_F08
  CHECK(all(b(4:9) == 100 * before + [9, 5, 1, 9, 5, 1]))
#else
  CHECK(all(b(4:9) == 100 * before + [1, 2, 3, 1, 2, 3]))
#endif

  ! Components of a derived type.
  cells = [(cell(10 * rank + i, -1), i = 1, 4)]
#ifdef STYLE_F08
  call MPI_Irecv(cells(4:1:-1)%to, 4, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Issend(cells%from, 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2), ierr); OK
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
#else
  call MPI_Sendrecv(cells%from, 4, MPI_INTEGER, next, 3, cells(4:1:-1)%to, 4, MPI_INTEGER, before, 3, MPI_COMM_WORLD, &
    status, ierr); OK
#endif
  CHECK(all(cells(4:1:-1)%to == [(10 * before + i, i = 1, 4)]) .and. all(cells%from == [(10 * rank + i, i = 1, 4)]))

  ! Buffered, by the process's and by a communicator's buffer; persistent.
  call MPI_Buffer_attach(space, 8000, ierr); OK
  b = -1
  call MPI_Recv_init(b, 2, MPI_INTEGER, before, 20, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Recv_init(b(3), 2, MPI_INTEGER, before, 21, MPI_COMM_WORLD, requests(2), ierr); OK
  call MPI_Recv_init(b(5), 2, MPI_INTEGER, before, 22, MPI_COMM_WORLD, requests(3), ierr); OK
  call MPI_Bsend_init(a, 2, MPI_INTEGER, next, 20, MPI_COMM_WORLD, requests(4), ierr); OK
  call MPI_Ssend_init(a(3), 2, MPI_INTEGER, next, 21, MPI_COMM_WORLD, requests(5), ierr); OK
  call MPI_Rsend_init(a(5), 2, MPI_INTEGER, next, 22, MPI_COMM_WORLD, requests(6), ierr); OK
  do n = 1, 2
    a = a + n
    call touched()
    call MPI_Startall(3, requests, ierr); OK
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    call MPI_Startall(3, requests(4:6), ierr); OK
    call MPI_Waitall(6, requests, MPI_STATUSES_IGNORE, ierr); OK
    call touched()
    CHECK(all(b(1:6) == a(1:6) + 100 * (before - rank)))
  end do
  do i = 1, 6
    call MPI_Request_free(requests(i), ierr); OK
  end do
  call MPI_Irecv(b, 2, MPI_INTEGER, before, 23, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Ibsend(a, 2, MPI_INTEGER, next, 23, MPI_COMM_WORLD, requests(2), ierr); OK
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
#ifdef STYLE_F08
  call MPI_Buffer_detach(place, n, ierr); OK
  CHECK(c_associated(place, c_loc(space)))
#else
  call MPI_Buffer_detach(space, n, ierr); OK
#endif
  CHECK(n == 8000)
#if !defined(REFERENCE) && !defined(MODULES_OF_REFERENCE)
  call MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, 4000, ierr); OK
  call MPI_Bsend(a, 1, MPI_INTEGER, rank, 24, MPI_COMM_WORLD, ierr); OK
  call MPI_Recv(b, 1, MPI_INTEGER, rank, 24, MPI_COMM_WORLD, status, ierr); OK
  call MPI_Comm_flush_buffer(MPI_COMM_WORLD, ierr); OK
  call MPI_Comm_iflush_buffer(MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr); OK
#ifdef STYLE_F08
  call MPI_Comm_detach_buffer(MPI_COMM_WORLD, place, n, ierr); OK
#else
  call MPI_Comm_detach_buffer(MPI_COMM_WORLD, space, n, ierr); OK
#endif
  CHECK(n == 4000)
  call MPI_Isendrecv(a, 2, MPI_INTEGER, next, 30, b, 2, MPI_INTEGER, before, 30, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1:2) == a(1:2) + 100 * (before - rank)))
  call MPI_Isendrecv_replace(b, 2, MPI_INTEGER, before, 31, next, 31, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1:2) == a(1:2)))
  call MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, -1, ierr)
  CHECK(ierr /= MPI_SUCCESS)
#endif

  call MPI_Ssend(a, 1, MPI_INTEGER, size_, 1, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Rsend(a, 1, MPI_INTEGER, 0, -2, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_TAG)
  call MPI_Issend(a(1:9:4), -1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(1), ierr); FAILS(MPI_ERR_COUNT)
  call MPI_Bsend_init(a, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, requests(1), ierr); FAILS(MPI_ERR_TYPE)
  call MPI_Sendrecv_replace(a, 1, MPI_INTEGER, 0, 1, -9, 1, MPI_COMM_WORLD, status, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Bsend(a, 9, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_BUFFER)
  call finish()
contains
#include "check.inc"

  ! The compiler sees no other use of the buffers by MPI.
  subroutine touched()
    call MPI_F_sync_reg(a)
    call MPI_F_sync_reg(b)
  end subroutine
end program
