//! The collector of freed communicators and datatypes: figure 2 of paper 003.
//!
//! References of pending operations are not counted. What the program has freed waits here; a cycle marks what pending
//! requests and pending collective operations use, and gives the rest back. Invariant: what is given back has no handle that
//! the program knows, is in no request, no pending collective operation and no marked call that may have been given it, and no
//! other object is made of it. No callback of the program runs in a cycle: attributes were deleted in the call that freed.

#[cfg(feature = "papers")]
use super::scheme;
use crate::comm;
use crate::context_id;
use crate::datatype;
use crate::engine::epochs::{self, GracePeriod};
use crate::engine::{self, roots};
use crate::errhandler::ERRORS_ARE_FATAL;
use crate::events::{self, Event};
use crate::handle::{self, ObjectType};
use crate::references;
use crate::sync::{AtomicU64, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Something that was freed.
pub struct Freed {
    pub handle: i32,
    /// How many of its kind had been made before it.
    pub born: u64,
    /// Marked calls that may have been given it.
    pub grace: GracePeriod,
}

/// What waits.
struct Garbage {
    /// Ge of the paper: nothing counted holds them.
    eligible: Vec<Freed>,
    /// Datatypes that others were made of.
    named: BTreeMap<i32, Freed>,
    /// A cycle that has to look at many requests is made when so many are eligible.
    enough: usize,
    /// How many the last cycle had to leave.
    left: usize,
    /// Communicators that were given back but for their memory, which stays for a while: a program that is in a call with one
    /// of them is wrong, and gets wrong results instead of an end.
    ended: VecDeque<i32>,
}

static GARBAGE: Mutex<Garbage> = Mutex::new(Garbage {
    eligible: Vec::new(),
    named: BTreeMap::new(),
    enough: 0,
    left: 0,
    ended: VecDeque::new(),
});

/// |Ge|, and with those that others were made of, to be asked without the lock.
static ELIGIBLE: AtomicUsize = AtomicUsize::new(0);
static WAITING: AtomicUsize = AtomicUsize::new(0);
static CYCLES: AtomicU64 = AtomicU64::new(0);
static RECLAIMED: AtomicU64 = AtomicU64::new(0);
static SWEPT: AtomicU64 = AtomicU64::new(0);

const KEPT: usize = 256;
/// Fewer ids than there are in the 16-bit space.
const MANY_IDS: u64 = 4096;
/// Requests that it is cheap to look at for each that is eligible.
const REQUESTS_PER_ID: usize = 128;

/// Numbers for tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub cycles: u64,
    pub eligible: u64,
    pub reclaimed: u64,
    /// Of the cycles, at requests and at what waited.
    pub looks: u64,
}

pub fn statistics() -> Statistics {
    Statistics {
        cycles: CYCLES.load(Ordering::Relaxed),
        eligible: ELIGIBLE.load(Ordering::Relaxed) as u64,
        reclaimed: RECLAIMED.load(Ordering::Relaxed),
        looks: roots::looks() + SWEPT.load(Ordering::Relaxed),
    }
}

/// Whether nothing waits.
#[inline]
pub(super) fn is_idle() -> bool {
    WAITING.load(Ordering::Relaxed) == 0
}

/// When a cycle is made at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// When there are enough, or when it costs little: what waits holds a context id.
    Soon,
    /// When there are enough, or nothing pends.
    Enough,
    /// Not in this call: it may be inside of another one.
    Later,
}

/// Takes over what was freed and retired.
pub(super) fn add(freed: Freed, when: When) {
    if !gives_back() {
        return;
    }
    let mut garbage = GARBAGE.lock();
    garbage.eligible.push(freed);
    if when != When::Later && garbage.is_worth_it(when) {
        garbage.cycle();
    }
    garbage.publish();
}

/// Where something is made: a cycle if there is enough to be given back.
#[inline]
pub fn at_creation() {
    if ELIGIBLE.load(Ordering::Relaxed) != 0 {
        collect_if(|garbage| garbage.is_worth_it(When::Enough));
    }
}

/// Before a context id is looked for: also if they have run out.
pub fn before_id() {
    if ELIGIBLE.load(Ordering::Relaxed) == 0 {
        return;
    }
    let used_up = context_id::statistics().live > MANY_IDS && context_id::occupation().0 == 0;
    collect_if(|garbage| used_up || garbage.is_worth_it(When::Soon));
}

/// A cycle now: at MPI_Finalize, and when handles or ids run out.
pub fn collect() {
    collect_if(|_| true);
}

#[cold]
fn collect_if(wanted: impl FnOnce(&Garbage) -> bool) {
    let mut garbage = GARBAGE.lock();
    if wanted(&garbage) {
        garbage.cycle();
        garbage.publish();
    }
}

/// Whether the job's scheme gives freed objects back: all do but one, which is for measurements.
pub(super) fn gives_back() -> bool {
    #[cfg(feature = "papers")]
    return scheme::gives_back();
    #[cfg(not(feature = "papers"))]
    true
}

/// [`super::ENOUGH`], or what the variable says.
fn threshold() -> usize {
    #[cfg(feature = "papers")]
    return scheme::threshold();
    #[cfg(not(feature = "papers"))]
    super::ENOUGH
}

impl Garbage {
    fn is_worth_it(&self, when: When) -> bool {
        let eligible = self.eligible.len();
        if references::are_counted() {
            return references::has_fallen();
        }
        if eligible >= self.enough.max(threshold()) {
            return true;
        }
        match when {
            // What the last cycle left is looked at again: that is part of the cost, and no reason.
            When::Soon => {
                let fresh = eligible.saturating_sub(self.left);
                roots::number() + self.left <= (fresh + 1) * REQUESTS_PER_ID
            }
            // With threads, an erroneous program may still be in a call with a freed object: give it time.
            When::Enough => !engine::is_multiple() && roots::number() == 0,
            When::Later => false,
        }
    }

    fn publish(&self) {
        ELIGIBLE.store(self.eligible.len(), Ordering::Relaxed);
        let waiting = self.eligible.len() + self.named.len();
        WAITING.store(waiting, Ordering::Relaxed);
    }

    /// Mark and sweep.
    #[allow(unsafe_code)]
    fn cycle(&mut self) {
        // A callback may run inside of a call that uses what it frees; with threads, such calls are marked.
        if self.eligible.is_empty() || (epochs::in_callback() && !engine::is_multiple()) {
            return;
        }
        CYCLES.fetch_add(1, Ordering::Relaxed);
        let live = match references::are_counted() {
            true => roots::mark_held(),
            false => roots::mark(),
        };
        // The youngest last, so that they come first: they may be made of the others.
        self.eligible.sort_unstable_by_key(|freed| freed.born);
        let (eligible, before) = (self.eligible.len(), RECLAIMED.load(Ordering::Relaxed));
        let mut left = Vec::new();
        while let Some(freed) = self.eligible.pop() {
            self.sweep(freed, &live, &mut left);
        }
        self.eligible = left;
        self.left = self.eligible.len();
        self.enough = 2 * self.left;
        SWEPT.fetch_add(eligible as u64, Ordering::Relaxed);
        events::raise(Event::CollectorCycle, || {
            let reclaimed = RECLAIMED.load(Ordering::Relaxed) - before;
            [eligible as u64, reclaimed, self.eligible.len() as u64, 0, 0]
        });
        while self.ended.len() > KEPT {
            if let Some(handle) = self.ended.pop_front() {
                // SAFETY: calls look a communicator up by its handle, and this one's has been dead since many others were freed;
                // requests keep numbers, tasks count themselves as users, and calls that go on using it are marked.
                unsafe { comm::reclaim(handle) };
            }
        }
    }

    fn sweep(&mut self, freed: Freed, live: &BTreeSet<i32>, left: &mut Vec<Freed>) {
        let handle = freed.handle;
        let of_datatype = handle::is_of_type(handle, ObjectType::Datatype);
        if of_datatype && datatype::is_named(handle) {
            self.named.insert(handle, freed);
            return;
        }
        let used = live.contains(&handle) || !freed.grace.is_over();
        if used
            || !if of_datatype {
                self.end_datatype(handle)
            } else {
                self.end_comm(handle)
            }
        {
            left.push(freed);
            return;
        }
        RECLAIMED.fetch_add(1, Ordering::Relaxed);
    }

    /// True if it is gone. What it was made of is eligible then, if it was freed before.
    fn end_datatype(&mut self, handle: i32) -> bool {
        if references::are_counted() && datatype::is_counted(handle) {
            return false;
        }
        let (named, eligible) = (&mut self.named, &mut self.eligible);
        datatype::reclaim(handle, |old| eligible.extend(named.remove(&old)))
    }

    fn end_comm(&mut self, handle: i32) -> bool {
        let Some(comm) = comm::retired(handle) else {
            return true;
        };
        let references = references::of_communicator(handle).filter(|_| references::are_counted());
        if !comm.is_idle() || references.is_some_and(|counted| !counted.are_gone()) {
            return false;
        }
        // What fails until now asks the communicator's handler.
        comm.errhandler.set(ERRORS_ARE_FATAL);
        let is_free = comm.end_calls();
        // A duplicate that came to nothing has no id.
        let can_go = comm.end();
        if is_free && comm.receive_context() != comm::PENDING {
            engine::forget_context(comm.receive_context());
            // Else there may be something on its way.
            if can_go && !comm.has_failed() {
                context_id::release(comm.receive_context());
            }
        }
        self.ended.push_back(handle);
        true
    }
}

/// A datatype is gone that this freed one was named by.
pub(super) fn unnamed(old: i32) {
    if is_idle() {
        return;
    }
    let mut garbage = GARBAGE.lock();
    if let Some(freed) = garbage.named.remove(&old) {
        garbage.eligible.push(freed);
        if garbage.is_worth_it(When::Enough) {
            garbage.cycle();
        }
        garbage.publish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, create, get};
    use crate::engine::roots::Held;
    use crate::lifetime::datatypes;

    fn vector(old: &'static Datatype) -> &'static Datatype {
        create::vector(false, 2, 1, 3, old).unwrap()
    }

    /// The tests of one process share the collector, so all is in one.
    #[test]
    fn what_is_used_stays_and_goes_with_its_last_user() {
        let int = get(datatype::INT).unwrap();
        let inner = vector(int);
        let outer = vector(inner);
        let (inner, outer) = (inner.handle, outer.handle);
        let held = Held::of([get(outer).unwrap(), int]);
        datatypes::free(inner).unwrap();
        datatypes::free(outer).unwrap();
        assert!(get(inner).is_none() && get(outer).is_none());
        let before = statistics();
        collect();
        // The pending operation has the outer type, that names the inner one.
        let after = statistics();
        assert_eq!(after.cycles, before.cycles + 1);
        assert_eq!((after.eligible, after.reclaimed), (1, before.reclaimed));
        assert!(datatype::is_named(inner));
        drop(held);
        collect();
        assert_eq!(statistics().reclaimed, before.reclaimed + 2);
        assert_eq!(statistics().eligible, 0);
        assert!(is_idle());
        // |Ge| = 0: no cycle.
        let cycles = statistics().cycles;
        collect();
        assert_eq!(statistics().cycles, cycles);
        // A long chain, freed from the oldest on, goes in one cycle.
        let held = Held::of([vector(int)]);
        let mut chain = vec![vector(int)];
        for _ in 0..20 {
            chain.push(vector(chain[chain.len() - 1]));
        }
        let handles: Vec<i32> = chain.iter().map(|one| one.handle).collect();
        for handle in handles {
            datatypes::free(handle).unwrap();
        }
        let before = statistics();
        collect();
        assert_eq!(statistics().reclaimed, before.reclaimed + 21);
        assert_eq!(statistics().cycles, before.cycles + 1);
        drop(held);
    }
}
