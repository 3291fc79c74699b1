! Probes, matched receives and statuses in Fortran: what a status says after each, and functions that set it;
! wrong arguments.
#include "fortran.h"
program probes
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: n, next, before
  integer, target ASYNC :: a(6), b(6), c(6)
  integer(kind=MPI_COUNT_KIND) :: many
  logical :: flag
  STATUS(status)
  T_MESSAGE :: message
  T_REQUEST :: request, out

  call start()
  call return_errors()
  next = mod(rank + 1, size_)
  before = mod(rank + size_ - 1, size_)
  a = rank
  b = -1
  c = -1
  call MPI_Isend(a, 5, MPI_INTEGER, next, 3, MPI_COMM_WORLD, out, ierr); OK
  flag = .false.
  do while (.not. flag)
    call MPI_Iprobe(before, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierr); OK
  end do
  CHECK(SOURCE_OF(status) == before .and. TAG_OF(status) == 3)
  call MPI_Get_elements(status, MPI_INTEGER, n, ierr); OK
  CHECK(n == 5)
  call MPI_Get_elements_x(status, MPI_INTEGER, many, ierr); OK
  CHECK(many == 5)
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierr); OK
  end do
#ifdef STYLE_F08
  call MPI_Imrecv(c(6:2:-1), 5, MPI_INTEGER, message, request, ierr); OK
#else
  call MPI_Imrecv(c(2), 5, MPI_INTEGER, message, request, ierr); OK
#endif
  CHECK(message == MPI_MESSAGE_NULL)
  call MPI_Wait(request, status, ierr); OK
  call MPI_Wait(out, MPI_STATUS_IGNORE, ierr); OK
  call MPI_F_sync_reg(c)
  CHECK(c(1) == -1 .and. all(c(2:6) == before) .and. SOURCE_OF(status) == before)

  call MPI_Status_set_elements_x(status, MPI_INTEGER, 7_MPI_COUNT_KIND, ierr); OK
  call MPI_Get_count(status, MPI_INTEGER, n, ierr); OK
  CHECK(n == 7)
  call MPI_Status_set_cancelled(status, .true., ierr); OK
  call MPI_Test_cancelled(status, flag, ierr); OK
  CHECK(flag)
#if !defined(REFERENCE) && !defined(MODULES_OF_REFERENCE)
  call MPI_Status_set_source(status, 4, ierr); OK
  call MPI_Status_set_tag(status, 5, ierr); OK
  call MPI_Status_set_error(status, MPI_ERR_TAG, ierr); OK
  CHECK(SOURCE_OF(status) == 4 .and. TAG_OF(status) == 5 .and. ERROR_OF(status) == MPI_ERR_TAG)
  call MPI_Status_get_source(status, n, ierr); OK
  CHECK(n == 4)
  call MPI_Status_get_tag(status, n, ierr); OK
  CHECK(n == 5)
  call MPI_Status_get_error(status, n, ierr); OK
  CHECK(n == MPI_ERR_TAG)
#endif

  call MPI_Probe(size_, 1, MPI_COMM_WORLD, status, ierr); FAILS(MPI_ERR_RANK)
  call MPI_Iprobe(0, -4, MPI_COMM_WORLD, flag, status, ierr); FAILS(MPI_ERR_TAG)
  call MPI_Improbe(0, 1, MPI_COMM_NULL, flag, message, status, ierr); FAILS(MPI_ERR_COMM)
  call MPI_Get_count(status, MPI_DATATYPE_NULL, n, ierr); FAILS(MPI_ERR_TYPE)
  call MPI_Get_elements(status, MPI_DATATYPE_NULL, n, ierr); FAILS(MPI_ERR_TYPE)
  message = MPI_MESSAGE_NULL
  call MPI_Mrecv(b, 1, MPI_INTEGER, message, status, ierr)
  CHECK(ierr /= MPI_SUCCESS)
  call finish()
contains
#include "check.inc"
end program
