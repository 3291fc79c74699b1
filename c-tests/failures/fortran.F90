! Failed processes from Fortran: the last rank ends without MPI_Finalize.
#include "fortran.h"
program failing
#ifdef STYLE_F08
  use mpi_ext_f08
#elif !defined STYLE_MPIF
  use mpi_ext
#else
  USE_MPI
#endif
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  interface
    subroutine end_at_once(code) bind(C, name="_exit")
      use, intrinsic :: iso_c_binding, only : c_int
      integer(c_int), value :: code
    end subroutine
  end interface
  T_GROUP :: failed, acked
  T_COMM :: comm, left
  T_REQUEST :: request
  integer, asynchronous :: bits
  integer :: last, x, n, class
  integer(kind=MPI_ADDRESS_KIND) :: survives
  logical :: flag

  call start()
  call return_errors()
  last = size_ - 1
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, survives, flag, ierr); OK
  CHECK(flag .and. survives == 1)
  call MPIX_Comm_is_revoked(MPI_COMM_WORLD, flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
  if (rank == last) call end_at_once(0)
  call MPI_Recv(x, 1, MPI_INTEGER, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Error_class(ierr, class, n)
  CHECK(class == MPIX_ERR_PROC_FAILED)
  call MPIX_Comm_get_failed(MPI_COMM_WORLD, failed, ierr); OK
  call MPI_Group_size(failed, n, ierr); OK
  CHECK(n == 1)
  call MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, n, ierr); OK
  CHECK(n == 0)
  call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierr); OK
  call MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, acked, ierr); OK
  call MPI_Group_compare(failed, acked, n, ierr); OK
  CHECK(n == MPI_IDENT)
  call MPI_Group_free(failed, ierr); OK
  call MPI_Group_free(acked, ierr); OK
  call MPIX_Comm_shrink(MPI_COMM_WORLD, comm, ierr); OK
  call MPI_Comm_size(comm, n, ierr); OK
  CHECK(n == last)
  call MPIX_Comm_revoke(comm, ierr); OK
  call MPIX_Comm_is_revoked(comm, flag, ierr); OK
  CHECK(flag)
  call MPI_Barrier(comm, ierr)
  call MPI_Error_class(ierr, class, n)
  CHECK(class == MPIX_ERR_REVOKED)
  bits = ior(4, ishft(1, 8 + rank))
  call MPIX_Comm_agree(comm, bits, ierr); OK
  CHECK(iand(bits, 255) == 4)
  call MPIX_Comm_iagree(comm, bits, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  CHECK(iand(bits, 255) == 4)
  call MPIX_Comm_agree_failed(comm, failed, ierr); OK
  call MPI_Group_size(failed, n, ierr); OK
  CHECK(n == 0)
  call MPIX_Comm_iagree_failed(comm, failed, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_Group_size(failed, n, ierr); OK
  CHECK(n == 0)
  call MPIX_Comm_ishrink(comm, left, request, ierr); OK
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr); OK
  call MPI_Comm_size(left, n, ierr); OK
  CHECK(n == last)
  call MPI_Barrier(left, ierr); OK
  call MPI_Comm_free(left, ierr); OK
  call MPI_Comm_free(comm, ierr); OK
  call finish()
contains
#include "check.inc"
end program
