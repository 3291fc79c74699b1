//! The desks of a node's communicators ([`crate::queue::desk`]), and where they are.
//!
//! ```text
//! header -> block -> block -> ...        block   next | words | state | contexts | members | places of the members | desk
//! ```
//!
//! A communicator's first agreement looks for its desk, or makes it. Blocks are of the segment and not of the heap, so they belong to no
//! process and outlive each one. A block is used again when every member has left it or is no more.
//!
//! Invariants: blocks are found and given out under a lock, which is taken over from a process that has died with it, for each change is
//! one store: a block is in use, or not. Its key is that of one communicator at a time: a member leaves the desk before it gives the context
//! id back, and an id is agreed on by all members of the next communicator that has it.
//!
//! A block also says whether its communicator was revoked: one store that all members of this node see, whoever dies. A communicator with
//! members elsewhere has a block for that alone. Whoever knows of a revocation never gives the context id back, so no later communicator
//! has the key of a block that says so.
#![allow(unsafe_code)]

mod state;

use super::layout::Segment;
use super::notifier::FirstNotifier;
use crate::os::backoff::Backoff;
use crate::queue::desk::{self, Desk};
use crate::queue::named_lock;
use crate::queue::revocations;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use parking_lot::{Mutex, MutexGuard};
pub use state::Shared;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Shared {
        lock,
        refused,
        revocations,
        first
    }),
    shape::number(shape::START, PLACES),
    shape::number(shape::START, block_words(7)),
]);

// Words of a block.
const NEXT: usize = 0;
const WORDS: usize = 1;
const IS_USED: usize = 2;
const CONTEXTS: usize = 3;
const MEMBERS: usize = 4;
const IS_REVOKED: usize = 5;
/// The first of the members' places.
const PLACES: usize = 8;

/// Bit of a member's place: it has left.
const LEFT: u64 = 1 << 63;
/// Bit of a member's place: it knows of the revocation, and need not find this block again.
const KNOWN: u64 = 1 << 62;
/// The other bits: the member's index.
const SEAT: u64 = KNOWN - 1;

/// Words in front of the desk.
const fn head_words(members: usize) -> usize {
    (PLACES + members).next_multiple_of(8)
}

const fn block_words(members: usize) -> usize {
    head_words(members) + desk::words(members)
}

/// Whose desk it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The context ids, in whatever order all members have in common.
    pub contexts: (u32, u32),
    /// The members' indices in the segment.
    pub seats: Vec<u32>,
}

impl Key {
    fn contexts(&self) -> u64 {
        u64::from(self.contexts.0) << 32 | u64::from(self.contexts.1)
    }
}

/// The desks of this process's node.
pub struct Desks {
    segment: Segment<'static>,
    fd: Arc<OwnedFd>,
    /// Own index in the segment.
    me: usize,
    /// Threads of this process take the shared lock one after the other.
    turn: Mutex<()>,
}

/// A communicator's desk.
#[derive(Clone, Copy)]
pub struct Opened {
    segment: Segment<'static>,
    block: Block,
    members: usize,
}

type Block = &'static [AtomicU64];

struct Locked<'a> {
    shared: &'a Shared,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        named_lock::give_back(&self.shared.lock);
    }
}

impl Desks {
    /// Of a segment and its file, for the rank `me`.
    pub fn new(segment: Segment<'static>, fd: Arc<OwnedFd>, me: usize) -> Desks {
        Desks {
            segment,
            fd,
            me,
            turn: Mutex::new(()),
        }
    }

    fn shared(&self) -> &'static Shared {
        &self.segment.header().desks
    }

    fn lock(&self) -> Locked<'_> {
        let turn = self.turn.lock();
        let (shared, me) = (self.shared(), self.me as u32);
        let mut backoff = Backoff::default();
        let is_over = |seat| self.is_over(u64::from(seat));
        while let Err(holder) = named_lock::take(&shared.lock, me, || backoff.pause(), is_over) {
            if named_lock::take_over(&shared.lock, holder, me) {
                break;
            }
        }
        Locked {
            shared,
            _turn: turn,
        }
    }

    /// Whether the process with an index stores nothing any more.
    fn is_over(&self, seat: u64) -> bool {
        let seat = seat as usize;
        seat < self.segment.ranks() && self.segment.rank(seat).status.stores_no_more()
    }

    fn block_at(&self, offset: u64) -> Option<Block> {
        let words = |count: usize| {
            let bytes = count.checked_mul(size_of::<AtomicU64>())?;
            let address = self.segment.dynamic(offset as usize, bytes)?;
            // SAFETY: checked to lie in the dynamic part and aligned; a word is valid for any content.
            Some(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU64>(), count) })
        };
        let count = words(PLACES)?[WORDS].load(Ordering::Relaxed) as usize;
        words(count).filter(|_| count >= PLACES)
    }

    /// The caller has the lock, so that what is found stays what it is.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let first = self.block_at(self.shared().first.load(Ordering::Acquire));
        std::iter::successors(first, |block| {
            self.block_at(block[NEXT].load(Ordering::Relaxed))
        })
    }

    fn is_of(block: Block, key: &Key) -> bool {
        let word = |at: usize| block[at].load(Ordering::Relaxed);
        word(IS_USED) != 0
            && word(CONTEXTS) == key.contexts()
            && word(MEMBERS) == key.seats.len() as u64
            && (key.seats.iter().zip(&block[PLACES..]))
                .all(|(seat, place)| place.load(Ordering::Relaxed) & SEAT == u64::from(*seat))
    }

    /// Whether nobody uses it any more.
    fn is_free(&self, block: Block) -> bool {
        let members = block[MEMBERS].load(Ordering::Relaxed) as usize;
        let has_left = |place: &AtomicU64| {
            // Acquire: pairs with `Opened::leave`; it has read all that it wanted.
            let place = place.load(Ordering::Acquire);
            place & LEFT != 0 || self.is_over(place & SEAT)
        };
        block[IS_USED].load(Ordering::Relaxed) == 0
            || block[PLACES..].iter().take(members).all(has_left)
    }

    /// The desk of these members, which each of them calls this for. `None`: there is no memory, and no member has one.
    pub fn open(&self, key: &Key) -> Option<Opened> {
        let locked = self.lock();
        let block = match self.find(key) {
            Some(block) => block,
            None if locked.shared.refused.load(Ordering::Relaxed) != 0 => return None,
            None => match self.make(key) {
                Some(block) => block,
                None => {
                    locked.shared.refused.store(1, Ordering::Relaxed);
                    return None;
                }
            },
        };
        Some(Opened {
            segment: self.segment,
            block,
            members: key.seats.len(),
        })
    }

    /// The caller has the lock.
    fn find(&self, key: &Key) -> Option<Block> {
        // One that all have left was an earlier communicator's.
        let is_theirs = |block: &Block| Self::is_of(block, key) && !self.is_free(block);
        self.blocks().find(is_theirs)
    }

    /// Says that the communicator with this key is revoked, and wakes the ranks that sleep. False: there is no memory for that.
    pub fn revoke(&self, key: &Key) -> bool {
        {
            let locked = self.lock();
            let Some(block) = self.find(key).or_else(|| self.make(key)) else {
                return false;
            };
            if !revocations::revoke(&block[IS_REVOKED], &locked.shared.revocations) {
                return true;
            }
        }
        self.segment.tell_news();
        true
    }

    /// Has `find` go through those that are [`Desks::revoked`], if there was a revocation since this process has last `seen` any.
    #[inline]
    pub fn look_for_revocations(&self, seen: &AtomicU32, find: impl FnOnce()) {
        revocations::look(seen, &self.shared().revocations, find);
    }

    /// Whether communicators were revoked; for whoever has made one that other threads can find by now.
    #[inline]
    pub fn any_revocation(&self) -> bool {
        revocations::is_any(&self.shared().revocations)
    }

    /// Whether the communicator with this key is revoked.
    pub fn is_revoked(&self, key: &Key) -> bool {
        let _locked = self.lock();
        let block = self.find(key);
        block.is_some_and(|block| revocations::is_revoked(&block[IS_REVOKED]))
    }

    /// The keys of the revoked communicators that this process is a member of, has not left and does not [know](Desks::know) to be revoked.
    pub fn revoked(&self) -> Vec<Key> {
        let _locked = self.lock();
        let seats = |block: Block| {
            let members = block[MEMBERS].load(Ordering::Relaxed) as usize;
            let places = block[PLACES..].iter().take(members);
            places.map(|place| place.load(Ordering::Relaxed))
        };
        let me = self.me as u64;
        let is_own = |block: &Block| {
            block[IS_USED].load(Ordering::Relaxed) != 0
                && revocations::is_revoked(&block[IS_REVOKED])
                && seats(block).any(|place| place == me)
        };
        let key = |block: Block| {
            let contexts = block[CONTEXTS].load(Ordering::Relaxed);
            Key {
                contexts: ((contexts >> 32) as u32, contexts as u32),
                seats: seats(block).map(|place| (place & SEAT) as u32).collect(),
            }
        };
        self.blocks().filter(is_own).map(key).collect()
    }

    /// This process knows that the communicator with this key is revoked.
    pub fn know(&self, key: &Key) {
        self.mark(key, KNOWN);
    }

    /// Marks the own place in the block with this key, if there is one.
    fn mark(&self, key: &Key, bit: u64) {
        let _locked = self.lock();
        let own = key.seats.iter().position(|seat| *seat as usize == self.me);
        if let Some(block) = self.blocks().find(|block| Self::is_of(block, key))
            && let Some(own) = own
        {
            block[PLACES + own].fetch_or(bit, Ordering::Release); // pairs with `is_free`
        }
    }

    /// The caller has the lock.
    fn find_free(&self, words: usize) -> Option<Block> {
        let fits = |block: &Block| block.len() >= words && self.is_free(block);
        self.blocks().find(fits)
    }

    /// Has a block ready for a communicator of all ranks of this node, and maps it in this process: whoever makes or finds the desk later waits
    /// for no memory, unless another communicator has taken the block.
    pub fn provide(&self) {
        let words = block_words(self.segment.ranks());
        let _locked = self.lock();
        if self.find_free(words).is_none() {
            // If there is no memory, whoever needs it is told.
            let _ = self.add(words);
        }
    }

    /// The caller has the lock.
    fn make(&self, key: &Key) -> Option<Block> {
        let words = block_words(key.seats.len());
        let free = self.find_free(words);
        let block = free.or_else(|| self.add(words))?;
        block[IS_USED].store(0, Ordering::Relaxed);
        block[IS_REVOKED].store(0, Ordering::Relaxed);
        for word in &block[PLACES..words] {
            word.store(0, Ordering::Relaxed);
        }
        for (place, seat) in block[PLACES..].iter().zip(&key.seats) {
            place.store(u64::from(*seat), Ordering::Relaxed);
        }
        block[CONTEXTS].store(key.contexts(), Ordering::Relaxed);
        block[MEMBERS].store(key.seats.len() as u64, Ordering::Relaxed);
        // Release: whoever takes the lock over sees a block that is whole.
        block[IS_USED].store(1, Ordering::Release);
        Some(block)
    }

    /// A new block of at least so many words. One whose maker dies before it is in the list is lost.
    fn add(&self, words: usize) -> Option<Block> {
        let bytes = (words * size_of::<AtomicU64>()).next_multiple_of(super::heap::PAGE);
        let offset = self.segment.allocate(self.fd.as_fd(), bytes).ok()? as u64;
        let first = &self.shared().first;
        let head = self
            .segment
            .dynamic(offset as usize, bytes)?
            .cast::<AtomicU64>();
        // SAFETY: as in `block_at`; so many bytes were just allocated.
        let block = unsafe { std::slice::from_raw_parts(head, bytes / size_of::<AtomicU64>()) };
        block[NEXT].store(first.load(Ordering::Relaxed), Ordering::Relaxed);
        block[WORDS].store(block.len() as u64, Ordering::Relaxed);
        first.store(offset, Ordering::Release);
        Some(block)
    }

    /// Whether there is one, and not only a block that is [provided](Desks::provide).
    #[inline]
    pub fn any(&self) -> bool {
        let first = self.shared().first.load(Ordering::Acquire);
        first != 0
            && self.block_at(first).is_some_and(|block| {
                let word = |at: usize| block[at].load(Ordering::Relaxed);
                word(IS_USED) != 0 || word(NEXT) != 0
            })
    }

    /// A member without the desk will not ask for it any more: the others may have one.
    pub fn leave(&self, key: impl FnOnce() -> Option<Key>) {
        if let Some(key) = key() {
            self.mark(&key, LEFT);
        }
    }
}

impl Opened {
    #[inline]
    pub fn desk(&self) -> Desk<'static> {
        let first = head_words(self.members);
        let words = desk::words(self.members);
        Desk::new(&self.block[first..first + words], self.members)
    }

    pub fn members(&self) -> usize {
        self.members
    }

    /// Wakes a member if it sleeps.
    pub fn wake(&self, member: usize) {
        let seat = self.block[PLACES + member].load(Ordering::Relaxed) & SEAT;
        FirstNotifier::of(self.segment.rank(seat as usize)).wake_ordered();
    }

    /// This member uses the desk no more.
    pub fn leave(&self, me: usize) {
        self.block[PLACES + me].fetch_or(LEFT, Ordering::Release); // pairs with `is_free`
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout::{initialise, segment_bytes};

    fn desks(ranks: usize, bytes: u64) -> Vec<Desks> {
        let fd = Arc::new(memory::create("test", bytes, false).unwrap());
        initialise(fd.as_fd(), ranks).unwrap();
        let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
        let segment = Segment::open(map, ranks).unwrap();
        let of = |me| Desks::new(segment, fd.clone(), me);
        (0..ranks).map(of).collect()
    }

    fn key(context: u32, seats: &[u32]) -> Key {
        Key {
            contexts: (context, context),
            seats: seats.into(),
        }
    }

    fn next(desks: &Desks) -> u64 {
        desks.blocks().count() as u64
    }

    #[test]
    fn members_find_one_desk_and_others_another() {
        let all = desks(3, segment_bytes(3));
        let opened = all[0].open(&key(8, &[0, 2])).unwrap();
        opened.desk().contribute(0, 1, 6, |_| false);
        opened.desk().contribute(1, 1, 3, |_| false);
        let same = all[2].open(&key(8, &[0, 2])).unwrap();
        assert_eq!(same.desk().outcome(1, 2).flags[0], 2);
        for other in [
            key(8, &[1, 2]),
            key(8, &[2, 0]),
            key(8, &[0]),
            key(12, &[0, 2]),
        ] {
            let other = all[2].open(&other).unwrap();
            assert!(!other.desk().is_settled(1, &mut 0, |_| false));
        }
        assert_eq!(next(&all[1]), 5);
    }

    #[test]
    fn a_desk_that_all_have_left_is_another_ones() {
        let all = desks(3, segment_bytes(3));
        let first = all[0].open(&key(8, &[0, 1, 2])).unwrap();
        first.desk().contribute(0, 1, 6, |_| false);
        first.leave(0);
        // This one has never used it.
        all[1].leave(|| Some(key(8, &[0, 1, 2])));
        all[1].leave(|| Some(key(12, &[0, 1, 2])));
        all[0].open(&key(16, &[0, 1])).unwrap();
        assert_eq!(next(&all[0]), 2);
        all[2].segment.rank(2).status.set_reaped();
        // Also where the ids are the same ones.
        let again = all[1].open(&key(8, &[0, 1, 2])).unwrap();
        assert_eq!(next(&all[0]), 2);
        assert!(!again.desk().is_settled(1, &mut 0, |_| false));
        again.leave(0);
        again.leave(1);
        let smaller = all[1].open(&key(20, &[0, 1])).unwrap();
        assert!(!smaller.desk().is_settled(1, &mut 0, |_| false));
        assert_eq!(next(&all[0]), 2);
    }

    #[test]
    fn a_block_is_provided_once_for_all_and_taken_by_the_first_communicator() {
        let all = desks(3, segment_bytes(3));
        all.iter().for_each(Desks::provide);
        assert_eq!(next(&all[0]), 1);
        assert!(all.iter().all(|desks| !desks.any()));
        assert!(!all[0].any_revocation() && !all[1].is_revoked(&key(8, &[0, 1, 2])));
        assert!(all[1].revoke(&key(8, &[0, 1, 2])));
        assert_eq!(next(&all[0]), 1);
        assert!(all.iter().all(Desks::any));
        assert_eq!(all[2].revoked(), [key(8, &[0, 1, 2])]);
        // It is another one's now.
        all[2].provide();
        assert_eq!(next(&all[0]), 2);
    }

    #[test]
    fn a_revocation_is_seen_by_the_members_until_they_leave() {
        let all = desks(3, segment_bytes(3));
        let (one, other) = (key(8, &[0, 2]), key(8, &[1, 2]));
        all[2].open(&one).unwrap();
        assert!(!all[0].is_revoked(&one) && !all[0].any_revocation());
        assert!(all[0].revoke(&one) && all[2].revoke(&one));
        let (seen, looks) = (AtomicU32::new(0), AtomicU32::new(0));
        for _ in 0..3 {
            all[1].look_for_revocations(&seen, || {
                looks.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert!(all[1].any_revocation());
        assert_eq!(looks.load(Ordering::Relaxed), 1);
        assert!(all[2].is_revoked(&one) && !all[2].is_revoked(&other));
        assert_eq!(all[2].revoked(), std::slice::from_ref(&one));
        assert!(all[1].revoked().is_empty());
        all[2].know(&one);
        assert!(all[2].revoked().is_empty() && all[2].is_revoked(&one));
        assert_eq!(all[0].revoked(), std::slice::from_ref(&one));
        all[0].leave(|| Some(one.clone()));
        assert!(all[0].revoked().is_empty() && all[2].is_revoked(&one));
        all[2].leave(|| Some(one.clone()));
        // The block is another one's.
        assert!(!all[2].is_revoked(&one));
        all[1].open(&other).unwrap();
        assert!(!all[1].is_revoked(&other) && all[1].revoked().is_empty());
        assert_eq!(next(&all[0]), 1);
    }

    #[test]
    fn a_lock_of_the_dead_is_taken_over() {
        let all = desks(2, segment_bytes(2));
        std::mem::forget(all[0].lock());
        all[1].segment.rank(0).status.set_reaped();
        assert!(all[1].open(&key(8, &[0, 1])).is_some());
        assert!(all[1].open(&key(12, &[1])).is_some());
    }

    #[test]
    fn where_one_gets_none_no_member_does() {
        let all = desks(2, segment_bytes(2));
        let known = key(8, &[0, 1]);
        all[0].open(&known).unwrap();
        let segment = all[0].segment;
        while segment
            .allocate(all[0].fd.as_fd(), super::super::heap::PAGE << 6)
            .is_ok()
        {}
        while segment.allocate(all[0].fd.as_fd(), 1).is_ok() {}
        assert!(all[0].open(&key(12, &[0, 1])).is_none());
        let opened = all[1].open(&known).unwrap();
        opened.leave(0);
        opened.leave(1);
        // Though there is a free one by now.
        for context in [8, 12] {
            assert!(all[1].open(&key(context, &[0, 1])).is_none());
        }
    }
}
