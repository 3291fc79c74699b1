! Groups in Fortran: sets, ranges, comparison, ranks; wrong arguments.
#include "fortran.h"
program groups
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: n, r, result, ranges(3, 2)
  T_GROUP :: world, first, rest, joined, both

  call start()
  call return_errors()
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierr); OK
  call MPI_Group_rank(world, r, ierr); OK
  CHECK(r == rank)
  call MPI_Group_incl(world, 1, [0], first, ierr); OK
  call MPI_Group_excl(world, 1, [0], rest, ierr); OK
  call MPI_Group_size(rest, n, ierr); OK
  CHECK(n == size_ - 1)
  call MPI_Group_rank(first, r, ierr); OK
  CHECK(r == merge(0, MPI_UNDEFINED, rank == 0))
  call MPI_Group_intersection(first, rest, both, ierr); OK
  CHECK(both == MPI_GROUP_EMPTY)
  call MPI_Group_union(rest, first, joined, ierr); OK
  call MPI_Group_compare(joined, world, result, ierr); OK
  CHECK(result == merge(MPI_IDENT, MPI_SIMILAR, size_ == 1))
  call MPI_Group_free(joined, ierr); OK
  CHECK(joined == MPI_GROUP_NULL)
  ranges(:, 1) = [0, 0, 1]
  call MPI_Group_range_excl(world, 1, ranges, joined, ierr); OK
  call MPI_Group_compare(joined, rest, result, ierr); OK
  CHECK(result == MPI_IDENT)
  call MPI_Group_compare(joined, first, result, ierr); OK
  CHECK(result == MPI_UNEQUAL)

  call MPI_Group_excl(world, 1, [size_], both, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Group_excl(world, 2, [0, 0], both, ierr); FAILS(MPI_ERR_RANK)
  ranges(:, 1) = [0, 0, 0]
  call MPI_Group_range_excl(world, 1, ranges, both, ierr); FAILS(MPI_ERR_ARG)
  call MPI_Group_union(world, MPI_GROUP_NULL, both, ierr); FAILS(MPI_ERR_GROUP)
  call MPI_Group_compare(MPI_GROUP_NULL, world, result, ierr); FAILS(MPI_ERR_GROUP)
  if (joined /= MPI_GROUP_EMPTY) call MPI_Group_free(joined, ierr)
  if (rest /= MPI_GROUP_EMPTY) call MPI_Group_free(rest, ierr)
  call MPI_Group_free(first, ierr); OK
  call MPI_Group_free(world, ierr); OK
  call finish()
contains
#include "check.inc"
end program
