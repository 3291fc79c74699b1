//! Performance variables.

use crate::param::*;
use crate::place::*;

stub! {
    fn MPI_T_pvar_get_index(name: Text, var_class: TProperty, pvar_index: Out<Int>);

    fn MPI_T_pvar_get_info(
        pvar_index: Int, name: TextOut, name_len: InOut<Int>, verbosity: Out<TProperty>,
        var_class: Out<TProperty>, datatype: Out<Datatype>, enumtype: Out<TEnum>, desc: TextOut,
        desc_len: InOut<Int>, bind: Out<TProperty>, readonly: Out<Logical>,
        continuous: Out<Logical>, atomic: Out<Logical>,
    );

    fn MPI_T_pvar_get_num(num_pvar: Out<Int>);

    fn MPI_T_pvar_handle_alloc(
        session: TPvarSession, pvar_index: Int, obj_handle: TObject, handle: Out<TPvarHandle>,
        count: Out<Int>,
    );

    fn MPI_T_pvar_handle_free(session: TPvarSession, handle: InOut<TPvarHandle>);

    fn MPI_T_pvar_read(session: TPvarSession, handle: TPvarHandle, buf: TBuffer);

    fn MPI_T_pvar_readreset(session: TPvarSession, handle: TPvarHandle, buf: TBuffer);

    fn MPI_T_pvar_reset(session: TPvarSession, handle: TPvarHandle);

    fn MPI_T_pvar_session_create(session: Out<TPvarSession>);

    fn MPI_T_pvar_session_free(session: InOut<TPvarSession>);

    fn MPI_T_pvar_start(session: TPvarSession, handle: TPvarHandle);

    fn MPI_T_pvar_stop(session: TPvarSession, handle: TPvarHandle);

    fn MPI_T_pvar_write(session: TPvarSession, handle: TPvarHandle, buf: SendBuffer);
}
