! Operations on windows from Fortran: accumulates of its types, pairs and logicals, compare-and-swap, derived types on both sides, requests.
#include "fortran.h"
program operations
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, parameter :: n = 40
  integer :: peer, before
  integer(MPI_ADDRESS_KIND) :: zero, bytes
  call start()
  peer = mod(rank + 1, size_)
  before = mod(rank + size_ - 1, size_)
  zero = 0
  call numbers()
  call pairs_and_logicals()
  call swaps()
  call shapes()
  call with_requests()
  call finish()
contains
  subroutine numbers()
    double precision ASYNC :: sums(n), ones(n), old(n)
    complex ASYNC :: product(2), factor(2)
    real ASYNC :: largest(3), mine(3)
    integer :: i
    T_WIN :: win
    sums = [(i, i = 1, n)]
    ones = 0.5d0
    bytes = 8 * n
    call MPI_Win_create(sums, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr); OK
    call MPI_Accumulate(ones, n, MPI_DOUBLE_PRECISION, 0, zero, n, MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr); OK
    call MPI_Get_accumulate(ones, n, MPI_DOUBLE_PRECISION, old, n, MPI_DOUBLE_PRECISION, 0, zero, n, MPI_DOUBLE_PRECISION, &
                            MPI_SUM, win, ierr); OK
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(sums)
    if (rank == 0) then
      CHECK(all(sums == [(i + 1.0d0 * size_, i = 1, n)]))
    end if
    call MPI_F_SYNC_REG(old)
    CHECK(all(old >= [(i + 0.5d0, i = 1, n)]))

    product = (1.0, 1.0)
    factor = (0.0, 1.0)
    bytes = 16
    call MPI_Win_create(product, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(factor, 2, MPI_COMPLEX, peer, zero, 2, MPI_COMPLEX, MPI_PROD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(product)
    CHECK(all(product == (-1.0, 1.0)))

    largest = [-1.0, 5.0, 1000.0]
    mine = real(rank)
    bytes = 12
    call MPI_Win_create(largest, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(mine, 3, MPI_REAL, 0, zero, 3, MPI_REAL, MPI_MAX, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(largest)
    if (rank == 0) then
      CHECK(largest(1) == size_ - 1 .and. largest(2) == max(5, size_ - 1) .and. largest(3) == 1000.0)
    end if
  end subroutine

  subroutine pairs_and_logicals()
    double precision ASYNC :: best(2), mine(2)
    integer ASYNC :: smallest(2), own(2)
    logical ASYNC :: flags(3), my_flags(3)
    T_WIN :: win
    best = [-5.0d0, -1.0d0]
    mine = [dble(mod(rank, 3)), dble(rank)]
    bytes = 16
    call MPI_Win_create(best, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(mine, 1, MPI_2DOUBLE_PRECISION, 0, zero, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(best)
    if (rank == 0) then
      CHECK(best(1) == min(size_ - 1, 2) .and. best(2) == min(size_ - 1, 2))
    end if
    smallest = [1000, 1000]
    own = [50 - rank, rank]
    bytes = 8
    call MPI_Win_create(smallest, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(own, 1, MPI_2INTEGER, 0, zero, 1, MPI_2INTEGER, MPI_MINLOC, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(smallest)
    if (rank == 0) then
      CHECK(smallest(1) == 51 - size_ .and. smallest(2) == size_ - 1)
    end if
    flags = [.true., .false., .true.]
    my_flags = [rank > 0, rank == 0, .true.]
    bytes = 12
    call MPI_Win_create(flags, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Accumulate(my_flags, 3, MPI_LOGICAL, 0, zero, 3, MPI_LOGICAL, MPI_LAND, win, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(flags)
    if (rank == 0) then
      CHECK(.not. flags(1) .and. .not. flags(2) .and. flags(3))
    end if
  end subroutine

  ! One rank of all changes the number.
  subroutine swaps()
    integer ASYNC :: cell(1), mine(1), none(1), found(1)
    integer :: won(1), all_won(1)
    T_WIN :: win
    cell = -1
    none = -1
    mine = rank
    bytes = 4
    call MPI_Win_create(cell, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win, ierr); OK
    call MPI_Compare_and_swap(mine, none, found, MPI_INTEGER, 0, zero, win, ierr); OK
    call MPI_Win_unlock(0, win, ierr); OK
    call MPI_F_SYNC_REG(found)
    won = 0
    if (found(1) == -1) won = 1
    call MPI_Allreduce(won, all_won, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
    CHECK(all_won(1) == 1)
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, win, ierr); OK
    call MPI_Fetch_and_op(mine, found, MPI_INTEGER, 0, zero, MPI_NO_OP, win, ierr); OK
    call MPI_Win_flush(0, win, ierr); OK
    call MPI_F_SYNC_REG(found)
    CHECK(found(1) >= 0 .and. found(1) < size_ .and. (won(1) == 0 .or. found(1) == rank))
    call MPI_Win_unlock_all(win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(cell)
  end subroutine

  ! A column into a row, freed at once.
  subroutine shapes()
    integer, parameter :: rows = 6, columns = 5
    integer ASYNC :: matrix(rows, columns), out(rows, columns)
    integer :: i, j
    T_DATATYPE :: row, column
    T_WIN :: win
    do j = 1, columns
      do i = 1, rows
        matrix(i, j) = 100 * i + j
        out(i, j) = 10000 * (rank + 1) + 100 * i + j
      end do
    end do
    bytes = 4 * rows * columns
    call MPI_Win_create(matrix, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Type_create_subarray(2, [rows, columns], [1, columns], [2, 0], MPI_ORDER_FORTRAN, MPI_INTEGER, row, ierr); OK
    call MPI_Type_commit(row, ierr); OK
    call MPI_Type_create_subarray(2, [rows, columns], [columns, 1], [1, 3], MPI_ORDER_FORTRAN, MPI_INTEGER, column, ierr); OK
    call MPI_Type_commit(column, ierr); OK
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr); OK
    call MPI_Put(out, 1, column, peer, zero, 1, row, win, ierr); OK
    call MPI_Type_free(column, ierr); OK
    call MPI_Win_fence(0, win, ierr); OK
    call MPI_F_SYNC_REG(matrix)
    do j = 1, columns
      do i = 1, rows
        if (i == 3) then
          CHECK(matrix(i, j) == 10000 * (before + 1) + 100 * (j + 1) + 4)
        else
          CHECK(matrix(i, j) == 100 * i + j)
        end if
      end do
    end do
    call MPI_Win_fence(0, win, ierr); OK
    out = -1
    call MPI_Get(out, 1, row, peer, zero, 1, row, win, ierr); OK
    call MPI_Type_free(row, ierr); OK
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(matrix)
    call MPI_F_SYNC_REG(out)
    CHECK(all(out(3, :) == [(10000 * (rank + 1) + 100 * (j + 1) + 4, j = 1, columns)]))
    CHECK(all(out(1:2, :) == -1) .and. all(out(4:, :) == -1))
  end subroutine

  subroutine with_requests()
    integer ASYNC :: memory(n), out(n), in(n), old(n)
    integer :: i
    integer(MPI_ADDRESS_KIND) :: half
    T_REQUEST :: requests(2)
    T_WIN :: win
    memory = 0
    out = [(1000 * rank + i, i = 1, n)]
    bytes = 4 * n
    half = n / 2
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr); OK
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win, ierr); OK
    call MPI_Rput(out, n / 2, MPI_INTEGER, peer, zero, n / 2, MPI_INTEGER, win, requests(1), ierr); OK
    call MPI_Rput(out(n / 2 + 1:), n / 2, MPI_INTEGER, peer, half, n / 2, MPI_INTEGER, win, requests(2), ierr); OK
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr); OK
    call MPI_Win_flush(peer, win, ierr); OK
    call MPI_Rget(in, n, MPI_INTEGER, peer, zero, n, MPI_INTEGER, win, requests(1), ierr); OK
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr); OK
    call MPI_Rget_accumulate(out, n, MPI_INTEGER, old, n, MPI_INTEGER, peer, zero, n, MPI_INTEGER, MPI_REPLACE, win, &
                             requests(1), ierr); OK
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr); OK
    call MPI_Win_unlock(peer, win, ierr); OK
    call MPI_F_SYNC_REG(in)
    call MPI_F_SYNC_REG(old)
    CHECK(all(in == out) .and. all(old == out))
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win, ierr); OK
    call MPI_F_SYNC_REG(memory)
    CHECK(all(memory == [(1000 * before + i, i = 1, n)]))
    call MPI_Win_unlock(rank, win, ierr); OK
    call MPI_Win_free(win, ierr); OK
    call MPI_F_SYNC_REG(memory)
  end subroutine
#include "check.inc"
end program
