//! Buffers of accesses to files: they remember their datatype where data may have to be converted.

use crate::decode::{self, Names};
pub use crate::decode::{BUF, file};
use crate::param::{Count, Datatype, RecvBuffer, SendBuffer};
use oxmpi::datatype::{self, Buffer};
use oxmpi::error::Result;
use oxmpi::io::datarep;

#[inline(always)]
pub fn send_buffer(
    names: Names,
    address: SendBuffer,
    number: Count,
    kind: Datatype,
) -> Result<Buffer> {
    let buffer = decode::send_buffer(names, address, number, kind)?;
    Ok(match datarep::converts() {
        false => buffer,
        true => typed(buffer, address.0.cast_mut().cast(), number, kind),
    })
}

#[inline(always)]
pub fn recv_buffer(
    names: Names,
    address: RecvBuffer,
    number: Count,
    kind: Datatype,
) -> Result<Buffer> {
    let buffer = decode::recv_buffer(names, address, number, kind)?;
    Ok(match datarep::converts() {
        false => buffer,
        true => typed(buffer, address.0.cast(), number, kind),
    })
}

/// A buffer that was decoded, with its datatype.
#[cold]
fn typed(buffer: Buffer, address: *mut u8, number: Count, kind: Datatype) -> Buffer {
    match datatype::get(kind.0) {
        // SAFETY: `buffer` is of the same elements.
        Some(kind) if !buffer.is_empty() => unsafe {
            Buffer::typed(address, number.0 as u64, kind)
        },
        _ => buffer,
    }
}
