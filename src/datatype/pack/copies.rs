//! For tests: the bytes that this thread has copied between buffers, packed data or staging memory. What a kernel reads and
//! writes to reduce is no copy, nor is what an algorithm leaves to a message.
//!
//! Simulated ranks run in one thread by turns: the difference of two totals around a turn is what that rank has copied.

use std::cell::Cell;

thread_local! {
    static COPIED: Cell<u64> = const { Cell::new(0) };
}

/// Counts a copy.
pub fn count(bytes: usize) {
    COPIED.set(COPIED.get() + bytes as u64);
}

/// Bytes copied by this thread so far.
pub fn total() -> u64 {
    COPIED.get()
}

/// Copies for the simulation itself.
pub fn uncounted<T>(copy: impl FnOnce() -> T) -> T {
    let before = total();
    let result = copy();
    COPIED.set(before);
    result
}
