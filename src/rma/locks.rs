//! The locks of accumulate operations: a table of words in the node's heap, indexed by the piece of memory.
//!
//! Whoever holds several has taken them in ascending order of their numbers, so there is no deadlock. Invariant: a lock is held for
//! a few microseconds only, unless its holder is stopped or has died; a holder that has died is an error of those who wait.

use crate::engine::{self, enter};
use crate::error::{Class, Result, fail};
use crate::os::schedule;
use crate::queue::named_lock::{self, give_back, try_take};
use crate::queue::shape;
use crate::sync::AtomicU32;
use crate::transport::{self, HeapLock};
use std::sync::OnceLock;

/// The logarithm of the bytes that have one lock.
const PIECE_BITS: u32 = 14;
/// Bytes that have one lock.
pub const PIECE: u64 = 1 << PIECE_BITS;

const COUNT: usize = transport::LOCKS;

/// Which lock a byte has: two builds that say different ones do not exclude each other.
pub(super) const SHAPE: u64 = shape::combine(&[
    PIECE,
    number(0) as u64,
    number(1) as u64,
    number(12_345_678_901) as u64,
]);

/// Polls before the core is given away.
const POLLS: u32 = 100;
/// Yields before the holder is looked at.
const YIELDS: u32 = 2000;

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

/// The node's locks, for a process by its number.
#[derive(Clone, Copy)]
pub struct Locks {
    words: &'static [HeapLock; COUNT],
    process: u32,
}

impl Locks {
    #[inline(always)]
    pub fn of(process: u32) -> Result<Locks> {
        Ok(Locks {
            words: match TABLE.get() {
                Some(words) => words,
                None => find()?,
            },
            process,
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
        take(word, self.process)?;
        Ok(Held(word))
    }
}

/// Takes a word that is zero while nobody has it, for a process by its number.
///
/// Errors: MPIX_ERR_PROC_FAILED if its holder has died.
#[inline(always)]
pub(super) fn take(word: &AtomicU32, process: u32) -> Result<()> {
    match try_take(word, process) {
        true => Ok(()),
        false => wait(word, process),
    }
}

#[cold]
#[inline(never)]
fn wait(word: &AtomicU32, process: u32) -> Result<()> {
    let mut polls = 0_u32;
    let pause = || {
        polls += 1;
        if polls < POLLS {
            std::hint::spin_loop();
            return false;
        }
        schedule::yield_now();
        polls.is_multiple_of(YIELDS)
    };
    let has_died = |holder| engine::liveness::has_died(&enter(), holder);
    let Err(holder) = named_lock::take(word, process, pause, has_died) else {
        return Ok(());
    };
    fail!(
        Class::ProcFailed,
        "rank {holder} of MPI_COMM_WORLD has ended in an operation on a window, and its lock on that memory is lost"
    )
}
