//! Memory of the library's own for packed data that comes in: it is not zeroed first.
//!
//! Invariant: an operation reads from it only what it has written there. Where a message failed or was too short, that is what
//! the memory held before: the result is of no use then, and nobody but the program itself sees it.

use super::{Buffer, MemoryKind};
use crate::error::memory::{or_end, room};
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::slice_from_raw_parts_mut;

const WHAT: &str = "an operation's data";

/// See the module.
pub struct Scratch(Buffer);

impl Scratch {
    /// `None`: there is not so much memory.
    pub fn try_new(bytes: usize) -> Option<Scratch> {
        room(bytes, WHAT)
            .ok()
            .map(|memory| Scratch::of(memory, bytes))
    }

    /// Without memory the job ends, with MPI_ERR_NO_MEM: an operation of all ranks is under way.
    pub fn new(bytes: usize) -> Scratch {
        Scratch::of(or_end(room(bytes, WHAT)), bytes)
    }

    fn of(mut memory: Vec<MaybeUninit<u8>>, bytes: usize) -> Scratch {
        // SAFETY: there is room for so many, which need not be initialized.
        unsafe { memory.set_len(bytes) };
        let memory = memory.into_boxed_slice();
        Scratch(Buffer {
            address: Box::into_raw(memory).cast(),
            kind: MemoryKind::Host,
            length: bytes,
            layout: None,
        })
    }

    /// All of it, which is good as long as this lives.
    pub fn buffer(&self) -> Buffer {
        self.0
    }

    /// N parts of so many bytes, one after the other. Panics if they are not all in it.
    pub fn parts<const N: usize>(&self, bytes: usize) -> [Buffer; N] {
        std::array::from_fn(|at| self.0.slice(at * bytes, bytes))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let memory = self.0.address.cast::<MaybeUninit<u8>>();
        // SAFETY: it was allocated as a box of this length is, and nobody else frees it.
        drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(memory, self.0.length)) });
    }
}

/// Memory of zeros, of pages that are made when they are used; `None`: there is not so much.
pub(super) fn zeroed(bytes: usize) -> Option<Box<[u8]>> {
    if bytes == 0 {
        return Some(Box::default());
    }
    let layout = Layout::array::<u8>(bytes).ok()?;
    // SAFETY: the layout is not empty.
    let begin = unsafe { std::alloc::alloc_zeroed(layout) };
    if begin.is_null() {
        return None;
    }
    let memory = std::ptr::slice_from_raw_parts_mut(begin, bytes);
    // SAFETY: allocated above, with the layout of a box of so many bytes, and filled.
    Some(unsafe { Box::from_raw(memory) })
}
