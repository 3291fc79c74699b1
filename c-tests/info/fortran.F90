! Texts between Fortran and C: blanks at the end and the beginning, padding, lengths; names of objects,
! processors and errors; the values of LOGICAL results.
#include "fortran.h"
program texts
  USE_MPI
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  T_INFO :: info, copy
  T_COMM :: comm
  T_DATATYPE :: type
  integer :: length, n, code, class
  logical :: flag
  character(len=6) :: short
  character(len=40) :: value, key
  character(len=300) :: long
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_PROCESSOR_NAME) :: processor
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version

  call start()
  call MPI_Info_create(info, ierr); OK
  call MPI_Info_set(info, '  key ', '  a value  ', ierr); OK
  call MPI_Info_set(info, 'other', 'b', ierr); OK
  call MPI_Info_get_nkeys(info, n, ierr); OK
  CHECK(n == 2)
  call MPI_Info_get_nthkey(info, 0, key, ierr); OK
  CHECK(key == 'key')
  value = 'unchanged'
  call MPI_Info_get(info, 'key   ', len(value), value, flag, ierr); OK
  CHECK(flag .and. value == 'a value')
  value = 'unchanged'
  call MPI_Info_get(info, 'none', len(value), value, flag, ierr); OK
  CHECK(.not. flag .and. value == 'unchanged')
  call MPI_Info_get(info, 'key', len(short), short, flag, ierr); OK
  CHECK(flag .and. short == 'a valu')
  call MPI_Info_get_valuelen(info, 'key', length, flag, ierr); OK
  CHECK(flag .and. length == 7)
#ifndef REFERENCE
  length = 0
  call MPI_Info_get_string(info, 'key', length, value, flag, ierr); OK
  CHECK(flag .and. length == 7)
  length = len(value)
  call MPI_Info_get_string(info, 'key', length, value, flag, ierr); OK
  CHECK(flag .and. length == 7 .and. value == 'a value')
  length = 3
  call MPI_Info_get_string(info, 'key', length, value, flag, ierr); OK
  CHECK(flag .and. length == 7 .and. value == 'a v')
#endif
  ! Longer than what lies on the stack.
  long = repeat('x', 300)
  call MPI_Info_set(info, 'long', long, ierr); OK
  call MPI_Info_get_valuelen(info, 'long', length, flag, ierr); OK
  CHECK(flag .and. length == 300)
  call MPI_Info_dup(info, copy, ierr); OK
  call MPI_Info_delete(copy, 'long', ierr); OK
  call MPI_Info_get_nkeys(copy, n, ierr); OK
  CHECK(n == 2)
  call MPI_Info_free(copy, ierr); OK
  CHECK(copy == MPI_INFO_NULL)
  call MPI_Info_free(info, ierr); OK

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr); OK
  call MPI_Comm_set_name(comm, ' with blanks   ', ierr); OK
  name = repeat('?', len(name))
  call MPI_Comm_get_name(comm, name, length, ierr); OK
  CHECK(name == ' with blanks' .and. length == 12)
#ifndef REFERENCE
  short = '??????'
  call MPI_Comm_get_name(comm, short, length, ierr); OK
  CHECK(short == ' with ')
#endif
  call MPI_Comm_free(comm, ierr); OK
  call MPI_Type_contiguous(2, MPI_REAL, type, ierr); OK
  call MPI_Type_get_name(type, name, length, ierr); OK
  CHECK(length == 0 .and. name == '')
  call MPI_Type_free(type, ierr); OK
  call MPI_Get_processor_name(processor, length, ierr); OK
  CHECK(length > 0 .and. len_trim(processor) == length)
  call MPI_Get_library_version(version, length, ierr); OK
  CHECK(length > 0)

  call return_errors()
  call MPI_Error_string(MPI_ERR_TAG, text, length, ierr); OK
  CHECK(length > 0 .and. len_trim(text) == length)
  call MPI_Add_error_class(class, ierr); OK
  call MPI_Add_error_code(class, code, ierr); OK
  call MPI_Add_error_string(code, 'of our own  ', ierr); OK
  call MPI_Error_string(code, text, length, ierr); OK
  CHECK(index(text, 'of our own') > 0)
  call MPI_Info_set(MPI_INFO_NULL, 'a', 'b', ierr)
  FAILS(MPI_ERR_INFO)
  call MPI_Initialized(flag, ierr); OK
  CHECK(flag)
  call MPI_Finalized(flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Comm_test_inter(MPI_COMM_WORLD, flag, ierr); OK
  CHECK(.not. flag)
  call finish()
contains
#include "check.inc"
end program
