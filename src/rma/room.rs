//! Memory of the node's heap for windows.

/// A cache line, bytes: what memory of the heap is aligned to at least.
pub const LINE: usize = 64;
/// Bytes that the heap gives out together; what several processes may give back begins with one.
pub const PAGE: usize = 4096;
/// The largest alignment of memory of the heap, bytes.
pub const MOST_ALIGNMENT: usize = 2 << 20;

/// The identity of a byte that only one process can address, see [`Target::key`].
pub(super) fn private_key(process: u32, address: u64) -> u64 {
    (u64::from(process) + 1) << PRIVATE_SHIFT ^ address
}

/// Keys from two to this power on are private; those of the heap are less.
const PRIVATE_SHIFT: u32 = 48;

/// Whether only one process can address the memory with this key.
pub(super) fn is_private(key: u64) -> bool {
    key >> PRIVATE_SHIFT != 0
}
