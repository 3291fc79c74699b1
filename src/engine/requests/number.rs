//! The number of a request, and the handle that the program has for it.
//!
//! Invariant: the upper bits of a number are those of its engine, so that a handle says whom to ask.

use crate::error::Exhausted;
use crate::transport::ENGINES;

/// The number of a request: the engine's, then its own in the slab.
pub type Index = u32;

/// MPI_REQUEST_NULL and MPI_MESSAGE_NULL.
pub const NULL: i32 = 0x2c00_0000;
/// MPI_MESSAGE_NO_PROC.
pub const NO_PROC: i32 = 0x6c00_0000;
/// A send that was done when it began; several calls return the same handle.
pub const SENT: i32 = 0x6c00_0001;
/// A receive from MPI_PROC_NULL.
pub const RECEIVED_FROM_NOBODY: i32 = 0x6c00_0002;

const REQUEST_BITS: u32 = 0b11 << 30 | 11 << 26;
const MESSAGE_BITS: u32 = 0b10 << 30 | 11 << 26;
const KIND_AND_TYPE: u32 = 0b11_1111 << 26;
/// Bits of the number in the slab.
const SLOT_BITS: u32 = 22;
/// The last slot.
pub(super) const SLOT: usize = (1 << SLOT_BITS) - 1;
/// With those of an engine.
const NUMBER: u32 = !KIND_AND_TYPE;

const _: () = assert!(ENGINES << SLOT_BITS == NUMBER as usize + 1);

/// The handle of a request.
#[inline]
pub fn handle_of(index: Index) -> i32 {
    (REQUEST_BITS | index) as i32
}

/// The number behind a handle, if it has the form of a request's.
#[inline]
pub fn index_of(handle: i32) -> Option<Index> {
    let bits = handle as u32;
    (bits & KIND_AND_TYPE == REQUEST_BITS).then_some(bits & NUMBER)
}

/// The engine of a request or an unexpected message.
#[inline]
pub fn engine_of(index: u32) -> u32 {
    index >> SLOT_BITS
}

/// The engine of what a handle means; of what is no request, any.
#[inline]
pub fn engine_of_handle(handle: i32) -> u32 {
    engine_of(handle as u32 & NUMBER)
}

/// Whether the engine of what a handle means, if it means anything, is not this one.
#[inline(always)]
pub fn is_of_another(handle: i32, engine: u32) -> bool {
    (handle as u32 ^ first_of(engine)) & (NUMBER & !(SLOT as u32)) != 0
}

/// The slot in the slab that begins with `first`; beyond all slots for what is another engine's.
#[inline(always)]
pub(in crate::engine) fn slot(first: u32, index: u32) -> usize {
    (index ^ first) as usize
}

/// The slot in the slab of an index that is known to be this engine's.
#[inline(always)]
pub(super) fn own_slot(index: u32) -> usize {
    index as usize & SLOT
}

/// The index of the request in an engine's first slot.
pub(in crate::engine) fn first_of(engine: u32) -> u32 {
    engine << SLOT_BITS
}

/// The index of the request in slot `slot`; `first`: that of the engine's first slot.
#[inline(always)]
pub(in crate::engine) fn number(first: u32, slot: usize) -> u32 {
    first | slot as u32
}

/// The number of what was put into a new slot, the last of `slots`; `what` they are, in words.
#[inline(always)]
pub(in crate::engine) fn new_number(first: u32, slots: usize, what: &str) -> u32 {
    if slots > SLOT + 1 {
        exhausted(what);
    }
    number(first, slots - 1)
}

#[cold]
fn exhausted(what: &str) -> ! {
    std::panic::panic_any(Exhausted(format!(
        "there are {} {what}, and can be no more",
        SLOT + 1
    )))
}

/// The handle of a matched message.
pub fn message_handle_of(index: u32) -> i32 {
    (MESSAGE_BITS | index) as i32
}

/// The number behind a message handle, if it has the form of one.
pub fn message_index_of(handle: i32) -> Option<u32> {
    let bits = handle as u32;
    (bits & KIND_AND_TYPE == MESSAGE_BITS).then_some(bits & NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_says_of_what() {
        assert_eq!(
            new_number(first_of(3), SLOT + 1, "requests"),
            first_of(4) - 1
        );
        let panic = std::panic::catch_unwind(|| new_number(first_of(3), SLOT + 2, "requests"));
        let payload = panic.unwrap_err();
        let Exhausted(text) = payload.downcast_ref().unwrap();
        assert!(text.contains("4194304 requests"), "{text}");
    }

    #[test]
    fn handles_lead_back_to_their_numbers() {
        for (engine, slot) in [(0, 0), (0, 1), (0, 1024), (3, 5000), (15, SLOT)] {
            let first = first_of(engine);
            let index = number(first, slot);
            assert_eq!(index_of(handle_of(index)), Some(index));
            assert_eq!(message_index_of(message_handle_of(index)), Some(index));
            assert_eq!(message_index_of(handle_of(index)), None);
            assert_eq!(engine_of(index), engine);
            assert_eq!(engine_of_handle(handle_of(index)), engine);
            assert_eq!(super::slot(first, index), slot);
            assert!(super::slot(first_of(engine ^ 1), index) > SLOT);
        }
        for other in [NULL, SENT, NO_PROC, 0, -1, 0x4400_0000, 0x6c00_0002] {
            assert_eq!(index_of(other), None);
        }
    }
}
