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
//! an owner clears the ticket and then takes the names, so that one sees the other (models below, for loom). Whoever waits for an
//! owner that has died gets an error; the range stays locked.

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

/// The numbers of the bits.
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

    /// Whether what was there before this ticket still is.
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
                self.enter_late(me)?;
            }
            // Acquire: pairs with `free`; nothing of what was in the slot before comes later.
            let taken = self.head.taken.load(Ordering::Acquire);
            if taken != self.all() {
                return Ok(taken);
            }
            // As many lockers as slots: they do not hold for long.
            give_back(&self.head.lock);
            me.pause();
        }
    }

    #[cold]
    fn enter_late<L: Locker>(self, me: &L) -> Result<(), L::Failure> {
        let lock = &self.head.lock;
        let taken = named_lock::take(lock, me.process(), || me.pause(), |it| me.has_died(it));
        taken.map_err(|holder| me.failure(holder))
    }

    /// Locks a range, when all have unlocked that came before and want it too.
    ///
    /// Errors: one of those has died, or a process that was about to lock something.
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
        // Died with the table's lock.
        assert!(try_take(&head.lock, 9));
        let result = locks.lock(&Alone(1), &range(0, 1, true));
        assert_eq!(result.unwrap_err(), 109);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::queue::models::Sleepers;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;
    const BYTES: usize = 2;
    /// The numbers of processes go up by that, so that all of them want the first of three slots.
    const STEP: usize = 3;

    struct Shared {
        head: Head,
        slots: Vec<Slot>,
        sleepers: Sleepers,
        died: Vec<AtomicU32>,
        data: [UnsafeCell<u32>; BYTES],
    }

    // SAFETY: that `data` is accessed as the locks allow is what the models check.
    unsafe impl Sync for Shared {}

    struct Process<'a>(&'a Shared, usize);

    impl Locker for Process<'_> {
        type Failure = u32;

        fn process(&self) -> u32 {
            (self.1 * STEP) as u32
        }

        fn pause(&self) -> bool {
            thread::yield_now();
            true
        }

        fn has_died(&self, process: u32) -> bool {
            self.0.died[process as usize / STEP].load(Ordering::Acquire) != 0
        }

        fn wait(&self, process: u32, holds: &mut dyn FnMut() -> bool) -> Result<(), u32> {
            self.0.sleepers.wait(self.1, || {
                if holds() {
                    return Some(Ok(()));
                }
                // Died first, then looked at.
                let died = self.has_died(process);
                match holds() {
                    true => Some(Ok(())),
                    false => died.then_some(Err(process)),
                }
            })
        }

        fn wake(&self, process: u32) {
            self.0.sleepers.wake(process as usize / STEP);
        }

        fn failure(&self, process: u32) -> u32 {
            process
        }
    }

    impl Process<'_> {
        fn locks(&self) -> Locks<'_> {
            Locks {
                head: &self.0.head,
                slots: &self.0.slots,
            }
        }

        /// Adds to each byte of a range.
        fn adds(&self, first: usize, last: usize) -> Result<(), u32> {
            let held = self.locks().lock(self, &range(first, last, true))?;
            for byte in first..=last {
                // SAFETY: as above; loom reports accesses at the same time.
                self.0.data[byte].with_mut(|data| unsafe { *data += 1 });
            }
            self.locks().unlock(self, held);
            Ok(())
        }

        fn reads(&self, byte: usize) -> u32 {
            let held = self.locks().lock(self, &range(byte, byte, false)).unwrap();
            // SAFETY: as above.
            let seen = self.0.data[byte].with(|data| unsafe { *data });
            self.locks().unlock(self, held);
            seen
        }
    }

    fn range(first: usize, last: usize, exclusive: bool) -> Range {
        Range {
            object: 7,
            first: first as u64,
            last: last as u64,
            exclusive,
        }
    }

    fn explore(
        processes: &'static [fn(&Process<'_>)],
        slots: usize,
        sleeps: bool,
        sums: Option<[u32; BYTES]>,
    ) {
        let changes = if processes.len() > 2 { 1 } else { CHANGES };
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(changes);
        explore_with(builder, processes, slots, sleeps, sums);
    }

    fn explore_with(
        builder: loom::model::Builder,
        processes: &'static [fn(&Process<'_>)],
        slots: usize,
        sleeps: bool,
        sums: Option<[u32; BYTES]>,
    ) {
        builder.check(move || {
            let shared = Arc::new(Shared {
                head: fresh_head(),
                slots: (0..slots).map(|_| fresh_slot()).collect(),
                sleepers: Sleepers::new(processes.len(), sleeps),
                died: processes.iter().map(|_| AtomicU32::new(0)).collect(),
                data: std::array::from_fn(|_| UnsafeCell::new(0)),
            });
            let threads: Vec<_> = (1..processes.len())
                .map(|me| {
                    let shared = shared.clone();
                    thread::spawn(move || processes[me](&Process(&shared, me)))
                })
                .collect();
            processes[0](&Process(&shared, 0));
            for thread in threads {
                thread.join().unwrap();
            }
            if let Some(sums) = sums {
                let me = Process(&shared, 0);
                assert_eq!([me.reads(0), me.reads(1)], sums);
                assert_eq!(shared.head.taken.load(Ordering::Relaxed), 0);
            }
        });
    }

    fn adds_to_both(me: &Process<'_>) {
        me.adds(0, 1).unwrap();
    }

    fn adds_to_the_first(me: &Process<'_>) {
        me.adds(0, 0).unwrap();
    }

    fn adds_to_the_first_twice(me: &Process<'_>) {
        me.adds(0, 0).unwrap();
        me.adds(0, 0).unwrap();
    }

    fn adds_to_the_second(me: &Process<'_>) {
        me.adds(1, 1).unwrap();
    }

    fn reads(me: &Process<'_>) {
        assert!(me.reads(0) <= 2);
    }

    fn dies_with_the_first(me: &Process<'_>) {
        let _held = me.locks().lock(me, &range(0, 0, true)).unwrap();
        me.0.died[me.1].store(1, Ordering::Release);
        me.0.sleepers.light_fence();
        me.0.sleepers.wake_all();
    }

    /// Before the one that dies, or an error that names it.
    fn adds_or_is_told(me: &Process<'_>) {
        assert!(matches!(me.adds(0, 1), Ok(()) | Err(0)));
    }

    /// Whose range no dead one has, but maybe one that waits for it and gives up.
    fn adds_behind(me: &Process<'_>) {
        me.adds(1, 1).unwrap();
    }

    #[test]
    fn ranges_that_meet_exclude_each_other() {
        explore(&[adds_to_both, adds_to_the_first], 3, false, Some([2, 1]));
        explore(
            &[adds_to_the_first_twice, adds_to_both],
            3,
            true,
            Some([3, 1]),
        );
        explore(&[adds_to_both, reads], 3, true, Some([1, 1]));
    }

    #[test]
    fn three_processes() {
        explore(
            &[adds_to_both, adds_to_the_first, adds_to_the_second],
            3,
            true,
            Some([2, 2]),
        );
        explore(
            &[adds_to_the_first, reads, adds_to_both],
            3,
            true,
            Some([2, 1]),
        );
    }

    /// A slot that was just given back is the next one's.
    #[test]
    fn slots_are_used_again() {
        explore(
            &[adds_to_the_first_twice, adds_to_both],
            2,
            true,
            Some([3, 1]),
        );
    }

    /// The end of an owner whose slot is the next one's already is seen, and the names there are not taken by the owner before. The first
    /// interleavings of many.
    #[test]
    fn names_are_those_of_the_owner() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(CHANGES);
        builder.max_permutations = Some(20_000);
        explore_with(
            builder,
            &[adds_to_the_first, adds_to_the_first, adds_to_the_first],
            3,
            true,
            Some([3, 0]),
        );
    }

    #[test]
    fn whoever_waits_for_a_dead_one_is_told() {
        explore(&[dies_with_the_first, adds_or_is_told], 3, true, None);
        explore(
            &[dies_with_the_first, adds_or_is_told, adds_behind],
            3,
            true,
            None,
        );
    }
}
