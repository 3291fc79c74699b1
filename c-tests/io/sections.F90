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
  call converted()
  call MPI_File_close(file, ierr); OK
  call finish()
contains
#include "check.inc"

  ! external32 converts the real basic elements of a datatype that is larger than an element of the array.
  subroutine converted()
    type(MPI_Datatype) :: two
    real, asynchronous :: x(20)
    complex :: z(2)
    integer(kind=MPI_OFFSET_KIND) :: disp
    call MPI_Type_contiguous(2, MPI_INTEGER, two, ierr); OK
    call MPI_Type_commit(two, ierr); OK
    x = [(real(rank + i), i = 1, 20)]
    disp = 64 * rank
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, ierr); OK
    at = 0
    call MPI_File_write_at(file, at, a(1:8:2), 2, two, status, ierr); OK
    b = -1
    call MPI_File_read_at(file, at, b, 4, MPI_INTEGER, status, ierr); OK
    CHECK(all(b(1:4) == a(1:8:2)) .and. all(b(5:) == -1))
    at = 4
    call MPI_File_write_at_all_begin(file, at, a(2:8:2), 2, two, ierr); OK
    call MPI_File_write_at_all_end(file, a(2:8:2), status, ierr); OK
    call MPI_File_read_at(file, at, b(40:37:-1), 4, MPI_INTEGER, status, ierr); OK
    CHECK(all(b(40:37:-1) == a(2:8:2)))
    call MPI_File_set_view(file, disp, MPI_COMPLEX, MPI_COMPLEX, 'external32', MPI_INFO_NULL, ierr); OK
    at = 4
    call MPI_File_write_at_all_begin(file, at, x(1:20:5), 2, MPI_COMPLEX, ierr); OK
    call MPI_File_write_at_all_end(file, x(1:20:5), status, ierr); OK
    call MPI_File_read_at(file, at, z, 2, MPI_COMPLEX, status, ierr); OK
    CHECK(z(1) == cmplx(x(1), x(6)) .and. z(2) == cmplx(x(11), x(16)))
    ! Half of such an integer is no integer.
    call MPI_File_write_at_all_begin(file, at, a(1:8:2), 2, MPI_INTEGER8, ierr); FAILS(MPI_ERR_BUFFER)
    call MPI_Type_free(two, ierr); OK
  end subroutine

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
