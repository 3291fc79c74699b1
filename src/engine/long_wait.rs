//! The part of a wait that is not short: let others have the core, then sleep.
//!
//! Invariant: a thread that sleeps has announced itself at its event counts and has polled once more after that. The status
//! page says what is waited for from the moment a wait is no longer short.

use super::entry::EngineCursor;
use super::liveness::Asked;
use super::numbered_waits::NumberedWait;
use super::published::{self, Published};
use super::wait::{Reason, first_of, help, progress_in};
use super::wanted::{self, Wanted};
use super::{WAITER, contention, enter_at, has_threads, in_use, liveness, numbers, tasks};
use crate::events::{self, Event, Safety};
use crate::os::turns::{GIVEN_YIELDS, KEPT_YIELDS, POLLS_AFTER_OPERATION, YIELDS};
use crate::os::{monotonic_nanoseconds, schedule};
use crate::sync::{AtomicU64, Ordering};
use crate::transport;
use crate::variables::Variable;
use std::time::Duration;

/// A yield takes a third of a microsecond, a wake-up as much as thirty microseconds.
pub static SLEEP_AFTER: Variable<u64> = Variable::new(
    "SLEEP_AFTER",
    1_000,
    "Microseconds after which a call that waits sleeps until a message comes, instead of yielding its core again and \
     again.",
);

/// A shorter yield changed no thread, nanoseconds: two changes of threads take longer.
const AT_ONCE: u64 = 1_000;

/// The yields of a wait in which nothing has moved, on an oversubscribed node.
#[derive(Default)]
struct Yields {
    kept: u32,
    given: u32,
}

impl Yields {
    fn count(&mut self, nanoseconds: u64) {
        match nanoseconds < AT_ONCE {
            true => self.kept += 1,
            false => self.given += 1,
        }
    }

    /// Whether the wait is to sleep.
    fn are_enough(&self) -> bool {
        self.kept >= KEPT_YIELDS || self.given >= GIVEN_YIELDS
    }
}

/// What a wait has done since something has moved.
#[derive(Default)]
struct Quiet {
    /// When its first yields were over; 0: they are not.
    since: u64,
    yields: u32,
    /// Its yields on an oversubscribed node.
    shared: Yields,
    /// Polls that are left of those that follow an operation for another process at once.
    attentive: u32,
}

impl Quiet {
    /// Something has moved; so many polls are to follow at once.
    fn reset(&mut self, attentive: u32) {
        *self = Quiet {
            attentive: self.attentive.max(attentive),
            ..Quiet::default()
        };
    }
}

/// Nanoseconds after which a wait that sleeps names its communicator, which looks at all there are: ranks that share cores sleep in most
/// waits, and few of these last.
const NAMED_AFTER: u64 = 1_000_000;
/// Bounded sleep, where a wake-up could be missed.
pub(super) const BOUNDED_SLEEP: Duration = Duration::from_millis(1);
/// How long a thread that was woken for what others had done sleeps for its own engines only.
const OWN_SLEEP: Duration = Duration::from_millis(10);

/// Polls of long waits before their first yield.
static SPINS_BEFORE_YIELDS: AtomicU64 = AtomicU64::new(0);

/// Polls of long waits before their first yield; those of short waits are counted by the engines.
pub(super) fn spins_of_long_waits() -> u64 {
    SPINS_BEFORE_YIELDS.load(Ordering::Relaxed)
}

/// Waits that were not short.
static LONG_WAITS: AtomicU64 = AtomicU64::new(0);

/// How many waits of this process were not short.
pub fn long_waits() -> u64 {
    LONG_WAITS.load(Ordering::Relaxed)
}

/// The part of a wait that is not short, after so many polls.
#[inline(never)]
pub(super) fn long_wait<R>(
    engines: u32,
    reason: &Reason<'_>,
    spins: u64,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
) -> R {
    SPINS_BEFORE_YIELDS.fetch_add(spins, Ordering::Relaxed);
    LONG_WAITS.fetch_add(1, Ordering::Relaxed);
    let _numbered = NumberedWait::begin();
    let mut quiet = Quiet::default();
    let mut published: Option<Published> = None;
    let mut idle = false;
    let mut asked = Asked::NEVER;
    let mut wanted = Wanted::begin();
    let sleep_after = SLEEP_AFTER.get().saturating_mul(1_000);
    // Where ranks share cores, a long yield is the usual case and says nothing about other programs. A time that the user has
    // set is the user's choice.
    let oversubscribed = enter_at(first_of(engines)).oversubscribed;
    let watches = SLEEP_AFTER.is_default() && !oversubscribed;
    let counts = SLEEP_AFTER.is_default() && oversubscribed;
    // The process that an operation was done for may share the core.
    let attention = match oversubscribed {
        true => 0,
        false => POLLS_AFTER_OPERATION,
    };
    let mut contended = watches && contention::count();
    loop {
        let (moved, result) = poll_once(engines, done, false);
        if let Some(result) = result {
            return result;
        }
        if moved {
            published::stir();
            let is_served = tasks::has_served() && !contended;
            quiet.reset(if is_served { attention } else { 0 });
            idle = false;
            continue;
        }
        if liveness::has_news()
            && let Some(result) = liveness::ask(engines, done)
        {
            return result;
        }
        if quiet.attentive > 0 {
            quiet.attentive -= 1;
            continue;
        }
        if !contended {
            let before = monotonic_nanoseconds();
            schedule::yield_now();
            quiet.yields += 1;
            let took = monotonic_nanoseconds() - before;
            contended = watches && contention::note_yield(took);
            if counts {
                quiet.shared.count(took);
            }
            if quiet.yields < YIELDS && !quiet.shared.are_enough() && !contended {
                continue;
            }
        }
        let now = monotonic_nanoseconds();
        if quiet.since == 0 {
            quiet.since = now;
            match &mut published {
                Some(published) => published.renew(reason),
                None => published = Published::begin(reason, first_of(engines), now),
            }
        }
        let waited = now - quiet.since;
        if contended || quiet.shared.are_enough() || waited > sleep_after {
            if waited > NAMED_AFTER
                && let Some(published) = published.as_mut()
            {
                published.name(reason);
            }
            if tasks::prepare_sleep() {
                published::stir();
                quiet.since = 0;
                continue;
            }
            if let Some(heap) = transport::heap() {
                heap.tidy_up();
            }
            let is_wanted = wanted.is_due();
            if asked.is_due(now) || is_wanted {
                let checked = match (is_wanted, published.as_mut()) {
                    (true, Some(published)) => check_all(engines, done, published, now),
                    (_, published) => check(engines, done, published, now),
                };
                match checked {
                    Checked::Done(result) => return result,
                    Checked::Moved => {
                        quiet.since = 0;
                        continue;
                    }
                    Checked::Nothing(counts) => wanted.checked(counts),
                }
                // The look that follows is one at all engines.
                idle &= !is_wanted;
                if let Some(published) = published.as_mut() {
                    published.renew(reason);
                    published.find_sites();
                    published.show_messages(first_of(engines));
                }
            }
            if events::wait_to_be_delivered() {
                events::deliver(Safety::MpiRestricted);
            }
            let looks = (&asked, &mut wanted, published.as_ref());
            match sleep(engines, reason, done, idle, looks) {
                Slept::Done(result) => return result,
                Slept::Moved => {
                    // The next operation may come at once.
                    if tasks::has_served() && !contended {
                        quiet.reset(attention);
                    }
                    idle = false;
                }
                Slept::Idle => idle = !idle,
            }
        }
    }
}

/// What came of liveness checks.
enum Checked<R> {
    Done(R),
    /// A task has gone on.
    Moved,
    /// Nothing; whether all of them count.
    Nothing(bool),
}

/// A liveness check.
fn check<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
    mut published: Option<&mut Published>,
    now: u64,
) -> Checked<R> {
    if let Some(published) = &mut published {
        published.begin_check(now);
    }
    if let Some(result) = liveness::ask(engines, done) {
        return Checked::Done(result);
    }
    Checked::Nothing(published.is_some_and(|published| published.end_check()))
}

/// As many checks as a proof takes, which put nothing off.
#[cold]
fn check_all<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
    published: &mut Published,
    now: u64,
) -> Checked<R> {
    let _thorough = published::Thorough::begin();
    let mut count = true;
    for _ in 0..wanted::CHECKS {
        published::begin_tour();
        if tasks::prepare_sleep() {
            published::stir();
            return Checked::Moved;
        }
        match check(engines, done, Some(&mut *published), now) {
            Checked::Nothing(counts) => count &= counts,
            other => return other,
        }
    }
    Checked::Nothing(count)
}

fn poll_once<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
    revoke: bool,
) -> (bool, Option<R>) {
    let (moved, result) = {
        let mut cursor = EngineCursor::at_first(first_of(engines));
        let engine = cursor.here();
        if engine.oversubscribed {
            engine.transport.tell_core();
        }
        engine.transport.hurry();
        let moved = engine.progress();
        let further = has_threads() && progress_in(&mut cursor, engines & (engines - 1), true);
        (moved | further, done(&mut cursor))
    };
    if result.is_some() {
        return (moved, result);
    }
    let helped = has_threads() && help(engines, revoke);
    (tasks::run() || helped || moved, result)
}

/// What came of sleeping.
enum Slept<R> {
    Done(R),
    /// Something happened before.
    Moved,
    /// Woken, and nothing was left to do.
    Idle,
}

/// Sleeps until something comes in, at most [`liveness::interval`]; polls before and after.
///
/// A thread sleeps for all engines, because no other thread may poll them. Where one does, it has done everything before this
/// one runs: after an `idle` wake-up a thread sleeps for a short while for its own engines only.
fn sleep<R>(
    engines: u32,
    reason: &Reason<'_>,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
    idle: bool,
    (asked, wanted, published): (&Asked, &mut Wanted, Option<&Published>),
) -> Slept<R> {
    let Some(waiter) = WAITER.get() else {
        return Slept::Moved;
    };
    let (blocked, sure) = are_blocked();
    let all = in_use() | engines;
    let others = idle && all != engines;
    let sleeps_for = if others { engines } else { all };
    let sleeper = waiter.announce(sleeps_for);
    if let Some(published) = published {
        published.begin_look();
    }
    let (moved, result) = poll_once(engines, done, !others);
    if let Some(result) = result {
        return Slept::Done(result);
    }
    // This thread does not sleep for an engine that was taken into use since then.
    let has_news = asked.is_outdated() || wanted.is_new();
    if moved {
        published::stir();
    }
    if moved || has_news || !others && in_use() | engines != all {
        return Slept::Moved;
    }
    if let Some(published) = published.filter(|_| !others && is_settled())
        && published.end_look(is_closed())
    {
        wanted.looked();
    }
    if !numbers(sleeps_for).all(|number| enter_at(number).transport.may_sleep()) {
        return Slept::Moved;
    }
    let limit = match blocked || !sure || waiter.is_always_ready() {
        true => BOUNDED_SLEEP,
        false if others => OWN_SLEEP,
        false if wanted.is_owed() => wanted::BETWEEN_TRIES.min(liveness::interval()),
        false => liveness::interval(),
    };
    events::raise(Event::SleepBegun, || {
        let wait = (reason.what)(false);
        events::message(wait.context, wait.peer, wait.tag, 0)
    });
    let began = if Event::SleepEnded.is_heard() {
        events::now()
    } else {
        0
    };
    sleeper.sleep(Some(limit));
    let notified = sleeper.was_notified();
    drop(sleeper);
    if began != 0 {
        events::raise(Event::SleepEnded, || [events::now() - began, 0, 0, 0, 0]);
    }
    let (moved, result) = poll_once(engines, done, false);
    if moved {
        published::stir();
    }
    let found = moved || result.is_some();
    // A short sleep that ends by itself says nothing about descriptors that are not watched.
    if found || notified || !waiter.is_always_ready() {
        waiter.slept(notified && !found);
    }
    match result {
        Some(result) => Slept::Done(result),
        None if moved => Slept::Moved,
        None => Slept::Idle,
    }
}

/// Whether a look that has found nothing proves anything: no send waits for the receiver of its offer, for the clock takes offers back, and the
/// fabric has nothing to do but to bring records: no RMA operation of this process either, whose end is none.
pub(super) fn is_settled() -> bool {
    let mut all = transport::rma::opened().is_none_or(transport::rma::Rma::is_settled);
    super::for_each(|engine| all &= !engine.has_offers() && engine.is_settled());
    all
}

/// Whether nothing that this process has to do for others depends on more than the processes that its waits name: there is no task, nothing
/// waits for room, and no packet that lies behind one that is half written.
fn is_closed() -> bool {
    let mut all = !tasks::any();
    super::for_each(|engine| all &= !engine.is_blocked() && engine.transport.has_read_all());
    all
}

/// Announces to peers that this process waits for space in their rings. Returns whether there are such peers, or receivers of offers that may
/// be late, and whether sleepers are certain to be woken.
pub(super) fn are_blocked() -> (bool, bool) {
    let (mut blocked, mut sure) = (false, true);
    super::for_each(|engine| {
        engine.request_space();
        blocked |= engine.is_blocked() || engine.has_offers();
        sure &= engine.transport.fences_reach_all();
    });
    (blocked, sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many yields of so many nanoseconds, in turn, a wait makes before it sleeps.
    fn yields(taking: &[u64]) -> u32 {
        let mut yields = Yields::default();
        let mut number = 0;
        for nanoseconds in taking.iter().cycle() {
            if yields.are_enough() {
                break;
            }
            yields.count(*nanoseconds);
            number += 1;
        }
        number
    }

    #[test]
    fn a_wait_sleeps_whether_its_yields_have_an_effect_or_not() {
        assert_eq!(yields(&[AT_ONCE - 1]), KEPT_YIELDS);
        assert_eq!(yields(&[AT_ONCE]), GIVEN_YIELDS);
        assert_eq!(yields(&[300, 2_000]), 2 * GIVEN_YIELDS);
        assert_eq!(yields(&[300, 300, 2_000]), GIVEN_YIELDS + KEPT_YIELDS - 1);
    }
}
