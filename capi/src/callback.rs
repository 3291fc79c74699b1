//! The program's functions as the core calls them: C's, and through proxies those of Fortran and C++.
//!
//! Invariant: a proxy is given by the language's own wrapper library right after the object was made,
//! with the prototype that MPICH's library of that language expects.

use crate::param::{Datatype as DatatypeHandle, ErrorCode, File, Keyval};
use crate::types::*;
use oxmpi::attr::{Callbacks, Kind, Value};
use oxmpi::datatype::{self, Datatype};
use oxmpi::engine::epochs::InCallback;
use oxmpi::errhandler::{Callback, Target};
use oxmpi::error::{Class, Result};
use oxmpi::fail;
use oxmpi::lifetime::datatypes;
use oxmpi::op::{Elements, Function};
use oxmpi::sync::{AtomicUsize, Ordering};
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// int (user_function, object, keyval, extra_state, kind, value, &copy, &flag)
type CopyProxy = unsafe extern "C" fn(
    usize,
    c_int,
    c_int,
    *mut c_void,
    c_int,
    *mut c_void,
    *mut *mut c_void,
    *mut c_int,
) -> c_int;

/// int (user_function, object, keyval, kind, value, extra_state)
type DeleteProxy =
    unsafe extern "C" fn(usize, c_int, c_int, c_int, *mut c_void, *mut c_void) -> c_int;

/// The callbacks of an attribute key.
pub struct AttributeFunctions {
    copy: Option<MPI_Comm_copy_attr_function>,
    delete: Option<MPI_Comm_delete_attr_function>,
    extra_state: usize,
    proxies: OnceLock<(CopyProxy, DeleteProxy)>,
}

impl AttributeFunctions {
    pub fn boxed(
        copy: Option<MPI_Comm_copy_attr_function>,
        delete: Option<MPI_Comm_delete_attr_function>,
        extra_state: *mut c_void,
    ) -> Box<dyn Callbacks> {
        Box::new(AttributeFunctions {
            #[cfg(not(standard_abi))]
            copy,
            #[cfg(standard_abi)]
            copy: copy.map(crate::standard::attributes::copy_function),
            delete,
            extra_state: extra_state as usize,
            proxies: OnceLock::new(),
        })
    }
}

/// The handle of an object as the program's functions get it.
fn any_handle(object: i32) -> AnyHandle {
    #[cfg(not(standard_abi))]
    return object;
    #[cfg(standard_abi)]
    return crate::standard::handles::any(object) as AnyHandle;
}

#[cfg(not(standard_abi))]
use crate::duplicating::is_dup_function;
#[cfg(standard_abi)]
use crate::standard::attributes::is_dup_function;

/// The number by which a proxy knows the kind of a value.
fn number(kind: Kind) -> c_int {
    match kind {
        Kind::Pointer => 0,
        Kind::Address => 1,
        Kind::Integer => 3,
    }
}

impl Callbacks for AttributeFunctions {
    fn copy(
        &self,
        object: i32,
        keyval: i32,
        value: Value,
    ) -> std::result::Result<Option<Value>, i32> {
        let Some(copy) = self.copy else {
            return Ok(None);
        };
        let _running = InCallback::begin();
        let extra_state = self.extra_state as *mut c_void;
        let mut copied: *mut c_void = std::ptr::null_mut();
        let mut flag: c_int = 0;
        let mut kind = value.kind;
        let code = if let Some((proxy, _)) = self.proxies.get() {
            // SAFETY: the wrapper that made the key gave a proxy of this prototype; `copied` and
            // `flag` are ours.
            unsafe {
                proxy(
                    copy as usize,
                    object,
                    keyval,
                    extra_state,
                    number(kind),
                    value.bits as *mut c_void,
                    &mut copied,
                    &mut flag,
                )
            }
        } else {
            // C sees what Fortran set by its address; but a plain copy stays what it was.
            let by_address = kind != Kind::Pointer && !is_dup_function(copy);
            let seen = if by_address {
                kind = Kind::Pointer;
                &raw const value.bits as *mut c_void
            } else {
                value.bits as *mut c_void
            };
            // SAFETY: the program passed a copy function, which it has to keep callable as long as
            // the key is in use; `copied` and `flag` are ours.
            let code = unsafe {
                copy(
                    any_handle(object),
                    Keyval(keyval).to_c(),
                    extra_state,
                    seen,
                    (&raw mut copied).cast(),
                    &mut flag,
                )
            };
            ErrorCode::of_c(code).0
        };
        if code != 0 {
            return Err(code);
        }
        Ok((flag != 0).then_some(Value {
            bits: copied as usize,
            kind,
        }))
    }

    fn delete(&self, object: i32, keyval: i32, value: Value) -> std::result::Result<(), i32> {
        let Some(delete) = self.delete else {
            return Ok(());
        };
        let _running = InCallback::begin();
        let extra_state = self.extra_state as *mut c_void;
        let code = if let Some((_, proxy)) = self.proxies.get() {
            // SAFETY: as in `copy`.
            unsafe {
                proxy(
                    delete as usize,
                    object,
                    keyval,
                    number(value.kind),
                    value.bits as *mut c_void,
                    extra_state,
                )
            }
        } else {
            let seen = match value.kind {
                Kind::Pointer => value.bits as *mut c_void,
                Kind::Address | Kind::Integer => &raw const value.bits as *mut c_void,
            };
            let key = Keyval(keyval).to_c();
            // SAFETY: as in `copy`.
            ErrorCode::of_c(unsafe { delete(any_handle(object), key, seen, extra_state) }).0
        };
        if code == 0 { Ok(()) } else { Err(code) }
    }

    fn set_proxy(&self, copy_proxy: usize, delete_proxy: usize) {
        if copy_proxy == 0 || delete_proxy == 0 {
            return;
        }
        // SAFETY: the wrapper library passes functions of these prototypes.
        let proxies = unsafe {
            (
                std::mem::transmute::<usize, CopyProxy>(copy_proxy),
                std::mem::transmute::<usize, DeleteProxy>(delete_proxy),
            )
        };
        // A key has one language: a second proxy would be the same.
        let _ = self.proxies.set(proxies);
    }
}

/// void (kind of object, &handle, &code, user_function)
type ErrhandlerProxy = unsafe extern "C" fn(c_int, *mut c_void, *mut c_int, usize);

/// An error handler function. All four prototypes of C differ in the type of the handle only.
pub struct ErrhandlerFunction {
    target: Target,
    function: MPI_Comm_errhandler_function,
    proxy: OnceLock<ErrhandlerProxy>,
}

impl ErrhandlerFunction {
    pub fn boxed<H>(
        target: Target,
        function: Option<unsafe extern "C" fn(*mut H, *mut c_int, ...)>,
    ) -> Result<Box<dyn Callback>> {
        let Some(function) = function else {
            return fail!(Class::Arg, "the function of the error handler is NULL");
        };
        // SAFETY: the prototypes differ in what the first pointer points to; `call` passes the one of the target.
        let function = unsafe {
            std::mem::transmute::<
                unsafe extern "C" fn(*mut H, *mut c_int, ...),
                MPI_Comm_errhandler_function,
            >(function)
        };
        Ok(Box::new(ErrhandlerFunction {
            target,
            function,
            proxy: OnceLock::new(),
        }))
    }
}

impl Callback for ErrhandlerFunction {
    fn call(&self, object: usize, code: i32) -> i32 {
        let _running = InCallback::begin();
        let mut code = ErrorCode(code).to_c();
        let mut handle = any_handle(object as c_int);
        let mut file = File(object as MPI_File).to_c();
        let object: *mut c_void = match self.target {
            Target::File => (&raw mut file).cast(),
            _ => (&raw mut handle).cast(),
        };
        match self.proxy.get() {
            // SAFETY: the wrapper that made the handler gave a proxy of this prototype.
            Some(proxy) => unsafe {
                let kind = match self.target {
                    Target::Comm => 0,
                    Target::File => 1,
                    Target::Win => 2,
                    Target::Session => 3,
                };
                proxy(kind, object, &mut code, self.function as usize);
                // The wrapper would call the handler again for a code.
                0
            },
            // SAFETY: the program passed an error handler function for this kind of object, which
            // it has to keep callable as long as the handler is in use.
            None => unsafe {
                (self.function)(object.cast(), &mut code);
                ErrorCode::of_c(code).0
            },
        }
    }

    fn set_proxy(&self, proxy: usize) {
        if proxy != 0 {
            // SAFETY: the wrapper library passes a function of this prototype.
            let proxy = unsafe { std::mem::transmute::<usize, ErrhandlerProxy>(proxy) };
            let _ = self.proxy.set(proxy);
        }
    }
}

/// The function of an operation that the program made.
pub enum ReductionFunction {
    Small(MPI_User_function, AtomicUsize),
    Large(MPI_User_function_c),
    /// MPICH's form, with a state of the program's.
    Stateful(StatefulFunction),
}

/// The state is given back when the operation was freed and no reduction uses it any more.
pub struct StatefulFunction {
    pub function: MPIX_User_function_x,
    pub destructor: Option<MPIX_Destructor_function>,
    pub state: usize,
}

impl Drop for StatefulFunction {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: the program passed the function for this state; nobody uses it any more.
            unsafe { destructor(self.state as *mut c_void) }
        }
    }
}

/// A type with a handle that the program's function can ask about.
enum Named {
    Own(&'static Datatype),
    /// The program has freed the type meanwhile: another handle of it, for one call.
    Other(&'static Datatype),
}

impl Named {
    fn of(datatype: &'static Datatype) -> Result<Named> {
        match datatype::get(datatype.handle) {
            Some(_) => Ok(Named::Own(datatype)),
            None => datatype::another_handle(datatype).map(Named::Other),
        }
    }

    fn handle(&self) -> c_int {
        let (Named::Own(datatype) | Named::Other(datatype)) = self;
        datatype.handle
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Named::Other(datatype) = self {
            // It cannot fail: the handle is good, unless the function has freed it.
            let _ = datatypes::free(datatype.handle);
        }
    }
}

/// void (input, inout, count, datatype, user_function)
type ReductionProxy = unsafe extern "C" fn(*const c_void, *mut c_void, c_int, c_int, usize);

impl Function for ReductionFunction {
    fn call(&self, elements: Elements<'_>) -> Result<()> {
        let _running = InCallback::begin();
        let Elements { origin, count, .. } = elements;
        let named = Named::of(elements.datatype)?;
        let handle = named.handle();
        let mut datatype = DatatypeHandle(handle).to_c();
        let input = elements.input.as_ptr().wrapping_offset(origin) as *mut c_void;
        let inout = elements.inout.as_mut_ptr().wrapping_offset(origin).cast();
        match self {
            // SAFETY: the program's function reads and writes `count` elements, which the slices
            // hold; it does not change its input, as MPI demands.
            ReductionFunction::Large(function) => unsafe {
                function(input, inout, &mut (count as MPI_Count), &mut datatype);
            },
            // SAFETY: as above.
            ReductionFunction::Stateful(with) => unsafe {
                let state = with.state as *mut c_void;
                (with.function)(input, inout, count as MPI_Count, datatype, state);
            },
            ReductionFunction::Small(function, proxy) => {
                let Ok(mut count) = c_int::try_from(count) else {
                    return fail!(
                        Class::Count,
                        "{count} elements need an operation made by MPI_Op_create_c"
                    );
                };
                match proxy.load(Ordering::Acquire) {
                    // SAFETY: as above.
                    0 => unsafe { function(input, inout, &mut count, &mut datatype) },
                    // SAFETY: as above; the wrapper that made the operation gave a proxy of this
                    // prototype.
                    proxy => unsafe {
                        let proxy = std::mem::transmute::<usize, ReductionProxy>(proxy);
                        proxy(input, inout, count, handle, *function as usize);
                    },
                }
            }
        }
        Ok(())
    }

    fn set_proxy(&self, address: usize) {
        if let ReductionFunction::Small(_, proxy) = self {
            proxy.store(address, Ordering::Release);
        }
    }
}
