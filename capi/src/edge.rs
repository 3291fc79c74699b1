//! The edge: where an error of the core becomes an `int` and meets the program's error handler.
//!
//! Invariant: an error handler is called once for a failed call, and only here.

#![allow(dead_code)] // until the last function is written

use crate::param::{Comm, Describe, File, Session, Win};
use crate::place::InOut;
use oxmpi::error::{Class, Error, Result};
use std::ffi::c_int;

/// Whose error handler is called.
#[derive(Clone, Copy)]
pub enum Origin {
    /// No object of the call's: the handler of MPI_COMM_SELF.
    None,
    Comm(Comm),
    File(File),
    Session(Session),
    Win(Win),
}

/// Arguments that can be named after `on` in an entry.
pub trait Raises {
    fn origin(&self) -> Origin;
}

macro_rules! raises {
    ($($name:ident)*) => {
        $(
            impl Raises for $name {
                fn origin(&self) -> Origin {
                    Origin::$name(*self)
                }
            }

            impl Raises for InOut<$name> {
                fn origin(&self) -> Origin {
                    self.read().map_or(Origin::None, Origin::$name)
                }
            }
        )*
    };
}

raises!(Comm File Session Win);

/// What a stub returns; `raise` puts the function's name before it.
#[cold]
pub fn not_written() -> Result<()> {
    Err(Error::new(
        Class::UnsupportedOperation,
        "this function is not written yet in oxmpi",
    ))
}

/// The code to return for `error`, after the error handler that belongs to `origin` was called.
#[cold]
#[inline(never)]
pub fn raise(
    error: Error,
    function: &'static str,
    arguments: &[(&'static str, &dyn Describe)],
    origin: Origin,
) -> c_int {
    let _ = origin;
    let mut call = format!("{function}(");
    for (position, (name, value)) in arguments.iter().enumerate() {
        if position > 0 {
            call.push_str(", ");
        }
        call.push_str(name);
        call.push('=');
        // Writing into a String cannot fail.
        let _ = value.describe(&mut call);
    }
    call.push(')');
    error.context(call).code()
}
