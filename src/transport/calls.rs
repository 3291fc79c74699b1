//! Call records: what a process tells the others of the collective operations that it has begun on a communicator.
//!
//! They are written at each call and read only by ranks that wait long, which find out whether others are in another operation, or bring
//! another amount of data. The transport does not know what a record means: it is a word that is not zero.
//! Invariant: a record that is found is that of the operation that was asked for, of the communicator that was asked for. A context id is
//! not enough: a process gives it back by itself when it frees the communicator, and may have it again for one with other members while a
//! rank still waits in the first one.

use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU64, Ordering};

/// Communicators of a process that have records.
pub const COMMUNICATORS: usize = 16;
/// Blocking operations that are remembered; one less can be read, because the oldest may be overwritten just now.
const BLOCKING: usize = 8;
const NUMBERED: usize = 6;

/// Of an operation with a number of its own.
#[derive(Default)]
#[repr(C)]
struct Numbered {
    /// Zero: the record is being written.
    number: AtomicU64,
    record: AtomicU64,
    /// Both, combined by exclusive or: two threads that begin operations at once may write one word each.
    both: AtomicU64,
}

/// Which communicator records are of. One with this context id and other members is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose {
    pub context: u32,
    /// A hash of the members' process numbers.
    pub members: u64,
}

impl Whose {
    /// Of a communicator with a context id and these members, in any order.
    pub fn new(context: u32, members: impl Iterator<Item = u32>) -> Whose {
        let members = members.map(mixed).fold(0, u64::wrapping_add);
        Whose { context, members }
    }
}

/// A number whose bits all depend on each bit of this one (the finisher of splitmix64).
fn mixed(process: u32) -> u64 {
    let mut word = (u64::from(process) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// See the module: of one communicator.
#[derive(Default)]
#[repr(C, align(64))]
pub struct Calls {
    /// Its context id, and 1; zero: of none.
    context: AtomicU64,
    /// [`DOUBTFUL`] or [`ENDED`].
    failed: AtomicU64,
    /// Blocking operations that were begun.
    begun: AtomicU64,
    /// [`Whose::members`].
    members: AtomicU64,
    numbered: [Numbered; NUMBERED],
    blocking: [AtomicU64; BLOCKING],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    shape!(Numbered {
        number,
        record,
        both
    }),
    shape!(Calls {
        context,
        failed,
        begun,
        members,
        numbered,
        blocking
    }),
]);

/// Of [`Calls::failed`].
const DOUBTFUL: u64 = 1;
const ENDED: u64 = 2;

/// Which operation of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Counted from zero.
    Blocking(u64),
    /// By its tag.
    Numbered(u64),
}

impl Calls {
    /// Makes it that of a communicator that has begun nothing.
    pub fn take(&self, whose: Whose) {
        for word in [&self.failed, &self.begun] {
            word.store(0, Ordering::Relaxed);
        }
        for one in &self.numbered {
            one.number.store(0, Ordering::Relaxed);
        }
        self.members.store(whose.members, Ordering::Relaxed);
        // Release: pairs with `is_of`.
        let word = u64::from(whose.context) + 1;
        self.context.store(word, Ordering::Release);
    }

    /// Before the communicator's context id may be used again.
    pub fn leave(&self) {
        self.context.store(0, Ordering::Release);
    }

    fn is_of(&self, whose: Whose) -> bool {
        self.context.load(Ordering::Acquire) == u64::from(whose.context) + 1
            && self.members.load(Ordering::Acquire) == whose.members
    }

    /// The communicator with this context id that has it, for the process that does.
    pub fn whose(&self, context: u32) -> Whose {
        let members = self.members.load(Ordering::Relaxed);
        Whose { context, members }
    }

    /// That of a communicator among those of a process.
    pub fn find(all: &[Calls; COMMUNICATORS], whose: Whose) -> Option<&Calls> {
        all.iter().find(|calls| calls.is_of(whose))
    }

    /// A blocking operation begins. One thread at a time calls it.
    #[inline(always)]
    pub fn begin(&self, record: u64) {
        let place = self.begun.load(Ordering::Relaxed) as usize % BLOCKING;
        // Release, both: a reader of this record sees that the one before has gone.
        self.blocking[place].store(record, Ordering::Release);
        // Loaded again: so that it is one instruction.
        let begun = self.begun.load(Ordering::Relaxed);
        self.begun.store(begun + 1, Ordering::Release);
    }

    /// An operation with a number of its own begins, again or for the first time.
    pub fn begin_numbered(&self, number: u64, record: u64) {
        let one = &self.numbered[number as usize % NUMBERED];
        if one.number.load(Ordering::Relaxed) != number {
            one.number.store(0, Ordering::Relaxed);
            // Release, both: as in `begin`.
            one.record.store(record, Ordering::Release);
            one.both.store(number ^ record, Ordering::Release);
            one.number.store(number, Ordering::Release);
        }
    }

    /// Whose operations it tells of, how many blocking ones were begun, and the highest number of one that has a number, for those who
    /// watch the process. `None`: it is no communicator's, or becomes another one's just now.
    pub fn tally(&self) -> Option<(Whose, [u64; 2])> {
        let context = self.context.load(Ordering::Acquire).checked_sub(1)? as u32;
        let whose = self.whose(context);
        let numbers = self.numbered.iter();
        let numbers = numbers.map(|one| one.number.load(Ordering::Relaxed));
        let begun = [
            self.begun.load(Ordering::Acquire),
            numbers.max().unwrap_or(0),
        ];
        self.is_of(whose).then_some((whose, begun))
    }

    /// Whether it has begun more blocking operations than this one.
    pub fn is_beyond(&self, call: Call) -> bool {
        matches!(call, Call::Blocking(number) if self.begun.load(Ordering::Acquire) > number)
    }

    /// The blocking operations that are remembered, the last first.
    pub fn last(&self) -> impl Iterator<Item = Call> + use<> {
        let begun = self.begun.load(Ordering::Acquire);
        let first = begun.saturating_sub(BLOCKING as u64 - 1);
        (first..begun).rev().map(Call::Blocking)
    }

    /// The record of an operation of a communicator, if it was begun and is remembered.
    pub fn of(&self, whose: Whose, call: Call) -> Option<u64> {
        let record = match call {
            Call::Blocking(number) => {
                let is_there = || {
                    let begun = self.begun.load(Ordering::Acquire);
                    number < begun && begun - number < BLOCKING as u64
                };
                let record = &self.blocking[number as usize % BLOCKING];
                is_there()
                    .then(|| record.load(Ordering::Acquire))
                    .filter(|_| is_there())
            }
            Call::Numbered(number) => {
                let one = &self.numbered[number as usize % NUMBERED];
                let is_there = || one.number.load(Ordering::Acquire) == number;
                let is_whole = |record: &u64| one.both.load(Ordering::Acquire) == number ^ record;
                is_there()
                    .then(|| one.record.load(Ordering::Acquire))
                    .filter(|record| is_whole(record) && is_there())
            }
        };
        record.filter(|_| self.is_of(whose))
    }

    /// An operation of this rank has ended with an error, because more or less data came than it wanted: the others may wait for it.
    #[cold]
    pub fn set_doubtful(&self) {
        self.failed.fetch_max(DOUBTFUL, Ordering::Release);
    }

    /// No operation of this rank on the communicator waits any more, nor will.
    #[cold]
    pub fn set_ended(&self) {
        self.failed.fetch_max(ENDED, Ordering::Release);
    }

    /// See [`Calls::set_doubtful`], of the process that writes these records.
    pub fn are_doubtful(&self) -> bool {
        self.failed.load(Ordering::Acquire) != 0
    }

    /// Whether an operation of the communicator has ended so, and whether all have; see [`Calls::set_doubtful`] and [`Calls::set_ended`].
    pub fn have_failed(&self, whose: Whose) -> (bool, bool) {
        let failed = self.failed.load(Ordering::Acquire);
        let is_so = self.is_of(whose);
        (is_so && failed != 0, is_so && failed == ENDED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The communicator of ranks 0 and 1 with a context id.
    fn pair(context: u32) -> Whose {
        Whose::new(context, 0..2)
    }

    #[test]
    fn the_last_blocking_operations_are_remembered() {
        let calls = Calls::default();
        calls.take(pair(12));
        assert_eq!(calls.last().next(), None);
        assert_eq!(calls.of(pair(12), Call::Blocking(0)), None);
        for number in 0..20 {
            calls.begin(100 + number);
            assert_eq!(calls.last().next(), Some(Call::Blocking(number)));
        }
        let found = |number| calls.of(pair(12), Call::Blocking(number));
        assert_eq!(found(12), None);
        assert!((13..20).all(|number| found(number) == Some(100 + number)));
        assert_eq!(found(20), None);
    }

    #[test]
    fn operations_with_numbers_are_found_by_them() {
        let calls = Calls::default();
        calls.take(pair(0));
        for number in 1..10 {
            calls.begin_numbered(number, 100 + number);
        }
        let found = |number| calls.of(pair(0), Call::Numbered(number));
        assert_eq!(found(3), None);
        assert!((4..10).all(|number| found(number) == Some(100 + number)));
        calls.begin_numbered(3, 103);
        assert_eq!((found(3), found(9)), (Some(103), None));
    }

    #[test]
    fn a_record_of_two_threads_is_not_found() {
        let calls = Calls::default();
        calls.take(pair(0));
        // Operations 1 and 7 have one place; these are their words in the order in which both threads may store them.
        let one = &calls.numbered[1];
        one.number.store(0, Ordering::Relaxed);
        one.record.store(101, Ordering::Relaxed);
        one.both.store(1 ^ 101, Ordering::Relaxed);
        one.record.store(107, Ordering::Relaxed);
        one.both.store(7 ^ 107, Ordering::Relaxed);
        one.number.store(7, Ordering::Relaxed);
        assert_eq!(calls.of(pair(0), Call::Numbered(7)), Some(107));
        one.number.store(1, Ordering::Relaxed);
        assert_eq!(calls.of(pair(0), Call::Numbered(1)), None);
        one.both.store(1 ^ 101, Ordering::Relaxed);
        assert_eq!(calls.of(pair(0), Call::Numbered(1)), None);
        calls.begin_numbered(7, 107);
        assert_eq!(calls.of(pair(0), Call::Numbered(7)), Some(107));
    }

    #[test]
    fn operations_are_counted_by_communicator() {
        let calls = Calls::default();
        assert_eq!(calls.tally(), None);
        calls.take(pair(12));
        assert_eq!(calls.tally(), Some((pair(12), [0, 0])));
        (0..20).for_each(|_| calls.begin(1));
        (1..10).for_each(|number| calls.begin_numbered(number, 1));
        assert_eq!(calls.tally(), Some((pair(12), [20, 9])));
        calls.leave();
        assert_eq!(calls.tally(), None);
        calls.take(pair(16));
        assert_eq!(calls.tally(), Some((pair(16), [0, 0])));
    }

    #[test]
    fn records_of_another_communicator_are_not_found() {
        let all: [Calls; COMMUNICATORS] = Default::default();
        all[3].take(pair(12));
        all[3].begin(7);
        all[3].set_doubtful();
        let calls = Calls::find(&all, pair(12)).unwrap();
        assert_eq!(calls.of(pair(12), Call::Blocking(0)), Some(7));
        assert_eq!(calls.have_failed(pair(12)), (true, false));
        assert!(Calls::find(&all, pair(16)).is_none());
        // A communicator of others, which has got the context id meanwhile.
        let others = Whose::new(12, 1..3);
        assert!(Calls::find(&all, others).is_none());
        assert_eq!(calls.of(others, Call::Blocking(0)), None);
        assert_eq!(calls.have_failed(others), (false, false));
        all[3].leave();
        assert!(Calls::find(&all, pair(12)).is_none());
        assert_eq!(calls.of(pair(12), Call::Blocking(0)), None);
        all[3].take(pair(12));
        assert_eq!(calls.of(pair(12), Call::Blocking(0)), None);
        assert!(!calls.are_doubtful());
    }
}
