//! The locks of accumulate operations: a table of words in the node's heap, indexed by the piece of memory.
//!
//! Whoever holds several has taken them in ascending order of their numbers, so there is no deadlock. Invariant: a lock is held for
//! a few microseconds only, unless its holder is stopped or has died; a holder that has died is an error of those who wait.

use super::window::Window;
use crate::engine;
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Result, fail};
use crate::os::backoff::Backoff;
use crate::queue::named_lock::{self, give_back, try_take};
use crate::queue::shape;
use crate::sync::AtomicU32;
use crate::transport::{self, HeapLock};
use std::sync::OnceLock;

/// The logarithm of the bytes that have one lock.
const PIECE_BITS: u32 = 16;
/// Bytes that have one lock.
pub const PIECE: u64 = 1 << PIECE_BITS;

/// Locks that are held at once, at most.
pub(super) const MOST_LOCKS: usize = 16;

const COUNT: usize = transport::LOCKS;

/// Which lock a byte has: two builds that say different ones do not exclude each other.
pub(super) const SHAPE: u64 = shape::combine(&[
    PIECE,
    number(0) as u64,
    number(1) as u64,
    number(12_345_678_901) as u64,
]);

/// The piece that a byte is in.
#[inline(always)]
pub fn piece(key: u64) -> u64 {
    key >> PIECE_BITS
}

/// The number of a piece's lock. Pieces that follow each other have different ones.
#[inline(always)]
pub const fn number(piece: u64) -> usize {
    // Windows begin at multiples of large powers of two: the upper bits of the product depend on all bits.
    let spread = (piece >> 10).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    piece.wrapping_add(spread) as usize % COUNT
}

/// The node's table; there is one heap as long as the process runs.
static TABLE: OnceLock<&'static [HeapLock; COUNT]> = OnceLock::new();

#[cold]
fn find() -> Result<&'static [HeapLock; COUNT]> {
    #[cfg(test)]
    if transport::heap().is_none() {
        let table = std::array::from_fn(|_| HeapLock {
            word: AtomicU32::new(0),
        });
        return Ok(TABLE.get_or_init(|| Box::leak(Box::new(table))));
    }
    let Some(heap) = transport::heap() else {
        return fail!(Class::Intern, "there is no heap, and so no locks");
    };
    if let Err(why) = heap.open_now() {
        return fail!(Class::NoMem, "the node's heap cannot be opened: {why}");
    }
    Ok(TABLE.get_or_init(|| heap.locks()))
}

/// A lock that is held.
pub struct Held(&'static AtomicU32);

impl Drop for Held {
    #[inline(always)]
    fn drop(&mut self) {
        give_back(self.0);
    }
}

/// The node's locks, for operations of this process on a window.
#[derive(Clone, Copy)]
pub struct Locks<'a> {
    words: &'static [HeapLock; COUNT],
    window: &'a Window,
    process: u32,
}

impl<'a> Locks<'a> {
    #[inline(always)]
    pub fn of(window: &'a Window) -> Result<Locks<'a>> {
        Ok(Locks {
            words: match TABLE.get() {
                Some(words) => words,
                None => find()?,
            },
            window,
            process: window.targets[window.rank].process,
        })
    }

    /// Takes the lock of the piece that a byte is in.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED if its holder has died.
    #[inline(always)]
    pub fn hold(&self, key: u64) -> Result<Held> {
        self.hold_number(number(piece(key)))
    }

    /// As [`Locks::hold`], by the lock's [`number`].
    #[inline(always)]
    pub fn hold_number(&self, number: usize) -> Result<Held> {
        let word = &self.words[number].word;
        if !try_take(word, self.process) {
            wait(word, self.window)?;
        }
        Ok(Held(word))
    }
}

/// Takes a [`named_lock`] for an operation on a window. Waits if it is not free.
///
/// Errors: MPIX_ERR_PROC_FAILED if its holder has died.
#[cold]
#[inline(never)]
pub(super) fn wait(word: &AtomicU32, window: &Window) -> Result<()> {
    let process = window.targets[window.rank].process;
    let mut backoff = Backoff::default();
    let taken = named_lock::take(word, process, || backoff.pause(), engine::has_died);
    let Err(holder) = taken else {
        return Ok(());
    };
    let text = format!(
        "rank {holder} of MPI_COMM_WORLD has ended in an operation on memory that {} needs, and its lock is lost",
        window.title()
    );
    Err(losses::error_of(Cause::Holder, text))
}
