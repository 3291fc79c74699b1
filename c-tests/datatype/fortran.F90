! Datatypes from Fortran: constructors, contents, sizes, types of a kind and of a precision, packing, statuses
! that a program fills and converts, addresses, old constructors; large counts in mpi_f08.
#include "fortran.h"
program datatypes
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: i, n, ints(10), sizes(2), position, count, addresses_n, types_n, combiner, number
  integer(kind=MPI_ADDRESS_KIND) :: lb, extent, addresses(3), other
  integer :: a(24), b(24), plain(MPI_STATUS_SIZE)
  double precision :: x(3), y(3)
  character(len=200) :: packed
  T_DATATYPE :: type, new, types(3)
  STATUS(status)
  logical :: flag
#ifdef STYLE_F08
  integer(kind=MPI_COUNT_KIND) :: large
#endif
#ifdef STYLE_MPI
  type(MPI_Status) :: modern
#endif

  call start()
  a = [(i, i = 1, 24)]
  ! Column-major: a 2 x 3 block of a 4 x 6 array, beginning at (2, 3).
  call MPI_Type_create_subarray(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr); OK
  call MPI_Type_commit(type, ierr); OK
  b = 0
  call MPI_Sendrecv(a, 1, type, rank, 1, b, 6, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, ierr); OK
  CHECK(all(b(1:6) == [10, 11, 14, 15, 18, 19]))
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 24)
  call MPI_Type_get_extent(type, lb, extent, ierr); OK
  CHECK(lb == 0 .and. extent == 96)
  call MPI_Type_get_true_extent(type, lb, extent, ierr); OK
  CHECK(lb == 36 .and. extent == 40)
  call MPI_Type_get_envelope(type, n, addresses_n, types_n, combiner, ierr); OK
  CHECK(n == 8 .and. addresses_n == 0 .and. types_n == 1 .and. combiner == MPI_COMBINER_SUBARRAY)
  call MPI_Type_get_contents(type, n, addresses_n, types_n, ints, addresses, types, ierr); OK
  CHECK(ints(1) == 2 .and. all(ints(2:7) == [4, 6, 2, 3, 1, 2]) .and. ints(8) == MPI_ORDER_FORTRAN)
  CHECK(types(1) == MPI_INTEGER)
  call MPI_Get_elements(status, MPI_INTEGER, n, ierr); OK
  CHECK(n == 6)
  call MPI_Type_free(type, ierr); OK

  ! A structure by addresses.
  call MPI_Get_address(a(1), addresses(1), ierr); OK
  call MPI_Get_address(x(1), addresses(2), ierr); OK
  call MPI_Get_address(a(3), other, ierr); OK
  CHECK(MPI_Aint_diff(other, addresses(1)) == 8 .and. MPI_Aint_add(addresses(1), 8_MPI_ADDRESS_KIND) == other)
  types(1:2) = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
  call MPI_Type_create_struct(2, [2, 3], addresses, types, type, ierr); OK
  call MPI_Type_commit(type, ierr); OK
  x = [1d0, 2d0, 3d0]
#ifndef REFERENCE
  ! MPICH 4.0.2 does not pack from MPI_BOTTOM.
  position = 0
  call MPI_Pack(MPI_BOTTOM, 1, type, packed, len(packed), position, MPI_COMM_WORLD, ierr); OK
  CHECK(position >= 32)
  call MPI_Pack_size(1, type, MPI_COMM_WORLD, n, ierr); OK
  CHECK(n >= position)
  position = 0
  call MPI_Unpack(packed, len(packed), position, b, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
  call MPI_Unpack(packed, len(packed), position, y, 3, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr); OK
  CHECK(all(b(1:2) == a(1:2)) .and. all(y == x))
#endif
  call MPI_Type_free(type, ierr); OK
  other = 0
  call MPI_Pack_external('external32', a, 3, MPI_INTEGER, packed, 200_MPI_ADDRESS_KIND, other, ierr); OK
  CHECK(other == 12 .and. packed(1:4) == char(0) // char(0) // char(0) // char(1))

  ! Strides: of elements and of bytes; an indexed one; a resized one.
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, type, ierr); OK
  call MPI_Type_create_hvector(2, 1, 32_MPI_ADDRESS_KIND, type, new, ierr); OK
  call MPI_Type_size(new, n, ierr); OK
  CHECK(n == 24)
  call MPI_Type_free(new, ierr); OK
  call MPI_Type_create_resized(type, 0_MPI_ADDRESS_KIND, 64_MPI_ADDRESS_KIND, new, ierr); OK
  call MPI_Type_get_extent(new, lb, extent, ierr); OK
  CHECK(lb == 0 .and. extent == 64)
  call MPI_Type_free(new, ierr); OK
  call MPI_Type_free(type, ierr); OK
  sizes = [2, 1]
  call MPI_Type_indexed(2, sizes, [0, 5], MPI_INTEGER, type, ierr); OK
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 12)
  call MPI_Type_free(type, ierr); OK

  ! Types of Fortran's kinds.
  call MPI_Type_create_f90_real(15, 200, type, ierr); OK
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 8)
  call MPI_Type_create_f90_integer(4, type, ierr); OK
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 2)
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, type, ierr); OK
  CHECK(type == MPI_REAL .or. type == MPI_REAL4)
#ifndef STYLE_MPIF
  call MPI_Sizeof(x, n, ierr); OK
  CHECK(n == 8)
  call MPI_Sizeof(a(1), n, ierr); OK
  CHECK(n == 4)
#endif

  ! A status that the program fills, and its forms.
  call MPI_Status_set_elements(status, MPI_INTEGER, 17, ierr); OK
  call MPI_Status_set_cancelled(status, .true., ierr); OK
  call MPI_Get_count(status, MPI_INTEGER, count, ierr); OK
  call MPI_Test_cancelled(status, flag, ierr); OK
  CHECK(count == 17 .and. flag)
#ifdef STYLE_F08
  status%MPI_TAG = 99
  call MPI_Status_f082f(status, plain, ierr); OK
  CHECK(plain(MPI_TAG) == 99)
  plain(MPI_SOURCE) = 5
  call MPI_Status_f2f08(plain, status, ierr); OK
  CHECK(status%MPI_SOURCE == 5)
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_BYTE, type, ierr); OK
  call MPI_Type_size(type, large, ierr); OK
  CHECK(large == 3000000000_MPI_COUNT_KIND)
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == MPI_UNDEFINED)
  call MPI_Type_free(type, ierr); OK
#else
  plain = 0
#endif
#ifdef STYLE_MPI
#ifndef MODULES_OF_REFERENCE
  plain(MPI_TAG) = 98
  call MPI_Status_f2f08(plain, modern, ierr); OK
  CHECK(modern%MPI_TAG == 98)
#endif
#endif

#ifndef STYLE_F08
  ! Removed from MPI, but old programs have them.
  call MPI_Type_hvector(2, 1, 16, MPI_INTEGER, type, ierr); OK
  call MPI_Type_extent(type, n, ierr); OK
  CHECK(n == 20)
  call MPI_Type_ub(type, n, ierr); OK
  CHECK(n == 20)
  call MPI_Type_free(type, ierr); OK
  call MPI_Type_struct(2, [1, 2], [0, 8], types(1:2), type, ierr); OK
  call MPI_Type_lb(type, n, ierr); OK
  CHECK(n == 0)
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 20)
  call MPI_Type_free(type, ierr); OK
  call MPI_Type_hindexed(2, [1, 2], [0, 8], MPI_INTEGER, type, ierr); OK
  call MPI_Type_size(type, n, ierr); OK
  CHECK(n == 12)
  call MPI_Type_free(type, ierr); OK
#endif
  call return_errors()
  call MPI_Type_vector(-1, 1, 2, MPI_INTEGER, type, ierr); FAILS(MPI_ERR_COUNT)
  number = 0
  call MPI_Type_commit(new, ierr); FAILS(MPI_ERR_TYPE)
  call finish()
contains
#include "check.inc"
end program
