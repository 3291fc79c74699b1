//! A barrier in memory that its ranks share, some of which may die at any time.
//!
//! ```text
//! few     own number += 1; wait until the number of every other one is that
//! many    own number += 1; arrived += 1; the last one to come: epoch := number; the others wait for that
//! ```
//!
//! Invariant: a rank passes when all have come, and not before; what they had stored is seen then. A rank that gives up, because one is
//! lost that has not come, says so and comes to no barrier any more: so nobody passes one to which not all have come. The last one to come
//! may die before it says so, or any one before it counts itself; whoever waits then looks at all numbers (models below, for loom).

use crate::queue::shape::shape;
use crate::sync::{AtomicU32, Ordering, fence_after_update};
use std::cell::Cell;

/// The words of a barrier in shared memory, two lines. Zeros are a fresh one.
#[repr(C)]
pub struct Header {
    epoch: AtomicU32,
    resting: AtomicU32,
    lost: AtomicU32,
    /// Ranks that do not use the memory any more that the barrier lies in.
    pub left: AtomicU32,
    _pad: [u32; 12],
    /// In a line of its own: all ranks change it, and look at the others.
    arrived: AtomicU32,
    _pad2: [u32; 15],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() == 128);

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape!(Header {
    epoch,
    resting,
    lost,
    left,
    _pad,
    arrived,
    _pad2
});

impl Header {
    #[inline(always)]
    pub fn barrier(&self) -> Barrier<'_> {
        Barrier {
            epoch: &self.epoch,
            arrived: &self.arrived,
            resting: &self.resting,
            lost: &self.lost,
        }
    }
}

/// The words of a barrier. Zeros are a fresh one.
#[derive(Clone, Copy)]
pub struct Barrier<'a> {
    /// The number of the last barrier that is over, of many ranks.
    pub epoch: &'a AtomicU32,
    /// Ranks that have come, over all barriers of many ranks.
    pub arrived: &'a AtomicU32,
    /// Ranks that may sleep until a barrier is over.
    pub resting: &'a AtomicU32,
    /// A process that is lost, and one more: nobody comes any more.
    pub lost: &'a AtomicU32,
}

/// What tells whether a process is lost: nothing that it stores comes any more.
pub type IsLost<'a> = &'a dyn Fn(u32) -> bool;

/// A rank, and what is around it. It is handed on by value, so that only waiting puts it in memory.
pub trait Member: Copy {
    type Failure;
    fn ranks(&self) -> usize;
    fn rank(&self) -> usize;
    /// The process that is a rank.
    fn process(&self, rank: usize) -> u32;
    /// The number of the last barrier that a rank has come to, which it alone writes. Barriers count modulo 2^32.
    fn number(&self, rank: usize) -> &AtomicU32;
    /// The half of a full fence that whoever wakes has; the sleeper's is for all cores.
    fn light_fence(&self);
    /// A few looks. Returns whether one has found that it `holds`.
    fn holds_soon(&self, holds: &mut dyn FnMut() -> bool) -> bool;
    /// Waits until it `holds`. `missing` is asked now and then, and names a process because of which it may never; then it is looked at
    /// once more.
    ///
    /// Errors: a process is missing.
    fn wait(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(IsLost<'_>) -> Option<u32>,
    ) -> Result<(), Self::Failure>;
    /// Wakes a rank if it sleeps.
    fn wake(&self, rank: usize);
    /// What another rank says that has given up.
    fn failure(&self, lost: u32) -> Self::Failure;
}

/// A barrier to which a rank has come, for [`Barrier::look`], which it calls until that is over.
pub struct Visit {
    number: u32,
    are_few: bool,
    /// Whether this rank is counted as one that rests.
    rests: bool,
}

impl Visit {
    pub fn of(number: u32, are_few: bool) -> Visit {
        Visit {
            number,
            are_few,
            rests: false,
        }
    }
}

/// A process is lost.
enum Missing {
    /// All have come to the barrier all the same.
    AfterAllHadCome(u32),
    /// Not all have come, nor will they.
    BeforeIt(u32),
}

/// Whether a barrier's number is that one or a later one.
#[inline(always)]
fn is_reached(number: &AtomicU32, wanted: u32) -> bool {
    // Acquire: pairs with the update by whoever has come.
    number.load(Ordering::Acquire).wrapping_sub(wanted) as i32 >= 0
}

fn others(me: impl Member) -> impl Iterator<Item = usize> {
    let own = me.rank();
    (0..me.ranks()).filter(move |rank| *rank != own)
}

/// The processes of ranks that have not come to the last barrier to which this one has.
pub fn behind<M: Member>(me: M) -> impl Iterator<Item = u32> {
    let number = me.number(me.rank()).load(Ordering::Relaxed);
    let late = others(me).filter(move |rank| !is_reached(me.number(*rank), number));
    late.map(move |rank| me.process(rank))
}

#[cold]
fn gives_up<M: Member>(me: M, lost: u32) -> Result<(), M::Failure> {
    Err(me.failure(lost))
}

#[cold]
fn wake_all(me: impl Member) {
    for rank in others(me) {
        me.wake(rank);
    }
}

impl Barrier<'_> {
    /// Waits until all ranks have come. Whether they are few is the same for all.
    ///
    /// Errors: a process is lost, on all ranks that live, at this barrier or at the next one.
    #[inline(always)]
    pub fn pass<M: Member>(self, me: M, are_few: bool) -> Result<(), M::Failure> {
        let number = self.come(me, are_few)?;
        if are_few {
            for rank in others(me) {
                let theirs = me.number(rank);
                if !is_reached(theirs, number) {
                    self.wait(me, number, &mut || is_reached(theirs, number))?;
                }
            }
            return Ok(());
        }
        if is_reached(self.epoch, number) {
            return Ok(());
        }
        self.wait(me, number, &mut || is_reached(self.epoch, number))
    }

    /// To be called before a rank stores, in front of a barrier, what others may still read after an earlier one: a rank that has given up
    /// comes to no barrier any more.
    ///
    /// Errors: a process is lost.
    #[inline(always)]
    pub fn go_on<M: Member>(self, me: M) -> Result<(), M::Failure> {
        match self.lost(Ordering::Relaxed) {
            Some(process) => gives_up(me, process),
            None => Ok(()),
        }
    }

    /// Comes to the next barrier, and waits for nobody: its number, for [`Barrier::look`].
    ///
    /// Errors: a process is lost.
    #[inline(always)]
    pub fn come<M: Member>(self, me: M, are_few: bool) -> Result<u32, M::Failure> {
        self.go_on(me)?;
        let own = me.number(me.rank());
        let number = own.load(Ordering::Relaxed).wrapping_add(1);
        // Release: what was stored before is seen by whoever sees this. Not more, which would wait for the line before the first look at
        // others.
        own.store(number, Ordering::Release);
        me.light_fence();
        if are_few {
            self.wake_others(me);
            return Ok(number);
        }
        let arrived = self.arrived.fetch_add(1, Ordering::AcqRel);
        if arrived.wrapping_add(1) == number.wrapping_mul(me.ranks() as u32) {
            self.epoch.store(number, Ordering::Release);
            me.light_fence();
            self.wake_others(me);
        }
        Ok(number)
    }

    /// Whether all have come to the barrier of this number, to which this rank has come.
    #[inline]
    fn is_over(self, me: impl Member, number: u32, are_few: bool) -> bool {
        match are_few {
            true => others(me).all(|rank| is_reached(me.number(rank), number)),
            false => is_reached(self.epoch, number),
        }
    }

    /// One look of a rank that has come and does something else in between; `None`: not all have come. From the first look on that `rests`,
    /// whoever comes wakes this rank. With `is_lost` it is found, too, that somebody never will.
    ///
    /// Errors: as for [`Barrier::pass`].
    pub fn look<M: Member>(
        self,
        me: M,
        visit: &mut Visit,
        rests: bool,
        is_lost: Option<IsLost<'_>>,
    ) -> Option<Result<(), M::Failure>> {
        let Visit {
            number, are_few, ..
        } = *visit;
        let mut is_over = self.is_over(me, number, are_few);
        if (rests || is_lost.is_some()) && !is_over && !visit.rests {
            visit.rests = true;
            self.resting.fetch_add(1, Ordering::SeqCst);
            fence_after_update();
            is_over = self.is_over(me, number, are_few);
        }
        let mut done = Ok(());
        let mut given_up = None;
        if !is_over {
            match self.missing(me, number, is_lost?)? {
                Missing::AfterAllHadCome(_) => {}
                Missing::BeforeIt(process) => {
                    given_up = Some(process);
                    done = Err(me.failure(process));
                }
            }
        }
        match std::mem::take(&mut visit.rests) {
            true => Some(self.rest_ends(me, done, given_up)),
            false => Some(done),
        }
    }

    /// A process that is lost, if any is, of those that come to a barrier.
    fn missing(self, me: impl Member, number: u32, is_lost: IsLost<'_>) -> Option<Missing> {
        // Acquire: a rank that has given up at a later barrier has seen all come to this one, and so does this rank.
        let said = self.lost(Ordering::Acquire);
        let lost = |rank: &usize| is_lost(me.process(*rank));
        let anyone = others(me).find(lost).map(|rank| me.process(rank));
        let process = said.or(anyone)?;
        // Lost first, then looked at: what it had stored is there.
        if others(me).all(|rank| is_reached(me.number(rank), number)) {
            return Some(Missing::AfterAllHadCome(process));
        }
        let left = |rank: &usize| !is_reached(me.number(*rank), number) && lost(rank);
        let process = said.or_else(|| others(me).find(left).map(|rank| me.process(rank)));
        process.map(Missing::BeforeIt)
    }

    /// A process without which no barrier will be complete, as one of the ranks has said.
    #[inline(always)]
    fn lost(self, order: Ordering) -> Option<u32> {
        self.lost.load(order).checked_sub(1)
    }

    #[inline(never)]
    fn wait<M: Member>(
        self,
        me: M,
        number: u32,
        holds: &mut dyn FnMut() -> bool,
    ) -> Result<(), M::Failure> {
        if me.holds_soon(&mut *holds) {
            return Ok(());
        }
        // From here on whoever comes wakes this rank, which looks once more.
        self.resting.fetch_add(1, Ordering::SeqCst);
        fence_after_update();
        let have_come = Cell::new(false);
        let given_up = Cell::new(None);
        let missing = |is_lost: IsLost<'_>| match self.missing(me, number, is_lost)? {
            Missing::AfterAllHadCome(process) => {
                have_come.set(true);
                Some(process)
            }
            Missing::BeforeIt(process) => {
                given_up.set(Some(process));
                Some(process)
            }
        };
        let done = me.wait(&mut || have_come.get() || holds(), &missing);
        self.rest_ends(me, done, given_up.get())
    }

    fn rest_ends<M: Member>(
        self,
        me: M,
        done: Result<(), M::Failure>,
        given_up: Option<u32>,
    ) -> Result<(), M::Failure> {
        self.resting.fetch_sub(1, Ordering::SeqCst);
        if done.is_err()
            && let Some(process) = given_up
        {
            self.lost.swap(process + 1, Ordering::SeqCst);
            fence_after_update();
            self.wake_others(me);
        }
        done
    }

    /// Waits between two barriers for what other ranks store before they [`Barrier::tell`]. No rank may come to the next barrier before
    /// it holds for all: then one that is lost and has not come to that one is the end of this wait, too.
    ///
    /// Errors: a process is lost, on all ranks that live, here or at the next barrier.
    #[inline(never)]
    pub fn rest<M: Member>(self, me: M, holds: &mut dyn FnMut() -> bool) -> Result<(), M::Failure> {
        if me.holds_soon(&mut *holds) {
            return Ok(());
        }
        self.resting.fetch_add(1, Ordering::SeqCst);
        fence_after_update();
        let given_up = Cell::new(None);
        let missing = |is_lost: IsLost<'_>| {
            let lost = |rank: &usize| is_lost(me.process(*rank));
            let anyone = || others(me).find(lost).map(|rank| me.process(rank));
            given_up.set(self.lost(Ordering::Acquire).or_else(anyone));
            given_up.get()
        };
        let done = me.wait(holds, &missing);
        self.rest_ends(me, done, given_up.get())
    }

    /// Wakes those that rest, after a store that they wait for.
    #[inline(always)]
    pub fn tell(self, me: impl Member) {
        me.light_fence();
        self.wake_others(me);
    }

    /// Wakes those that sleep at a barrier.
    #[inline(always)]
    fn wake_others(self, me: impl Member) {
        if self.resting.load(Ordering::Relaxed) != 0 {
            wake_all(me);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::queue::models::Sleepers;
    use crate::sync::{UnsafeCell, fence};
    use loom::sync::Arc;
    use loom::thread;

    /// What loom gets through in seconds.
    const CHANGES: usize = 2;
    /// Data of barriers of odd and of even numbers.
    const SLOTS: usize = 2;

    struct Shared {
        epoch: AtomicU32,
        arrived: AtomicU32,
        resting: AtomicU32,
        lost: AtomicU32,
        numbers: Vec<AtomicU32>,
        died: Vec<AtomicU32>,
        sleepers: Sleepers,
        data: Vec<[UnsafeCell<u32>; SLOTS]>,
        are_few: bool,
    }

    // SAFETY: that `data` is accessed as the barrier allows is what the models check.
    unsafe impl Sync for Shared {}

    /// A rank of the model.
    #[derive(Clone, Copy)]
    struct Rank<'a>(&'a Shared, usize);

    /// The processes of the model are the ranks and one.
    impl Member for Rank<'_> {
        type Failure = u32;

        fn ranks(&self) -> usize {
            self.0.numbers.len()
        }

        fn rank(&self) -> usize {
            self.1
        }

        fn process(&self, rank: usize) -> u32 {
            rank as u32 + 1
        }

        fn number(&self, rank: usize) -> &AtomicU32 {
            &self.0.numbers[rank]
        }

        fn light_fence(&self) {
            self.0.sleepers.light_fence();
        }

        fn holds_soon(&self, holds: &mut dyn FnMut() -> bool) -> bool {
            holds()
        }

        fn wait(
            &self,
            holds: &mut dyn FnMut() -> bool,
            missing: &dyn Fn(IsLost<'_>) -> Option<u32>,
        ) -> Result<(), u32> {
            let died = |process: u32| {
                let died = &self.0.died[process as usize - 1];
                died.load(Ordering::Acquire) != 0
            };
            self.0.sleepers.wait(self.1, || match holds() {
                true => Some(Ok(())),
                false => missing(&died).map(|process| match holds() {
                    true => Ok(()),
                    false => Err(process),
                }),
            })
        }

        fn wake(&self, rank: usize) {
            self.0.sleepers.wake(rank);
        }

        fn failure(&self, lost: u32) -> u32 {
            lost
        }
    }

    impl Rank<'_> {
        fn barrier(&self) -> Barrier<'_> {
            Barrier {
                epoch: &self.0.epoch,
                arrived: &self.0.arrived,
                resting: &self.0.resting,
                lost: &self.0.lost,
            }
        }

        /// A fence: what all have stored before is loaded after it. The memory is stored to again two fences later.
        fn fence(&self, number: u32) -> Result<(), u32> {
            let slot = number as usize % SLOTS;
            // SAFETY: as above; loom reports accesses at the same time.
            self.0.data[self.1][slot].with_mut(|data| unsafe { *data = number });
            self.barrier().pass(*self, self.0.are_few)?;
            for of in &self.0.data {
                // SAFETY: as above.
                assert_eq!(of[slot].with(|data| unsafe { *data }), number);
            }
            Ok(())
        }

        /// As `fence`, in looks between which a rank does something else.
        fn fence_in_looks(&self, number: u32) -> Result<(), u32> {
            let slot = number as usize % SLOTS;
            // SAFETY: as above.
            self.0.data[self.1][slot].with_mut(|data| unsafe { *data = number });
            let come = self.barrier().come(*self, self.0.are_few)?;
            assert_eq!(come, number);
            let mut visit = Visit::of(number, self.0.are_few);
            let died = |process: u32| {
                let died = &self.0.died[process as usize - 1];
                died.load(Ordering::Acquire) != 0
            };
            let first = self.barrier().look(*self, &mut visit, false, None);
            let done = first.unwrap_or_else(|| {
                self.0.sleepers.wait(self.1, || {
                    self.barrier().look(*self, &mut visit, true, Some(&died))
                })
            });
            for of in self.0.data.iter().filter(|_| done.is_ok()) {
                // SAFETY: as above.
                assert_eq!(of[slot].with(|data| unsafe { *data }), number);
            }
            done
        }

        fn die(&self) {
            self.0.died[self.1].store(1, Ordering::Release);
            fence(Ordering::SeqCst);
            others(*self).for_each(|rank| self.wake(rank));
        }
    }

    /// Runs what each rank does.
    fn explore(
        ranks: usize,
        are_few: bool,
        sleeps: bool,
        body: impl Fn(&Rank<'_>) + Send + Sync + 'static,
    ) {
        let body = std::sync::Arc::new(body);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(if ranks > 2 { 1 } else { CHANGES });
        builder.check(move || {
            let zero = || AtomicU32::new(0);
            let shared = Arc::new(Shared {
                epoch: zero(),
                arrived: zero(),
                resting: zero(),
                lost: zero(),
                numbers: (0..ranks).map(|_| zero()).collect(),
                died: (0..ranks).map(|_| zero()).collect(),
                sleepers: Sleepers::new(ranks, sleeps),
                data: (0..ranks)
                    .map(|_| std::array::from_fn(|_| UnsafeCell::new(0)))
                    .collect(),
                are_few,
            });
            let threads: Vec<_> = (1..ranks)
                .map(|rank| {
                    let (shared, body) = (shared.clone(), body.clone());
                    thread::spawn(move || body(&Rank(&shared, rank)))
                })
                .collect();
            body(&Rank(&shared, 0));
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(shared.resting.load(Ordering::Relaxed), 0);
        });
    }

    /// A number of fences, after which all ranks have passed.
    fn fences(ranks: usize, count: u32, are_few: bool, sleeps: bool) {
        explore(ranks, are_few, sleeps, move |rank| {
            for number in 1..=count {
                assert_eq!(rank.fence(number), Ok(()));
            }
        });
    }

    const FEW: bool = true;
    const MANY: bool = false;

    #[test]
    fn what_few_have_stored_before_is_seen_after() {
        fences(2, 3, FEW, false);
    }

    #[test]
    fn what_many_have_stored_before_is_seen_after() {
        fences(2, 3, MANY, false);
    }

    #[test]
    fn few_that_sleep_are_woken() {
        fences(2, 3, FEW, true);
        fences(3, 2, FEW, true);
    }

    #[test]
    fn many_that_sleep_are_woken() {
        fences(2, 3, MANY, true);
        fences(3, 2, MANY, true);
    }

    /// Rank 0 looks, the others wait.
    fn looks(ranks: usize, count: u32, are_few: bool, sleeps: bool) {
        explore(ranks, are_few, sleeps, move |rank| {
            for number in 1..=count {
                let done = match rank.1 {
                    0 => rank.fence_in_looks(number),
                    _ => rank.fence(number),
                };
                assert_eq!(done, Ok(()));
            }
        });
    }

    #[test]
    fn one_that_looks_is_woken() {
        looks(2, 2, FEW, true);
        looks(2, 2, MANY, true);
        looks(3, 1, FEW, true);
        looks(3, 1, MANY, true);
    }

    /// The other rank dies before it comes, or where it has come and not said so.
    #[test]
    fn one_that_looks_learns_of_a_loss() {
        for (comes_first, are_few) in [(false, FEW), (false, MANY), (true, FEW), (true, MANY)] {
            explore(2, are_few, true, move |rank| {
                if rank.1 == 1 {
                    if comes_first {
                        comes(rank, !are_few);
                    }
                    return rank.die();
                }
                let done = rank.fence_in_looks(1);
                assert_eq!(done, if comes_first { Ok(()) } else { Err(2) });
            });
        }
    }

    /// The last rank does something else, in which it dies; the others pass the first fences, and not the one after these.
    fn lose(ranks: usize, are_few: bool, passed: u32, dying: fn(&Rank<'_>)) {
        explore(ranks, are_few, ranks > 2, move |rank| {
            if rank.1 == ranks - 1 {
                dying(rank);
                rank.die();
                return;
            }
            for number in 1..=passed {
                assert_eq!(rank.fence(number), Ok(()));
            }
            for _ in 0..2 {
                assert_eq!(rank.barrier().pass(*rank, are_few), Err(ranks as u32));
            }
        });
    }

    /// Comes to a fence, as [`Barrier::pass`] does.
    fn comes(rank: &Rank<'_>, is_counted: bool) {
        // SAFETY: as above.
        rank.0.data[rank.1][1].with_mut(|data| unsafe { *data = 1 });
        rank.0.numbers[rank.1].store(1, Ordering::Release);
        if is_counted {
            rank.0.arrived.fetch_add(1, Ordering::AcqRel);
        }
    }

    #[test]
    fn nobody_passes_without_one_that_dies() {
        lose(2, FEW, 0, |_| {});
        lose(3, FEW, 0, |_| {});
        lose(2, MANY, 0, |_| {});
        lose(3, MANY, 0, |_| {});
    }

    #[test]
    fn all_pass_to_which_one_came_before_it_died() {
        lose(2, FEW, 1, |rank| comes(rank, false));
        lose(3, FEW, 1, |rank| comes(rank, false));
        lose(2, FEW, 1, |rank| assert_eq!(rank.fence(1), Ok(())));
        lose(3, FEW, 1, |rank| assert_eq!(rank.fence(1), Ok(())));
        lose(2, MANY, 1, |rank| assert_eq!(rank.fence(1), Ok(())));
        lose(3, MANY, 1, |rank| assert_eq!(rank.fence(1), Ok(())));
    }

    /// It is not counted, or was the last to be and did not say that all have come.
    #[test]
    fn all_pass_where_one_died_in_the_barrier() {
        lose(2, MANY, 1, |rank| comes(rank, false));
        lose(3, MANY, 1, |rank| comes(rank, false));
        lose(2, MANY, 1, |rank| comes(rank, true));
        lose(3, MANY, 1, |rank| comes(rank, true));
    }
}
