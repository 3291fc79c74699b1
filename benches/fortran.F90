! What a Fortran call costs over a C call: the twin of fortran.c, which says how both are run.
program calls
#if defined(F08)
  use mpi_f08
#elif !defined(MPIF)
  use mpi
#endif
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
#ifdef F08
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif
  character(len=20) :: text
  integer :: i, round, n, rank, ierror
  double precision :: start, rank_ns, round_trip_ns, x

  call get_command_argument(1, text)
  read (text, *) n
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  rank_ns = huge(rank_ns)
  round_trip_ns = huge(round_trip_ns)
  x = 0
  do round = 1, 5
    start = MPI_Wtime()
    do i = 1, n
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    end do
    rank_ns = min(rank_ns, (MPI_Wtime() - start) / n * 1d9)
    start = MPI_Wtime()
    do i = 1, n
      if (rank == 0) then
        call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierror)
        call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, status, ierror)
      else
        call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, status, ierror)
        call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, ierror)
      end if
    end do
    round_trip_ns = min(round_trip_ns, (MPI_Wtime() - start) / n * 1d9)
  end do
  if (rank == 0) print '(a,f8.2,a,f10.2)', 'MPI_Comm_rank ns', rank_ns, '   half round trip of 8 bytes ns', round_trip_ns / 2
  call MPI_Finalize(ierror)
end program
