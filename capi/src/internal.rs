//! Functions that are no part of MPI but that MPICH's header and the Fortran and C++ libraries of a
//! distribution call.
//!
//! Invariant: prototypes are those of MPICH 4.0; none has a PMPI twin.

use crate::error_return::{self, Origin};
use crate::param::{Comm, Datatype, Win};
use crate::types::{MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Op, MPI_Request, MPI_Win};
use crate::{attr, decode};
use oxmpi::attr::Target;
use oxmpi::error::Result;
use oxmpi::{errhandler, op};
use std::ffi::{c_char, c_int, c_void};

/// Makes an error code out of a class; the texts are those of MPICH's own functions.
#[unsafe(export_name = "MPIR_Err_create_code")]
extern "C" fn err_create_code(
    last_code: c_int,
    _fatal: c_int,
    _function: *const c_char,
    _line: c_int,
    class: c_int,
    _generic: *const c_char,
    _specific: *const c_char,
) -> c_int {
    if class != 0 { class } else { last_code }
}

#[unsafe(export_name = "MPIR_Err_return_comm")]
extern "C" fn err_return_comm(_comm: *mut c_void, _function: *const c_char, code: c_int) -> c_int {
    code
}

#[unsafe(export_name = "MPIR_Err_return_win")]
extern "C" fn err_return_win(_win: *mut c_void, _function: *const c_char, code: c_int) -> c_int {
    code
}

/// From now on the callbacks of a key are called through these functions of another language.
#[unsafe(export_name = "MPII_Keyval_set_proxy")]
extern "C" fn keyval_set_proxy(keyval: c_int, copy: usize, delete: usize) {
    oxmpi::attr::set_proxy(keyval, copy, delete);
}

#[unsafe(export_name = "MPII_Errhandler_set_cxx")]
extern "C" fn errhandler_set_cxx(handler: MPI_Errhandler, proxy: usize) {
    errhandler::set_proxy(handler, proxy);
}

/// From now on the function of an operation is called through this function of C++.
#[unsafe(export_name = "MPII_Op_set_cxx")]
extern "C" fn op_set_cxx(op: MPI_Op, proxy: usize) {
    op::set_proxy(op, proxy);
}

/// Says that the callbacks of a generalized request are Fortran's.
#[unsafe(export_name = "MPII_Grequest_set_lang_f77")]
extern "C" fn grequest_set_lang_f77(request: MPI_Request) {
    oxmpi::pt2pt::generalized::set_fortran(request);
}

fn code_of(result: Result<()>, function: &'static str, origin: Origin) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => error_return::raise(error, function, &[], origin),
    }
}

// Attributes as seen by another language: `kind` is 0 for a pointer, 1 for an address-sized integer,
// 3 for an int.

#[unsafe(export_name = "MPII_Comm_set_attr")]
extern "C" fn comm_set_attr(
    comm: MPI_Comm,
    keyval: c_int,
    value: *mut c_void,
    kind: c_int,
) -> c_int {
    let result = decode::any_comm(Comm(comm)).and_then(|object| {
        let attributes = &object.attributes;
        attr::set_foreign(attributes, Target::Comm, object.handle, keyval, value, kind)
    });
    code_of(result, "MPII_Comm_set_attr", Origin::Comm(Comm(comm)))
}

#[unsafe(export_name = "MPII_Comm_get_attr")]
extern "C" fn comm_get_attr(
    comm: MPI_Comm,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    let result = decode::any_comm(Comm(comm))
        .and_then(|object| attr::give_foreign(|| attr::of_comm(object, keyval), value, flag, kind));
    code_of(result, "MPII_Comm_get_attr", Origin::Comm(Comm(comm)))
}

#[unsafe(export_name = "MPII_Type_set_attr")]
extern "C" fn type_set_attr(
    datatype: MPI_Datatype,
    keyval: c_int,
    value: *mut c_void,
    kind: c_int,
) -> c_int {
    let result = decode::datatype(Datatype(datatype)).and_then(|object| {
        let attributes = &object.attributes;
        attr::set_foreign(
            attributes,
            Target::Datatype,
            object.handle,
            keyval,
            value,
            kind,
        )
    });
    code_of(result, "MPII_Type_set_attr", Origin::None)
}

#[unsafe(export_name = "MPII_Type_get_attr")]
extern "C" fn type_get_attr(
    datatype: MPI_Datatype,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    let result = decode::datatype(Datatype(datatype))
        .and_then(|object| attr::give_foreign(|| attr::of_type(object, keyval), value, flag, kind));
    code_of(result, "MPII_Type_get_attr", Origin::None)
}

#[unsafe(export_name = "MPII_Win_set_attr")]
extern "C" fn win_set_attr(win: MPI_Win, keyval: c_int, value: *mut c_void, kind: c_int) -> c_int {
    let result = decode::win(Win(win)).and_then(|object| {
        let attributes = &object.attributes;
        attr::set_foreign(attributes, Target::Win, object.handle, keyval, value, kind)
    });
    code_of(result, "MPII_Win_set_attr", Origin::Win(Win(win)))
}

#[unsafe(export_name = "MPII_Win_get_attr")]
extern "C" fn win_get_attr(
    win: MPI_Win,
    keyval: c_int,
    value: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    let result = decode::win(Win(win))
        .and_then(|object| attr::give_foreign(|| attr::of_win(object, keyval), value, flag, kind));
    code_of(result, "MPII_Win_get_attr", Origin::Win(Win(win)))
}
