! Array sections in files: a refusal goes to the handler of the file, which returns errors.
#include "fortran.h"
program sections
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, asynchronous :: a(40), b(40)
  integer :: i
  character(len=300) :: folder, name
  integer(kind=MPI_OFFSET_KIND) :: clock, at
  STATUS(status)
  T_FILE :: file

  call start()
  clock = 0
  call system_clock(clock)
  call MPI_Bcast(clock, 1, MPI_OFFSET, 0, MPI_COMM_WORLD, ierr); OK
  ! Hosts may share another folder than /tmp.
  call get_environment_variable('TMPDIR', folder)
  if (folder == ' ') folder = '/tmp'
  write (name, '(a,a,i0,a,i0)') trim(folder), '/c-test-fortran-sections-', size_, '-', clock
  a = [(1000 * (rank + 1) + i, i = 1, 40)]
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierr); OK
  call refused()
  call MPI_File_close(file, ierr); OK
  call finish()
contains
#include "check.inc"

  ! The handlers of communicators are fatal.
  subroutine refused()
    at = 100 * rank
    call MPI_File_write_at(file, at, a(1:10:2), 8, MPI_INTEGER, status, ierr); FAILS(MPI_ERR_BUFFER)
    call MPI_File_write_at(file, at, a(1:10:2), 5, MPI_INTEGER, status, ierr); OK
    b = -1
    call MPI_File_read_at(file, at, b(40:32:-2), 5, MPI_INTEGER, status, ierr); OK
    CHECK(all(b(40:32:-2) == a(1:10:2)) .and. all(b(39:33:-2) == -1))
  end subroutine
end program
