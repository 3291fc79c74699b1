//! What the ranks of a window or a file do together: a barrier, an exchange of a few words, agreement on an error, wake-ups;
//! `docs/architecture.md`.
//!
//! ```text
//! memory      ranks that share memory: a barrier in an area of the node's heap, and two rounds of words behind each rank's number
//! messages    others: collective operations of a communicator that belongs to the assembly (messages.rs)
//! ```
//!
//! Invariant: a rank writes the words of a round only when all have read those of the round two before: they have come to the round
//! between. An area of zeros is valid.

#![allow(unsafe_code)]

mod agreement;
mod messages;
mod room;

pub use agreement::{agree_on, first_error, has_failed, word_of};
pub use messages::{Parcel, WORDS, Words};
pub use room::{no_memory, the_heap};

use crate::comm::{Comm, Maker, Members};
use crate::engine::wait::{self, Reason};
use crate::engine::waits::{Kind, Object, Wait, Whom};
use crate::engine::{aside, enter, losses, tasks};
use crate::error::{Class, Error, Result, fail};
use crate::node;
use crate::queue::barrier::{self, Barrier, IsLost, Member, Visit};
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI32, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};
use crate::transport::FirstNotifier;
use messages::Messages;
use std::task::Poll;

/// As many ranks look at each other's numbers.
const FEW: usize = 3;

/// What an assembly with words has in its area for each rank.
#[repr(C)]
pub struct Line {
    /// Of the last barrier that the rank has come to.
    number: AtomicU32,
    _pad: [u32; 15],
    words: [[AtomicU64; WORDS]; 2],
}

/// The layout of what lies in the heap.
pub const SHAPE: u64 = shape::combine(&[
    barrier::SHAPE,
    shape!(Line {
        number,
        _pad,
        words
    }),
    shape::number(shape::START, WORDS),
]);

/// Memory of all ranks.
pub struct Area {
    header: *const barrier::Header,
    first: *const u8,
    stride: usize,
    has_words: bool,
    /// Rounds that this rank has come to.
    rounds: AtomicU32,
}

// SAFETY: atomics only, which stay mapped by the promise to `Area::new`.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// The number of the first rank is at `first`, that of each further one `stride` bytes behind. With words each is a [`Line`].
    ///
    /// # Safety
    /// Header and numbers, or lines, stay mapped as long as the assembly that is made with them.
    pub unsafe fn new(
        header: *const barrier::Header,
        first: *const u8,
        stride: usize,
        has_words: bool,
    ) -> Area {
        Area {
            header,
            first,
            stride,
            has_words,
            rounds: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    fn barrier(&self) -> Barrier<'_> {
        // SAFETY: by `new`; atomics are valid for any content.
        unsafe { &*self.header }.barrier()
    }

    /// # Safety
    /// There is such a rank.
    #[inline(always)]
    unsafe fn number(&self, rank: usize) -> &AtomicU32 {
        // SAFETY: by `new`, inside the area.
        unsafe { &*self.first.add(rank * self.stride).cast() }
    }

    /// # Safety
    /// There is such a rank.
    unsafe fn words(&self, rank: usize, round: usize) -> &[AtomicU64; WORDS] {
        assert!(self.has_words);
        // SAFETY: by `new`, inside the area.
        unsafe { &(*self.first.cast::<Line>().add(rank)).words[round] }
    }
}

/// How the ranks reach each other.
enum Medium {
    /// There is one.
    Alone,
    Memory(Area),
    Messages(Box<Messages>),
}

/// See the module.
pub struct Assembly {
    members: Members,
    rank: usize,
    medium: Medium,
    /// Of each rank that shares memory with this one.
    notifiers: Box<[Option<FirstNotifier>]>,
    /// The window or file, and what it is called, by its handle.
    object: (Object, NameOf),
    /// The window's or file's, once it has one.
    handle: AtomicI32,
}

/// What the window or file of a handle is called.
pub type NameOf = fn(i32) -> Option<String>;

/// A birth for a window or file, from one of its ranks: no other one of the job has it or will have it.
pub fn new_birth(comm: &Comm) -> u64 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    u64::from(comm.process(comm.rank())) << 32 | u64::from(count)
}

impl Assembly {
    /// Of the ranks of a communicator, who call this together, for a window or file. They send messages if there is no area.
    ///
    /// Errors: MPI_ERR_INTERN; without an area those of MPI_Comm_dup.
    pub fn new(
        comm: &Comm,
        maker: Maker,
        function: &'static str,
        area: Option<Area>,
        object: (Object, NameOf),
    ) -> Result<Assembly> {
        let notifiers: Box<[Option<FirstNotifier>]> = {
            let engine = enter();
            let notifier = |process| engine.transport().notifier_of(process);
            comm.processes().map(notifier).collect()
        };
        let medium = match area {
            _ if comm.size() == 1 => Medium::Alone,
            Some(_) if notifiers.iter().any(Option::is_none) => {
                let title = comm.title();
                return fail!(
                    Class::Intern,
                    "a rank of {title} shares no memory with this process"
                );
            }
            Some(area) => Medium::Memory(area),
            None => {
                let messages = Messages::new(comm, maker, function);
                Medium::Messages(Box::new(messages.map_err(explained)?))
            }
        };
        Ok(Assembly {
            members: comm.members().clone(),
            rank: comm.rank() as usize,
            medium,
            notifiers,
            object,
            handle: AtomicI32::new(0),
        })
    }

    /// Of a window whose ranks do nothing together.
    #[cfg(test)]
    pub fn for_test(ranks: u32, rank: usize) -> Assembly {
        Assembly {
            members: Members::All(ranks),
            rank,
            medium: Medium::Alone,
            notifiers: (0..ranks).map(|_| None).collect(),
            object: (Object::None, |_| None),
            handle: AtomicI32::new(0),
        }
    }

    /// A wait at the window or file, with its name or without.
    pub fn wait(&self, kind: Kind, whom: Whom, named: bool) -> Wait {
        let (object, name_of) = self.object;
        let handle = self.handle.load(Ordering::Relaxed);
        let name = named.then(|| name_of(handle)).flatten();
        Wait {
            object,
            name: name.unwrap_or_default(),
            ..Wait::of(kind, whom)
        }
    }

    /// The window or file has this handle, or another name than before: the program knows nothing of the communicator of its messages, so waits
    /// for these are shown by that name, too.
    pub fn tell_name(&self, handle: i32) {
        self.handle.store(handle, Ordering::Relaxed);
        if let Medium::Messages(messages) = &self.medium {
            messages.set_name(&(self.object.1)(handle).unwrap_or_default());
        }
    }

    pub fn members(&self) -> &Members {
        &self.members
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    #[inline(always)]
    pub fn ranks(&self) -> usize {
        self.notifiers.len()
    }

    /// This process's number in the job.
    pub fn process(&self) -> u32 {
        self.members.process(self.rank as i32)
    }

    /// Whether a rank is on this host.
    pub fn is_near(&self, rank: usize) -> bool {
        self.notifiers[rank].is_some()
    }

    /// Wakes a rank of this host if it sleeps, after a store that it may wait for.
    #[inline(always)]
    pub fn wake(&self, rank: usize) {
        if let Some(notifier) = &self.notifiers[rank] {
            notifier.wake_ordered();
        }
    }

    /// As [`Self::wake`]. Whether the rank slept, or was about to.
    pub fn wake_sleeper(&self, rank: usize) -> bool {
        let notifier = self.notifiers[rank].as_ref();
        notifier.is_some_and(|notifier| notifier.wake_sleeper())
    }

    /// Whether a rank of this host sleeps in a wait, or is about to.
    pub fn is_asleep(&self, rank: usize) -> bool {
        let notifier = self.notifiers[rank].as_ref();
        notifier.is_some_and(|notifier| notifier.has_sleepers())
    }

    /// Waits until all ranks have come here. What they have stored before is seen after it. No rank may come in a task.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    #[inline(always)]
    pub fn barrier(&self, function: &'static str) -> Result<()> {
        match &self.medium {
            Medium::Alone => Ok(()),
            Medium::Memory(area) => {
                let at = self.at::<false>(area, function);
                area.barrier().pass(at, self.are_few())
            }
            Medium::Messages(messages) => messages.barrier(function).map_err(explained),
        }
    }

    /// What all ranks bring, by rank: a round to which all ranks have to come.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub fn exchange(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let area = match &self.medium {
            Medium::Alone => return Ok(vec![own]),
            Medium::Messages(messages) => {
                return messages.exchange(function, own).map_err(explained);
            }
            Medium::Memory(area) => area,
        };
        let at = self.at::<true>(area, function);
        let round = self.bring(at, own)?;
        area.barrier().pass(at, self.are_few())?;
        Ok(self.brought(area, round))
    }

    /// As [`Assembly::exchange`], inside a task, or in looks of a thread of the library's.
    ///
    /// Errors: as there.
    pub async fn exchange_in_task(&self, function: &'static str, own: Words) -> Result<Vec<Words>> {
        let area = match &self.medium {
            Medium::Alone => return Ok(vec![own]),
            Medium::Messages(messages) => {
                let done = messages.exchange_in_task(function, own).await;
                return done.map_err(explained);
            }
            Medium::Memory(area) => area,
        };
        let at = self.at::<true>(area, function);
        let round = self.bring(at, own)?;
        let number = area.barrier().come(at, self.are_few())?;
        let mut visit = Visit::of(number, self.are_few());
        let is_lost = |process| losses::loss(process).is_some();
        let mut looks = 0u32;
        std::future::poll_fn(|_| {
            looks = looks.wrapping_add(1);
            // A thread of the library's sleeps without saying so.
            let rests = tasks::before_sleep() || aside::is_here();
            let asks = rests || tasks::is_to_ask(looks);
            let is_lost = asks.then_some(&is_lost as IsLost<'_>);
            match area.barrier().look(at, &mut visit, rests, is_lost) {
                Some(done) => {
                    tasks::go_on();
                    Poll::Ready(done)
                }
                None => {
                    tasks::wait_for_anything();
                    Poll::Pending
                }
            }
        })
        .await?;
        Ok(self.brought(area, round))
    }

    /// Sends parcels between ranks that send messages, and fills those that others send; between two ranks in the same order on both.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub fn exchange_parcels(
        &self,
        function: &'static str,
        out: Vec<Parcel>,
        into: Vec<Parcel>,
    ) -> Result<Vec<Parcel>> {
        match &self.medium {
            Medium::Messages(messages) => {
                let done = messages.exchange_parcels(function, out, into);
                done.map_err(explained)
            }
            _ => fail!(Class::Intern, "ranks of one node send each other parcels"),
        }
    }

    /// Waits for what another rank stores before [`Assembly::tell`], between two exchanges, as [`Barrier::rest`] says.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub fn rest(&self, function: &'static str, holds: &mut dyn FnMut() -> bool) -> Result<()> {
        match &self.medium {
            Medium::Memory(area) => area.barrier().rest(self.at::<true>(area, function), holds),
            _ => Ok(()),
        }
    }

    /// Wakes the ranks that [`Assembly::rest`].
    pub fn tell(&self, function: &'static str) {
        if let Medium::Memory(area) = &self.medium {
            area.barrier().tell(self.at::<true>(area, function));
        }
    }

    /// Waits, inside a task, until it `holds`; meanwhile the rounds of the library's own threads are made, where these are messages.
    pub async fn serve_until(&self, holds: impl Fn() -> bool) {
        match &self.medium {
            Medium::Messages(messages) => messages.serve_until(holds).await,
            _ => tasks::condition(holds).await,
        }
    }

    #[inline(always)]
    fn are_few(&self) -> bool {
        self.ranks() <= FEW
    }

    #[inline(always)]
    fn at<'a, const TASKS: bool>(
        &'a self,
        area: &'a Area,
        function: &'static str,
    ) -> At<'a, TASKS> {
        At {
            assembly: self,
            area,
            function,
        }
    }

    /// Puts this rank's words where all see them: which of the two rounds it is. After a loss a slower rank may still read those of the last
    /// round.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    fn bring(&self, at: At<'_, true>, own: Words) -> Result<usize> {
        let area = at.area;
        area.barrier().go_on(at)?;
        let round = area.rounds.fetch_add(1, Ordering::Relaxed) as usize % 2;
        // SAFETY: this rank is one.
        let places = unsafe { area.words(self.rank, round) };
        for (place, word) in places.iter().zip(own) {
            place.store(word, Ordering::Relaxed);
        }
        Ok(round)
    }

    fn brought(&self, area: &Area, round: usize) -> Vec<Words> {
        let words = |rank| {
            // SAFETY: as above.
            let words = unsafe { area.words(rank, round) };
            std::array::from_fn(|at| words[at].load(Ordering::Relaxed))
        };
        (0..self.ranks()).map(words).collect()
    }
}

/// This process at the barrier. `TASKS`: ranks may come to it in tasks, which say that they sleep without a membarrier.
#[derive(Clone, Copy)]
struct At<'a, const TASKS: bool> {
    assembly: &'a Assembly,
    area: &'a Area,
    function: &'static str,
}

impl<const TASKS: bool> Member for At<'_, TASKS> {
    type Failure = Error;

    #[inline(always)]
    fn ranks(&self) -> usize {
        self.assembly.ranks()
    }

    #[inline(always)]
    fn rank(&self) -> usize {
        self.assembly.rank
    }

    fn process(&self, rank: usize) -> u32 {
        self.assembly.members.process(rank as i32)
    }

    #[inline(always)]
    fn number(&self, rank: usize) -> &AtomicU32 {
        debug_assert!(rank < self.ranks());
        // SAFETY: the barrier names ranks below `ranks` only.
        unsafe { self.area.number(rank) }
    }

    /// A sleeper's membarrier is the other half.
    #[inline(always)]
    fn light_fence(&self) {
        match TASKS {
            true => fence(Ordering::SeqCst),
            false => compiler_fence(Ordering::SeqCst),
        }
    }

    #[inline]
    fn holds_soon(&self, holds: &mut dyn FnMut() -> bool) -> bool {
        wait::soon(node::is_oversubscribed(), holds)
    }

    fn wait(
        &self,
        holds: &mut dyn FnMut() -> bool,
        missing: &dyn Fn(IsLost<'_>) -> Option<u32>,
    ) -> Result<()> {
        let kind = match self.assembly.object {
            (Object::File(_), _) => Kind::FileMeeting,
            _ => Kind::Fence,
        };
        let reason = Reason {
            function: self.function,
            what: &|named| {
                self.assembly
                    .wait(kind, Whom::of(barrier::behind(*self)), named)
            },
        };
        let missing = || missing(&|process| losses::loss(process).is_some());
        aside::until_stored(&reason, holds, &missing).map_err(explained)
    }

    #[inline]
    fn wake(&self, rank: usize) {
        self.assembly.wake(rank);
    }

    #[cold]
    fn failure(&self, lost: u32) -> Error {
        explained(match TASKS {
            true => losses::explain(lost),
            false => losses::error(&enter(), lost),
        })
    }
}

#[cold]
fn explained(error: Error) -> Error {
    match error.lost() {
        Some(_) => error.context("all ranks are waited for, of which one is lost"),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::guarded;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::thread;

    #[repr(C)]
    struct Shared<const RANKS: usize> {
        header: barrier::Header,
        lines: [Line; RANKS],
    }

    /// Runs the ranks, each on a thread.
    fn run<const RANKS: usize>(does: impl Fn(&Assembly) + Sync) {
        // SAFETY: an area of zeros is valid.
        let shared: &Shared<RANKS> = &unsafe { std::mem::zeroed() };
        let does = &does;
        thread::scope(|scope| {
            for rank in 0..RANKS {
                scope.spawn(move || {
                    guarded::stay_outside();
                    let first = shared.lines.as_ptr().cast();
                    // SAFETY: it outlives the scope.
                    let area = unsafe { Area::new(&shared.header, first, size_of::<Line>(), true) };
                    does(&Assembly {
                        members: Members::All(RANKS as u32),
                        rank,
                        medium: Medium::Memory(area),
                        notifiers: [None; RANKS].into(),
                        object: (Object::None, |_| None),
                        handle: AtomicI32::new(0),
                    });
                });
            }
        });
    }

    /// A round of the rank, which the lowest one makes as a task.
    fn round(assembly: &Assembly, own: Words) -> Result<Vec<Words>> {
        if assembly.rank() != 0 {
            return assembly.exchange("test", own);
        }
        let mut task = pin!(assembly.exchange_in_task("test", own));
        loop {
            match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(done) => return done,
                Poll::Pending => thread::yield_now(),
            }
        }
    }

    fn rounds(assembly: &Assembly) {
        for number in 0..20 {
            let words = |rank| [number, rank as u64, 0, 0, 0, 0, 0, number + 7];
            let all = round(assembly, words(assembly.rank())).unwrap();
            assert_eq!(all, Vec::from_iter((0..assembly.ranks()).map(words)));
        }
    }

    #[test]
    fn every_round_brings_the_words_of_all() {
        run::<{ FEW }>(rounds);
        run::<{ FEW + 1 }>(rounds);
    }

    fn one_fails(assembly: &Assembly) {
        let own = match assembly.rank() {
            1 => Err(Error::new(Class::NoSpace, "the disk is full")),
            _ => Ok(()),
        };
        let all = round(assembly, [word_of(&own), 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let words = all.iter().map(|words| words[0]);
        let agreed = first_error(own, words, |rank, class| has_failed(rank, "it", class));
        let error = agreed.unwrap_err();
        assert_eq!(error.class(), Class::NoSpace);
        let text = if assembly.rank() == 1 {
            "disk"
        } else {
            "rank 1 of it"
        };
        assert!(error.text().contains(text), "{error:?}");
    }

    #[test]
    fn an_error_of_one_rank_is_one_of_all() {
        run::<{ FEW }>(one_fails);
        run::<{ FEW + 1 }>(one_fails);
    }

    /// The last rank tells that it is lost, and does not come.
    fn one_is_lost(assembly: &Assembly) {
        let last = assembly.ranks() as u32 - 1;
        if assembly.process() == last {
            let Medium::Memory(area) = &assembly.medium else {
                unreachable!("the ranks have an area")
            };
            area.barrier().lost.store(last + 1, Ordering::Release);
            return;
        }
        for _ in 0..2 {
            let error = round(assembly, [0; WORDS]).unwrap_err();
            assert_eq!(
                (error.class(), error.lost()),
                (Class::ProcFailed, Some(last))
            );
        }
    }

    /// Rank 0 has passed a round whose words rank 1 is still to read.
    #[test]
    fn a_rank_that_has_given_up_leaves_the_words_of_its_last_round() {
        run::<2>(|assembly| {
            let Medium::Memory(area) = &assembly.medium else {
                unreachable!("the ranks have an area")
            };
            if assembly.rank() == 1 {
                return;
            }
            // SAFETY: there is a rank 1.
            unsafe { area.number(1) }.store(1, Ordering::Release);
            let first = assembly.exchange("test", [7; WORDS]).unwrap();
            area.barrier().lost.store(2, Ordering::Release);
            for words in [[8; WORDS], [9; WORDS]] {
                assert_eq!(
                    assembly.exchange("test", words).unwrap_err().lost(),
                    Some(1)
                );
                assert_eq!(round(assembly, words).unwrap_err().lost(), Some(1));
                assert_eq!(assembly.brought(area, 0), first);
            }
        });
    }

    #[test]
    fn a_lost_rank_is_an_error_of_all() {
        run::<{ FEW }>(one_is_lost);
        run::<{ FEW + 1 }>(one_is_lost);
    }
}
