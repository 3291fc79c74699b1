//! Deprecated and removed functions, chapters 16 and 17: old programs still call them.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_Address(location: Memory, address: Out<Aint>);

    fn MPI_Attr_delete(comm: Comm, keyval: Keyval) on comm;

    fn MPI_Attr_get(
        comm: Comm, keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on comm;

    fn MPI_Attr_put(comm: Comm, keyval: Keyval, attribute_val: AttributeValue) on comm;

    fn MPI_Errhandler_create(
        comm_errhandler_fn: CommErrhandlerFunction, errhandler: Out<Errhandler>,
    );

    fn MPI_Errhandler_get(comm: Comm, errhandler: Out<Errhandler>) on comm;

    fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) on comm;

    fn MPI_Get_elements_x(status: In<Status>, datatype: Datatype, count: Out<LargeCount>);

    fn MPI_Info_get(info: Info, key: Text, valuelen: Int, value: TextOut, flag: Out<Logical>);

    fn MPI_Info_get_valuelen(info: Info, key: Text, valuelen: Out<Int>, flag: Out<Logical>);

    fn MPI_Keyval_create(
        copy_fn: CopyFunction, delete_fn: DeleteFunction, keyval: Out<Keyval>,
        extra_state: ExtraState,
    );

    fn MPI_Keyval_free(keyval: InOut<Keyval>);

    fn MPI_Status_set_elements_x(status: InOut<Status>, datatype: Datatype, count: LargeCount);

    fn MPI_Type_extent(datatype: Datatype, extent: Out<Aint>);

    fn MPI_Type_get_extent_x(datatype: Datatype, lb: Out<LargeCount>, extent: Out<LargeCount>);

    fn MPI_Type_get_true_extent_x(
        datatype: Datatype, true_lb: Out<LargeCount>, true_extent: Out<LargeCount>,
    );

    fn MPI_Type_hindexed(
        count: Int, array_of_blocklengths: LooseArray<Int>,
        array_of_displacements: LooseArray<Aint>, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_hvector(
        count: Int, blocklength: Int, stride: Aint, oldtype: Datatype, newtype: Out<Datatype>,
    );

    fn MPI_Type_lb(datatype: Datatype, displacement: Out<Aint>);

    fn MPI_Type_size_x(datatype: Datatype, size: Out<LargeCount>);

    fn MPI_Type_struct(
        count: Int, array_of_blocklengths: LooseArray<Int>,
        array_of_displacements: LooseArray<Aint>, array_of_types: LooseArray<Datatype>,
        newtype: Out<Datatype>,
    );

    fn MPI_Type_ub(datatype: Datatype, displacement: Out<Aint>);
}
