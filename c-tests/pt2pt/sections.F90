! Array sections as buffers of mpi_f08: strides, negative strides, components of derived types, columns
! and blocks of matrices, part of a section; blocking, nonblocking and persistent; large counts.
#include "fortran.h"
program sections
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  type particle
    integer :: id
    double precision :: position(3)
    integer :: kind
  end type
  integer :: i, j, count, next, before
  integer, asynchronous :: a(40), b(40), m(6, 8), w(6, 8), c(3, 4, 5), d(3, 4, 5)
  complex :: z(10), y(20)
  double precision :: x(3)
  type(particle), asynchronous :: p(7), q(7)
  integer(kind=MPI_COUNT_KIND) :: large, large_count
  T_REQUEST :: requests(2)
  T_DATATYPE :: pair
  STATUS(status)

  call start()
  next = mod(rank + 1, size_)
  before = mod(rank - 1 + size_, size_)
  a = [(i, i = 1, 40)]

  ! A stride to a reversed section.
  b = 0
  call MPI_Sendrecv(a(1:39:2), 20, MPI_INTEGER, next, 1, b(40:21:-1), 20, MPI_INTEGER, before, 1, &
                    MPI_COMM_WORLD, status)
  CHECK(all(b(1:20) == 0) .and. all(b(40:21:-1) == a(1:39:2)))
  call MPI_Get_count(status, MPI_INTEGER, count)
  CHECK(count == 20)

  ! Less than the section, and a message shorter than the receive.
  b = 0
  call MPI_Isend(a(2:40:3), 5, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Recv(b(1:40:4), 10, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, status)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  CHECK(all(b(1:17:4) == a(2:14:3)) .and. sum(b) == sum(a(2:14:3)))

  ! Nonblocking: a block of a matrix, a row of another.
  m = reshape([(i, i = 1, 48)], [6, 8])
  w = 0
  call MPI_Irecv(w(2:4, 3:5), 9, MPI_INTEGER, before, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(m(1:5:2, 2:8:3), 9, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(w(2:4, 3:5) == m(1:5:2, 2:8:3)) .and. sum(w) == sum(m(1:5:2, 2:8:3)))
  w = 0
  call MPI_Irecv(w(6, :), 8, MPI_INTEGER, before, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(m(3, 8:1:-1), 8, MPI_INTEGER, next, 4, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(w(6, :) == m(3, 8:1:-1)) .and. sum(w) == sum(m(3, :)))
  ! Part of a matrix section, not a whole number of columns.
  w = 0
  call MPI_Irecv(w(1:6:2, 1:8:2), 7, MPI_INTEGER, before, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(m(2:6:2, 1:7:2), 7, MPI_INTEGER, next, 5, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(w(1:6:2, 1:3:2) == m(2:6:2, 1:3:2)) .and. w(1, 5) == m(2, 5) .and. w(3, 5) == 0)

  ! Three dimensions, each with a stride.
  c = reshape([(i, i = 1, 60)], [3, 4, 5])
  d = 0
  call MPI_Irecv(d(1:3:2, 4:1:-2, 5:1:-2), 12, MPI_INTEGER, before, 6, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(c(1:3:2, 1:4:2, 1:5:2), 12, MPI_INTEGER, next, 6, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(d(1:3:2, 4:1:-2, 5:1:-2) == c(1:3:2, 1:4:2, 1:5:2)))

  ! Components of derived types.
  do i = 1, 7
    p(i) = particle(i, [(i + 0.25d0 * j, j = 1, 3)], -i)
    q(i) = particle(0, [0d0, 0d0, 0d0], 0)
  end do
  call MPI_Irecv(q%kind, 7, MPI_INTEGER, before, 7, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(p%id, 7, MPI_INTEGER, next, 7, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(q%kind == p%id) .and. all(q%id == 0))
  call MPI_Sendrecv(p(2:6:2)%position(2), 3, MPI_DOUBLE_PRECISION, next, 8, x, 3, MPI_DOUBLE_PRECISION, before, 8, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CHECK(all(x == p(2:6:2)%position(2)))

  ! Elements that are more than one of the datatype, and fewer.
  y = [(cmplx(i, -i), i = 1, 20)]
  z = 0
  call MPI_Sendrecv(y(1:20:2), 20, MPI_REAL, next, 9, z, 20, MPI_REAL, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CHECK(all(z == y(1:20:2)))
  b = 0
  call MPI_Irecv(b(2:40:2), 10, MPI_2INTEGER, before, 10, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(a(1:20), 10, MPI_2INTEGER, next, 10, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(b(2:40:2) == a(1:20)) .and. all(b(1:39:2) == 0))

  ! A datatype with holes over a section: by a copy.
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  b = 0
  call MPI_Sendrecv(a(1:40:3), 2, pair, next, 11, b(1:40:5), 6, MPI_INTEGER, before, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  CHECK(all(b(1:26:5) == [1, 7, 13, 16, 22, 28]) .and. sum(b) == 87)
  call MPI_Type_free(pair)

  call over_elements()
  call external()

  ! Persistent, and counts of 64 bits.
  b = 0
  large = 8
  call MPI_Recv_init(b(1:40:5), large, MPI_INTEGER, before, 12, MPI_COMM_WORLD, requests(1))
  call MPI_Send_init(a(40:1:-5), large, MPI_INTEGER, next, 12, MPI_COMM_WORLD, requests(2))
  do i = 1, 3
    a(40) = 100 * i
    call MPI_Startall(2, requests)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call MPI_Wait(requests(1), status)
    call MPI_Get_count(status, MPI_INTEGER, large_count)
    CHECK(large_count == large .and. b(1) == 100 * i .and. all(b(1:40:5) == a(40:1:-5)))
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Nothing of a section, and sections that are contiguous after all.
  call MPI_Send(a(1:0:2), 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD)
  call MPI_Send(a(1:9:4), 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD)
  call passed_on(a, b)

  ! Too few elements for the count; a type that does not fit: a copy that lives until the request is complete, which a
  ! persistent request has no use for.
  call return_errors()
  call MPI_Send(a(1:9:4), 4, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_BUFFER)
  call MPI_Isend(p(1:5:2)%id, 1, MPI_DOUBLE_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(1), ierr)
  CHECK(ierr == MPI_SUCCESS)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Send_init(p(1:5:2)%id, 1, MPI_DOUBLE_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(1), ierr)
  FAILS(MPI_ERR_BUFFER)
  call finish()
contains
  ! Datatypes without holes that are larger than an element of the array.
  subroutine over_elements()
    type(MPI_Datatype) :: turned, four, mixed, column, three
    real, asynchronous :: r(40), s(40)
    complex, asynchronous :: z2(10)
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    r = [(real(i), i = 1, 40)]

    ! The order of its elements is not that of their addresses.
    call MPI_Type_indexed(2, [1, 1], [1, 0], MPI_INTEGER, turned); call MPI_Type_commit(turned)
    b = 0
    call MPI_Sendrecv(a(1:8:2), 2, turned, next, 14, b, 4, MPI_INTEGER, before, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(all(b(1:4) == [3, 1, 7, 5]) .and. all(b(5:) == 0))
    b = 0
    call MPI_Isend(a(1:4), 4, MPI_INTEGER, next, 15, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(b(2:8:2), 2, turned, before, 15, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(b(2:8:2) == [2, 1, 4, 3]) .and. sum(b) == 10)
    ! One whole datatype is an element: any order will do.
    z = 0
    call MPI_Sendrecv(y(1:20:2), 10, turned, next, 16, z, 10, turned, before, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(all(z == y(1:20:2)))

    ! A copy covers no more than the count says.
    z2 = [(cmplx(i, -i), i = 1, 10)]
    s = 0
    call MPI_Irecv(s(1:40:2), 2, MPI_COMPLEX, before, 17, MPI_COMM_WORLD, requests(1))
    call MPI_Sendrecv(z2(3), 1, MPI_COMPLEX, rank, 18, s(9:40:2), 1, MPI_COMPLEX, rank, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Send(z2, 2, MPI_COMPLEX, next, 17, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    CHECK(all(s(1:11:2) == [1., -1., 2., -2., 3., -3.]) .and. all(s(13:) == 0) .and. all(s(2::2) == 0))
    ! Persistent: by the basic elements, for there is no copy.
    call MPI_Send_init(r(1:8:2), 2, MPI_COMPLEX, next, 19, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(s(40:1:-3), 2, MPI_COMPLEX, before, 19, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(s(40:31:-3) == [1., 3., 5., 7.]) .and. s(28) == 0)
    call MPI_Request_free(requests(1)); call MPI_Request_free(requests(2))

    ! In order, whatever they are made of: an array of columns of two, one over three elements of 8 bytes, two basic types.
    call MPI_Type_vector(2, 2, 2, MPI_INTEGER, four)
    call MPI_Type_dup(four, column); call MPI_Type_commit(column)
    b = 0
    call MPI_Send_init(a(1:40:5), 2, column, next, 20, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(b(1:40:4), 2, column, before, 20, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(b(1:29:4) == a(1:40:5)) .and. all(b(33:) == 0))
    call MPI_Request_free(requests(1)); call MPI_Request_free(requests(2))
    call MPI_Type_contiguous(3, MPI_REAL, three); call MPI_Type_commit(three)
    z2 = 0
    call MPI_Send_init(y(1:20:3), 2, three, next, 21, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(z2, 6, MPI_REAL, before, 21, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(z2(1:3) == y(1:7:3)) .and. z2(4) == 0)
    call MPI_Request_free(requests(1)); call MPI_Request_free(requests(2))
    places = [0, 4]
    call MPI_Type_create_struct(2, [1, 1], places, [MPI_INTEGER, MPI_REAL], mixed); call MPI_Type_commit(mixed)
    b = 0
    call MPI_Send_init(a(1:40:2), 5, mixed, next, 22, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(b(2:40:2), 5, mixed, before, 22, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(all(b(2:20:2) == a(1:19:2)) .and. all(b(1::2) == 0))
    call MPI_Request_free(requests(1)); call MPI_Request_free(requests(2))
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send_init(a(1:8:2), 2, turned, next, 14, MPI_COMM_WORLD, requests(1), ierr); FAILS(MPI_ERR_BUFFER)
    ! More than the section by the holes, though not by the data.
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, mixed); call MPI_Type_commit(mixed)
    call MPI_Send(a(1:40:3), 4, mixed, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_BUFFER)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine

  ! external32 converts integers, not bytes.
  subroutine external()
    type(MPI_Datatype) :: two
    character :: packed(100)
    integer(kind=MPI_ADDRESS_KIND) :: position, room
    call MPI_Type_contiguous(2, MPI_INTEGER, two); call MPI_Type_commit(two)
    room = 100
    position = 0
    call MPI_Pack_external('external32', a(1:8:2), 2, two, packed, room, position)
    CHECK(position == 16 .and. ichar(packed(1)) == 0 .and. ichar(packed(4)) == 1 .and. ichar(packed(8)) == 3)
    position = 0
    b = 0
    call MPI_Unpack_external('external32', packed, room, position, b(1:8:2), 2, two)
    CHECK(all(b(1:8:2) == a(1:8:2)) .and. sum(b) == sum(a(1:8:2)))
    call MPI_Type_free(two)
  end subroutine

  ! Arrays whose extent the compiler does not know.
  subroutine passed_on(from, to)
    integer, asynchronous :: from(*), to(*)
    to(1:10) = 0
    call MPI_Sendrecv(from, 10, MPI_INTEGER, next, 13, to, 10, MPI_INTEGER, before, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(all(to(1:10) == from(1:10)))
  end subroutine

#include "check.inc"
end program
