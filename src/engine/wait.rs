//! Waiting: spin while an answer is likely at once. What comes then is in `long_wait.rs`.
//!
//! There is one way to wait, for messages ([`until`] and its kin) and for what other ranks store in shared memory ([`soon`], then
//! [`until_stored`]). On the library's own threads, which enter no engine, it is `aside.rs`; a task waits by being polled (`tasks.rs`).
//!
//! A waiting thread polls the engines of what it waits for, and now and then the others, which no thread may be waiting for.
//! Invariant: the condition is checked after each poll.

use super::entry::{EngineCursor, try_enter_at};
use super::numbered_waits::NumberedWait;
use super::{Engine, EngineGuard, contention, enter, enter_at, has_threads, in_use};
use super::{liveness, long_wait, losses, numbers, published, spin_limit, tasks};
use crate::error::Result;
use crate::os::turns::{FIRST_YIELDS, LOOKS, LOOKS_PER_CHECK, OWN_POLLS, POLLS_BEFORE_CHECK};
use crate::os::{monotonic_nanoseconds, schedule};
use crate::transport::waits::Wait;
use crate::variables::{Listed, Variable};

static SPINS: Variable<u64> = Variable::new(
    "SPINS",
    20_000,
    "How often a waiting call polls for messages before it first yields its core, where every rank has a core of its own; \
     0: it never yields and never sleeps.",
)
.with_aliases(&["MPIR_CVAR_POLLS_BEFORE_YIELD", "I_MPI_SPIN_COUNT"]);
/// Few: the awaited rank may need this very core.
static SPINS_OVERSUBSCRIBED: Variable<u64> = Variable::new(
    "SPINS_OVERSUBSCRIBED",
    2,
    "The same where the node has more ranks than cores; with MPI_THREAD_MULTIPLE up to 250, if threads learn that it pays.",
);
/// What users can set about waiting.
pub static VARIABLES: &[&dyn Listed] = &[&SPINS, &SPINS_OVERSUBSCRIBED, &long_wait::SLEEP_AFTER];

/// The largest learned limit ([`spin_limit`]), polls: as long as it takes to change threads.
const LONGEST_OVERSUBSCRIBED: u64 = 250;
/// How many looks at the node's memory a look that includes the fabric takes the time of, about.
const NET_LOOK: u64 = 16;

/// Nanoseconds after a rank is seen to be finalizing until what it has sent must have come.
const GONE_FOR: u64 = 100_000_000;
/// Nanoseconds for which messages of a dead rank of another host are still waited for. The error is right whether they come or not.
const DEAD_FOR: u64 = 60_000_000;

/// [`Request::context`](super::requests::Request::context) of an access to a window: its owner is the window.
pub const WINDOW: u32 = u32::MAX - 1;
/// As [`WINDOW`], of a file.
pub const FILE: u32 = u32::MAX - 2;

/// What a call waits for, for reports.
#[derive(Clone, Copy)]
pub struct Reason<'a> {
    /// The MPI function.
    pub function: &'static str,
    /// Describes the wait, with the object's name or without. Called outside of the engines and only when the wait is no longer short.
    pub what: &'a dyn Fn(bool) -> Wait,
}

/// Notices that a message of a collective operation will never come: its sender is finalizing or has exited, and has not sent it. What it
/// has sent is looked for once more by the caller.
#[derive(Default)]
pub struct Watch {
    polls: u32,
    /// When it was seen first, nanoseconds.
    since: u64,
}

impl Watch {
    /// Called after each idle poll.
    #[inline]
    pub fn is_unreachable(&mut self, engine: &Engine, sender: u32) -> bool {
        self.polls = self.polls.saturating_add(1);
        self.polls > POLLS_BEFORE_CHECK && self.is_gone(engine, sender)
    }

    /// Called now and then.
    #[inline]
    pub fn is_gone(&mut self, engine: &Engine, sender: u32) -> bool {
        let Some(loss) = liveness::of(engine, sender) else {
            return false;
        };
        // Of a dead rank of this host nothing is on its way that one more look does not find. One that has only said that it exits may call MPI
        // in functions that are called at its exit.
        let patience = if loss.is_end() { DEAD_FOR } else { GONE_FOR };
        loss.is_end() && engine.peer(sender).page.was_reaped() || self.is_over(patience)
    }

    /// As [`Watch::is_gone`], of a process that is not waited for itself: those that are may end the operation without it.
    #[inline]
    pub fn is_long_gone(&mut self, engine: &Engine, process: u32) -> bool {
        liveness::of(engine, process).is_some() && self.is_over(GONE_FOR)
    }

    #[cold]
    fn is_over(&mut self, patience: u64) -> bool {
        let now = monotonic_nanoseconds();
        if self.since == 0 {
            self.since = now;
        }
        let is_over = now - self.since > patience;
        if !is_over {
            published::stir();
        }
        is_over
    }
}

/// Makes progress until `done` returns a result. `done` is called with the first engine after each poll.
#[inline(always)]
pub fn until<R>(reason: &Reason<'_>, done: impl FnMut(&mut Engine) -> Option<R>) -> R {
    until_at(0, reason, done)
}

/// As [`until`], with the engine of this number.
#[inline(always)]
pub fn until_at<R>(
    number: u32,
    reason: &Reason<'_>,
    mut done: impl FnMut(&mut Engine) -> Option<R>,
) -> R {
    until_in(1 << number, reason, |cursor| done(cursor.at(number)))
}

/// As [`until`], for what comes by several engines, a set of bits that is not empty. `done` is called in one of them.
#[inline(always)]
pub fn until_in<R>(
    engines: u32,
    reason: &Reason<'_>,
    mut done: impl FnMut(&mut EngineCursor) -> Option<R>,
) -> R {
    #[cfg(test)]
    if super::tests::processes::current().is_some() {
        return super::tests::processes::until(reason.function, &mut done);
    }
    let first = first_of(engines);
    let mut spins;
    {
        let mut cursor = EngineCursor::at_first(first);
        if let Some(result) = done(&mut cursor) {
            return result;
        }
        let engine = cursor.here();
        if !engine.surveyed {
            engine.survey();
        }
        spins = budget(engine);
    }
    let all = spins;
    while spins > 0 {
        if let Some(result) = spin_once(engines, all - spins, &mut done) {
            return result;
        }
        if tasks::run() || has_threads() && spins % OWN_POLLS == 0 {
            help(engines, false);
            if tasks::has_served() {
                return serving_wait(engines, reason, (all, spins - 1), &mut done);
            }
        }
        spins -= 1;
    }
    if has_threads() {
        spin_limit::was_long(all);
    }
    long_wait::long_wait(engines, reason, all, &mut done)
}

/// A poll of a wait that is short so far, after so many others.
#[inline(always)]
fn spin_once<R, D: FnMut(&mut EngineCursor) -> Option<R> + ?Sized>(
    engines: u32,
    polls: u64,
    done: &mut D,
) -> Option<R> {
    let first = first_of(engines);
    // The thread that is in the engine now makes progress for all.
    let cursor = match has_threads() {
        true => EngineCursor::try_at_first(first),
        false => Some(EngineCursor::at_first(first)),
    };
    let mut cursor = cursor?;
    cursor.here().progress();
    if has_threads() {
        progress_in(&mut cursor, engines & !(1 << first), false);
    }
    let result = done(&mut cursor)?;
    cursor.here().counted.spins += polls;
    if has_threads() {
        spin_limit::was_short(polls);
    }
    Some(result)
}

/// The rest of a wait in which an operation of another process was done, with the polls of its first part, all and those left: it has a number.
#[cold]
#[inline(never)]
fn serving_wait<R>(
    engines: u32,
    reason: &Reason<'_>,
    (all, mut spins): (u64, u64),
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
) -> R {
    let numbered = NumberedWait::begin();
    while spins > 0 {
        if let Some(result) = spin_once(engines, all - spins, done) {
            return result;
        }
        if tasks::run() || has_threads() && spins % OWN_POLLS == 0 {
            help(engines, false);
        }
        spins -= 1;
    }
    drop(numbered);
    if has_threads() {
        spin_limit::was_long(all);
    }
    long_wait::long_wait(engines, reason, all, done)
}

/// A few looks at what another rank is to store, or yields where ranks share cores: it may need this very core. Returns whether it
/// `holds`; if not, the caller waits.
#[inline(always)]
pub fn soon(oversubscribed: bool, mut holds: impl FnMut() -> bool) -> bool {
    if oversubscribed {
        return yield_until(holds);
    }
    for _ in 0..LOOKS {
        if holds() {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// Waits until it `holds`, what other ranks store and wake this one for. `missing` names a process because of which it may never.
///
/// Errors: MPIX_ERR_PROC_FAILED, that process is lost.
pub fn until_stored(
    number: u32,
    reason: &Reason<'_>,
    holds: &mut dyn FnMut() -> bool,
    missing: &dyn Fn(&Engine) -> Option<u32>,
) -> Result<()> {
    let mut looks = Looks::default();
    until_at(number, reason, |engine| {
        let found = looks.look(engine.checks_liveness(), holds, || missing(engine))?;
        Some(found.map_err(|process| losses::error(engine, process)))
    })
}

/// The looks of such a wait.
#[derive(Default)]
pub(super) struct Looks(u32);

impl Looks {
    /// A look: whether the wait is over, and the process that is lost if it is in vain.
    pub fn look(
        &mut self,
        checks: bool,
        holds: &mut dyn FnMut() -> bool,
        missing: impl FnOnce() -> Option<u32>,
    ) -> Option<std::result::Result<(), u32>> {
        if holds() {
            return Some(Ok(()));
        }
        self.0 = self.0.wrapping_add(1);
        if !checks && !self.0.is_multiple_of(LOOKS_PER_CHECK) {
            return None;
        }
        let process = missing()?;
        // Lost first, then looked at: what it had stored is there.
        Some(match holds() {
            true => Ok(()),
            false => Err(process),
        })
    }
}

#[inline]
fn yield_until(mut holds: impl FnMut() -> bool) -> bool {
    let polls = SPINS_OVERSUBSCRIBED.get();
    for _ in 0..polls.clamp(1, 100) {
        if holds() {
            return true;
        }
        std::hint::spin_loop();
    }
    if polls == 0 {
        return false;
    }
    (0..FIRST_YIELDS).any(|_| {
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

/// Makes progress in further engines; with `hurry`, by way of the fabric in any case. True if anything happened.
#[inline(never)]
pub(super) fn progress_in(cursor: &mut EngineCursor, engines: u32, hurry: bool) -> bool {
    let mut any = false;
    for number in numbers(engines) {
        let engine = cursor.at(number);
        if hurry {
            engine.transport.hurry();
        }
        any |= engine.progress();
    }
    any
}

/// Makes progress in the engines that are not waited for, except where another thread does: one that is inside, or, unless
/// `revoke`, has the bias. Returns whether anything happened.
#[inline(never)]
pub(super) fn help(engines: u32, revoke: bool) -> bool {
    let mut any = false;
    for number in numbers(in_use() & !engines) {
        match try_enter_at(number, revoke) {
            Some(mut engine) => any |= engine.progress(),
            None => published::is_partial(),
        }
    }
    any
}

/// Polls before the first yield.
#[inline]
fn budget(engine: &Engine) -> u64 {
    let setting = match engine.oversubscribed {
        true => &SPINS_OVERSUBSCRIBED,
        false => &SPINS,
    };
    match setting.get() {
        0 => u64::MAX,
        polls if has_threads() && engine.oversubscribed => {
            spin_limit::budget(polls, polls.max(LONGEST_OVERSUBSCRIBED))
        }
        polls if engine.oversubscribed => polls,
        polls if engine.transport.has_net() => contention::limit(polls / NET_LOOK),
        polls => contention::limit(polls),
    }
}

/// Enters the first engine for a call that does not wait and has found nothing, and polls once more.
pub fn poll() -> EngineGuard {
    poll_in(1);
    enter()
}

/// As [`poll`], with the engine of this number.
pub fn poll_at(number: u32) -> EngineGuard {
    poll_in(1 << number);
    enter_at(number)
}

/// A poll for a call that does not wait and has found nothing, in a set of engines that is not empty.
///
/// Programs poll in loops: on an oversubscribed node an idle poll yields the core, or each turn of the loop would last a time slice.
pub fn poll_in(engines: u32) {
    let poll_once = || {
        let mut cursor = EngineCursor::at_first(first_of(engines));
        let mut any = cursor.here().progress();
        if has_threads() {
            any |= progress_in(&mut cursor, engines & (engines - 1), false);
            drop(cursor);
            any |= help(engines, false);
        }
        any
    };
    tasks::answer();
    if tasks::any() {
        let moved = poll_once();
        if !tasks::run() && !moved {
            liveness::ask_in_loop();
        }
    }
    if poll_once() {
        return;
    }
    {
        let mut cursor = EngineCursor::at_first(first_of(engines));
        let engine = cursor.here();
        if !engine.surveyed {
            engine.survey();
        }
        if !engine.oversubscribed {
            return;
        }
    }
    schedule::yield_now();
    enter_at(first_of(engines)).transport.hurry();
    poll_once();
}

impl Engine {
    /// Asks whether the node is oversubscribed, which is certain only once that is decided.
    #[cold]
    fn survey(&mut self) {
        let node = self.transport.node();
        self.oversubscribed = node.is_oversubscribed();
        self.surveyed = node.is_decided();
        self.transport.set_oversubscribed(self.oversubscribed);
    }

    /// Wakes threads of this process that sleep for this engine: what they wait for may be done. Its guard orders that.
    #[inline(always)]
    pub(super) fn wake_own_sleepers(&self) {
        self.notifier.wake_ordered();
    }
}
