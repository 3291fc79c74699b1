! CLASS(*) buffers of mpi_f08: scalars, arrays, sections of arrays that the compiler copies, sent and received.
#include "fortran.h"
module polymorphic_buffers
  use mpi_f08
  implicit none
contains
  subroutine swap_scalar(from, to, type)
    class(*) :: from, to
    type(MPI_Datatype), intent(in) :: type
    call MPI_Sendrecv(from, 1, type, 0, 1, to, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine swap_array(from, to, count, type)
    class(*) :: from(:), to(:)
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: type
    call MPI_Sendrecv(from, count, type, 0, 1, to, count, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine swap_matrix(from, to, count)
    class(*) :: from(:, :), to(:, :)
    integer, intent(in) :: count
    call MPI_Sendrecv(from, count, MPI_INTEGER, 0, 1, to, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine swap_any(from, to, count)
    class(*) :: from(..), to(..)
    integer, intent(in) :: count
    call MPI_Sendrecv(from, count, MPI_INTEGER, 0, 1, to, count, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine swap_element(from, to)
    class(*) :: from(:), to(:)
    call MPI_Sendrecv(from(2), 1, MPI_INTEGER, 0, 1, to(3), 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine swap_nonblocking(from, to, count)
    class(*), asynchronous :: from(:), to(:)
    integer, intent(in) :: count
    type(MPI_Request) :: requests(2)
    call MPI_Irecv(to, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(1))
    call MPI_Isend(from, count, MPI_INTEGER, 0, 2, MPI_COMM_SELF, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine
end module

program polymorphic
  use mpi_f08
  use polymorphic_buffers
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated
  implicit none
  CHECK_VARIABLES
  type three
    integer(kind=8) :: a, b, c
  end type
  type large
    integer :: a(25)
  end type
  integer, target :: a(20), b(20), m(4, 5), w(4, 5)
  integer :: i
  type(three) :: t, u, ts(3), us(3)
  type(large) :: l(2), k(2)
  type(c_ptr) :: p, q
  character(len=24) :: c, d
  double precision :: x(6), y(6)

  call start()
  a = [(i, i = 1, 20)]
  b = 0
  call swap_scalar(a(3), b(4), MPI_INTEGER)
  CHECK(b(4) == 3 .and. sum(b) == 3)
  t = three(1, 2, 3)
  u = three(0, 0, 0)
  call MPI_Sendrecv(t, 3, MPI_INTEGER8, 0, 1, u, 3, MPI_INTEGER8, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  CHECK(u%a == 1 .and. u%b == 2 .and. u%c == 3)
  u = three(0, 0, 0)
  call swap_scalar(t, u, MPI_INTEGER8)
  CHECK(u%a == 1 .and. u%b == 0)
  p = c_loc(a)
  q = c_loc(b)
  call swap_scalar(p, q, MPI_AINT)
  CHECK(c_associated(p, q))
  c = 'abcdefghijklmnopqrstuvwx'
  d = ' '
  call swap_scalar(c, d, MPI_CHARACTER)
  CHECK(d == 'a')

  b = 0
  call swap_array(a, b, 20, MPI_INTEGER)
  CHECK(all(a == b))
  b = 0
  call swap_array(a, b, 4, MPI_INTEGER)
  CHECK(all(b(1:4) == a(1:4)) .and. all(b(5:) == 0))
  b = 0
  call swap_array(a(20:20), b(2:2), 1, MPI_INTEGER)
  CHECK(b(2) == 20 .and. sum(b) == 20)
  call swap_array(a(1:0), b(1:0), 0, MPI_INTEGER)
  x = [(i * 1d0, i = 1, 6)]
  y = 0
  call swap_array(x, y, 6, MPI_DOUBLE_PRECISION)
  CHECK(all(x == y))
  ts = [(three(i, 10 * i, 100 * i), i = 1, 3)]
  us = u
  call swap_array(ts, us, 9, MPI_INTEGER8)
  CHECK(all(us%a == ts%a) .and. all(us%b == ts%b) .and. all(us%c == ts%c))
  l(1)%a = a(1)
  l(2)%a = [a, a(1:5)]
  call swap_array(l, k, 50, MPI_INTEGER)
  CHECK(all(k(1)%a == a(1)) .and. all(k(2)%a == l(2)%a))
  m = reshape(a, [4, 5])
  w = 0
  call swap_matrix(m, w, 20)
  CHECK(all(m == w))
  w = 0
  call swap_matrix(m(2:2, :), w(3:3, :), 5)
  CHECK(all(w(3, :) == m(2, :)) .and. sum(w) == sum(m(2, :)))
  b = 0
  call swap_any(a, b, 20)
  CHECK(all(a == b))
  w = 0
  call swap_any(m, w, 20)
  CHECK(all(m == w))
  b = 0
  call swap_any(a(5), b(6), 1)
  CHECK(b(6) == 5 .and. sum(b) == 5)
  b = 0
  call swap_element(a, b)
  CHECK(b(3) == 2 .and. sum(b) == 2)
  b = 0
  call swap_nonblocking(a, b, 20)
  CHECK(all(a == b))
  b = 0
  call swap_array(a(20:1:-1), b, 20, MPI_INTEGER)
  CHECK(all(b == a(20:1:-1)))
  call finish()
contains
#include "check.inc"
end program
