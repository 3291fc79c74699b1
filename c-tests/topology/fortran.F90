! Topologies from Fortran: LOGICAL arrays in both directions, coordinates, graphs and their weights.
#include "fortran.h"
program topologies
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: dims(2), coords(2), before, next, kind, n, in, out
  integer :: sources(2), destinations(2), weights(2), more(2), index(16), edges(32), i
  logical :: periods(2), remain(2), weighted
  T_COMM :: grid, row, graph

  call start()
  dims = 0
  call MPI_Dims_create(size_, 2, dims, ierr); OK
  CHECK(product(dims) == size_)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierr); OK
  call MPI_Topo_test(grid, kind, ierr); OK
  CHECK(kind == MPI_CART)
  periods = [.false., .true.]
  call MPI_Cart_get(grid, 2, dims, periods, coords, ierr); OK
  CHECK(periods(1) .and. .not. periods(2))
  CHECK(rank == coords(1) * dims(2) + coords(2))
  call MPI_Cart_shift(grid, 0, 1, before, next, ierr); OK
  CHECK(next == mod(coords(1) + 1, dims(1)) * dims(2) + coords(2))
  call MPI_Cart_shift(grid, 1, 1, before, next, ierr); OK
  if (coords(2) == 0) then
    CHECK(before == MPI_PROC_NULL)
  end if
  call MPI_Cart_rank(grid, coords, n, ierr); OK
  CHECK(n == rank)
  remain = [.true., .false.]
  call MPI_Cart_sub(grid, remain, row, ierr); OK
  call MPI_Comm_size(row, n, ierr); OK
  CHECK(n == dims(1))
  call MPI_Comm_free(row, ierr); OK
  call MPI_Comm_free(grid, ierr); OK

  ! A ring, three times: with weights, without, and as a graph of old.
  sources = [mod(rank + size_ - 1, size_), rank]
  destinations = [mod(rank + 1, size_), rank]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, [5, 6], 2, destinations, [7, 8], MPI_INFO_NULL, &
                                      .false., graph, ierr); OK
  call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr); OK
  CHECK(in == 2 .and. out == 2 .and. weighted)
  call MPI_Dist_graph_neighbors(graph, 2, sources, weights, 2, destinations, more, ierr); OK
  CHECK(all(weights == [5, 6]) .and. all(more == [7, 8]) .and. sources(2) == rank)
  call MPI_Comm_free(graph, ierr); OK
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., graph, ierr); OK
  call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr); OK
  CHECK(in == 1 .and. out == 1 .and. .not. weighted)
  call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, ierr); OK
  CHECK(destinations(1) == mod(rank + 1, size_))
  call MPI_Comm_free(graph, ierr); OK
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, destinations, MPI_WEIGHTS_EMPTY, &
                                      MPI_INFO_NULL, .false., graph, ierr); OK
  call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, ierr); OK
  CHECK(in == 0 .and. out == 0 .and. weighted)
  call MPI_Comm_free(graph, ierr); OK
  index(1:size_) = [(i, i = 1, size_)]
  edges(1:size_) = [(mod(i, size_), i = 1, size_)]
  call MPI_Graph_create(MPI_COMM_WORLD, size_, index, edges, .false., graph, ierr); OK
  index = 0
  call MPI_Graph_get(graph, size_, size_, index, edges, ierr); OK
  CHECK(all(index(1:size_) == [(i, i = 1, size_)]))
  call MPI_Comm_free(graph, ierr); OK

  call return_errors()
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [size_ + 1, 1], [.true., .false.], .false., grid, ierr)
  CHECK(ierr /= MPI_SUCCESS)
  call finish()
contains
#include "check.inc"
end program
