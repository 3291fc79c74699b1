//! Models for loom: processes that lock ranges which meet, reuse slots and die.

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

/// Between the two steps of a change under the table's lock.
fn dies_with_the_table(me: &Process<'_>) {
    while !try_take(&me.0.head.lock, me.process()) {
        thread::yield_now();
    }
    let last = me.0.head.last.load(Ordering::Relaxed);
    me.0.head.last.store(last + 1, Ordering::Relaxed);
    me.0.died[me.1].store(1, Ordering::Release);
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

#[test]
fn the_table_is_taken_over_from_a_dead_one() {
    explore(&[dies_with_the_table, adds_to_both], 3, false, None);
    explore(
        &[dies_with_the_table, adds_to_both, adds_to_the_first],
        3,
        false,
        None,
    );
}
