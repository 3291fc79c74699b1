//! libfabric: the port that messages between nodes go by, and the one for writes to and reads of windows.
#![allow(unsafe_code)]

#[rustfmt::skip]
#[allow(dead_code, non_camel_case_types, non_upper_case_globals, missing_debug_implementations, clippy::all)]
mod bindings;
mod choice;
mod endpoint;
mod library;
mod port;
pub mod rma;
#[rustfmt::skip]
#[allow(dead_code, non_camel_case_types, non_upper_case_globals, missing_debug_implementations, clippy::all)]
mod rma_bindings;
mod rma_port;
mod wanted;

pub use choice::{Fabric, Wish};
pub use port::MessagePort;
pub use rma_port::{LONGEST_ADDRESS, Registered, There};

use super::net::port::Port;
use crate::variables::Variable;

/// What carries messages between nodes.
pub static FABRIC: Variable<Fabric> = Variable::new(
    "FABRIC",
    Fabric::No,
    "The provider of libfabric that carries messages between nodes; \"tcp\" is the best of those over TCP, \"auto\" the fastest that \
     there is. With \"no\", nodes of OXMPI_PRETEND use shared memory, and several hosts use what \"auto\" finds.",
)
.same_on_all();

/// Opens the port of this process's messages; windows over hosts will use the same provider.
///
/// Errors: as [`MessagePort::open`] says.
pub fn open(wish: &Wish<'_>, process: u32) -> Result<Box<dyn Port>, String> {
    let port = MessagePort::open(wish)?;
    rma::remember(wish, port.provider(), process);
    Ok(Box::new(port))
}
