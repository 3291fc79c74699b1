//! Waiting: spin while an answer is likely at once. What comes then is in `long_wait.rs`.
//!
//! A thread that waits looks after the engines of what it waits for, and now and then after the others, for which nobody may
//! be waiting. Invariant: what is waited for is looked at after each look for messages.

use super::entry::{Entry, try_enter_at};
use super::{Engine, EngineGuard, contention, enter, enter_at, has_threads, in_use};
use super::{long_wait, loss, numbers, patience, tasks};
use crate::os::{monotonic_nanoseconds, schedule};
pub use crate::transport::peer::WINDOW;
use crate::variables::{Listed, Variable};

static SPINS: Variable<u64> = Variable::new(
    "SPINS",
    20_000,
    "How often a waiting call looks for messages before it first yields its core, where every rank has a core of its own; \
     0: it never yields and never sleeps.",
)
.with_aliases(&["MPIR_CVAR_POLLS_BEFORE_YIELD", "I_MPI_SPIN_COUNT"]);
/// Few: who is waited for may want this very core.
static SPINS_OVERSUBSCRIBED: Variable<u64> = Variable::new(
    "SPINS_OVERSUBSCRIBED",
    2,
    "The same where the node has more ranks than cores; with MPI_THREAD_MULTIPLE up to 250, if threads learn that it pays.",
);
/// What users can set about waiting.
pub static VARIABLES: &[&dyn Listed] = &[&SPINS, &SPINS_OVERSUBSCRIBED, &long_wait::SLEEP_AFTER];

/// Times that a core is given away before the first look at messages, where others than messages are waited for.
const TURNS: u32 = 4;
/// Looks at most of threads that have learned that so many are worth it ([`patience`]): as long as it takes to change threads.
const LONGEST_OVERSUBSCRIBED: u64 = 250;
/// Looks at what is waited for, for each at the other engines.
const OWN_LOOKS: u64 = 64;

/// Looks in vain before it is asked whether the rank can still come.
const LOOKS_BEFORE_WATCH: u32 = 16;
/// How long a rank must be known to leave before what it has sent must have come.
const LEFT_FOR: u64 = 100_000_000;

/// What a call waits for, for those who look from outside.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The MPI function.
    pub function: &'static str,
    /// Rank in the communicator; -2 any.
    pub peer: i32,
    /// -1 any. The handle of a window.
    pub tag: i32,
    /// [`WINDOW`]: no messages are waited for.
    pub context: u32,
}

impl Reason {
    /// A wait for no particular message.
    pub const fn of(function: &'static str) -> Self {
        Self {
            function,
            peer: super::matching::ANY_SOURCE,
            tag: super::matching::ANY_TAG,
            context: u32::MAX,
        }
    }

    /// A wait at a window, for something that concerns this target rank, or all.
    pub const fn at_window(function: &'static str, target: Option<i32>, window: i32) -> Self {
        Self {
            function,
            peer: match target {
                Some(rank) => rank,
                None => super::matching::ANY_SOURCE,
            },
            tag: window,
            context: WINDOW,
        }
    }
}

/// Notices that a message of a collective operation will never come: its sender is lost and has not sent it.
#[derive(Default)]
pub struct Watch {
    looks: u32,
    /// When it was seen first, nanoseconds.
    since: u64,
}

impl Watch {
    /// To be asked after each look in vain.
    #[inline]
    pub fn is_in_vain(&mut self, engine: &Engine, sender: u32) -> bool {
        self.looks = self.looks.saturating_add(1);
        self.looks > LOOKS_BEFORE_WATCH && self.has_left(engine, sender)
    }

    /// To be asked at times.
    #[inline]
    pub fn has_left(&mut self, engine: &Engine, sender: u32) -> bool {
        loss::of(engine, sender).is_some() && self.is_over()
    }

    #[cold]
    fn is_over(&mut self) -> bool {
        let now = monotonic_nanoseconds();
        if self.since == 0 {
            self.since = now;
        }
        now - self.since > LEFT_FOR
    }
}

/// Makes progress until `done` says so. `done` is called with the first engine after each look.
#[inline(always)]
pub fn until<R>(reason: &Reason, done: impl FnMut(&mut Engine) -> Option<R>) -> R {
    until_at(0, reason, done)
}

/// As [`until`], with the engine of this number.
#[inline(always)]
pub fn until_at<R>(
    number: u32,
    reason: &Reason,
    mut done: impl FnMut(&mut Engine) -> Option<R>,
) -> R {
    until_in(1 << number, reason, |entry| done(entry.at(number)))
}

/// As [`until`], for what comes by several engines, a set of bits that is not empty. `done` is called in one of them.
#[inline(always)]
pub fn until_in<R>(
    engines: u32,
    reason: &Reason,
    mut done: impl FnMut(&mut Entry) -> Option<R>,
) -> R {
    let first = first_of(engines);
    let mut spins;
    {
        let mut entry = Entry::at_first(first);
        if let Some(result) = done(&mut entry) {
            return result;
        }
        let engine = entry.here();
        if !engine.surveyed {
            engine.survey();
        }
        spins = budget(engine);
    }
    let all = spins;
    while spins > 0 {
        // The thread that is in the engine now makes progress for all.
        let entry = match has_threads() {
            true => Entry::try_at_first(first),
            false => Some(Entry::at_first(first)),
        };
        if let Some(mut entry) = entry {
            entry.here().progress();
            if has_threads() {
                progress_in(&mut entry, engines & !(1 << first));
            }
            if let Some(result) = done(&mut entry) {
                entry.here().counted.spins += all - spins;
                if has_threads() {
                    patience::was_short(all - spins);
                }
                return result;
            }
        }
        if tasks::run() || has_threads() && spins % OWN_LOOKS == 0 {
            help(engines, false);
        }
        spins -= 1;
    }
    if has_threads() {
        patience::was_long(all);
    }
    long_wait::long_wait(engines, reason, all, &mut done)
}

/// Lets others have the core some times, where ranks share cores and something else than a message is waited for: a turn
/// that finds nothing then costs nothing but itself. True when it is there; if not, it is to be waited for.
#[inline]
pub fn take_turns(mut holds: impl FnMut() -> bool) -> bool {
    let looks = SPINS_OVERSUBSCRIBED.get();
    for _ in 0..looks.clamp(1, 100) {
        if holds() {
            return true;
        }
        std::hint::spin_loop();
    }
    if looks == 0 {
        return false;
    }
    (0..TURNS).any(|_| {
        schedule::yield_now();
        holds()
    })
}

/// Below the highest thread level there is only the first.
#[inline(always)]
pub(super) fn first_of(engines: u32) -> u32 {
    if has_threads() {
        engines.trailing_zeros()
    } else {
        0
    }
}

/// Makes progress in further engines. True if anything happened.
#[inline(never)]
pub(super) fn progress_in(entry: &mut Entry, engines: u32) -> bool {
    let mut any = false;
    for number in numbers(engines) {
        any |= entry.at(number).progress();
    }
    any
}

/// Makes progress in the engines that are not waited for, but where another thread does: is there now or, unless this one
/// `insists`, is favoured there. True if anything happened.
#[inline(never)]
pub(super) fn help(engines: u32, insists: bool) -> bool {
    let mut any = false;
    for number in numbers(in_use() & !engines) {
        if let Some(mut engine) = try_enter_at(number, insists) {
            any |= engine.progress();
        }
    }
    any
}

/// Looks before the first yield.
#[inline]
fn budget(engine: &Engine) -> u64 {
    let setting = match engine.oversubscribed {
        true => &SPINS_OVERSUBSCRIBED,
        false => &SPINS,
    };
    match setting.get() {
        0 => u64::MAX,
        looks if has_threads() && engine.oversubscribed => {
            patience::budget(looks, looks.max(LONGEST_OVERSUBSCRIBED))
        }
        looks if engine.oversubscribed => looks,
        looks => contention::limit(looks),
    }
}

/// Enters the first engine for a call that does not wait and has found nothing, and looks once more.
pub fn poll() -> EngineGuard {
    poll_in(1);
    enter()
}

/// As [`poll`], with the engine of this number.
pub fn poll_at(number: u32) -> EngineGuard {
    poll_in(1 << number);
    enter_at(number)
}

/// A look for a call that does not wait and has found nothing, in a set of engines that is not empty.
///
/// Programs poll in loops: where ranks share cores, a look in vain lets another rank have the core, or each turn of
/// the loop would last a time slice.
pub fn poll_in(engines: u32) {
    let look = || {
        let mut entry = Entry::at_first(first_of(engines));
        let mut any = entry.here().progress();
        if has_threads() {
            any |= progress_in(&mut entry, engines & (engines - 1));
            drop(entry);
            any |= help(engines, false);
        }
        any
    };
    if tasks::any() {
        look();
        tasks::run();
    }
    if look() {
        return;
    }
    {
        let mut entry = Entry::at_first(first_of(engines));
        let engine = entry.here();
        if !engine.surveyed {
            engine.survey();
        }
        if !engine.oversubscribed {
            return;
        }
    }
    schedule::yield_now();
    look();
}

impl Engine {
    /// Asks whether the node is oversubscribed, which is certain only once that is decided.
    #[cold]
    fn survey(&mut self) {
        let node = self.transport.node();
        self.oversubscribed = node.is_oversubscribed();
        self.surveyed = node.is_decided();
        self.transport.set_crowded(self.oversubscribed);
    }

    /// Wakes threads of this process that sleep for this engine: what they wait for may be done. Its guard orders that.
    #[inline(always)]
    pub(super) fn wake_own_sleepers(&self) {
        self.bell.wake_ordered();
    }
}
