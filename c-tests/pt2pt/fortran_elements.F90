! Elements of arrays as arguments, as old programs give them: the array begins there (sequence association). Arrays of requests,
! statuses, counts, displacements, datatypes, ranks, dimensions; the elements before and behind have to stay.
#include "fortran.h"
program elements
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: next, before
  call start()
  next = mod(rank + 1, size_)
  before = mod(rank + size_ - 1, size_)
  call requests()
  call persistent()
  call counts()
  call datatypes()
  call groups()
  call topologies()
  call finish()
contains
#include "check.inc"

  subroutine requests()
    integer :: req(8), st(MPI_STATUS_SIZE, 9), in(4), out(4), list(6), n, i, which, done
    logical :: flag
    req = MPI_REQUEST_NULL
    st = -7
    out = [(10 * rank + i, i = 1, 4)]
    do i = 1, 3
      call MPI_Irecv(in(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, req(i + 1), ierr); OK
      call MPI_Isend(out(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, req(i + 4), ierr); OK
    end do
    call MPI_Waitall(6, req(2), st(1, 3), ierr); OK
    CHECK(all(st(:, 1:2) == -7) .and. all(st(:, 9) == -7) .and. all(req == MPI_REQUEST_NULL))
    CHECK(all(in(1:3) == [(10 * before + i, i = 1, 3)]))
    do i = 1, 3
      CHECK(st(MPI_SOURCE, i + 2) == before .and. st(MPI_TAG, i + 2) == i)
      call MPI_Get_count(st(1, i + 2), MPI_INTEGER, n, ierr); OK
      CHECK(n == 1)
      call MPI_Get_elements(st(1, i + 2), MPI_INTEGER, n, ierr); OK
      CHECK(n == 1)
      call MPI_Test_cancelled(st(1, i + 2), flag, ierr); OK
      CHECK(.not. flag)
    end do

    call MPI_Isend(out(4), 1, MPI_INTEGER, next, 4, MPI_COMM_WORLD, req(8), ierr); OK
    st = -7
    call MPI_Probe(before, 4, MPI_COMM_WORLD, st(1, 4), ierr); OK
    CHECK(st(MPI_TAG, 4) == 4 .and. all(st(:, 3) == -7) .and. all(st(:, 5) == -7))
    call MPI_Recv(in(4), 1, MPI_INTEGER, before, 4, MPI_COMM_WORLD, st(1, 2), ierr); OK
    CHECK(in(4) == 10 * before + 4 .and. st(MPI_SOURCE, 2) == before .and. all(st(:, 1) == -7))
    call MPI_Wait(req(8), st(1, 9), ierr); OK
    call MPI_Sendrecv(out(1), 1, MPI_INTEGER, next, 5, in(1), 1, MPI_INTEGER, before, 5, MPI_COMM_WORLD, st(1, 6), ierr); OK
    CHECK(in(1) == 10 * before + 1 .and. st(MPI_TAG, 6) == 5)
    call MPI_Sendrecv_replace(in(1), 1, MPI_INTEGER, before, 6, next, 6, MPI_COMM_WORLD, st(1, 7), ierr); OK
    CHECK(in(1) == out(1) .and. st(MPI_SOURCE, 7) == next)

    ! One after the other, by Waitany, Testany, Waitsome and Testsome.
    do i = 1, 4
      call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, req(i + 2), ierr); OK
    end do
    call MPI_Send(out(3), 1, MPI_INTEGER, rank, 3, MPI_COMM_WORLD, ierr); OK
    call MPI_Waitany(4, req(3), which, st(1, 8), ierr); OK
    CHECK(which == 3 .and. st(MPI_TAG, 8) == 3 .and. in(3) == out(3))
    call MPI_Send(out(2), 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierr); OK
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(4, req(3), which, flag, st(1, 8), ierr); OK
    end do
    CHECK(which == 2 .and. st(MPI_TAG, 8) == 2)
    call MPI_Send(out(4), 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, ierr); OK
    list = -7
    call MPI_Waitsome(4, req(3), done, list(2), st(1, 2), ierr); OK
    CHECK(done == 1 .and. list(2) == 4 .and. list(1) == -7 .and. st(MPI_TAG, 2) == 4)
    call MPI_Send(out(1), 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr); OK
    done = 0
    do while (done == 0)
      call MPI_Testsome(4, req(3), done, list(5), st(1, 3), ierr); OK
    end do
    CHECK(done == 1 .and. list(5) == 1 .and. list(6) == -7 .and. st(MPI_TAG, 3) == 1)
    call MPI_Testall(4, req(3), flag, st(1, 1), ierr); OK
    CHECK(flag .and. all(in == out))
  end subroutine

  subroutine persistent()
    integer :: req(4), st(MPI_STATUS_SIZE, 4), in(2), out(2), i
    in = -1
    out = [rank, rank + 100]
    do i = 1, 2
      call MPI_Recv_init(in(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, req(i), ierr); OK
      call MPI_Send_init(out(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, req(i + 2), ierr); OK
    end do
    call MPI_Startall(2, req(1), ierr); OK
    call MPI_Startall(2, req(3), ierr); OK
    call MPI_Waitall(2, req(3), st(1, 3), ierr); OK
    call MPI_Waitall(2, req(1), st(1, 1), ierr); OK
    CHECK(all(in == [before, before + 100]) .and. st(MPI_TAG, 2) == 2)
    do i = 1, 4
      call MPI_Request_free(req(i), ierr); OK
    end do
  end subroutine

  ! Counts and displacements from the third element on; block r has r + 1 elements at 10 r.
  subroutine counts()
    integer :: cnt(0:size_ + 3), dis(0:size_ + 3), ones(0:size_ + 3), steps(0:size_ + 3), i
    integer :: mine(size_ + 1), all_of(10 * size_), other(10 * size_), one
    cnt = -99
    dis = -99
    ones = -99
    steps = -99
    do i = 1, size_
      cnt(i + 1) = i
      dis(i + 1) = 10 * (i - 1)
      ones(i + 1) = 1
      steps(i + 1) = i - 1
    end do
    mine = 7 * rank
    all_of = -1
    call MPI_Gatherv(mine(1), rank + 1, MPI_INTEGER, all_of(1), cnt(2), dis(2), MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); OK
    if (rank == 0) call blocks(all_of)
    all_of = -1
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all_of(1), cnt(2), dis(2), MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
    call blocks(all_of)
    mine = -1
    call MPI_Scatterv(all_of, cnt(2), dis(2), MPI_INTEGER, mine(1), rank + 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr); OK
    CHECK(all(mine(1:rank + 1) == 7 * rank) .and. mine(size_ + 1) == -1)
    mine = [(100 * rank + i, i = 0, size_)]
    other = -1
    call MPI_Alltoallv(mine(1), ones(2), steps(2), MPI_INTEGER, other(1), ones(2), steps(2), MPI_INTEGER, MPI_COMM_WORLD, ierr); OK
    CHECK(all(other(1:size_) == [(100 * i + rank, i = 0, size_ - 1)]))
    mine = 1
    one = -1
    call MPI_Reduce_scatter(mine(1), one, ones(2), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
    CHECK(one == size_)
    call with_types()
  end subroutine

  subroutine blocks(all_of)
    integer, intent(in) :: all_of(*)
    integer :: i
    do i = 0, size_ - 1
      CHECK(all(all_of(10 * i + 1:10 * i + i + 1) == 7 * i) .and. all(all_of(10 * i + i + 2:10 * i + 10) == -1))
    end do
  end subroutine

  subroutine with_types()
    integer :: cnt(0:size_), bytes(0:size_), types(0:size_), mine(size_), other(size_), i
    cnt = 1
    types = MPI_INTEGER
    bytes = [-1, (4 * i, i = 0, size_ - 1)]
    mine = [(100 * rank + i, i = 0, size_ - 1)]
    call MPI_Alltoallw(mine(1), cnt(1), bytes(1), types(1), other(1), cnt(1), bytes(1), types(1), MPI_COMM_WORLD, ierr); OK
    CHECK(all(other == [(100 * i + rank, i = 0, size_ - 1)]))
  end subroutine

  subroutine datatypes()
    integer :: lengths(4), places(4), types(4), t, n, made(0:4), sizes(4), parts(4), starts(4)
    integer :: numbers(9), kinds(9)
    integer(kind=MPI_ADDRESS_KIND) :: bytes(4), addresses(9)
    lengths = [-1, 2, 3, -1]
    places = [-1, 0, 5, -1]
    bytes = [-1, 0, 16, -1]
    types = [-1, MPI_INTEGER, MPI_REAL, -1]
    call MPI_Type_indexed(2, lengths(2), places(2), MPI_INTEGER, t, ierr); OK
    call has_size(t, 20)
    call MPI_Type_create_indexed_block(2, 3, places(2), MPI_INTEGER, t, ierr); OK
    call has_size(t, 24)
    call MPI_Type_create_hindexed(2, lengths(2), bytes(2), MPI_INTEGER, t, ierr); OK
    call has_size(t, 20)
    call MPI_Type_create_hindexed_block(2, 1, bytes(2), MPI_INTEGER, t, ierr); OK
    call has_size(t, 8)
    sizes = [-1, 6, 5, -1]
    parts = [-1, 3, 2, -1]
    starts = [-1, 1, 0, -1]
    call MPI_Type_create_subarray(2, sizes(2), parts(2), starts(2), MPI_ORDER_FORTRAN, MPI_INTEGER, t, ierr); OK
    call has_size(t, 24)
    call MPI_Type_create_struct(2, lengths(2), bytes(2), types(2), t, ierr); OK
    numbers = -1
    kinds = -1
    addresses = -1
    call MPI_Type_get_contents(t, 3, 2, 2, numbers(2), addresses(3), kinds(4), ierr); OK
    CHECK(all(numbers(1:5) == [-1, 2, 2, 3, -1]) .and. all(addresses(2:5) == [-1, 0, 16, -1]))
    CHECK(all(kinds(3:6) == [-1, MPI_INTEGER, MPI_REAL, -1]))
    made = -1
    call MPI_Type_contiguous(3, t, made(2), ierr); OK
    call MPI_Type_commit(made(2), ierr); OK
    call MPI_Type_size(made(2), n, ierr); OK
    CHECK(n == 60 .and. made(1) == -1)
    call MPI_Type_free(made(2), ierr); OK
    call has_size(t, 20)
  end subroutine

  subroutine has_size(t, expected)
    integer, intent(inout) :: t
    integer, intent(in) :: expected
    integer :: n
    call MPI_Type_size(t, n, ierr); OK
    CHECK(n == expected)
    call MPI_Type_free(t, ierr); OK
  end subroutine

  subroutine groups()
    integer :: world, part, ranks(3), ranges(3, 3), there(0:size_ + 1), asked(0:size_), n, i
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierr); OK
    ranks = [-1, size_ - 1, -1]
    call MPI_Group_incl(world, 1, ranks(2), part, ierr); OK
    call MPI_Group_size(part, n, ierr); OK
    CHECK(n == 1)
    there = -7
    call MPI_Group_translate_ranks(part, 1, [0], world, there(1), ierr); OK
    CHECK(there(0) == -7 .and. there(1) == size_ - 1 .and. there(2) == -7)
    call MPI_Group_free(part, ierr); OK
    call MPI_Group_excl(world, 1, ranks(2), part, ierr); OK
    call MPI_Group_size(part, n, ierr); OK
    CHECK(n == size_ - 1)
    if (part /= MPI_GROUP_EMPTY) call MPI_Group_free(part, ierr)
    ranges = -1
    ranges(:, 2) = [0, size_ - 1, 1]
    call MPI_Group_range_incl(world, 1, ranges(1, 2), part, ierr); OK
    asked = [-1, (i, i = 0, size_ - 1)]
    call MPI_Group_translate_ranks(world, size_, asked(1), part, there(1), ierr); OK
    CHECK(all(there == [-7, (i, i = 0, size_ - 1), -7]))
    call MPI_Group_free(part, ierr); OK
    call MPI_Group_range_excl(world, 1, ranges(1, 2), part, ierr); OK
    CHECK(part == MPI_GROUP_EMPTY)
    call MPI_Group_free(world, ierr); OK
  end subroutine

  subroutine topologies()
    integer :: dims(0:3), coords(0:3), comm, sub, n, edges(9), nodes(9), i, place
    logical :: periods(0:3), keep(0:3)
    dims = [-7, 0, 1, -7]
    call MPI_Dims_create(size_, 2, dims(1), ierr); OK
    CHECK(all(dims == [-7, size_, 1, -7]))
    periods = [.false., .true., .false., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims(1), periods(1), .false., comm, ierr); OK
    coords = -7
    call MPI_Cart_coords(comm, rank, 2, coords(1), ierr); OK
    CHECK(all(coords == [-7, rank, 0, -7]))
    call MPI_Cart_rank(comm, coords(1), n, ierr); OK
    CHECK(n == rank)
    dims = -7
    coords = -7
    periods = .false.
    call MPI_Cart_get(comm, 2, dims(2), periods(2), coords(0), ierr); OK
    CHECK(all(dims == [-7, -7, size_, 1]) .and. periods(2) .and. .not. periods(3) .and. coords(0) == rank)
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims(2), periods(2), n, ierr); OK
    keep = [.false., .true., .false., .true.]
    call MPI_Cart_sub(comm, keep(1), sub, ierr); OK
    call MPI_Comm_size(sub, n, ierr); OK
    CHECK(n == size_)
    call MPI_Comm_free(sub, ierr); OK
    call MPI_Comm_free(comm, ierr); OK

    ! Each rank and itself.
    nodes(1) = -7
    edges(1) = -7
    do i = 1, size_
      nodes(i + 1) = i
      edges(i + 1) = i - 1
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, size_, nodes(2), edges(2), .false., comm, ierr); OK
    nodes = -7
    edges = -7
    call MPI_Graph_get(comm, size_, size_, nodes(3), edges(2), ierr); OK
    CHECK(nodes(2) == -7 .and. nodes(3) == 1 .and. edges(1) == -7 .and. edges(2) == 0)
    call MPI_Graph_neighbors(comm, rank, 1, edges(8), ierr); OK
    CHECK(edges(8) == rank .and. edges(9) == -7)
    call MPI_Graph_map(MPI_COMM_WORLD, size_, nodes(3), edges(2), place, ierr); OK
    call MPI_Comm_free(comm, ierr); OK
    call neighbors()
  end subroutine

  subroutine neighbors()
    integer :: comm, from(3), to(3), weights(3), heavy(3), in, out
    logical :: weighted
    from = [-1, before, -1]
    to = [-1, next, -1]
    weights = [-1, 5, -1]
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from(2), weights(2), 1, to(2), weights(2), MPI_INFO_NULL, &
      .false., comm, ierr); OK
    call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierr); OK
    CHECK(in == 1 .and. out == 1 .and. weighted)
    from = -7
    to = -7
    weights = -7
    heavy = -7
    call MPI_Dist_graph_neighbors(comm, 1, from(2), weights(3), 1, to(1), heavy(2), ierr); OK
    CHECK(all(from == [-7, before, -7]) .and. all(to == [next, -7, -7]))
    CHECK(weights(3) == 5 .and. heavy(2) == 5 .and. heavy(3) == -7)
    call MPI_Comm_free(comm, ierr); OK
    from = [-1, rank, -1]
    to = [-1, 1, -1]
    heavy = [-1, next, -1]
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, from(2), to(2), heavy(2), weights(3), MPI_INFO_NULL, .false., comm, ierr); OK
    call MPI_Comm_free(comm, ierr); OK
  end subroutine
end program
