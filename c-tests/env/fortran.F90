! The environment in Fortran: versions, names and their padding, time, memory, error classes and codes of the
! program, levels of threads; wrong arguments.
#include "fortran.h"
program environment
  USE_MPI
  use, intrinsic :: iso_c_binding
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: version, subversion, n, class, code, provided
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: text
  double precision :: before
  logical :: flag
#ifndef STYLE_MPIF
  type(c_ptr) :: place
  integer, pointer :: memory(:)
#endif

  call MPI_Get_version(version, subversion, ierr); OK
#ifdef MODULES_OF_REFERENCE
  CHECK(version >= 3 .and. subversion >= 0)
#else
  CHECK(version == MPI_VERSION .and. subversion == MPI_SUBVERSION)
#endif
  library = repeat('x', len(library))
  call MPI_Get_library_version(library, n, ierr); OK
  CHECK(n > 0 .and. (library(n + 1:) == '' .or. n == len(library)))
  call MPI_Initialized(flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr); OK
  CHECK(provided >= MPI_THREAD_FUNNELED)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr); OK
  call MPI_Comm_size(MPI_COMM_WORLD, size_, ierr); OK
  call MPI_Query_thread(n, ierr); OK
  CHECK(n == provided)
  call MPI_Is_thread_main(flag, ierr); OK
  CHECK(flag)
  call MPI_Finalized(flag, ierr); OK
  CHECK(.not. flag)
  name = repeat('x', len(name))
  call MPI_Get_processor_name(name, n, ierr); OK
  CHECK(n > 0 .and. index(name(1:n), ' ') == 0 .and. name(n + 1:) == '')
  before = MPI_Wtime()
  CHECK(MPI_Wtime() >= before .and. MPI_Wtick() > 1d-12 .and. MPI_Wtick() < 1)
  call MPI_Pcontrol(1)
#ifndef STYLE_MPIF
  call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, place, ierr); OK
  call c_f_pointer(place, memory, [10])
  memory = rank
  call MPI_Allreduce(MPI_IN_PLACE, memory, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr); OK
  CHECK(all(memory == size_ * (size_ - 1) / 2))
  call MPI_Free_mem(memory, ierr); OK
#endif

  call return_errors()
  call MPI_Add_error_class(class, ierr); OK
  CHECK(class > MPI_ERR_LASTCODE)
  call MPI_Add_error_code(class, code, ierr); OK
  call MPI_Add_error_string(code, 'of the program   ', ierr); OK
  text = repeat('x', len(text))
  call MPI_Error_string(code, text, n, ierr); OK
  CHECK(n == 14 .and. text == 'of the program')
  call MPI_Error_class(code, n, ierr); OK
  CHECK(n == class)
#if !defined(REFERENCE) && !defined(MODULES_OF_REFERENCE)
  call MPI_Remove_error_string(code, ierr); OK
  call MPI_Remove_error_code(code, ierr); OK
  call MPI_Remove_error_class(class, ierr); OK
  call MPI_Remove_error_class(MPI_ERR_RANK, ierr)
  CHECK(ierr /= MPI_SUCCESS)
#endif
#ifndef STYLE_MPIF
  call MPI_Alloc_mem(-1_MPI_ADDRESS_KIND, MPI_INFO_NULL, place, ierr)
  CHECK(ierr /= MPI_SUCCESS)
#endif
#ifndef REFERENCE
  call MPI_Error_class(-5, n, ierr); FAILS(MPI_ERR_ARG)
#endif
  call finish()
contains
#include "check.inc"
end program
