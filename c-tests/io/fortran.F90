! Files from Fortran: handles, names with blanks behind them, offsets, views, requests, error handlers.
#include "fortran.h"
program files
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  call start()
  call one_file()
  call finish()
contains
#include "check.inc"

  subroutine one_file()
    T_FILE :: file, same
    T_DATATYPE :: filetype, etype, told
    T_REQUEST :: request
    STATUS(status)
    T_ERRHANDLER :: handler
    T_GROUP :: group
    character(len=300) :: folder, name
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    integer(kind=MPI_OFFSET_KIND) :: bytes, disp, at
    integer, save, asynchronous :: values(10), found(10)
    integer :: amode, length, i
    integer(kind=MPI_OFFSET_KIND) :: clock
    logical :: flag
    clock = 0
    call system_clock(clock)
    call MPI_Bcast(clock, 1, MPI_OFFSET, 0, MPI_COMM_WORLD, ierr); OK
    ! Hosts may share another folder than /tmp.
    call get_environment_variable('TMPDIR', folder)
    if (folder == ' ') folder = '/tmp'
    write (name, '(a,a,i0,a,i0)') trim(folder), '/c-test-fortran-', size_, '-', clock
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
    CHECK(ierr /= MPI_SUCCESS)
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierr); OK
    CHECK(file /= MPI_FILE_NULL)
    same = file
    CHECK(same == file .and. .not. file == MPI_FILE_NULL)
    same = MPI_FILE_NULL
    CHECK(same == MPI_FILE_NULL .and. same /= file)
    call MPI_File_get_amode(file, amode, ierr); OK
    CHECK(amode == MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE)
    call MPI_File_get_group(file, group, ierr); OK
    call MPI_Group_size(group, length, ierr); OK
    CHECK(length == size_)
    call MPI_Group_free(group, ierr); OK
    call MPI_File_get_errhandler(file, handler, ierr); OK
    CHECK(handler == MPI_ERRORS_RETURN)
    values = [(100 * rank + i, i = 1, 10)]
    at = 40 * rank
    call MPI_File_write_at_all(file, at, values, 10, MPI_INTEGER, status, ierr); OK
    call MPI_Get_count(status, MPI_INTEGER, length, ierr); OK
    CHECK(length == 10)
    call MPI_File_iread_at(file, at, found, 10, MPI_INTEGER, request, ierr); OK
    call MPI_Wait(request, status, ierr); OK
    CHECK(all(found == values))
    call MPI_Get_count(status, MPI_INTEGER, length, ierr); OK
    CHECK(length == 10)
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    call MPI_File_get_size(file, bytes, ierr); OK
    CHECK(bytes == 40 * size_)
    ! Every other integer of the own part.
    call MPI_Type_vector(5, 1, 2, MPI_INTEGER, filetype, ierr); OK
    call MPI_Type_commit(filetype, ierr); OK
    disp = at
    call MPI_File_set_view(file, disp, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierr); OK
    call MPI_Type_free(filetype, ierr); OK
    call MPI_File_get_view(file, disp, etype, told, datarep, ierr); OK
    CHECK(disp == at .and. etype == MPI_INTEGER .and. datarep == 'native')
    call MPI_Type_free(told, ierr); OK
    call MPI_File_read(file, found, 5, MPI_INTEGER, status, ierr); OK
    CHECK(all(found(1:5) == values(1:9:2)))
    call MPI_File_get_position(file, at, ierr); OK
    CHECK(at == 5)
    at = 3
    call MPI_File_seek(file, at, MPI_SEEK_SET, ierr); OK
    call MPI_File_get_byte_offset(file, at, disp, ierr); OK
    CHECK(disp == 40 * rank + 24)
    call MPI_File_read_all_begin(file, found, 1, MPI_INTEGER, ierr); OK
    call MPI_File_read_all_end(file, found, status, ierr); OK
    CHECK(found(1) == values(7))
    call MPI_File_set_atomicity(file, .true., ierr); OK
    call MPI_File_get_atomicity(file, flag, ierr); OK
    CHECK(flag)
    call MPI_File_sync(file, ierr); OK
    call MPI_File_close(file, ierr); OK
    CHECK(file == MPI_FILE_NULL)
    call MPI_Barrier(MPI_COMM_WORLD, ierr); OK
    call MPI_File_delete(name, MPI_INFO_NULL, ierr)
    CHECK(ierr /= MPI_SUCCESS)
  end subroutine
end program
