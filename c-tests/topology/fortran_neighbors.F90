! Neighborhood collectives in Fortran on a ring: blocking, nonblocking, persistent; sections as buffers; old
! graphs; wrong arguments.
#include "fortran.h"
program neighborhoods
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: before, next, n, round, coords(1), new, neighbors(2)
  integer, target ASYNC :: a(4), b(8)
  integer ASYNC :: counts(2), displs(2)
  integer(kind=MPI_ADDRESS_KIND) ASYNC :: bytes(2)
  T_DATATYPE ASYNC :: types(2)
  T_COMM :: ring, graph
  T_REQUEST :: request

  call start()
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size_], [.true.], .false., ring, ierr); OK
  call MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN, ierr); OK
  call return_errors()
  call MPI_Cart_shift(ring, 0, 1, before, next, ierr); OK
  call MPI_Cartdim_get(ring, n, ierr); OK
  CHECK(n == 1)
  call MPI_Cart_coords(ring, rank, 1, coords, ierr); OK
  CHECK(coords(1) == rank)
  call MPI_Cart_map(MPI_COMM_WORLD, 1, [size_], [.true.], new, ierr); OK
  CHECK(new >= 0 .and. new < size_)
  a = [10 * rank, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3]
  b = -1
  call MPI_Neighbor_allgather(a(1:3:2), 2, MPI_INTEGER, b(1:7:2), 2, MPI_INTEGER, ring, ierr); OK
  CHECK(all(b(1:7:2) == [10 * before, 10 * before + 2, 10 * next, 10 * next + 2]) .and. all(b(2:8:2) == -1))
  b = -1
  call MPI_Neighbor_alltoall(a(4:1:-3), 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierr); OK
  if (size_ > 2) then
    CHECK(b(1) == 10 * before .and. b(2) == 10 * next + 3)
  end if
  counts = [1, 2]
  displs = [3, 0]
  b = -1
  call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, [1, 1], displs, MPI_INTEGER, ring, ierr); OK
  CHECK(b(4) == 10 * before .and. b(1) == 10 * next .and. count(b == -1) == 6)
  counts = 1
  b = -1
  call MPI_Ineighbor_alltoallv(a, counts, displs, MPI_INTEGER, b, counts, displs, MPI_INTEGER, ring, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_F_sync_reg(b)
  if (size_ > 2) then
    CHECK(b(4) == 10 * before .and. b(1) == 10 * next + 3)
  end if
  types = MPI_INTEGER
  bytes = [4_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND]
  b = -1
  call MPI_Neighbor_alltoallw(a, counts, bytes, types, b, counts, bytes, types, ring, ierr); OK
  if (size_ > 2) then
    CHECK(b(2) == 10 * before + 2 .and. b(3) == 10 * next + 1)
  end if
#ifdef STYLE_F08
#ifndef REFERENCE
  b = -1
  call MPI_Ineighbor_allgather(a(1:4:3), 2, MPI_INTEGER, b(8:1:-2), 2, MPI_INTEGER, ring, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_F_sync_reg(b)
  CHECK(all(b(8:1:-2) == [10 * before, 10 * before + 3, 10 * next, 10 * next + 3]) .and. all(b(1:7:2) == -1))
  b = -1
  call MPI_Ineighbor_alltoallw(a, counts, bytes, types, b(8:1:-2), counts, bytes, types, ring, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_F_sync_reg(b)
  if (size_ > 2) then
    CHECK(b(6) == 10 * before + 2 .and. b(4) == 10 * next + 1 .and. count(b == -1) == 6)
  end if
#endif
#endif
  call MPI_Neighbor_allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierr); OK
  do round = 1, 2
    a(1) = round + rank
    b = -1
    call MPI_F_sync_reg(a)
    call MPI_F_sync_reg(b)
    call MPI_Start(request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    call MPI_F_sync_reg(b)
    CHECK(b(1) == round + before .and. b(2) == round + next)
  end do
  call MPI_Request_free(request, ierr); OK

  ! Rank 0 and the last one know each other.
  call MPI_Graph_create(MPI_COMM_WORLD, 1, [1], [0], .false., graph, ierr); OK
  if (rank == 0) then
    call MPI_Graphdims_get(graph, n, new, ierr); OK
    CHECK(n == 1 .and. new == 1)
    call MPI_Graph_neighbors_count(graph, 0, n, ierr); OK
    CHECK(n == 1)
    call MPI_Graph_neighbors(graph, 0, 1, neighbors, ierr); OK
    CHECK(neighbors(1) == 0)
    call MPI_Comm_free(graph, ierr); OK
  end if

  call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_TOPOLOGY)
  call MPI_Neighbor_alltoall(a, -1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierr); FAILS(MPI_ERR_COUNT)
  call MPI_Ineighbor_alltoall(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, ring, request, ierr); FAILS(MPI_ERR_TYPE)
  call MPI_Cart_coords(ring, size_, 1, coords, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Comm_free(ring, ierr); OK
  call finish()
contains
#include "check.inc"
end program
