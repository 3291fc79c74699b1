//! Locks of ranges of bytes, in memory that processes share, some of which may die at any time; fair.
//!
//! ```text
//! lock      with the table's lock: ticket := next++, write a free slot, name it to all earlier ones whose ranges it meets
//!           wait until none of those is there any more
//! unlock    slot's ticket := 0, wake whom it names, slot is free
//! ```
//!
//! A locker waits for earlier tickets only, so there is no deadlock, and nobody is passed over for ever. Two that share a range do not
//! wait for each other. Invariants: a slot is written with the table's lock; a waiter names itself at a slot and then looks at its ticket,
//! an owner clears the ticket and then takes the names, so that one sees the other (models below, for loom). A process that waits for an
//! owner that has died gets an error; the range stays locked. A slot counts from its bit in `taken` on, which is set when all else of it is
//! written: so the table's lock is taken over from a holder that has died.

#[cfg(all(test, loom))]
mod models;

use super::named_lock::{self, give_back, try_take};
use super::shape::{self, shape};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence_after_update};

/// Slots of a table: with its head they are a page.
pub const SLOTS: usize = 63;

/// What a table begins with. All zeros are a free one.
#[repr(C)]
pub struct Head {
    /// The table's lock: the number of its holder and one.
    lock: AtomicU32,
    _pad: AtomicU32,
    /// The last ticket. There are no 2^64.
    last: AtomicU64,
    /// Slots that are not free, by bit.
    taken: AtomicU64,
    _rest: [AtomicU64; 5],
}

/// A range that is locked or waited for: a line of the cache.
#[repr(C)]
pub struct Slot {
    /// Zero: not any more.
    ticket: AtomicU64,
    /// What has the bytes, such as a file.
    object: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    /// The slots of those that wait for this one, by bit.
    waiters: AtomicU64,
    process: AtomicU32,
    exclusive: AtomicU32,
    _rest: [AtomicU64; 2],
}

/// A table of locks. Zeros are one without any.
#[repr(C)]
pub struct Table {
    head: Head,
    slots: [Slot; SLOTS],
}

const _: () = assert!(size_of::<Table>() == 4096 || cfg!(loom));

/// The layout of what processes share.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Head {
        lock,
        _pad,
        last,
        taken,
        _rest
    }),
    shape!(Slot {
        ticket,
        object,
        first,
        last,
        waiters,
        process,
        exclusive,
        _rest
    }),
    shape!(Table { head, slots }),
]);

/// A range of an object's bytes, the last one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub object: u64,
    pub first: u64,
    pub last: u64,
    pub exclusive: bool,
}

/// A locker, and what is around it.
pub trait Locker {
    type Failure;
    fn process(&self) -> u32;
    /// Called between two looks at something that is free soon. Returns whether it is time to look whether a holder has died.
    fn pause(&self) -> bool;
    fn has_died(&self, process: u32) -> bool;
    /// Returns when it `holds`, for which this process has something to do.
    ///
    /// Errors: it never will.
    fn wait(&self, process: u32, holds: &mut dyn FnMut() -> bool) -> Result<(), Self::Failure>;
    /// Wakes a process that may wait, after a full fence.
    fn wake(&self, process: u32);
    /// The failure because of this process, which has died.
    fn failure(&self, process: u32) -> Self::Failure;
}

/// The words of a table.
#[derive(Clone, Copy)]
pub struct Locks<'a> {
    head: &'a Head,
    slots: &'a [Slot],
}

/// The slot of a range that is locked.
#[derive(Debug)]
#[must_use]
pub struct Held(usize);

impl Table {
    #[inline(always)]
    pub fn locks(&self) -> Locks<'_> {
        Locks {
            head: &self.head,
            slots: &self.slots,
        }
    }
}

/// The numbers of the bits that are set.
#[inline(always)]
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(bit as usize)
    })
}

impl Slot {
    /// Whether it stands in the way of a later range.
    #[inline(always)]
    fn meets(&self, range: &Range) -> bool {
        self.object.load(Ordering::Relaxed) == range.object
            && self.first.load(Ordering::Relaxed) <= range.last
            && range.first <= self.last.load(Ordering::Relaxed)
            && (range.exclusive || self.exclusive.load(Ordering::Relaxed) != 0)
    }

    /// Whether the slot has an owner that came before this ticket.
    #[inline(always)]
    fn is_before(&self, ticket: u64) -> bool {
        // Acquire: pairs with `Locks::unlock`, so that what was done under the lock is seen.
        (1..ticket).contains(&self.ticket.load(Ordering::Acquire))
    }
}

impl Locks<'_> {
    /// All slots.
    fn all(self) -> u64 {
        u64::MAX >> (64 - self.slots.len())
    }

    /// Takes the table's lock, with a slot that is free.
    #[inline(always)]
    fn enter<L: Locker>(self, me: &L) -> Result<u64, L::Failure> {
        loop {
            if !try_take(&self.head.lock, me.process()) {
                self.enter_late(me);
            }
            // Acquire: pairs with `free`; nothing of what was in the slot before comes later.
            let taken = self.head.taken.load(Ordering::Acquire);
            if taken != self.all() {
                return Ok(taken);
            }
            // No free slot. Its owners hold ranges for a short time only, unless they have died.
            let result = self.reclaim(me);
            give_back(&self.head.lock);
            result?;
        }
    }

    /// Frees the slots of those that have died between the end of their lock and that of their slot, when all slots are taken.
    ///
    /// Errors: all have died with a range locked.
    #[cold]
    fn reclaim<L: Locker>(self, me: &L) -> Result<(), L::Failure> {
        if !me.pause() {
            return Ok(());
        }
        let owner = |slot: &Slot| slot.process.load(Ordering::Relaxed);
        let mut lost = None;
        for (number, slot) in self.slots.iter().enumerate() {
            let process = owner(slot);
            if !me.has_died(process) {
                return Ok(());
            }
            if slot.ticket.load(Ordering::Relaxed) == 0 {
                self.head.taken.fetch_and(!(1 << number), Ordering::Release);
                return Ok(());
            }
            lost = Some(process);
        }
        lost.map_or(Ok(()), |process| Err(me.failure(process)))
    }

    #[cold]
    fn enter_late<L: Locker>(self, me: &L) {
        let lock = &self.head.lock;
        let take = || named_lock::take(lock, me.process(), || me.pause(), |it| me.has_died(it));
        while let Err(holder) = take() {
            if named_lock::take_over(lock, holder, me.process()) {
                return;
            }
        }
    }

    /// Locks a range, when all have unlocked that came before and want it too.
    ///
    /// Errors: one of those has died, or all processes of a full table.
    #[inline(always)]
    pub fn lock<L: Locker>(self, me: &L, range: &Range) -> Result<Held, L::Failure> {
        let taken = self.enter(me)?;
        let free = !taken & self.all();
        // A slot of its own, if that is free: its line is in this core's cache.
        let wish = me.process() as usize % self.slots.len();
        let number = match free & 1 << wish {
            0 => free.trailing_zeros() as usize,
            _ => wish,
        };
        let ticket = self.head.last.load(Ordering::Relaxed) + 1;
        self.head.last.store(ticket, Ordering::Relaxed);
        let slot = &self.slots[number];
        slot.object.store(range.object, Ordering::Relaxed);
        slot.first.store(range.first, Ordering::Relaxed);
        slot.last.store(range.last, Ordering::Relaxed);
        slot.exclusive
            .store(range.exclusive.into(), Ordering::Relaxed);
        slot.process.store(me.process(), Ordering::Relaxed);
        slot.waiters.store(0, Ordering::Relaxed);
        // Release: whoever waited for the slot's owner before may see this in place of its end.
        slot.ticket.store(ticket, Ordering::Release);
        self.head.taken.fetch_or(1 << number, Ordering::Relaxed);
        let mut awaited = 0;
        for other in bits(taken) {
            let slot = &self.slots[other];
            if slot.meets(range) && slot.is_before(ticket) {
                slot.waiters.fetch_or(1 << number, Ordering::SeqCst);
                awaited |= 1 << other;
            }
        }
        give_back(&self.head.lock);
        let held = Held(number);
        if awaited != 0 {
            self.wait(me, &held, ticket, awaited)?;
        }
        Ok(held)
    }

    #[cold]
    fn wait<L: Locker>(
        self,
        me: &L,
        held: &Held,
        ticket: u64,
        awaited: u64,
    ) -> Result<(), L::Failure> {
        fence_after_update();
        for other in bits(awaited) {
            let slot = &self.slots[other];
            // If it is another one's by now, nobody is waited for.
            let process = slot.process.load(Ordering::Relaxed);
            let mut is_gone = || !slot.is_before(ticket);
            if !is_gone()
                && let Err(failure) = me.wait(process, &mut is_gone)
            {
                self.end(me, held.0);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Gives up what [`Locks::lock`] took.
    #[inline(always)]
    pub fn unlock<L: Locker>(self, me: &L, held: Held) {
        self.end(me, held.0);
    }

    #[inline(always)]
    fn end<L: Locker>(self, me: &L, number: usize) {
        let slot = &self.slots[number];
        // Release: pairs with `is_before`.
        slot.ticket.store(0, Ordering::Release);
        // Before the slot is free: later names are those of the next owner.
        let waiters = slot.waiters.swap(0, Ordering::SeqCst);
        fence_after_update();
        self.head.taken.fetch_and(!(1 << number), Ordering::Release);
        if waiters != 0 {
            self.wake(me, waiters);
        }
    }

    #[cold]
    fn wake<L: Locker>(self, me: &L, waiters: u64) {
        for waiter in bits(waiters) {
            me.wake(self.slots[waiter].process.load(Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
fn fresh_slot() -> Slot {
    let word = || AtomicU64::new(0);
    Slot {
        ticket: word(),
        object: word(),
        first: word(),
        last: word(),
        waiters: word(),
        process: AtomicU32::new(0),
        exclusive: AtomicU32::new(0),
        _rest: [word(), word()],
    }
}

#[cfg(test)]
fn fresh_head() -> Head {
    let word = || AtomicU64::new(0);
    Head {
        lock: AtomicU32::new(0),
        _pad: AtomicU32::new(0),
        last: word(),
        taken: word(),
        _rest: std::array::from_fn(|_| word()),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A locker that must not wait.
    struct Alone(u32);

    impl Locker for Alone {
        type Failure = u32;

        fn process(&self) -> u32 {
            self.0
        }

        fn pause(&self) -> bool {
            true
        }

        fn has_died(&self, process: u32) -> bool {
            process == 9
        }

        /// Says whom it would wait for.
        fn wait(&self, process: u32, _: &mut dyn FnMut() -> bool) -> Result<(), u32> {
            Err(process)
        }

        fn wake(&self, _: u32) {}

        fn failure(&self, process: u32) -> u32 {
            100 + process
        }
    }

    fn range(first: u64, last: u64, exclusive: bool) -> Range {
        Range {
            object: 1,
            first,
            last,
            exclusive,
        }
    }

    #[test]
    fn what_meets_waits_and_nothing_else() {
        let (head, slots): (_, Vec<Slot>) = (fresh_head(), (0..4).map(|_| fresh_slot()).collect());
        let locks = Locks {
            head: &head,
            slots: &slots,
        };
        let write = locks.lock(&Alone(1), &range(10, 19, true)).unwrap();
        let read = locks.lock(&Alone(2), &range(20, 29, false)).unwrap();
        for (first, last, exclusive, expected) in [
            (0, 9, true, None),
            (0, 10, true, Some(1)),
            (0, 10, false, Some(1)),
            (19, 19, false, Some(1)),
            (20, 25, false, None),
            (25, 40, true, Some(2)),
            (30, u64::MAX, true, None),
        ] {
            let result = locks.lock(&Alone(3), &range(first, last, exclusive));
            assert_eq!(result.as_ref().err().copied(), expected, "{first} {last}");
            if let Ok(held) = result {
                locks.unlock(&Alone(3), held);
            }
        }
        let other = Range {
            object: 2,
            ..range(0, 100, true)
        };
        let held = locks.lock(&Alone(1), &other).unwrap();
        for held in [write, read, held] {
            locks.unlock(&Alone(1), held);
        }
        assert_eq!(head.taken.load(Ordering::Relaxed), 0);
        let all = locks.lock(&Alone(1), &range(0, u64::MAX, true)).unwrap();
        locks.unlock(&Alone(1), all);
        // Died with the table's lock, with a slot half written, and one step later.
        for is_taken in [false, true] {
            assert!(try_take(&head.lock, 9));
            let half = &slots[1];
            half.ticket
                .store(head.last.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            half.process.store(9, Ordering::Relaxed);
            if is_taken {
                half.object.store(1, Ordering::Relaxed);
                half.first.store(50, Ordering::Relaxed);
                half.last.store(59, Ordering::Relaxed);
                half.exclusive.store(1, Ordering::Relaxed);
                head.taken.store(1 << 1, Ordering::Relaxed);
                head.last.fetch_add(1, Ordering::Relaxed);
            }
            let held = locks.lock(&Alone(1), &range(0, 1, true)).unwrap();
            let meets = locks
                .lock(&Alone(2), &range(50, 50, true))
                .map(|it| locks.unlock(&Alone(2), it));
            assert_eq!(meets.err(), is_taken.then_some(9));
            locks.unlock(&Alone(1), held);
        }
    }

    /// Slots of the dead fill a table: those that hold nothing are free again, and where all hold something it is an error.
    #[test]
    fn a_table_of_dead_owners_is_an_error() {
        let (head, slots): (_, Vec<Slot>) = (fresh_head(), (0..4).map(|_| fresh_slot()).collect());
        let locks = Locks {
            head: &head,
            slots: &slots,
        };
        for first in 0..4 {
            let _ = locks
                .lock(&Alone(9), &range(10 * first, 10 * first, true))
                .unwrap();
        }
        let result = locks.lock(&Alone(1), &range(100, 100, true));
        assert_eq!(result.unwrap_err(), 109);
        // It had just ended its lock of this one.
        slots[2].ticket.store(0, Ordering::Relaxed);
        let held = locks.lock(&Alone(1), &range(100, 100, true)).unwrap();
        locks.unlock(&Alone(1), held);
        assert_eq!(head.taken.load(Ordering::Relaxed), 0b1011);
    }
}
