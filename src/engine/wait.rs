//! Waiting: spin while an answer is likely at once, then let others have the core, then sleep.
//!
//! A thread that waits looks after the engines of what it waits for, and now and then after the others, for which nobody may
//! be waiting. Invariant: whoever sleeps has announced itself at its doorbells and looked once more after that. The status
//! page says what is waited for from the moment a wait is no longer short.

use super::entry::{Entry, try_enter_at};
use super::{Engine, EngineGuard, PAGE, enter, enter_at, has_threads, in_use, numbers, tasks};
use crate::error::{Class, Error};
use crate::events::{self, Event, Safety};
use crate::os::{monotonic_nanoseconds, schedule};
use crate::sync::{AtomicU64, Ordering};
use crate::transport::shm::doorbell::Sleeper;
use crate::transport::shm::layout::RankPage;
use crate::variables::{Listed, Variable};
use std::sync::OnceLock;
use std::time::Duration;

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
    "The same where the node has more ranks than cores.",
);
/// Yielding costs a third of a microsecond, waking up to thirty.
static SLEEP_AFTER: Variable<u64> = Variable::new(
    "SLEEP_AFTER",
    1_000,
    "Microseconds after which a call that waits sleeps until a message comes, instead of yielding its core again and \
     again.",
);
/// What users can set about waiting.
pub static VARIABLES: &[&dyn Listed] = &[&SPINS, &SPINS_OVERSUBSCRIBED, &SLEEP_AFTER];

/// Yields before the first look at the clock, so a wait asks so often whether it is over before it sleeps.
pub const YIELDS: u32 = 32;
/// Times that a core is given away before the first look at messages, where others than messages are waited for.
const TURNS: u32 = 4;
/// How long to sleep where a message could be missed.
const NAP: Duration = Duration::from_millis(1);
/// How long a thread that was woken for what others had done sleeps for its own engines only.
const OWN_SLEEP: Duration = Duration::from_millis(10);
/// Looks at what is waited for, for each at the other engines.
const OWN_LOOKS: u64 = 64;

/// How long a collective operation sleeps before it looks whether the rank that it waits for can still come.
const GLANCE: Duration = Duration::from_millis(500);
/// Looks in vain before it is asked whether the rank can still come.
const LOOKS_BEFORE_WATCH: u32 = 16;
/// How long a rank must be known to leave before what it has sent must have come.
const LEFT_FOR: u64 = 100_000_000;

/// How a communicator is called, by a context of its.
type NameOfContext = fn(u32) -> Option<String>;
static NAME_OF_CONTEXT: OnceLock<NameOfContext> = OnceLock::new();

/// Tells the engine, which knows no communicators, how to name them on the status page.
pub fn name_contexts_by(name: NameOfContext) {
    let _ = NAME_OF_CONTEXT.set(name);
}

/// What a call waits for, for those who look from outside.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The MPI function.
    pub function: &'static str,
    /// Rank in the communicator; -2 any.
    pub peer: i32,
    /// -1 any.
    pub tag: i32,
    pub context: u32,
}

impl Reason {
    /// Whether the message is one of the library's own, between those who take part in one operation.
    fn is_collective(&self) -> bool {
        self.context != u32::MAX && self.context & 3 != 0
    }

    /// A wait for no particular message.
    pub const fn of(function: &'static str) -> Self {
        Self {
            function,
            peer: super::matching::ANY_SOURCE,
            tag: super::matching::ANY_TAG,
            context: u32::MAX,
        }
    }
}

/// Notices that a message will never come: its sender is in MPI_Finalize and has not sent it.
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
        engine.shm.page(sender as usize).status.is_leaving() && self.is_over()
    }

    /// The error of who has waited for it.
    #[cold]
    pub fn error(world: u32) -> Error {
        events::raise(Event::PeerLost, || [world.into(), 0, 0, 0, 0]);
        Error::new(
            Class::Other,
            format!(
                "rank {world} of MPI_COMM_WORLD is in MPI_Finalize and takes no part in this; the ranks have called different \
                 functions, or named different groups"
            ),
        )
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

/// The same with the engine of this number.
#[inline(always)]
pub fn until_at<R>(
    number: u32,
    reason: &Reason,
    mut done: impl FnMut(&mut Engine) -> Option<R>,
) -> R {
    until_in(1 << number, reason, |entry| done(entry.at(number)))
}

/// The same for what comes by several engines, a set of bits that is not empty. `done` is called in one of them.
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
        // Who is in the engine now makes progress for all.
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
                return result;
            }
        }
        if tasks::run() || has_threads() && spins % OWN_LOOKS == 0 {
            help(engines, false);
        }
        spins -= 1;
    }
    SPINS_BEFORE_YIELDS.fetch_add(all, Ordering::Relaxed);
    long_wait(engines, reason, &mut done)
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
fn first_of(engines: u32) -> u32 {
    if has_threads() {
        engines.trailing_zeros()
    } else {
        0
    }
}

/// Makes progress in further engines. True if anything happened.
#[inline(never)]
fn progress_in(entry: &mut Entry, engines: u32) -> bool {
    let mut any = false;
    for number in numbers(engines) {
        any |= entry.at(number).progress();
    }
    any
}

/// Makes progress in the engines that are not waited for, but where another thread does: is there now or, unless this one
/// `insists`, is favoured there. True if anything happened.
#[inline(never)]
fn help(engines: u32, insists: bool) -> bool {
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
        looks => looks,
    }
}

/// Enters the first engine for a call that does not wait and has found nothing, and looks once more.
pub fn poll() -> EngineGuard {
    poll_in(1);
    enter()
}

/// The same with the engine of this number.
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

/// Looks of those waits before their first yield.
static SPINS_BEFORE_YIELDS: AtomicU64 = AtomicU64::new(0);

/// How many looks of long waits came before a yield; those of short ones are counted by the engines.
pub(super) fn spins_of_long_waits() -> u64 {
    SPINS_BEFORE_YIELDS.load(Ordering::Relaxed)
}

/// Waits that were not short.
static LONG_WAITS: AtomicU64 = AtomicU64::new(0);

/// How many waits of this process were not short.
pub fn long_waits() -> u64 {
    LONG_WAITS.load(Ordering::Relaxed)
}

/// The part of a wait that is not short.
#[inline(never)]
fn long_wait<R>(engines: u32, reason: &Reason, done: &mut dyn FnMut(&mut Entry) -> Option<R>) -> R {
    LONG_WAITS.fetch_add(1, Ordering::Relaxed);
    let mut yields = 0u32;
    let mut began = 0;
    let mut page: Option<&'static RankPage> = None;
    let mut named = false;
    let mut in_vain = false;
    let sleep_after = SLEEP_AFTER.get().saturating_mul(1_000);
    let result = loop {
        let (moved, result) = look(engines, done, false);
        if let Some(result) = result {
            break result;
        }
        if moved {
            began = 0;
            yields = 0;
            in_vain = false;
            continue;
        }
        schedule::yield_now();
        yields += 1;
        if yields < YIELDS {
            continue;
        }
        let now = monotonic_nanoseconds();
        if began == 0 {
            began = now;
            if page.is_none() {
                page = publish(engines, reason, now);
            }
        } else if now - began > sleep_after {
            // Finding the name takes its time, which a rank has that is about to sleep.
            if let (Some(page), false) = (page, named) {
                let name = NAME_OF_CONTEXT.get().and_then(|name| name(reason.context));
                page.status.communicator.store(&name.unwrap_or_default());
                named = true;
            }
            tasks::watch();
            let glances = reason.is_collective() || tasks::any();
            if events::wait_to_be_delivered() {
                events::deliver(Safety::MpiRestricted);
            }
            match sleep(engines, reason, done, glances.then_some(GLANCE), in_vain) {
                Slept::Done(result) => break result,
                Slept::Moved => in_vain = false,
                Slept::InVain => in_vain = !in_vain,
            }
        }
    };
    if let Some(page) = page {
        page.status.waiting.store(0, Ordering::Relaxed);
    }
    result
}

fn look<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut Entry) -> Option<R>,
    insists: bool,
) -> (bool, Option<R>) {
    let (moved, result) = {
        let mut entry = Entry::at_first(first_of(engines));
        let engine = entry.here();
        if engine.oversubscribed {
            engine.shm.tell_core();
        }
        let moved = engine.progress();
        let further = has_threads() && progress_in(&mut entry, engines & (engines - 1));
        (moved | further, done(&mut entry))
    };
    if result.is_some() {
        return (moved, result);
    }
    let helped = has_threads() && help(engines, insists);
    (tasks::run() || helped || moved, result)
}

/// What came of sleeping.
enum Slept<R> {
    Done(R),
    /// Something happened before.
    Moved,
    /// It was woken, and nothing was left to do.
    InVain,
}

/// Sleeps until something comes in, at most for `most`; looks before and after.
///
/// A thread sleeps for all engines, for no other may be there to look after them. Where one is, that thread does what there
/// is to do before this one is up: after being woken `in_vain` it sleeps for a short while for its own engines only.
fn sleep<R>(
    engines: u32,
    reason: &Reason,
    done: &mut dyn FnMut(&mut Entry) -> Option<R>,
    most: Option<Duration>,
    in_vain: bool,
) -> Slept<R> {
    let Some(page) = PAGE.get() else {
        return Slept::Moved;
    };
    let (blocked, sure) = are_blocked();
    let all = in_use() | engines;
    let others = in_vain && all != engines;
    let sleeper = Sleeper::announce(page, if others { engines } else { all });
    let (moved, result) = look(engines, done, !others);
    if let Some(result) = result {
        return Slept::Done(result);
    }
    // One that was taken into use since then has no bell that this thread hears.
    if moved || !others && in_use() | engines != all {
        return Slept::Moved;
    }
    let limit = if blocked || !sure { Some(NAP) } else { most };
    let limit = match limit {
        None if others => Some(OWN_SLEEP),
        Some(limit) if others => Some(limit.min(OWN_SLEEP)),
        limit => limit,
    };
    events::raise(Event::SleepBegun, || {
        events::message(reason.context, reason.peer, reason.tag, 0)
    });
    let began = if Event::SleepEnded.is_heard() {
        events::now()
    } else {
        0
    };
    sleeper.sleep(limit);
    drop(sleeper);
    if began != 0 {
        events::raise(Event::SleepEnded, || [events::now() - began, 0, 0, 0, 0]);
    }
    match look(engines, done, false) {
        (_, Some(result)) => Slept::Done(result),
        (true, None) => Slept::Moved,
        (false, None) => Slept::InVain,
    }
}

/// Tells the peers that we wait for room from that we do. Whether there are any, and whether sleepers can trust in being woken.
fn are_blocked() -> (bool, bool) {
    let mut blocked = false;
    super::for_each(|engine| {
        engine.starve();
        blocked |= engine.is_blocked();
    });
    (blocked, enter().shm.fences_reach_all())
}

fn publish(engines: u32, reason: &Reason, now: u64) -> Option<&'static RankPage> {
    let page = PAGE.get()?;
    let engine = enter_at(first_of(engines));
    let status = &page.status;
    status.function.store(reason.function);
    status.peer.store(reason.peer, Ordering::Relaxed);
    status.tag.store(reason.tag, Ordering::Relaxed);
    status.context.store(reason.context, Ordering::Relaxed);
    status.communicator.store("");
    status
        .posted
        .store(engine.posted.len() as u32, Ordering::Relaxed);
    status
        .unexpected
        .store(engine.unexpected.len() as u32, Ordering::Relaxed);
    status.sending.store(engine.sending, Ordering::Relaxed);
    status.since.store(now, Ordering::Relaxed);
    status.waiting.store(1, Ordering::Release);
    Some(page)
}

impl Engine {
    /// Looks how many cores the ranks of the node share: each tells its own when it joins, so it is known only when
    /// all have.
    #[cold]
    fn survey(&mut self) {
        self.surveyed = self.shm.all_joined();
        self.oversubscribed = self.shm.oversubscribed();
        self.shm.set_crowded(self.oversubscribed);
    }

    /// Wakes threads of this process that sleep for this engine: what they wait for may be done. Its guard orders that.
    #[inline(always)]
    pub(super) fn wake_own_sleepers(&self) {
        self.bell.wake_ordered();
    }
}
