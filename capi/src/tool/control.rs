//! The tool interface: start, control variables, enumerations.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_T_cvar_get_index(name: Text, cvar_index: Out<Int>);

    fn MPI_T_cvar_get_info(
        cvar_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TProperty>,
        datatype: Out<Datatype>, enumtype: Out<TEnum>, desc: TextOut, desc_len: InOut<Int>,
        bind: Out<TProperty>, scope: Out<TProperty>,
    );

    fn MPI_T_cvar_get_num(num_cvar: Out<Int>);

    fn MPI_T_cvar_handle_alloc(
        cvar_index: Int, obj_handle: TObject, handle: Out<TCvarHandle>, count: Out<Int>,
    );

    fn MPI_T_cvar_handle_free(handle: InOut<TCvarHandle>);

    fn MPI_T_cvar_read(handle: TCvarHandle, buf: TBuffer);

    fn MPI_T_cvar_write(handle: TCvarHandle, buf: SendBuffer);

    fn MPI_T_enum_get_info(enumtype: TEnum, num: Out<Int>, name: TextOut, name_len: InOut<Int>);

    fn MPI_T_enum_get_item(
        enumtype: TEnum, indx: Int, value: Out<Int>, name: TextOut, name_len: InOut<Int>,
    );

    fn MPI_T_finalize();

    fn MPI_T_init_thread(required: ThreadLevel, provided: Out<ThreadLevel>);
}
