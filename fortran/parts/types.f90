! The types of mpi_f08, which the module mpi has too, and comparing handles.
module mpi_f08_types
  implicit none
  public
  !KINDS
  !TYPES
  type, bind(C), public :: MPI_Status
    integer :: count_lo
    integer :: count_hi_and_cancelled
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
  end type
  !OPERATORS
end module
