! The module mpi: constants, types and interfaces, no code.
module mpi
  use, intrinsic :: iso_c_binding, only : c_ptr
  use mpi_f08_types
  implicit none
  private :: c_ptr
  !CONSTANTS
  !EXTERNALS
  interface MPI_Sizeof
    subroutine MPI_Sizeof_f08ts(x, size, ierror) bind(C, name="mpi_sizeof_cdesc_")
      type(*), dimension(..) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPI_Sizeof
    subroutine PMPI_Sizeof_f08ts(x, size, ierror) bind(C, name="pmpi_sizeof_cdesc_")
      type(*), dimension(..) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface
    subroutine MPI_F_sync_reg(buf)
      type(*), dimension(*), target :: buf
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
    end subroutine
    subroutine PMPI_F_sync_reg(buf)
      type(*), dimension(*), target :: buf
!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
!DIR$ IGNORE_TKR buf
    end subroutine
  end interface
  !INTERFACES
end module
