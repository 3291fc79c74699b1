//! Memory of the node's heap, and the errors where there is none.

use crate::error::{Class, Error, Result, fail};
use crate::transport::{Heap, heap};

/// The node's heap.
pub fn the_heap() -> Result<&'static Heap> {
    match heap() {
        Some(heap) => Ok(heap),
        None => fail!(Class::NoMem, "the ranks of this node share no memory"),
    }
}

pub fn no_memory(what: &str, bytes: u64, why: &std::io::Error) -> Error {
    let text = match why.raw_os_error() {
        Some(libc::ENOMEM) => format!("there is no memory for {what} of {bytes} bytes"),
        _ => format!("there is no memory for {what} of {bytes} bytes: {why}"),
    };
    Error::new(Class::NoMem, text)
}
