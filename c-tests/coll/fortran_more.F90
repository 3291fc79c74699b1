! More collectives from Fortran: those with several blocks and with arrays of counts, and nonblocking ones;
! sections as buffers (in mpi_f08 of the nonblocking ones too).
#include "fortran.h"
program more_collectives
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: i, j, n
  integer, allocatable ASYNC :: a(:), b(:)
  integer, allocatable :: counts(:), displs(:)
  T_REQUEST :: request
  T_DATATYPE, allocatable :: types(:)

  call start()
  n = size_
  allocate (a(4 * n), b(4 * n), counts(n), displs(n), types(n))
  types = MPI_INTEGER
  a = [((100 * rank + 10 * i + j, j = 1, 4), i = 1, n)]

  b = 0
  call MPI_Reduce(a, b, 4 * n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr); OK
  if (rank == 0) then
    CHECK(all(b == n * a + 50 * n * (n - 1)))
    call MPI_Reduce(MPI_IN_PLACE, b, 1, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, ierr); OK
    CHECK(b(1) == 11 * n + 50 * n * (n - 1))
  else
    b = huge(i)
    call MPI_Reduce(b, b(2), 1, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, ierr); OK
  end if
  b = 0
  call MPI_Alltoall(a(1:4 * n:2), 2, MPI_INTEGER, b(4 * n:1:-2), 2, MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b(4 * n:1:-2) == [((100 * i + 10 * (rank + 1) + j, j = 1, 3, 2), i = 0, n - 1)]))

  ! Rank i has i + 1 elements.
  counts = [(i, i = 1, n)]
  displs = [(4 * (i - 1), i = 1, n)]
  b = 0
  call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
  do i = 1, n
    CHECK(all(b(4 * i - 3:4 * i - 4 + i) == [(100 * (i - 1) + 10 + j, j = 1, i)]))
  end do
  counts = 1
  displs = [(i - 1, i = 1, n)]
  b = 0
  call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b(1:4:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); OK
  CHECK(b(1) == 10 * (rank / 4 + 1) + mod(rank, 4) + 1)
  displs = 4 * displs
  call MPI_Alltoallw(a, counts, displs, types, b, counts, displs, types, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b(1:n) == [(100 * i + 10 * (rank / 4 + 1) + mod(rank, 4) + 1, i = 0, n - 1)]))
  b = 0
  call MPI_Scan(a, b, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
  CHECK(b(1) == 11 * (rank + 1) + 50 * rank * (rank + 1))

  call MPI_Ibarrier(MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  b = rank
  call MPI_Ibcast(b, 3, MPI_INTEGER, n - 1, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(all(b(1:3) == n - 1))
#ifdef STYLE_F08
  b = 0
  call MPI_Iallgather(a(1:4 * n:n), 2, MPI_INTEGER, b(2:4 * n:2), 2, MPI_INTEGER, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(all(b(1::2) == 0) .and. all(b(2::4) == [(100 * i + 11, i = 0, n - 1)]))
  b = -1
  call MPI_Ialltoall(a(::4), 1, MPI_INTEGER, b(4 * n:1:-4), 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(all(b(4 * n:1:-4) == [(100 * i + 10 * (rank + 1) + 1, i = 0, n - 1)]))
#endif
  call finish()
contains
#include "check.inc"
end program
