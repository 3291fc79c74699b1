//! Waiting: spin while an answer is likely at once, then let others have the core, then sleep.
//!
//! Invariant: whoever sleeps has announced itself at its doorbell and looked once more after that. The status page says
//! what is waited for from the moment a wait is no longer short.

use super::{Engine, EngineGuard, enter, tasks};
use crate::error::{Class, Error};
use crate::os::{monotonic_nanoseconds, schedule};
use crate::sync::{AtomicU64, Ordering};
use crate::transport::shm::doorbell;
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

/// Yields before the first look at the clock.
const YIELDS: u32 = 32;
/// How long to sleep where a message could be missed.
const NAP: Duration = Duration::from_millis(1);

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

/// Makes progress until `done` says so. `done` is called with the engine after each look.
#[inline(always)]
pub fn until<R>(reason: &Reason, mut done: impl FnMut(&mut Engine) -> Option<R>) -> R {
    let mut spins;
    {
        let mut engine = enter();
        if let Some(result) = done(&mut engine) {
            return result;
        }
        if !engine.surveyed {
            engine.survey();
        }
        spins = budget(&engine);
    }
    while spins > 0 {
        {
            let mut engine = enter();
            engine.progress();
            if let Some(result) = done(&mut engine) {
                return result;
            }
        }
        tasks::run();
        spins -= 1;
    }
    long_wait(reason, &mut done)
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

/// Enters the engine for a call that does not wait and has found nothing, and looks once more.
///
/// Programs poll in loops: where ranks share cores, a look in vain lets another rank have the core, or each turn of
/// the loop would last a time slice.
pub fn poll() -> EngineGuard {
    if tasks::any() {
        enter().progress();
        tasks::run();
    }
    {
        let mut engine = enter();
        if engine.progress() {
            return engine;
        }
        if !engine.surveyed {
            engine.survey();
        }
        if !engine.oversubscribed {
            return engine;
        }
    }
    schedule::yield_now();
    let mut engine = enter();
    engine.progress();
    engine
}

/// Waits that were not short.
static LONG_WAITS: AtomicU64 = AtomicU64::new(0);

/// How many waits of this process were not short.
pub fn long_waits() -> u64 {
    LONG_WAITS.load(Ordering::Relaxed)
}

/// The part of a wait that is not short.
#[inline(never)]
fn long_wait<R>(reason: &Reason, done: &mut dyn FnMut(&mut Engine) -> Option<R>) -> R {
    LONG_WAITS.fetch_add(1, Ordering::Relaxed);
    let mut yields = 0u32;
    let mut began = 0;
    let mut page: Option<&'static RankPage> = None;
    let mut named = false;
    let sleep_after = SLEEP_AFTER.get().saturating_mul(1_000);
    let result = loop {
        let (moved, result) = look(done);
        if let Some(result) = result {
            break result;
        }
        if moved {
            began = 0;
            yields = 0;
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
                page = Some(publish(reason, now));
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
            if let Some(result) = sleep(done, glances.then_some(GLANCE)) {
                break result;
            }
        }
    };
    if let Some(page) = page {
        page.status.waiting.store(0, Ordering::Relaxed);
    }
    result
}

fn look<R>(done: &mut dyn FnMut(&mut Engine) -> Option<R>) -> (bool, Option<R>) {
    let (moved, result) = {
        let mut engine = enter();
        if engine.oversubscribed {
            engine.shm.tell_core();
        }
        (engine.progress(), done(&mut engine))
    };
    let moved = result.is_none() && tasks::run() || moved;
    (moved, result)
}

/// Sleeps until something comes in, at most for `most`; looks before and after.
fn sleep<R>(done: &mut dyn FnMut(&mut Engine) -> Option<R>, most: Option<Duration>) -> Option<R> {
    let (bell, blocked, sure) = {
        let engine = enter();
        engine.starve();
        (
            engine.shm.bell(),
            engine.is_blocked(),
            engine.shm.fences_reach_all(),
        )
    };
    let ticket = doorbell::announce(bell);
    let (moved, result) = look(done);
    if result.is_none() && !moved {
        let limit = if blocked || !sure { Some(NAP) } else { most };
        doorbell::sleep(bell, ticket, limit);
    }
    bell.leave();
    result
}

fn publish(reason: &Reason, now: u64) -> &'static RankPage {
    let engine = enter();
    let page = engine.shm.page(engine.shm.me());
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
    page
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

    /// Wakes threads of this process that sleep: what they wait for may be done.
    #[cold]
    pub fn wake_own_sleepers(&self) {
        doorbell::wake(self.shm.bell(), true);
    }
}
