! Attributes from Fortran: values are integers as wide as an address, callbacks of the program are called
! by reference, predefined attributes give values; the predefined callbacks; the old functions.
#include "fortran.h"
module callbacks
  USE_MPI
  implicit none
  integer :: copies = 0, deletions = 0
  integer, save :: old_own
  integer(kind=selected_int_kind(18)), save, target :: own
  logical :: refuse = .false.
contains
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    INCLUDE_MPI
    T_COMM :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    flag = oldcomm == MPI_COMM_WORLD .and. comm_keyval /= MPI_KEYVAL_INVALID .and. extra_state == 4711
    attribute_val_out = attribute_val_in + 1
    ierror = MPI_SUCCESS
    if (attribute_val_in == -5) ierror = MPI_ERR_OTHER
  end subroutine
  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    INCLUDE_MPI
    T_COMM :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    ierror = MPI_SUCCESS
    if (comm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID .or. extra_state /= 4711 .or. &
        (refuse .and. attribute_val == 13)) &
      ierror = MPI_ERR_OTHER
  end subroutine
  ! Each changes the state that the program gave.
  subroutine copy_own(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    INCLUDE_MPI
    T_COMM :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = extra_state
    extra_state = extra_state + attribute_val_in
    flag = oldcomm == MPI_COMM_SELF .and. comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_own(comm, comm_keyval, attribute_val, extra_state, ierror)
    INCLUDE_MPI
    T_COMM :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    extra_state = extra_state + 10 * attribute_val
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, comm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID)
  end subroutine
  subroutine copy_own_type(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    INCLUDE_MPI
    T_DATATYPE :: oldtype
    integer :: type_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = extra_state
    extra_state = extra_state + attribute_val_in
    flag = oldtype /= MPI_DATATYPE_NULL .and. type_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_own_type(datatype, type_keyval, attribute_val, extra_state, ierror)
    INCLUDE_MPI
    T_DATATYPE :: datatype
    integer :: type_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    extra_state = extra_state + 10 * attribute_val
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, datatype /= MPI_DATATYPE_NULL .and. type_keyval /= MPI_KEYVAL_INVALID)
  end subroutine
#ifndef STYLE_F08
  subroutine old_copy_own(oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierr)
    INCLUDE_MPI
    integer :: oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, ierr
    logical :: flag
    attribute_val_out = extra_state
    extra_state = extra_state + attribute_val_in
    flag = oldcomm == MPI_COMM_SELF .and. keyval /= MPI_KEYVAL_INVALID
    ierr = MPI_SUCCESS
  end subroutine
  subroutine old_delete_own(comm, keyval, attribute_val, extra_state, ierr)
    INCLUDE_MPI
    integer :: comm, keyval, attribute_val, extra_state, ierr
    extra_state = extra_state + 10 * attribute_val
    ierr = merge(MPI_SUCCESS, MPI_ERR_OTHER, comm /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID)
  end subroutine
  subroutine old_copy(oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierr)
    INCLUDE_MPI
    integer :: oldcomm, keyval, extra_state, attribute_val_in, attribute_val_out, ierr
    logical :: flag
    flag = oldcomm == MPI_COMM_WORLD .and. keyval /= MPI_KEYVAL_INVALID
    attribute_val_out = attribute_val_in * extra_state
    ierr = MPI_SUCCESS
  end subroutine
#endif
end module

program attributes
  USE_MPI
  use callbacks
  implicit none
  INCLUDE_MPI
  CHECK_VARIABLES
  integer :: key, other, freed
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  T_COMM :: comm
  T_DATATYPE :: type
#ifndef STYLE_F08
  integer :: old_value
#endif

  call start()
  ! Predefined attributes are values.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr); OK
  CHECK(flag .and. value >= 32767)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr); OK
  CHECK(flag .and. value >= MPI_SUCCESS)

  extra = 4711
  call MPI_Comm_create_keyval(copy, delete, key, extra, ierr); OK
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 123456789012_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr); OK
  CHECK(flag .and. value == 123456789012_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr); OK
  CHECK(copies == 1)
  call MPI_Comm_get_attr(comm, key, value, flag, ierr); OK
  CHECK(flag .and. value == 123456789013_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(comm, key, -7_MPI_ADDRESS_KIND, ierr); OK
  CHECK(deletions == 1)
  call MPI_Comm_get_attr(comm, key, value, flag, ierr); OK
  CHECK(flag .and. value == -7)
  call MPI_Comm_free(comm, ierr); OK
  CHECK(deletions == 2 .and. comm == MPI_COMM_NULL)

  ! What the callbacks report is what the calls report.
  call return_errors()
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 13_MPI_ADDRESS_KIND, ierr); OK
  refuse = .true.
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
  FAILS(MPI_ERR_OTHER)
  refuse = .false.
  call MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, 13_MPI_ADDRESS_KIND, ierr)
  FAILS(MPI_ERR_KEYVAL)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, other, extra, ierr); OK
  call MPI_Comm_set_attr(MPI_COMM_SELF, other, 99_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr); OK
  call MPI_Comm_get_attr(comm, other, value, flag, ierr); OK
  CHECK(flag .and. value == 99)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, other, ierr); OK
  call MPI_Comm_free_keyval(other, ierr); OK
  CHECK(other == MPI_KEYVAL_INVALID)
  call MPI_Comm_free(comm, ierr); OK

  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, other, extra, ierr); OK
  call MPI_Type_set_attr(MPI_INTEGER, other, 5_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Type_dup(MPI_INTEGER, type, ierr); OK
  call MPI_Type_get_attr(MPI_INTEGER, other, value, flag, ierr); OK
  CHECK(flag .and. value == 5)
  call MPI_Type_get_attr(type, other, value, flag, ierr); OK
  CHECK(.not. flag)
  call MPI_Type_free(type, ierr); OK
  call MPI_Type_delete_attr(MPI_INTEGER, other, ierr); OK

  ! A key that was freed works until its last attribute is gone (MPI 5.0, 7.7.2).
  call MPI_Comm_create_keyval(copy, delete, other, extra, ierr); OK
  freed = other
  call MPI_Comm_set_attr(MPI_COMM_WORLD, other, 20_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Comm_free_keyval(other, ierr); OK
  CHECK(other == MPI_KEYVAL_INVALID)
  copies = 0
  deletions = 0
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr); OK
  CHECK(copies == 2)
  call MPI_Comm_get_attr(comm, freed, value, flag, ierr); OK
  CHECK(flag .and. value == 21)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, freed, ierr); OK
  CHECK(deletions == 1)
  call MPI_Comm_set_attr(comm, freed, 22_MPI_ADDRESS_KIND, ierr); OK
  CHECK(deletions == 2)
  call MPI_Comm_free(comm, ierr); OK
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, other, extra, ierr); OK
  freed = other
  call MPI_Type_set_attr(MPI_INTEGER, other, 5_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Type_free_keyval(other, ierr); OK
  call MPI_Type_dup(MPI_INTEGER, type, ierr); OK
  call MPI_Type_delete_attr(MPI_INTEGER, freed, ierr); OK
  call MPI_Type_get_attr(type, freed, value, flag, ierr); OK
  CHECK(flag .and. value == 5)
  call MPI_Type_free(type, ierr); OK

#ifndef STYLE_F08
  call MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, other, 3, ierr); OK
  freed = other
  call MPI_Attr_put(MPI_COMM_SELF, other, -14, ierr); OK
  call MPI_Keyval_free(other, ierr); OK
  CHECK(other == MPI_KEYVAL_INVALID)
  call MPI_Attr_get(MPI_COMM_SELF, freed, old_value, flag, ierr); OK
  CHECK(flag .and. old_value == -14)
  call MPI_Attr_put(MPI_COMM_SELF, freed, -15, ierr); OK
  call MPI_Attr_delete(MPI_COMM_SELF, freed, ierr); OK

  call MPI_Keyval_create(old_copy, MPI_NULL_DELETE_FN, other, 3, ierr); OK
  call MPI_Attr_put(MPI_COMM_WORLD, other, -14, ierr); OK
  call MPI_Attr_get(MPI_COMM_WORLD, other, old_value, flag, ierr); OK
  CHECK(flag .and. old_value == -14)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, old_value, flag, ierr); OK
  CHECK(flag .and. old_value >= 32767)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 1_MPI_ADDRESS_KIND, ierr); OK
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr); OK
  call MPI_Attr_get(comm, other, old_value, flag, ierr); OK
  CHECK(flag .and. old_value == -42)
  call MPI_Attr_delete(MPI_COMM_WORLD, other, ierr); OK
  call MPI_Comm_free(comm, ierr); OK
  call MPI_Keyval_free(other, ierr); OK
#endif
  call own_state()
  call finish()
contains
#include "check.inc"

  ! The state is the program's variable: both sides see what the other changed.
  subroutine own_state()
    own = 1
    call MPI_Comm_create_keyval(copy_own, delete_own, other, own, ierr); OK
    own = 7000
    call MPI_Comm_set_attr(MPI_COMM_SELF, other, 1_MPI_ADDRESS_KIND, ierr); OK
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr); OK
    CHECK(own == 7001)
    call MPI_Comm_get_attr(comm, other, value, flag, ierr); OK
    CHECK(flag .and. value == 7000)
    own = 0
    call MPI_Comm_free(comm, ierr); OK
    CHECK(own == 70000)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, other, ierr); OK
    CHECK(own == 70010)
    call MPI_Comm_free_keyval(other, ierr); OK

    own = 1
    call MPI_Type_create_keyval(copy_own_type, delete_own_type, other, own, ierr); OK
    own = 8000
    call MPI_Type_dup(MPI_INTEGER, type, ierr); OK
    call MPI_Type_set_attr(type, other, 3_MPI_ADDRESS_KIND, ierr); OK
    call MPI_Type_delete_attr(type, other, ierr); OK
    CHECK(own == 8030)
    call MPI_Type_set_attr(type, other, 4_MPI_ADDRESS_KIND, ierr); OK
    call MPI_Type_free(type, ierr); OK
    CHECK(own == 8070)
    call MPI_Type_free_keyval(other, ierr); OK

#ifndef STYLE_F08
    old_own = 1
    call MPI_Keyval_create(old_copy_own, old_delete_own, other, old_own, ierr); OK
    old_own = 9000
    call MPI_Attr_put(MPI_COMM_SELF, other, 2, ierr); OK
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr); OK
    CHECK(old_own == 9002)
    call MPI_Comm_free(comm, ierr); OK
    CHECK(old_own == 9002 + 90000)
    call MPI_Attr_delete(MPI_COMM_SELF, other, ierr); OK
    CHECK(old_own == 9002 + 90020)
    call MPI_Keyval_free(other, ierr); OK
#endif
  end subroutine
end program
