! Windows from Fortran: memory as a C pointer and as an address, shared_query, attributes as values, names.
#include "fortran.h"
program windows
  use, intrinsic :: iso_c_binding
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  call start()
  call created()
#ifndef STYLE_MPIF
  call with_pointers()
#endif
  call with_addresses()
  call finish()
contains
#include "check.inc"

  subroutine attribute_is(win, key, expected)
    T_WIN, intent(in) :: win
    integer, intent(in) :: key
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: expected
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Win_get_attr(win, key, value, flag, ierr); OK
    CHECK(flag)
    CHECK(value == expected)
  end subroutine

  subroutine created()
    integer, save, asynchronous, target :: memory(10)
    integer(kind=MPI_ADDRESS_KIND) :: address, bytes
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    T_WIN :: win
    T_GROUP :: group
    bytes = 40
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Get_address(memory, address, ierr); OK
    call attribute_is(win, MPI_WIN_BASE, address)
    call attribute_is(win, MPI_WIN_SIZE, bytes)
    call attribute_is(win, MPI_WIN_DISP_UNIT, 4_MPI_ADDRESS_KIND)
    call attribute_is(win, MPI_WIN_CREATE_FLAVOR, int(MPI_WIN_FLAVOR_CREATE, MPI_ADDRESS_KIND))
    call attribute_is(win, MPI_WIN_MODEL, int(MPI_WIN_UNIFIED, MPI_ADDRESS_KIND))
    call MPI_Win_set_name(win, 'halo  ', ierr); OK
    call MPI_Win_get_name(win, name, length, ierr); OK
    CHECK(name == 'halo' .and. length == 4)
    call MPI_Win_get_group(win, group, ierr); OK
    call MPI_Group_size(group, length, ierr); OK
    CHECK(length == size_)
    call MPI_Group_free(group, ierr); OK
    call MPI_Win_free(win, ierr); OK
    CHECK(win == MPI_WIN_NULL)
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_attach(win, memory, bytes, ierr); OK
    call MPI_Win_detach(win, memory, ierr); OK
    call MPI_Win_free(win, ierr); OK
  end subroutine

#ifndef STYLE_MPIF
  ! What the modules have under the generic names.
  subroutine with_pointers()
    type(c_ptr) :: base, first
    integer, pointer :: values(:)
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    integer :: unit, of
    T_WIN :: win
    bytes = 4 * (rank + 1)
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr); OK
    call c_f_pointer(base, values, [rank + 1])
    values = rank
    CHECK(sum(values) == rank * (rank + 1))
    call MPI_Win_free(win, ierr); OK
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr); OK
    call c_f_pointer(base, values, [rank + 1])
    values = rank + 1000
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    do of = 0, size_ - 1
      call MPI_Win_shared_query(win, of, bytes, unit, base, ierr); OK
      CHECK(bytes == 4 * (of + 1) .and. unit == 4)
      call c_f_pointer(base, values, [of + 1])
      CHECK(all(values == of + 1000))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    call MPI_Win_free(win, ierr); OK
    ! An empty part is where it would begin.
    bytes = merge(40, 0, rank == 0)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr); OK
    call MPI_Win_shared_query(win, 0, bytes, unit, first, ierr); OK
    CHECK(transfer(base, bytes) == transfer(first, bytes) + merge(0, 40, rank == 0))
    call MPI_Win_free(win, ierr); OK
    bytes = 100
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierr); OK
    call c_f_pointer(base, values, [25])
    values = 3
    CHECK(sum(values) == 75)
    call MPI_Free_mem(values, ierr); OK
  end subroutine
#endif

  ! As in programs of old: an address in an integer.
  subroutine with_addresses()
#ifndef STYLE_F08
    integer(kind=MPI_ADDRESS_KIND) :: bytes, base, first
    integer :: unit
    T_WIN :: win
    bytes = 16
    base = 0
    call MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr); OK
    CHECK(base /= 0)
    call attribute_is(win, MPI_WIN_BASE, base)
    call MPI_Win_free(win, ierr); OK
    call MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr); OK
    call MPI_Win_shared_query(win, 0, bytes, unit, first, ierr); OK
    CHECK(bytes == 16 .and. unit == 1)
    CHECK(base == first + 16 * rank)
    call MPI_Win_free(win, ierr); OK
#endif
  end subroutine
end program
