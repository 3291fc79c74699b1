! Representations from Fortran: "external32", and functions of the program's that convert, with their extra state.
#include "fortran.h"
module conversions
  USE_MPI
#ifdef STYLE_F08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
#endif
  implicit none
  INCLUDE_MPI
  ! In the file each integer is negative, and its number in the buffer comes behind it.
  integer :: extents = 0, reads = 0, writes = 0, code = 0
  integer(kind=MPI_ADDRESS_KIND) :: seen = 0
  integer(kind=MPI_ADDRESS_KIND), save, target :: state = 0
contains
  subroutine extent_of(datatype, extent, extra_state, ierror)
    T_DATATYPE :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror, bytes
    extents = extents + 1
    seen = extra_state
    call MPI_Type_size(datatype, bytes, ierror)
    extent = 2 * bytes
    ierror = MPI_SUCCESS
  end subroutine

  subroutine to_file(user, file, count, position)
    integer :: user(*), file(*)
    integer(kind=MPI_OFFSET_KIND) :: count, position, i
    do i = 1, count
      file(2 * i - 1) = -user(position + i)
      file(2 * i) = int(position + i - 1)
    end do
    writes = writes + 1
  end subroutine

  subroutine to_memory(user, file, count, position)
    integer :: user(*), file(*)
    integer(kind=MPI_OFFSET_KIND) :: count, position, i
    do i = 1, count
      user(position + i) = -file(2 * i - 1)
    end do
    reads = reads + 1
  end subroutine

  subroutine read_it(userbuf, datatype, count, filebuf, position, extra_state, ierror)
#ifdef STYLE_F08
    type(c_ptr), value :: userbuf, filebuf
    integer, pointer :: user(:), file(:)
#else
    integer :: userbuf(*), filebuf(*)
#endif
    T_DATATYPE :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
#ifdef STYLE_F08
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [2 * count])
    call to_memory(user, file, int(count, MPI_OFFSET_KIND), position)
#else
    call to_memory(userbuf, filebuf, int(count, MPI_OFFSET_KIND), position)
#endif
    extra_state = extra_state + 1
    ierror = code
    if (datatype /= MPI_INTEGER) ierror = MPI_ERR_TYPE
  end subroutine

  subroutine write_it(userbuf, datatype, count, filebuf, position, extra_state, ierror)
#ifdef STYLE_F08
    type(c_ptr), value :: userbuf, filebuf
    integer, pointer :: user(:), file(:)
#else
    integer :: userbuf(*), filebuf(*)
#endif
    T_DATATYPE :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
#ifdef STYLE_F08
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [2 * count])
    call to_file(user, file, int(count, MPI_OFFSET_KIND), position)
#else
    call to_file(userbuf, filebuf, int(count, MPI_OFFSET_KIND), position)
#endif
    extra_state = extra_state + 100
    ierror = code
    if (datatype /= MPI_INTEGER) ierror = MPI_ERR_TYPE
  end subroutine

  subroutine native_extent(datatype, extent, extra_state, ierror)
    T_DATATYPE :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state, lb
    integer :: ierror
    seen = extra_state
    call MPI_Type_get_extent(datatype, lb, extent, ierror)
  end subroutine

#ifdef STYLE_F08
  subroutine write_large(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    integer, pointer :: user(:), file(:)
    type(MPI_Datatype) :: datatype
    integer(kind=MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    call c_f_pointer(userbuf, user, [position + count])
    call c_f_pointer(filebuf, file, [2 * count])
    call to_file(user, file, int(count, MPI_OFFSET_KIND), position)
    seen = extra_state
    ierror = MPI_SUCCESS
    if (datatype /= MPI_INTEGER) ierror = MPI_ERR_TYPE
  end subroutine
#endif
end module

program representations
  USE_MPI
  use conversions, only: extent_of, read_it, write_it, native_extent, extents, reads, writes, code, seen, state
#ifdef STYLE_F08
  use conversions, only: write_large
#endif
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer, parameter :: many = 100000
  integer, save :: values(many), found(2 * many)
  character(len=300) :: folder, name
  integer(kind=MPI_OFFSET_KIND) :: clock
  call start()
  clock = 0
  call system_clock(clock)
  call MPI_Bcast(clock, 1, MPI_OFFSET, 0, MPI_COMM_WORLD, ierr); OK
  ! Hosts may share another folder than /tmp.
  call get_environment_variable('TMPDIR', folder)
  if (folder == ' ') folder = '/tmp'
  write (name, '(a,a,i0,a,i0)') trim(folder), '/c-test-fortran-datarep-', size_, '-', clock
  call external()
  call of_the_program()
  call absent()
#ifdef STYLE_F08
  call large()
#endif
  call finish()
contains
#include "check.inc"

  subroutine open_it(file)
    T_FILE :: file
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierr); OK
  end subroutine

  subroutine external()
    T_FILE :: file
    T_DATATYPE :: etype, filetype
    STATUS(status)
    integer(kind=MPI_OFFSET_KIND) :: disp, at
    integer(kind=MPI_ADDRESS_KIND) :: extent
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    double precision :: numbers(3), back(3)
    character(len=1) :: bytes(8)
    call open_it(file)
    disp = 24 * rank
    call MPI_File_set_view(file, disp, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, 'external32  ', MPI_INFO_NULL, ierr); OK
    call MPI_File_get_view(file, at, etype, filetype, datarep, ierr); OK
    CHECK(at == disp .and. etype == MPI_DOUBLE_PRECISION .and. datarep == 'external32')
    call MPI_File_get_type_extent(file, MPI_LOGICAL, extent, ierr); OK
    CHECK(extent == 4)
    numbers = [1.5d0, -2.25d0, rank + 0.5d0]
    call MPI_File_write_all(file, numbers, 3, MPI_DOUBLE_PRECISION, status, ierr); OK
    at = 0
    call MPI_File_read_at(file, at, back, 3, MPI_DOUBLE_PRECISION, status, ierr); OK
    CHECK(all(back == numbers))
    call MPI_File_set_view(file, disp, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierr); OK
    call MPI_File_read_at(file, at, bytes, 8, MPI_BYTE, status, ierr); OK
    CHECK(ichar(bytes(1)) == 63 .and. ichar(bytes(2)) == 248 .and. ichar(bytes(8)) == 0)
    call MPI_File_close(file, ierr); OK
  end subroutine

  subroutine of_the_program()
    T_FILE :: file
    STATUS(status)
    integer(kind=MPI_OFFSET_KIND) :: disp, at
    integer(kind=MPI_ADDRESS_KIND) :: extent
    integer :: i, n
    state = 7
    call MPI_Register_datarep('negative', read_it, write_it, extent_of, state, ierr); OK
    call MPI_Register_datarep('negative  ', read_it, write_it, extent_of, state, ierr)
    FAILS(MPI_ERR_DUP_DATAREP)
    call MPI_Register_datarep('native', read_it, write_it, extent_of, state, ierr)
    FAILS(MPI_ERR_DUP_DATAREP)
    call open_it(file)
    disp = 8 * many * int(rank, MPI_OFFSET_KIND)
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'unknown', MPI_INFO_NULL, ierr)
    FAILS(MPI_ERR_UNSUPPORTED_DATAREP)
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL, ierr); OK
    CHECK(extents > 0 .and. seen == 7)
    call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierr); OK
    CHECK(extent == 8)
    values = [(i + rank, i = 1, many)]
    at = 0
    call MPI_File_write_at_all(file, at, values, many, MPI_INTEGER, status, ierr); OK
    call MPI_Get_count(status, MPI_INTEGER, n, ierr); OK
    CHECK(n == many .and. writes > 1 .and. state == 7 + 100 * writes)
    call MPI_File_read_at_all(file, at, found, many, MPI_INTEGER, status, ierr); OK
    CHECK(all(found(1:many) == values) .and. reads > 1 .and. state == 7 + 100 * writes + reads)
    code = MPI_ERR_OTHER
    call MPI_File_read_at(file, at, found, 1, MPI_INTEGER, status, ierr)
    FAILS(MPI_ERR_CONVERSION)
    code = MPI_SUCCESS
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr); OK
    call MPI_File_read_at(file, at, found, 2 * many, MPI_INTEGER, status, ierr); OK
    CHECK(all(found(1::2) == -values) .and. all(found(2::2) == [(i, i = 0, many - 1)]))
    call MPI_File_close(file, ierr); OK
  end subroutine

  subroutine absent()
    T_FILE :: file
    STATUS(status)
    integer(kind=MPI_OFFSET_KIND) :: disp
    call MPI_Register_datarep('as it is', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, native_extent, state, ierr); OK
    call open_it(file)
    disp = 4 * rank
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'as it is', MPI_INFO_NULL, ierr); OK
    CHECK(seen == state)
    values(1) = 1000 + rank
    call MPI_File_write_all(file, values, 1, MPI_INTEGER, status, ierr); OK
    disp = 0
    call MPI_File_read_at_all(file, disp, found, 1, MPI_INTEGER, status, ierr); OK
    CHECK(found(1) == values(1))
    call MPI_File_close(file, ierr); OK
  end subroutine

#ifdef STYLE_F08
  subroutine large()
    T_FILE :: file
    STATUS(status)
    integer(kind=MPI_OFFSET_KIND) :: disp
    seen = 0
    call MPI_Register_datarep_c('large', MPI_CONVERSION_FN_NULL_C, write_large, extent_of, state, ierr); OK
    call open_it(file)
    disp = 80 * rank
    call MPI_File_set_view(file, disp, MPI_INTEGER, MPI_INTEGER, 'large', MPI_INFO_NULL, ierr); OK
    writes = 0
    call MPI_File_write_all(file, values, 10, MPI_INTEGER, status, ierr); OK
    CHECK(writes == 1 .and. seen == state)
    disp = 0
    call MPI_File_read_at(file, disp, found, 1, MPI_INTEGER, status, ierr)
    FAILS(MPI_ERR_CONVERSION)
    call MPI_File_close(file, ierr); OK
  end subroutine
#endif
end program
