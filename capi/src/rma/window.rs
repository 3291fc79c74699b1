//! Windows: creation, attributes, names.

use crate::param::*;
use crate::pointers::*;

stub! {
    Collective fn MPI_Win_allocate[_c](
        size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm, baseptr: AddressOut,
        win: Out<Win>,
    ) on comm;

    Collective fn MPI_Win_allocate_shared[_c](
        size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm, baseptr: AddressOut,
        win: Out<Win>,
    ) on comm;

    CommIo fn MPI_Win_attach(win: Win, base: Memory, size: Aint) on win;

    Collective fn MPI_Win_create[_c](
        base: Memory, size: Aint, disp_unit: DisplacementUnit, info: Info, comm: Comm,
        win: Out<Win>,
    ) on comm;

    Collective fn MPI_Win_create_dynamic(info: Info, comm: Comm, win: Out<Win>) on comm;

    CommIo fn MPI_Win_detach(win: Win, base: Address) on win;

    Collective fn MPI_Win_free(win: InOut<Win>) on win;

    UpdateRef fn MPI_Win_get_group(win: Win, group: Out<Group>) on win;

    Allocate fn MPI_Win_get_info(win: Win, info_used: Out<Info>) on win;

    AccessOnly fn MPI_Win_get_name(win: Win, win_name: TextOut, resultlen: Out<Int>) on win;

    UpdateList fn MPI_Win_set_info(win: Win, info: Info) on win;

    AccessOnly fn MPI_Win_set_name(win: Win, win_name: Text) on win;

    AccessOnly fn MPI_Win_shared_query[_c](
        win: Win, rank: Rank, size: Out<Aint>, disp_unit: Out<DisplacementUnit>,
        baseptr: AddressOut,
    ) on win;
}
