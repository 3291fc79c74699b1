! The heat equation on a square, divided among a grid of ranks: the example of docs/fortran.md. heat.c is
! the same program in C and gives the same numbers and the same picture.
!
!     mpifort -O2 heat.F90 -o heat            (-DUSE_MPI: the module mpi; -DUSE_MPIF: mpif.h)
!     mpiexec -n 4 ./heat 96 500 heat.pgm     (points on a side, steps, the picture)
#if defined(USE_MPIF)
#define MODULE
#define HEADER include 'mpif.h'
#elif defined(USE_MPI)
#define MODULE use mpi
#define HEADER
#else
#define MODULE use mpi_f08
#define HEADER
#define TYPES
#endif
#ifdef TYPES
#define ASYNC , asynchronous
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#else
#define ASYNC
#define COMM integer
#define DATATYPE integer
#define REQUEST integer
#endif

program heat
  MODULE
  implicit none
  HEADER
  integer, parameter :: picture_tag = 9
  double precision, parameter :: hot = 100d0, share = 0.2d0
  integer :: n, steps, step, ranks, rank, ierror, i
  integer :: dims(2), coords(2), first(2), last(2), sizes(2), neighbors(4)
  logical :: periods(2)
  double precision :: change, largest
  double precision, allocatable ASYNC :: u(:, :)
  double precision, allocatable :: next(:, :), whole(:, :)
  COMM :: grid
  DATATYPE :: send_types(4), receive_types(4), inner
  REQUEST :: requests(8)
  character(len=200) :: argument, picture

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  n = 96
  steps = 500
  picture = 'heat.pgm'
  if (command_argument_count() >= 3) then
    call get_command_argument(1, argument)
    read (argument, *) n
    call get_command_argument(2, argument)
    read (argument, *) steps
    call get_command_argument(3, picture)
  end if

  ! Which part of the square is ours: points first to last in each direction.
  dims = 0
  periods = .false.
  call MPI_Dims_create(ranks, 2, dims, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., grid, ierror)
  call MPI_Comm_rank(grid, rank, ierror)
  call MPI_Cart_coords(grid, rank, 2, coords, ierror)
  call part(coords, first, last)
  sizes = last - first + 1
  call MPI_Cart_shift(grid, 0, 1, neighbors(1), neighbors(2), ierror)
  call MPI_Cart_shift(grid, 1, 1, neighbors(3), neighbors(4), ierror)

  ! Ours with a border of one point; the square's lower edge is hot, the other edges are cold.
  allocate (u(0:sizes(1) + 1, 0:sizes(2) + 1), next(sizes(1), sizes(2)))
  u = 0
  if (coords(2) == 0) u(:, 0) = hot
  call MPI_Type_create_subarray(2, sizes + 2, sizes, [1, 1], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, inner, ierror)
  call MPI_Type_commit(inner, ierror)
  call edge([1, sizes(2)], [1, 1], [0, 1], send_types(1), receive_types(1))
  call edge([1, sizes(2)], [sizes(1), 1], [sizes(1) + 1, 1], send_types(2), receive_types(2))
  call edge([sizes(1), 1], [1, 1], [1, 0], send_types(3), receive_types(3))
  call edge([sizes(1), 1], [1, sizes(2)], [1, sizes(2) + 1], send_types(4), receive_types(4))

  do step = 1, steps
    do i = 1, 4
      call MPI_Irecv(u, 1, receive_types(i), neighbors(i), 1, grid, requests(i), ierror)
      call MPI_Isend(u, 1, send_types(i), neighbors(i), 1, grid, requests(4 + i), ierror)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierror)
    call advance(u, next, change)
    call MPI_Allreduce(change, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierror)
  end do
  if (rank == 0) print '(a,i0,a,es13.6)', 'after ', steps, ' steps the largest change is ', largest

  call gather()
  do i = 1, 4
    call MPI_Type_free(send_types(i), ierror)
    call MPI_Type_free(receive_types(i), ierror)
  end do
  call MPI_Type_free(inner, ierror)
  call MPI_Comm_free(grid, ierror)
  call MPI_Finalize(ierror)
contains
  subroutine part(at, from, to)
    integer, intent(in) :: at(2)
    integer, intent(out) :: from(2), to(2)
    from = at * n / dims + 1
    to = (at + 1) * n / dims
  end subroutine

  ! Types for an edge: what is sent lies just inside, what is received in the border.
  subroutine edge(lengths, inside, border, send_type, receive_type)
    integer, intent(in) :: lengths(2), inside(2), border(2)
    DATATYPE, intent(out) :: send_type, receive_type
    call MPI_Type_create_subarray(2, sizes + 2, lengths, inside, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, send_type, ierror)
    call MPI_Type_commit(send_type, ierror)
    call MPI_Type_create_subarray(2, sizes + 2, lengths, border, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, receive_type, &
                                  ierror)
    call MPI_Type_commit(receive_type, ierror)
  end subroutine

  subroutine advance(old, new, most)
    double precision, intent(inout) :: old(0:sizes(1) + 1, 0:sizes(2) + 1)
    double precision, intent(out) :: new(sizes(1), sizes(2)), most
    integer :: x, y
    most = 0
    do y = 1, sizes(2)
      do x = 1, sizes(1)
        new(x, y) = old(x, y) + share * (old(x - 1, y) + old(x + 1, y) + old(x, y - 1) + old(x, y + 1) - 4 * old(x, y))
        most = max(most, abs(new(x, y) - old(x, y)))
      end do
    end do
    old(1:sizes(1), 1:sizes(2)) = new
  end subroutine

  ! Rank 0 receives each part where it belongs, and writes the picture.
  subroutine gather()
    integer :: other, at(2), from(2), to(2), unit, x, y
    DATATYPE :: place
    REQUEST :: sent
    call MPI_Isend(u, 1, inner, 0, picture_tag, grid, sent, ierror)
    if (rank == 0) then
      allocate (whole(n, n))
      do other = 0, ranks - 1
        call MPI_Cart_coords(grid, other, 2, at, ierror)
        call part(at, from, to)
        call MPI_Type_create_subarray(2, [n, n], to - from + 1, from - 1, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, place, &
                                      ierror)
        call MPI_Type_commit(place, ierror)
        call MPI_Recv(whole, 1, place, other, picture_tag, grid, MPI_STATUS_IGNORE, ierror)
        call MPI_Type_free(place, ierror)
      end do
      open (newunit=unit, file=picture, access='stream', form='formatted', status='replace')
      write (unit, '(a)') 'P2'
      write (unit, '(i0,1x,i0)') n, n
      write (unit, '(a)') '255'
      do y = n, 1, -1
        do x = 1, n
          write (unit, '(i0)') int(whole(x, y) / hot * 255)
        end do
      end do
      close (unit)
    end if
    call MPI_Wait(sent, MPI_STATUS_IGNORE, ierror)
  end subroutine
end program
