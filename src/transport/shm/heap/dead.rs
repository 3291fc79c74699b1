//! What becomes of the memory of processes that have died.
//!
//! Each range says whose it is. A process that may use memory of others, because it has a window or a file with them, counts that
//! ([`SharedWith`]). Whoever reserves a range after a death takes those of the dead with whom nobody who lives shares anything, and gives them back.
//!
//! Invariant: a process counts before it looks whether a rank's memory was taken, and whoever takes it says so before it looks at the counts, each
//! with a full fence in between: so no process begins to use what another one takes.

use super::state::{TAKEN, TAKES};
use super::{Heap, PAGE};
use crate::queue::barrier;
use crate::sync::{AtomicU32, Ordering, fence};
use crate::transport::deaths;
use std::io::Result;

/// While it is there the memory of some ranks stays what it is, though they die.
pub struct SharedWith {
    heap: &'static Heap,
    ranks: Box<[u32]>,
}

impl SharedWith {
    /// For a window whose memory is none of a heap.
    #[cfg(test)]
    pub fn nobody() -> SharedWith {
        static HEAP: std::sync::OnceLock<&Heap> = std::sync::OnceLock::new();
        SharedWith {
            heap: HEAP.get_or_init(|| super::tests::heaps(1)[0]),
            ranks: Box::default(),
        }
    }

    fn counts(&self) -> impl Iterator<Item = &'static AtomicU32> {
        let (heap, offset) = (self.heap, self.heap.counts.get());
        let count = move |rank: &u32| heap.count(*offset?, *rank);
        self.ranks.iter().filter_map(count)
    }
}

impl Drop for SharedWith {
    fn drop(&mut self) {
        for count in self.counts() {
            // Release: pairs with `is_shared`; the last accesses were before.
            count.fetch_sub(1, Ordering::Release);
        }
    }
}

/// What all ranks of a window or a file share.
pub struct AwaitedBlock {
    /// It begins with a [`barrier::Header`].
    pub offset: u64,
    pub ranks: u32,
    /// A range that the last rank gives back that leaves; zero: none.
    pub range: u64,
}

/// A block that others may still use.
pub struct Waiting {
    block: AwaitedBlock,
    with: Box<[u32]>,
}

impl Heap {
    /// Says that this process will share memory with some ranks, by index in the segment; to be called before they tell each other where it
    /// is. `None`: one of them is dead, and its memory another one's.
    ///
    /// Errors: as [`Heap::obtain`].
    pub fn share_with(
        &'static self,
        ranks: impl Iterator<Item = usize>,
    ) -> Result<Option<SharedWith>> {
        let own = &self.segment.rank(self.me).memory.counts;
        if self.counts.get().is_none() {
            let bytes = self.segment.ranks() * size_of::<AtomicU32>();
            let offset = self.obtain(bytes as u64, super::pieces::SHORTEST)?;
            if self.counts.set(offset).is_err() {
                self.release(offset); // another thread was faster
            }
        }
        let offset = self.counts.get().copied().unwrap_or(0);
        own.store(offset, Ordering::Release); // pairs with `is_shared`
        let others = ranks.filter(|rank| *rank != self.me);
        let with = SharedWith {
            heap: self,
            ranks: others.map(|rank| rank as u32).collect(),
        };
        for count in with.counts() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        // SeqCst: pairs with `take_from`.
        fence(Ordering::SeqCst);
        let memory = |rank: &u32| &self.segment.rank(*rank as usize).memory;
        let is_taken = |rank| memory(rank).taken.load(Ordering::Relaxed) != 0;
        let any_is_taken = with.ranks.iter().any(is_taken);
        Ok((!any_is_taken).then_some(with))
    }

    /// What a process counts at an offset for a rank.
    fn count(&self, offset: u64, rank: u32) -> Option<&'static AtomicU32> {
        let bytes = size_of::<AtomicU32>() as u64;
        let word = self.at(offset + u64::from(rank) * bytes, bytes)?;
        // SAFETY: inside the heap, which is never unmapped, and allocated before the offset was told; atomics are valid for any content.
        Some(unsafe { &*word.cast::<AtomicU32>() })
    }

    pub(super) fn has_ended(&self, rank: usize) -> bool {
        self.segment.rank(rank).status.stores_no_more()
    }

    /// Whether a process that lives shares memory with a rank.
    fn is_shared(&self, rank: usize) -> bool {
        let mut others = (0..self.segment.ranks()).filter(|other| *other != rank);
        others.any(|other| {
            let offset = self
                .segment
                .rank(other)
                .memory
                .counts
                .load(Ordering::Acquire);
            // The counts of one that has ended may be another one's memory.
            let counts = offset != 0 && !self.has_ended(other);
            let count = counts.then(|| self.count(offset, rank as u32)).flatten();
            // Acquire: pairs with the end of `SharedWith`.
            count.is_some_and(|count| count.load(Ordering::Acquire) != 0)
        })
    }

    /// Gives back the memory of the dead that nobody shares. Where somebody does, it is tried again.
    #[inline]
    pub(super) fn take_from_the_dead(&self) {
        let count = deaths::count();
        if self.deaths.load(Ordering::Relaxed) != count {
            self.take_from_all(count);
        }
    }

    #[cold]
    fn take_from_all(&self, count: u32) {
        let ended = (0..self.segment.ranks()).filter(|rank| self.has_ended(*rank));
        // Each one, whatever the others.
        if ended.filter(|rank| !self.take_from(*rank)).count() == 0 {
            self.deaths.store(count, Ordering::Relaxed);
        }
    }

    /// Gives back the memory of a rank that is dead. False: it is shared.
    fn take_from(&self, rank: usize) -> bool {
        let taken = &self.segment.rank(rank).memory.taken;
        let ranges = match (self.view.get(), self.lock()) {
            (Some(view), Ok(_locked)) if taken.load(Ordering::Relaxed) != TAKEN => {
                taken.store(TAKES, Ordering::Relaxed);
                // SeqCst: pairs with `share_with`.
                fence(Ordering::SeqCst);
                if self.is_shared(rank) {
                    taken.store(0, Ordering::Relaxed);
                    return false;
                }
                let ranges = self.buddy(view).take_from(rank as u32 + 1);
                taken.store(TAKEN, Ordering::Relaxed);
                ranges
            }
            _ => return true,
        };
        for page in ranges {
            self.free(u64::from(page) * PAGE as u64);
        }
        true
    }

    /// Gives back a block of this process's, now or in a later call: when all ranks have left it, or have died.
    pub fn release_when_left(&self, block: AwaitedBlock, with: &SharedWith) {
        let with = with.ranks.clone();
        self.waiting.lock().push(Waiting { block, with });
        self.release_left();
    }

    /// Gives back the blocks of [`Heap::release_when_left`] that all ranks have left.
    pub fn release_left(&self) {
        let have_left = |Waiting { block, with }: &Waiting| {
            let header = self.at(block.offset, size_of::<barrier::Header>() as u64)?;
            // SAFETY: a block that begins so, and is given back below and nowhere else.
            let header = unsafe { &*header.cast::<barrier::Header>() };
            // Acquire: their last accesses were before.
            let have_all = || header.left.load(Ordering::Acquire) == block.ranks;
            if have_all() {
                return Some(true);
            }
            let mut with = with.iter().map(|rank| *rank as usize);
            let is_over = with.any(|rank| self.has_ended(rank) && !self.is_shared(rank));
            // Nobody leaves it any more, and somebody may have since it was read above: the last one gives the range back.
            is_over.then(have_all)
        };
        self.waiting.lock().retain(|waiting| {
            let left = have_left(waiting);
            if left.is_some() {
                self.release(waiting.block.offset);
            }
            // Of all that live none was the last one.
            if left == Some(false) && waiting.block.range != 0 {
                self.free(waiting.block.range);
            }
            left.is_none()
        });
    }
}
