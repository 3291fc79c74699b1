//! Processes of a job whose threads take turns in one thread. What a process has one of, an engine and a process table, is found by whose
//! turn it is, so that code runs here that enters the engine by itself and waits in it.
//!
//! Turns end only where a thread waits or says that it has [`moved`]. Invariant: it has no guard and no other lock then.

use super::data::Dice;
use super::job::{Shape, build};
use crate::engine::dispatch::Limits;
use crate::engine::entry::{EngineCursor, enter_at};
use crate::engine::single_copy::Limit;
use crate::engine::{Engine, liveness};
use crate::sync::guarded::Guarded;
use crate::sync::{AtomicBool, AtomicU32, Ordering, scheduler};
use crate::transport::{Table, deaths};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Of each process: its program, and a thread of the library's.
pub const THREADS: usize = 2;
/// Turns of a job, at most.
const MOST_TURNS: u32 = 1_000_000;

/// What a process has one of.
pub struct Process {
    engine: Guarded<Option<Engine>>,
    table: Arc<Table>,
    /// Ends of turns until it ends without a word; 0: not at all.
    turns_left: AtomicU32,
    turns: AtomicU32,
    has_ended: AtomicBool,
}

thread_local! {
    /// The processes of the job that this thread runs.
    static ALL: Cell<Option<&'static [Process]>> = const { Cell::new(None) };
}

/// The process whose turn it is, in a test with several.
pub fn current() -> Option<&'static Process> {
    ALL.get()?.get(scheduler::running()? / THREADS)
}

impl Process {
    /// `ends`: after how many turns, if at all.
    fn new(engine: Engine, ends: Option<u32>) -> Process {
        Process {
            table: engine.transport.table().clone(),
            engine: Guarded::new(Some(engine)),
            turns_left: AtomicU32::new(ends.unwrap_or(0)),
            turns: AtomicU32::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    pub fn engine(&'static self) -> &'static Guarded<Option<Engine>> {
        &self.engine
    }

    pub fn table(&'static self) -> &'static Table {
        &self.table
    }

    /// Between two turns of one of its threads: unwinds the stack of that one if the process has ended.
    fn end_if_due(&self) {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed);
        assert!(turns < MOST_TURNS, "the processes of a job go on for ever");
        let left = self.turns_left.load(Ordering::Relaxed);
        if left > 0 {
            self.turns_left.store(left - 1, Ordering::Relaxed);
        }
        if left == 1 {
            self.has_ended.store(true, Ordering::Relaxed);
            self.table.own().set_reaped();
            deaths::found();
            scheduler::moved();
        }
        if self.has_ended.load(Ordering::Relaxed) && !std::thread::panicking() {
            resume_unwind(Box::new(Ended));
        }
    }
}

/// Unwinds the stacks of a process that ends.
struct Ended;

/// What other threads wait for may be there; they may have turns.
pub fn moved() {
    scheduler::moved();
    if let Some(process) = current() {
        process.end_if_due();
    }
}

/// Waits until something has moved. False: nothing will.
pub fn rest() -> bool {
    let goes_on = scheduler::pause(false);
    if let Some(process) = current() {
        process.end_if_due();
    }
    goes_on
}

/// The wait of a call, see [`crate::engine::wait`].
pub fn until<R>(function: &str, done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>) -> R {
    // What the call has sent before.
    moved();
    loop {
        let found = done(&mut EngineCursor::at_first(0));
        if let Some(result) = found {
            moved();
            return result;
        }
        // An idle poll may refresh what a producer has seen of its ring.
        if (0..3).any(|_| EngineCursor::at_first(0).here().progress()) {
            moved();
            continue;
        }
        // As a waiting call asks from time to time.
        EngineCursor::at_first(0).here().give_up_unowned();
        if let Some(result) = liveness::ask(1, done) {
            moved();
            return result;
        }
        if EngineCursor::at_first(0).here().progress() {
            moved();
        } else if !rest() {
            panic!("{function} waits in vain");
        }
    }
}

/// What an engine has that is not over.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    pub requests: usize,
    pub posted: usize,
    pub unexpected: usize,
}

/// Requests, posted receives and unexpected messages that the current process still has.
pub fn left() -> Left {
    let engine = enter_at(0);
    Left {
        requests: engine.requests.count(),
        posted: engine.posted.len(),
        unexpected: engine.unexpected.len(),
    }
}

/// Settings of all engines of a job.
fn settle(engines: &mut [Engine], dice: &mut Dice) {
    let oversubscribed = dice.one_in(2);
    let limits = Limits::of(
        dice.one_of(&[64 << 10, 64 << 10, 1000, 1 << 20]),
        Limit::of(dice.one_of(&[32 << 10, 0, usize::MAX]), dice.one_in(4)),
        dice.one_of(&[usize::MAX, 1000, 100_000]),
        dice.one_of(&[usize::MAX, usize::MAX, 1, 8]),
    );
    for engine in engines {
        engine.transport.set_oversubscribed(oversubscribed);
        engine.oversubscribed = oversubscribed;
        engine.limits = limits;
        for process in 0..engine.transport.table().size() {
            // All are one process, which the kernel lets read itself.
            engine.peers.of(process).readable = Some(!dice.one_in(3));
        }
    }
}

/// Runs the threads of a job's processes, each by the numbers of both; what they return, `None` of those whose process ended before.
/// `ends`: after how many turns a process does.
///
/// Errors: what those said that have panicked.
pub fn run<T: Send>(
    seed: u64,
    shape: &Shape,
    ends: impl Fn(usize) -> Option<u32>,
    body: impl Fn(usize, usize) -> T + Sync,
) -> Result<Vec<[Option<T>; THREADS]>, String> {
    let (job, mut engines) = build(shape);
    settle(&mut engines, &mut Dice(seed));
    let numbered = engines.into_iter().enumerate();
    let all: Vec<Process> = numbered
        .map(|(me, it)| Process::new(it, ends(me)))
        .collect();
    // SAFETY: nobody finds them below, before they go.
    #[allow(unsafe_code)]
    ALL.set(Some(unsafe {
        std::slice::from_raw_parts(all.as_ptr(), all.len())
    }));
    let ran = scheduler::run_by_waits(seed, shape.processes * THREADS, |number| {
        let run = || {
            // Its process may end before its first turn.
            moved();
            body(number / THREADS, number % THREADS)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(result) => Some(result),
            Err(end) if end.is::<Ended>() => None,
            Err(panic) => resume_unwind(panic),
        }
    });
    ALL.set(None);
    // The job has the memory of the engines.
    drop(all);
    drop(job);
    let mut results = ran?.into_iter();
    let of_process = |_| std::array::from_fn(|_| results.next().flatten());
    Ok((0..shape.processes).map(of_process).collect())
}
