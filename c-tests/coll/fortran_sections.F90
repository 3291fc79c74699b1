! Array sections as buffers of collectives: strides, negative strides, two dimensions, components of derived
! types; blocking in every style, nonblocking in mpi_f08, where the descriptor says what the section is (in the
! other styles the compiler passes a copy that ends with the call, so MPI forbids them there). What is
! between the elements of a section stays, and a buffer that only the root uses is not touched elsewhere.
#include "fortran.h"
module particles
  implicit none
  type particle
    sequence
    double precision :: mass
    integer :: charge, spin
  end type
end module

program sections
  USE_MPI
  use particles
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: i, n, total
  integer, allocatable ASYNC, target :: a(:), b(:), matrix(:, :)
  type(particle), allocatable ASYNC, target :: cloud(:)
  double precision, allocatable ASYNC, target :: x(:)

  call start()
  n = size_
  total = n * (n + 1) / 2
  allocate (a(12), b(12), matrix(4, 6), cloud(6), x(6))
  call blocking()
#ifdef STYLE_F08
#ifndef REFERENCE
  call reductions()
  call others()
  call completions()
  call wrong()
#endif
#endif
  call finish()
contains
#include "check.inc"

  subroutine fill()
    integer :: j
    a = [(i * (rank + 1), i = 1, 12)]
    b = -1
    matrix = reshape([((10 * j + i, i = 1, 4), j = 1, 6)], [4, 6]) * (rank + 1)
    do j = 1, 6
      cloud(j) = particle(0.5d0 * j * (rank + 1), j * (rank + 1), -7)
    end do
    x = -1
  end subroutine

  subroutine blocking()
    call fill()
    call MPI_Allreduce(cloud(6:1:-2)%mass, x(1:5:2), 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr); OK
    CHECK(all(abs(x(1:5:2) - total * [3d0, 2d0, 1d0]) < 1d-12) .and. all(x(2:6:2) < 0))
    call MPI_Allreduce(matrix(3:2:-1, 1:5:2), b(12:2:-2), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
    CHECK(all(b(12:2:-2) == total * [13, 12, 33, 32, 53, 52]) .and. all(b(1:11:2) == -1))
    call MPI_Bcast(cloud(1:6:5)%charge, 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD, ierr); OK
    CHECK(cloud(1)%charge == n .and. cloud(6)%charge == 6 * n .and. all(cloud%spin == -7))
    CHECK(all(cloud(2:5)%charge == (rank + 1) * [2, 3, 4, 5]))
    call fill()
    call MPI_Reduce(a(12:1:-3), b(1:12:3), 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr); OK
    if (rank == 0) then
      CHECK(all(b(1:12:3) == total * [12, 9, 6, 3]) .and. count(b == -1) == 8)
    else
      CHECK(all(b == -1))
    end if
    call return_errors()
    call MPI_Allreduce(a(1:9:4), b(1:9:4), -1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); FAILS(MPI_ERR_COUNT)
  end subroutine

#ifdef STYLE_F08
#ifndef REFERENCE
  subroutine reductions()
    type(MPI_Request) :: request, several(3)
    integer ASYNC :: counts(n)
    call fill()
    call MPI_Iallreduce(a(12:1:-3), b(1:12:3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(all(b(1:12:3) == total * [12, 9, 6, 3]) .and. count(b == -1) == 8 .and. request == MPI_REQUEST_NULL)
    call MPI_Iallreduce(MPI_IN_PLACE, a(2:12:5), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(all(a(2:12:5) == total * [2, 7, 12]) .and. a(1) == rank + 1 .and. a(3) == 3 * (rank + 1))

    ! One of the two is contiguous; components; two dimensions.
    call fill()
    call MPI_Iallreduce(matrix(4:1:-3, 2:6:2), b, 6, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, several(1), ierr); OK
    call MPI_Iallreduce(cloud(1:6:2)%mass, x(6:1:-2), 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, several(2), ierr); OK
    call MPI_Iscan(a(1:12:4), cloud(3:1:-1)%spin, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, several(3), ierr); OK
    call MPI_Waitall(3, several, MPI_STATUSES_IGNORE, ierr); OK
    CHECK(all(b(1:6) == n * [24, 21, 44, 41, 64, 61]) .and. all(b(7:12) == -1))
    CHECK(all(abs(x(6:1:-2) - total * [0.5d0, 1.5d0, 2.5d0]) < 1d-12) .and. all(x(1:5:2) < 0))
    CHECK(all(cloud(3:1:-1)%spin == (rank + 1) * (rank + 2) / 2 * [1, 5, 9]) .and. all(cloud(4:6)%spin == -7))
    CHECK(all(cloud%charge == (rank + 1) * [1, 2, 3, 4, 5, 6]))

    ! Only the root's section is written.
    call fill()
    call MPI_Ireduce(a(1:12:6), b(11:1:-10), 2, MPI_INTEGER, MPI_SUM, n - 1, MPI_COMM_WORLD, request, ierr); OK
    if (rank /= n - 1) b = 5
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    if (rank == n - 1) then
      CHECK(b(11) == total .and. b(1) == 7 * total .and. count(b == -1) == 10)
    else
      CHECK(all(b == 5))
    end if

    call fill()
    call MPI_Iexscan(a(2:12:10), b(2:12:10), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    if (rank > 0) then
      CHECK(b(2) == 2 * rank * (rank + 1) / 2 .and. b(12) == 12 * rank * (rank + 1) / 2)
    end if
    CHECK(count(b == -1) >= 10)
    counts = 2
    b = -1
    call MPI_Ireduce_scatter(a(1:4 * n - 1:2), b(9:1:-8), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(b(9) == total * (4 * rank + 1) .and. b(1) == total * (4 * rank + 3) .and. count(b == -1) == 10)
    call MPI_Ireduce_scatter_block(a(1:2 * n:2), b(4:4), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(b(4) == total * (2 * rank + 1) )
  end subroutine

  ! A section of two dimensions where each rank has a block; types of each block.
  subroutine others()
    type(MPI_Request) :: request
    integer ASYNC, target :: wide(2 * n, 4)
    integer ASYNC :: counts(n), displs(n)
    type(MPI_Datatype) ASYNC :: types(n)
    call fill()
    wide = -1
    call MPI_Iallgather(a(1:12:11), 2, MPI_INTEGER, wide(1::2, 4:1:-3), 2, MPI_INTEGER, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(all([wide(1::2, 4:1:-3)] == [(i, 12 * i, i = 1, n)]) .and. all(wide(2::2, :) == -1) .and. all(wide(:, 2:3) == -1))
    counts = 1
    displs = [(4 * (i - 1), i = 1, n)]
    types = MPI_INTEGER
    wide = -1
    call MPI_Ialltoallw(a(1:2 * n:2), counts, displs, types, wide(2 * n:2:-2, 3), counts, displs, types, &
      MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    CHECK(all(wide(2 * n:2:-2, 3) == [((2 * rank + 1) * i, i = 1, n)]) .and. count(wide == -1) == 7 * n)
    call MPI_Igather(a(3:7:4), 2, MPI_INTEGER, wide(1::2, 1:2), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr); OK
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
    if (rank == 0) then
      CHECK(all([wide(1::2, 1:2)] == [(3 * i, 7 * i, i = 1, n)]))
    else
      CHECK(all(wide(:, 1:2) == -1))
    end if
  end subroutine

  ! Every way to complete such a request, and a section with a datatype that has holes.
  subroutine completions()
    type(MPI_Request) :: request, both(2)
    type(MPI_Status) :: status
    type(MPI_Datatype) :: holes
    integer ASYNC, target :: c(16), d(16)
    integer :: at, number, places(2)
    logical :: flag
    call fill()
    call MPI_Iallreduce(a(1:12:2), b(1:12:2), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); OK
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(request, flag, status, ierr); OK
    end do
    CHECK(all(b(1:12:2) == total * [1, 3, 5, 7, 9, 11]))
    flag = .false.
    call MPI_Test(request, flag, status, ierr); OK
    CHECK(flag .and. request == MPI_REQUEST_NULL)
    call MPI_Iallreduce(a(1:12:4), b(2:12:4), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, both(1), ierr); OK
    both(2) = MPI_REQUEST_NULL
    call MPI_Waitany(2, both, at, status, ierr); OK
    CHECK(at == 1 .and. all(b(2:12:4) == total * [1, 5, 9]))
    call MPI_Iscan(a(1:12:4), b(3:12:4), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, both(2), ierr); OK
    call MPI_Waitsome(2, both, number, places, MPI_STATUSES_IGNORE, ierr); OK
    CHECK(number == 1 .and. places(1) == 2 .and. all(b(3:12:4) == (rank + 1) * (rank + 2) / 2 * [1, 5, 9]))

    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, holes, ierr); OK
    call MPI_Type_commit(holes, ierr); OK
    c = [(i, i = 1, 16)]
    d = -1
    call MPI_Irecv(d(16:1:-2), 1, holes, rank, 3, MPI_COMM_WORLD, both(1), ierr); OK
    call MPI_Isend(c(2:16:3), 1, holes, rank, 3, MPI_COMM_WORLD, both(2), ierr); OK
    call MPI_Wait(both(1), status, ierr); OK
    call MPI_Wait(both(2), MPI_STATUS_IGNORE, ierr); OK
    call MPI_Get_count(status, holes, number, ierr); OK
    CHECK(number == 1 .and. status%MPI_SOURCE == rank .and. status%MPI_TAG == 3)
    CHECK(d(16) == 2 .and. d(12) == 8 .and. count(d == -1) == 14)
    call MPI_Type_free(holes, ierr); OK
  end subroutine

  subroutine wrong()
    type(MPI_Request) :: request
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, code
    call MPI_Iallreduce(a(1:9:4), b(1:9:4), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_BUFFER)
    code = ierr
    call MPI_Error_string(code, text, length, ierr); OK
    CHECK(index(text, 'MPI_Iallreduce') > 0 .and. index(text, 'sendbuf') > 0)
    call MPI_Iallreduce(a(1:9:4), b(1:9:4), -1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_COUNT)
    call MPI_Ireduce(a(1:9:4), b(1:9:4), 3, MPI_INTEGER, MPI_SUM, n, MPI_COMM_WORLD, request, ierr); FAILS(MPI_ERR_ROOT)
    call MPI_Ireduce(a(1:9:4), b(1:9:4), 3, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_NULL, request, ierr); FAILS(MPI_ERR_COMM)
    ! A persistent request has no end at which a copy has served.
    call MPI_Allreduce_init(a(1:9:4), b, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierr)
    FAILS(MPI_ERR_BUFFER)
    code = ierr
    call MPI_Error_string(code, text, length, ierr); OK
    CHECK(index(text, 'MPI_Allreduce_init') > 0 .and. index(text, 'sendbuf') > 0)
  end subroutine
#endif
#endif
end program
