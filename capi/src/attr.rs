//! Attributes and their keys on communicators, datatypes and windows.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Comm_create_keyval(
        comm_copy_attr_fn: CommCopyFunction, comm_delete_attr_fn: CommDeleteFunction,
        comm_keyval: Out<Keyval>, extra_state: ExtraState,
    );

    fn MPI_Comm_delete_attr(comm: Comm, comm_keyval: Keyval) on comm;

    fn MPI_Comm_free_keyval(comm_keyval: InOut<Keyval>);

    fn MPI_Comm_get_attr(
        comm: Comm, comm_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on comm;

    fn MPI_Comm_set_attr(comm: Comm, comm_keyval: Keyval, attribute_val: AttributeValue) on comm;

    fn MPI_Type_create_keyval(
        type_copy_attr_fn: TypeCopyFunction, type_delete_attr_fn: TypeDeleteFunction,
        type_keyval: Out<Keyval>, extra_state: ExtraState,
    );

    fn MPI_Type_delete_attr(datatype: Datatype, type_keyval: Keyval);

    fn MPI_Type_free_keyval(type_keyval: InOut<Keyval>);

    fn MPI_Type_get_attr(
        datatype: Datatype, type_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    );

    fn MPI_Type_set_attr(datatype: Datatype, type_keyval: Keyval, attribute_val: AttributeValue);

    fn MPI_Win_create_keyval(
        win_copy_attr_fn: WinCopyFunction, win_delete_attr_fn: WinDeleteFunction,
        win_keyval: Out<Keyval>, extra_state: ExtraState,
    );

    fn MPI_Win_delete_attr(win: Win, win_keyval: Keyval) on win;

    fn MPI_Win_free_keyval(win_keyval: InOut<Keyval>);

    fn MPI_Win_get_attr(
        win: Win, win_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on win;

    fn MPI_Win_set_attr(win: Win, win_keyval: Keyval, attribute_val: AttributeValue) on win;
}
