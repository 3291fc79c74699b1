! Point-to-point messages from Fortran: blocking and nonblocking, statuses and their constants,
! requests and their indices, MPI_BOTTOM, MPI_Sendrecv, persistent requests.
#include "fortran.h"
program messages
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, parameter :: n = 100
  integer :: next, before, i, count, index, outcount
  integer :: a(n), b(n), indices(4)
  double precision :: x(n), y(n)
  character(len=12) :: text
  logical :: flag, given(2)
  integer(kind=MPI_ADDRESS_KIND) :: address, displacements(1)
  integer :: lengths(1)
  T_REQUEST :: requests(4), request
  T_DATATYPE :: type
  STATUS(status)
  STATUSES(statuses, 4)

  call start()
  next = mod(rank + 1, size_)
  before = mod(rank - 1 + size_, size_)
  a = [(rank * 1000 + i, i = 1, n)]

  b = 0
  call MPI_Sendrecv(a, n, MPI_INTEGER, next, 7, b, n, MPI_INTEGER, before, 7, MPI_COMM_WORLD, status, ierr); OK
  CHECK(all(b == [(before * 1000 + i, i = 1, n)]))
  CHECK(SOURCE_OF(status) == before .and. TAG_OF(status) == 7)
  call MPI_Get_count(status, MPI_INTEGER, count, ierr); OK
  CHECK(count == n)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr); OK
  CHECK(count == n / 2)
  call MPI_Test_cancelled(status, flag, ierr); OK
  CHECK(.not. flag)

  b = 0
  call MPI_Irecv(b(1), 10, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Irecv(b(11), 10, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(2), ierr); OK
  call MPI_Isend(a(1), 10, MPI_INTEGER, next, 1, MPI_COMM_WORLD, requests(3), ierr); OK
  call MPI_Isend(a(11), 10, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(4), ierr); OK
  call MPI_Waitall(4, requests, statuses, ierr); OK
  CHECK(all(b(1:20) == [(before * 1000 + i, i = 1, 20)]))
  CHECK(ITS_SOURCE(statuses, 1) == before)
  CHECK(all([(requests(i) == MPI_REQUEST_NULL, i = 1, 4)]))
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr); OK

  ! Indices count from one, and MPI_UNDEFINED is what it is (MPICH 4.0.2 counts on from that).
  call MPI_Waitany(4, requests, index, status, ierr); OK
#ifndef REFERENCE
  CHECK(index == MPI_UNDEFINED)
#endif
  call MPI_Testsome(4, requests, outcount, indices, MPI_STATUSES_IGNORE, ierr); OK
  CHECK(outcount == MPI_UNDEFINED)
  call MPI_Irecv(b, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, requests(3), ierr); OK
  call MPI_Testany(4, requests, index, flag, MPI_STATUS_IGNORE, ierr); OK
  CHECK(.not. flag)
#ifndef REFERENCE
  CHECK(index == MPI_UNDEFINED)
#endif
  call MPI_Send(a, 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierr); OK
  call MPI_Waitany(4, requests, index, status, ierr); OK
  CHECK(index == 3)
  CHECK(TAG_OF(status) == 3)
  call MPI_Irecv(b, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(2), ierr); OK
  call MPI_Isend(a, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(4), ierr); OK
  given = .false.
  do while (.not. all(given))
    call MPI_Waitsome(4, requests, outcount, indices, statuses, ierr); OK
    do i = 1, outcount
      CHECK(indices(i) == 2 .or. indices(i) == 4)
      given(indices(i) / 2) = .true.
    end do
  end do

  ! Text and doubles, a probe between.
  x = [(0.5d0 * i, i = 1, n)]
  call MPI_Isend(x, n, MPI_DOUBLE_PRECISION, rank, 5, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Probe(rank, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr); OK
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr); OK
  CHECK(count == n .and. TAG_OF(status) == 5)
  call MPI_Recv(y, n, MPI_DOUBLE_PRECISION, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(all(x == y))
  text = 'nothing'
  call MPI_Sendrecv('hello, world', 12, MPI_CHARACTER, next, 6, text, 12, MPI_CHARACTER, before, 6, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr); OK
  CHECK(text == 'hello, world')

  ! MPI_BOTTOM, with a type made of addresses.
  call MPI_Get_address(a, address, ierr); OK
  lengths = [n]
  displacements = [address]
  call MPI_Type_create_hindexed(1, lengths, displacements, MPI_INTEGER, type, ierr); OK
  call MPI_Type_commit(type, ierr); OK
  b = 0
  call MPI_Sendrecv(MPI_BOTTOM, 1, type, next, 8, b, n, MPI_INTEGER, before, 8, MPI_COMM_WORLD, status, ierr); OK
  CHECK(all(b == [(before * 1000 + i, i = 1, n)]))
  call MPI_Type_free(type, ierr); OK
  CHECK(type == MPI_DATATYPE_NULL)

  ! Persistent requests.
  call MPI_Recv_init(b, 5, MPI_INTEGER, before, 9, MPI_COMM_WORLD, requests(1), ierr); OK
  call MPI_Send_init(a, 5, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(2), ierr); OK
  do i = 1, 3
    a(1) = i
    b(1) = 0
    call seen(a)
    call seen(b)
    call MPI_Startall(2, requests, ierr); OK
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
    call seen(b)
    CHECK(b(1) == i)
  end do
  call MPI_Request_free(requests(1), ierr); OK
  call MPI_Request_free(requests(2), ierr); OK

  call MPI_Recv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, ierr); OK
  CHECK(SOURCE_OF(status) == MPI_PROC_NULL)
  call finish()
contains
  ! The compiler is told that somebody else may look at the array. MPICH 4.0.2 crashes in MPI_F_sync_reg.
  subroutine seen(array)
    integer, intent(inout) :: array(n)
#ifdef REFERENCE
    call MPI_Get_address(array, address, ierr)
#else
    call MPI_F_sync_reg(array)
#endif
  end subroutine

#include "check.inc"
end program
