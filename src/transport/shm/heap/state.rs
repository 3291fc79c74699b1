//! What lies in shared memory of the heap's allocator. Zeros are valid: there is no heap yet, and no page has a tag.

use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64};

/// Orders of blocks: up to 2^31 pages.
pub const ORDERS: usize = 32;

// Values of `Shared::state`.
pub const NONE: u32 = 0;
pub const READY: u32 = 1;
/// A rank has died with the lock: the lists of free blocks are to be made anew.
pub const BROKEN: u32 = 2;

/// State of the heap, in the segment's header.
#[repr(C)]
pub struct Shared {
    /// The allocator's lock: zero, or the index of the rank that holds it, and 1.
    pub lock: AtomicU32,
    pub state: AtomicU32,
    pub bytes: AtomicU64,
    /// Bytes of all used ranges.
    pub reserved: AtomicU64,
    pub lists: Lists,
}

/// What the page of a rank says of its memory in the heap.
#[repr(C)]
pub struct RankMemory {
    /// Where it counts for each other rank the windows and files that it has with that one; zero: nowhere.
    pub counts: AtomicU64,
    /// Zero; or a value of `TAKES` and `TAKEN`.
    pub taken: AtomicU32,
}

/// Another process looks whether it can take the memory of the dead rank; and it has.
pub const TAKES: u32 = 1;
pub const TAKEN: u32 = 2;

/// For each order the first free block; page 0 is never given out and means none.
#[repr(transparent)]
pub struct Lists(pub [AtomicU32; ORDERS]);

/// State of a page.
#[repr(C)]
pub struct Entry {
    /// Zero; or a kind, with the order of a free block.
    pub tag: AtomicU32,
    /// Neighbours in the list of free blocks; of a used range `next` is the index of the rank that has it, and 1.
    pub next: AtomicU32,
    pub previous: AtomicU32,
    /// Of a used range.
    pub pages: AtomicU32,
}

/// The layout of all that.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Entry {
        tag,
        next,
        previous,
        pages
    }),
    shape!(RankMemory { counts, taken }),
    shape!(Shared {
        lock,
        state,
        bytes,
        reserved,
        lists
    }),
]);
