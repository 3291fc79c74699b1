//! Attributes and their keys on communicators, datatypes and windows.

use crate::callback::AttributeFunctions;
use crate::decode;
use crate::error_return;
use crate::param::*;
use crate::pointers::*;
use oxmpi::attr::{self as core, Attributes, Found, Kind, Target, Value as Attribute};
use oxmpi::comm::Comm as CommObject;
use oxmpi::datatype::Datatype as DatatypeObject;
use oxmpi::error::{Error, Result};
use oxmpi::pt2pt::origin;
use oxmpi::rma::{MODEL, Window};
use std::ffi::c_void;

pub fn set(
    attributes: &Attributes,
    target: Target,
    object: i32,
    key: Keyval,
    value: AttributeValue,
) -> Result<()> {
    let value = Attribute {
        bits: value.0 as usize,
        kind: Kind::Pointer,
    };
    core::put(attributes, target, object, key.0, value)
}

/// The attribute of a communicator; predefined ones of the world are on none that comes from a session.
pub fn of_comm(comm: &CommObject, key: i32) -> Result<Option<Found>> {
    let found = core::get(&comm.attributes, Target::Comm, key)?;
    Ok(found.filter(|_| !core::is_of_world(key) || origin::of(comm.handle).is_none()))
}

pub fn of_type(datatype: &DatatypeObject, key: i32) -> Result<Option<Found>> {
    core::get(&datatype.attributes, Target::Datatype, key)
}

/// The attribute of a window; the predefined ones tell of this process's memory.
pub fn of_win(window: &Window, key: i32) -> Result<Option<Found>> {
    let facts = &window.facts;
    let Some((key, language)) = core::window_key(key) else {
        return core::get(&window.attributes, Target::Win, key);
    };
    let fact = match key {
        core::WindowKey::Base => return Ok(Some(core::found_address(&facts.base))),
        core::WindowKey::Size => &facts.bytes,
        core::WindowKey::DispUnit => &facts.unit,
        core::WindowKey::CreateFlavor => window.flavor.fact(),
        core::WindowKey::Model => &MODEL,
    };
    Ok(Some(core::found_fact(fact, language)))
}

/// Writes what is found, for C.
pub fn give(
    key: Keyval,
    find: impl FnOnce() -> Result<Option<Found>>,
    out: AttributeOut,
    flag: Out<Logical>,
) -> Result<()> {
    if out.0.is_null() {
        return error_return::null("attribute_val");
    }
    let found = find()?;
    if let Some(found) = found {
        AddressOut(out.0).write(for_program(key, found) as *mut c_void)?;
    }
    flag.put_bool(found.is_some())
}

/// The value or, for a predefined attribute, where the program finds it.
#[cfg(not(standard_abi))]
fn for_program(_key: Keyval, found: Found) -> usize {
    found.for_c()
}

#[cfg(standard_abi)]
fn for_program(key: Keyval, found: Found) -> usize {
    // SAFETY: values of predefined attributes are ints in the core's memory or in a window's.
    unsafe { crate::standard::attributes::seen(key.0, found.for_c()) }
}

pub fn free_key(target: Target, key: InOut<Keyval>) -> Result<()> {
    core::free(target, key.read()?.0)?;
    key.set(Keyval(core::INVALID))
}

entry! {
    Allocate fn MPI_Comm_create_keyval(
        comm_copy_attr_fn: CommCopyFunction, comm_delete_attr_fn: CommDeleteFunction,
        comm_keyval: Out<Keyval>, extra_state: ExtraState,
    ) {
        comm_keyval.not_null()?;
        let functions =
            AttributeFunctions::boxed(comm_copy_attr_fn.0, comm_delete_attr_fn.0, extra_state.0);
        comm_keyval.set(Keyval(core::create(Target::Comm, functions)?))
    }
}

entry! {
    UpdateList fn MPI_Comm_delete_attr(comm: Comm, comm_keyval: Keyval) on comm {
        let comm = decode::any_comm(comm)?;
        core::delete(&comm.attributes, Target::Comm, comm.handle, comm_keyval.0)
    }
}

entry! {
    UpdateRef fn MPI_Comm_free_keyval(comm_keyval: InOut<Keyval>) {
        free_key(Target::Comm, comm_keyval)
    }
}

entry! {
    ReadList fn MPI_Comm_get_attr(
        comm: Comm, comm_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        give(comm_keyval, || of_comm(comm, comm_keyval.0), attribute_val, flag)
    }
}

entry! {
    UpdateList fn MPI_Comm_set_attr(
        comm: Comm, comm_keyval: Keyval, attribute_val: AttributeValue,
    ) on comm {
        let comm = decode::any_comm(comm)?;
        set(&comm.attributes, Target::Comm, comm.handle, comm_keyval, attribute_val)
    }
}

entry! {
    Allocate fn MPI_Type_create_keyval(
        type_copy_attr_fn: TypeCopyFunction, type_delete_attr_fn: TypeDeleteFunction,
        type_keyval: Out<Keyval>, extra_state: ExtraState,
    ) {
        type_keyval.not_null()?;
        let functions =
            AttributeFunctions::boxed(type_copy_attr_fn.0, type_delete_attr_fn.0, extra_state.0);
        type_keyval.set(Keyval(core::create(Target::Datatype, functions)?))
    }
}

entry! {
    UpdateList fn MPI_Type_delete_attr(datatype: Datatype, type_keyval: Keyval) {
        decode::running()?;
        let datatype = decode::datatype(datatype)?;
        core::delete(&datatype.attributes, Target::Datatype, datatype.handle, type_keyval.0)
    }
}

entry! {
    UpdateRef fn MPI_Type_free_keyval(type_keyval: InOut<Keyval>) {
        free_key(Target::Datatype, type_keyval)
    }
}

entry! {
    ReadList fn MPI_Type_get_attr(
        datatype: Datatype, type_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) {
        decode::running()?;
        let datatype = decode::datatype(datatype)?;
        give(type_keyval, || of_type(datatype, type_keyval.0), attribute_val, flag)
    }
}

entry! {
    UpdateList fn MPI_Type_set_attr(datatype: Datatype, type_keyval: Keyval, attribute_val: AttributeValue) {
        decode::running()?;
        let datatype = decode::datatype(datatype)?;
        set(&datatype.attributes, Target::Datatype, datatype.handle, type_keyval, attribute_val)
    }
}

entry! {
    Allocate fn MPI_Win_create_keyval(
        win_copy_attr_fn: WinCopyFunction, win_delete_attr_fn: WinDeleteFunction,
        win_keyval: Out<Keyval>, extra_state: ExtraState,
    ) {
        win_keyval.not_null()?;
        let functions =
            AttributeFunctions::boxed(win_copy_attr_fn.0, win_delete_attr_fn.0, extra_state.0);
        win_keyval.set(Keyval(core::create(Target::Win, functions)?))
    }
}

entry! {
    UpdateRef fn MPI_Win_free_keyval(win_keyval: InOut<Keyval>) {
        free_key(Target::Win, win_keyval)
    }
}

entry! {
    UpdateList fn MPI_Win_delete_attr(win: Win, win_keyval: Keyval) on win {
        let window = decode::win(win)?;
        core::delete(&window.attributes, Target::Win, window.handle, win_keyval.0)
    }
}

entry! {
    ReadList fn MPI_Win_get_attr(
        win: Win, win_keyval: Keyval, attribute_val: AttributeOut, flag: Out<Logical>,
    ) on win {
        let window = decode::win(win)?;
        give(win_keyval, || of_win(window, win_keyval.0), attribute_val, flag)
    }
}

entry! {
    UpdateList fn MPI_Win_set_attr(
        win: Win, win_keyval: Keyval, attribute_val: AttributeValue,
    ) on win {
        let window = decode::win(win)?;
        set(&window.attributes, Target::Win, window.handle, win_keyval, attribute_val)
    }
}

/// Deletes the attributes of the predefined communicators, as MPI_Finalize does before all else.
/// What a callback reports meets the communicator's error handler; if that returns, the rest
/// goes on, because MPI ends in any case.
///
/// Errors: the first one that a handler left, to be returned when MPI has ended.
pub fn delete_at_finalize() -> Result<()> {
    let mut result = Ok(());
    for handle in [oxmpi::comm::SELF, oxmpi::comm::WORLD] {
        let Some(comm) = oxmpi::comm::find(handle) else {
            continue;
        };
        while let Err(error) = comm.attributes.delete_all(comm.handle) {
            let object = comm.handle as usize;
            let (action, name) = (comm.errhandler.action(), comm.title());
            let code =
                error_return::call_handler(action, object, Some(&name), "MPI_Finalize()", &error);
            if code != 0 && result.is_ok() {
                result = Err(Error::from_code(code).after_handler());
            }
            comm.attributes.forget_last();
        }
    }
    result
}

/// What the wrappers of Fortran and C++ say about a value: 0 pointer, 1 address-sized, 3 int.
fn kind_of(number: i32) -> Kind {
    match number {
        1 => Kind::Address,
        3 => Kind::Integer,
        _ => Kind::Pointer,
    }
}

/// MPII_Comm_set_attr and its like: an attribute set by another language.
pub fn set_foreign(
    attributes: &Attributes,
    target: Target,
    object: i32,
    key: i32,
    value: *mut c_void,
    kind: i32,
) -> Result<()> {
    let value = Attribute {
        bits: value as usize,
        kind: kind_of(kind),
    };
    core::put(attributes, target, object, key, value)
}

/// MPII_Comm_get_attr and its like: writes what is found, for another language.
pub fn give_foreign(
    find: impl FnOnce() -> Result<Option<Found>>,
    out: *mut c_void,
    flag: *mut i32,
    kind: i32,
) -> Result<()> {
    if out.is_null() || flag.is_null() {
        return error_return::null("attribute_val or flag");
    }
    let found = find()?;
    // SAFETY: the wrapper has an int at `flag` and a value of this kind at `out`.
    unsafe {
        flag.write(found.is_some().into());
        if let Some(found) = found {
            match kind_of(kind) {
                Kind::Pointer => out.cast::<usize>().write(found.for_c()),
                Kind::Address => out.cast::<usize>().write(found.for_fortran()),
                Kind::Integer => out.cast::<i32>().write(found.for_fortran() as i32),
            }
        }
    }
    Ok(())
}
