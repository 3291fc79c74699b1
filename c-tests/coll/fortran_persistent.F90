! Persistent collectives in Fortran, each started twice; nonblocking ones of arrays of counts; sections as
! buffers in mpi_f08; wrong arguments.
#include "fortran.h"
program persistent
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: i, n, total, round
  integer, allocatable, target ASYNC :: a(:), b(:), wide(:)
  integer, allocatable ASYNC :: counts(:), displs(:)
  T_REQUEST :: requests(2), request

  call start()
  call return_errors()
  n = size_
  total = n * (n + 1) / 2
  allocate (a(2 * n), b(2 * n), wide(2 * n), counts(n), displs(n))
  counts = 1
  displs = [(2 * (i - 1), i = 1, n)]
  call MPI_Allreduce_init(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr); OK
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr); OK
  do round = 1, 2
    a = round * (rank + 1)
    b = 0
    call touched()
    call MPI_Startall(2, requests, ierr); OK
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
    call touched()
    CHECK(all(b(1:2) == round * total) .and. all(b(3:) == 0))
  end do
  call MPI_Request_free(requests(1), ierr); OK
  call MPI_Request_free(requests(2), ierr); OK

#ifdef STYLE_F08
#define EVERY(x) x(1:2*n:2)
#define BACK(x) x(2*n:1:-2)
#else
#define EVERY(x) x
#define BACK(x) x
#endif
  call MPI_Alltoall_init(EVERY(a), 1, MPI_INTEGER, BACK(b), 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierr); OK
  call MPI_Bcast_init(EVERY(wide), n, MPI_INTEGER, n - 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierr); OK
  do round = 1, 2
    a = -1
    EVERY(a) = [(10 * rank + i + round, i = 1, size(EVERY(a)))]
    b = -1
    wide = -1
    EVERY(wide) = rank + round
    call touched()
    call MPI_Start(requests(1), ierr); OK
    call MPI_Start(requests(2), ierr); OK
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
    call touched()
    do i = 1, n
#ifdef STYLE_F08
      CHECK(b(2 * n - 2 * (i - 1)) == 10 * (i - 1) + rank + 1 + round .and. b(2 * i - 1) == -1)
      CHECK(wide(2 * i - 1) == n - 1 + round .and. wide(2 * i) == -1)
#else
      CHECK(b(i) == 10 * (i - 1) + rank + 1 + round .and. wide(i) == n - 1 + round)
#endif
    end do
  end do
  call MPI_Request_free(requests(1), ierr); OK
  call MPI_Request_free(requests(2), ierr); OK

  ! Arrays of counts that stay.
  a = rank + 1
  b = -1
  call MPI_Iallgatherv(a, 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1::2) == [(i, i = 1, n)]) .and. all(b(2::2) == -1))
  a = [(i, i = 1, 2 * n)]
  b = -1
  call MPI_Ialltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1::2) == 2 * rank + 1) .and. all(b(2::2) == -1))
  call MPI_Iscatterv(a, counts, displs, MPI_INTEGER, wide, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(wide(1) == 2 * rank + 1)
  b = -1
  call MPI_Igatherv(wide, 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, n - 1, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(all(b(1::2) == merge([(2 * i - 1, i = 1, n)], -1, rank == n - 1)))
  call MPI_Ireduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call touched()
  CHECK(b(1) == n * (rank + 1))
  call MPI_Exscan(a, b, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
  if (rank > 0) then
    CHECK(all(b(1:2) == rank * [1, 2]))
  end if
  call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b(1:2) == [2 * rank + 1, 2 * rank + 2]))

  call MPI_Allreduce_init(a, b, -1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr); FAILS(MPI_ERR_COUNT)
  call MPI_Bcast_init(a, 1, MPI_INTEGER, n, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr); FAILS(MPI_ERR_ROOT)
  call MPI_Iscan(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_TYPE)
  call MPI_Iexscan(a, b, 1, MPI_INTEGER, MPI_OP_NULL, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_OP)
  call MPI_Igather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, -7, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_ROOT)
  call MPI_Ibarrier(MPI_COMM_NULL, request, ierr); FAILS(MPI_ERR_COMM)
  call finish()
contains
#include "check.inc"

  ! The compiler sees no other use of the buffers by MPI.
  subroutine touched()
    call MPI_F_sync_reg(a)
    call MPI_F_sync_reg(b)
    call MPI_F_sync_reg(wide)
  end subroutine
end program
