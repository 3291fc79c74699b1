! Windows from Fortran: all flavours, epochs, every operation, attributes, names, error handlers and the forms with a C pointer.
#include "fortran.h"
module window_callbacks
  implicit none
  integer :: handled = 0
end module

program windows
#ifndef STYLE_MPIF
  use, intrinsic :: iso_c_binding
#endif
  use window_callbacks
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, parameter :: words = 8
  integer :: i, disp, peer, length, key, found
  integer :: before(1)
  integer(MPI_ADDRESS_KIND) :: bytes, value, address, displacement
  integer ASYNC :: mine(words), theirs(words), one, got(1)
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  T_WIN :: win
  T_GROUP :: group, world, single
  T_INFO :: info
  T_REQUEST :: request
  T_ERRHANDLER :: handler, current
#ifndef STYLE_MPIF
  type(c_ptr) :: pointer_, other
  integer, pointer :: shared(:)
#endif

  call start()
  peer = mod(rank + 1, size_)
  bytes = 4 * words

  ! Created over an array; fences.
  mine = rank
  call MPI_Win_create(mine, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr); OK
  one = 100 + rank
  displacement = 3
  call MPI_Put(one, 1, MPI_INTEGER, peer, displacement, 1, MPI_INTEGER, win, ierr); OK
  call MPI_Win_fence(0, win, ierr); OK
  call seen(mine)
  CHECK(mine(4) == 100 + mod(rank + size_ - 1, size_) .and. mine(1) == rank)
  displacement = 0
  call MPI_Get(theirs, words, MPI_INTEGER, peer, displacement, words, MPI_INTEGER, win, ierr); OK
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr); OK
  call seen(theirs)
  CHECK(theirs(1) == peer .and. theirs(4) == 100 + rank)

  ! Attributes: values, not addresses, in Fortran.
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr); OK
  CHECK(flag .and. value == bytes)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr); OK
  CHECK(flag .and. value == 4)
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr); OK
  CHECK(flag .and. value == MPI_WIN_FLAVOR_CREATE)
  call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr); OK
  CHECK(flag .and. value == MPI_WIN_UNIFIED)
  call MPI_Get_address(mine, address, ierr); OK
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr); OK
  CHECK(flag .and. value == address)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, value, ierr); OK
  value = 4711
  call MPI_Win_set_attr(win, key, value, ierr); OK
  value = 0
  call MPI_Win_get_attr(win, key, value, flag, ierr); OK
  CHECK(flag .and. value == 4711)
  call MPI_Win_delete_attr(win, key, ierr); OK
  call MPI_Win_get_attr(win, key, value, flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Win_free_keyval(key, ierr); OK
  CHECK(key == MPI_KEYVAL_INVALID)

  ! Names and groups.
  call MPI_Win_set_name(win, '  a name  ', ierr); OK
  call MPI_Win_get_name(win, name, length, ierr); OK
  CHECK(name(1:length) == '  a name' .or. name(1:length) == 'a name')
  call MPI_Win_get_group(win, group, ierr); OK
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierr); OK
  call MPI_Group_compare(group, world, found, ierr); OK
  CHECK(found == MPI_IDENT)
  call MPI_Group_free(world, ierr); OK

  ! Post, start, complete, wait in a ring.
  call MPI_Group_incl(group, 1, [mod(rank + size_ - 1, size_)], single, ierr); OK
  call MPI_Win_post(single, 0, win, ierr); OK
  call MPI_Group_free(single, ierr); OK
  call MPI_Group_incl(group, 1, [peer], single, ierr); OK
  call MPI_Win_start(single, 0, win, ierr); OK
  call MPI_Group_free(single, ierr); OK
  one = 1
  displacement = 0
  call MPI_Accumulate(one, 1, MPI_INTEGER, peer, displacement, 1, MPI_INTEGER, MPI_SUM, win, ierr); OK
  call MPI_Win_complete(win, ierr); OK
  call MPI_Win_wait(win, ierr); OK
  call seen(mine)
  CHECK(mine(1) == rank + 1)
  call MPI_Group_free(group, ierr); OK

  ! Error handlers.
  call MPI_Win_get_errhandler(win, current, ierr); OK
  CHECK(current == MPI_ERRORS_ARE_FATAL)
  call MPI_Win_create_errhandler(on_error, handler, ierr); OK
  call MPI_Win_set_errhandler(win, handler, ierr); OK
  call MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win, ierr); OK
#ifndef REFERENCE
  ! MPICH checks no ranges.
  displacement = words
  call MPI_Put(one, 1, MPI_INTEGER, peer, displacement, 1, MPI_INTEGER, win, ierr); FAILS(MPI_ERR_RMA_RANGE)
  CHECK(handled == 1)
#endif
  handled = 0
  call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierr); OK
  CHECK(handled == 1)
  call MPI_Win_unlock(peer, win, ierr); OK
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr); OK
  call MPI_Errhandler_free(handler, ierr); OK
  call MPI_Win_unlock(peer, win, ierr); FAILS(MPI_ERR_RMA_SYNC)
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Win_free(win, ierr); OK
  CHECK(win == MPI_WIN_NULL)

#ifndef STYLE_MPIF
  ! Allocated, with a C pointer; passive targets and atomic operations.
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer_, win, ierr); OK
  call c_f_pointer(pointer_, shared, [words])
  shared = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Win_lock_all(0, win, ierr); OK
  one = 1
  displacement = 0
  do i = 1, 10
    call MPI_Fetch_and_op(one, got, MPI_INTEGER, 0, displacement, MPI_SUM, win, ierr); OK
    call MPI_Win_flush(0, win, ierr); OK
  end do
  displacement = 1
  call MPI_Get_accumulate(one, 1, MPI_INTEGER, got, 1, MPI_INTEGER, 0, displacement, 1, MPI_INTEGER, &
                          MPI_SUM, win, ierr); OK
  call MPI_Win_flush_local(0, win, ierr); OK
  call MPI_Raccumulate(one, 1, MPI_INTEGER, 0, displacement, 1, MPI_INTEGER, MPI_SUM, win, request, &
                       ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_Win_flush_all(win, ierr); OK
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  displacement = 0
  call MPI_Rget(theirs, 2, MPI_INTEGER, 0, displacement, 2, MPI_INTEGER, win, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(theirs(1) == 10 * size_ .and. theirs(2) == 2 * size_)
  displacement = 2
  before = 0
  if (rank == 0) then
    one = 77
    call MPI_Compare_and_swap(one, before, got, MPI_INTEGER, peer, displacement, win, ierr); OK
    call MPI_Win_flush_local_all(win, ierr); OK
    call seen(got)
    CHECK(got(1) == 0)
  end if
  call MPI_Win_sync(win, ierr); OK
  call MPI_Win_unlock_all(win, ierr); OK
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  if (rank == mod(1, size_)) then
    CHECK(shared(3) == 77)
  end if
  call MPI_Win_get_info(win, info, ierr); OK
  call MPI_Info_free(info, ierr); OK
  call MPI_Win_free(win, ierr); OK

  ! Shared, with a C pointer.
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer_, win, ierr); OK
  call c_f_pointer(pointer_, shared, [words])
  call MPI_Win_lock_all(0, win, ierr); OK
  shared = 1000 + rank
  call MPI_Win_sync(win, ierr); OK
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Win_sync(win, ierr); OK
  call MPI_Win_shared_query(win, peer, value, disp, other, ierr); OK
  CHECK(value == bytes .and. disp == 4)
  call c_f_pointer(other, shared, [words])
  CHECK(all(shared == 1000 + peer))
  call MPI_Win_unlock_all(win, ierr); OK
  call MPI_Win_free(win, ierr); OK

  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, pointer_, ierr); OK
  call c_f_pointer(pointer_, shared, [words])
  shared = 5
  call MPI_Free_mem(shared, ierr); OK
#endif

  ! The forms of MPI 2, with an address.
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &
#ifdef STYLE_F08
                        pointer_, win, ierr); OK
#else
                        address, win, ierr); OK
  CHECK(address /= 0)
#endif
  call MPI_Win_free(win, ierr); OK

  ! Dynamic.
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
  call MPI_Win_attach(win, mine, bytes, ierr); OK
  mine = rank
  call MPI_Get_address(mine, address, ierr); OK
  call exchange()
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win, ierr); OK
  one = -1 - rank
  call MPI_Put(one, 1, MPI_INTEGER, peer, displacement, 1, MPI_INTEGER, win, ierr); OK
  call MPI_Win_unlock(peer, win, ierr); OK
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierr); OK
  call seen(mine)
  CHECK(mine(1) == -1 - mod(rank + size_ - 1, size_))
  call MPI_Win_unlock(rank, win, ierr); OK
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  call MPI_Win_detach(win, mine, ierr); OK
  call MPI_Win_free(win, ierr); OK

  call finish()

contains
  ! The peer's address into displacement.
  subroutine exchange()
    integer(MPI_ADDRESS_KIND) :: out(1), in(1)
    out(1) = address
    call MPI_Sendrecv(out, 1, MPI_AINT, mod(rank + size_ - 1, size_), 0, in, 1, MPI_AINT, peer, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr); OK
    displacement = in(1)
  end subroutine

  ! Memory that others have changed is read again.
  subroutine seen(memory)
    integer ASYNC :: memory(:)
    if (size(memory) < 1) memory = 0
  end subroutine

  subroutine on_error(window, code)
    T_WIN :: window
    integer :: code
    if (window /= MPI_WIN_NULL .and. code /= MPI_SUCCESS) handled = handled + 1
  end subroutine

#include "check.inc"
end program
