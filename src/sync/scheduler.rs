//! Deterministic scheduler for tests: ranks run in one thread, each with a stack of its own, and a seed decides which runs
//! next, at each access to an [`AtomicU64`] and at each wait. So protocols in shared memory are tested under many schedules,
//! and a seed repeats its schedule.
//!
//! Accesses are sequentially consistent; what weaker orders allow is for loom. Invariant: a rank runs only when it is
//! scheduled; one that sleeps and was not woken is not, nor one that polls where nothing was stored since.

use generator::{Generator, Gn};
use std::any::Any;
use std::cell::RefCell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{self, Ordering};

/// Of so many steps while a rank is ready, one goes to a rank that polls.
const STEPS_PER_POLL: u64 = 8;
/// With priorities, a rank gets the lowest one at one in so many yield points.
const CHANGES: u64 = 300;
/// As [`CHANGES`], of turns at waits only.
const CHANGES_AT_WAITS: u64 = 20;
/// Words of a rank's stack.
const STACK: usize = 128 << 10;

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Ready,
    /// To poll again when more has been stored than this.
    Polls(u64),
    /// Until it is woken.
    Sleeps,
    Done,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Deadlock: no rank can run.
    Deadlock,
    /// One has failed.
    Failed,
}

/// Which rank runs next.
enum Policy {
    /// Any; a switch at one in so many yield points.
    Random(u64),
    /// The first ready one in this order. Some run far ahead, until they are put last.
    Priority(Vec<usize>),
}

struct State {
    random: u64,
    policy: Policy,
    /// The rank that runs.
    running: usize,
    phases: Vec<Phase>,
    /// Ranks that were woken, and have not slept since.
    woken: Vec<bool>,
    stores: u64,
    /// Stores that each rank had seen when it last polled.
    seen: Vec<u64>,
    /// The running rank holds a lock of its thread.
    locked: bool,
    /// Accesses are no yield points.
    at_waits: bool,
    over: Option<End>,
}

thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// State of this thread's scheduler, if it has one.
fn with<T>(visit: impl FnOnce(&mut State) -> T) -> Option<T> {
    let visit = |state: &RefCell<Option<State>>| state.borrow_mut().as_mut().map(visit);
    STATE.try_with(visit).ok().flatten()
}

impl State {
    fn new(seed: u64, ranks: usize) -> State {
        let mut state = State {
            random: seed,
            policy: Policy::Random(1),
            running: 0,
            phases: vec![Phase::Ready; ranks],
            woken: vec![false; ranks],
            stores: 1,
            seen: vec![0; ranks],
            locked: false,
            at_waits: false,
            over: None,
        };
        state.policy = match state.random(5) {
            0 => Policy::Random(2),
            1 => Policy::Random(10),
            2 => Policy::Random(60),
            _ => {
                let mut order: Vec<usize> = (0..ranks).collect();
                order.sort_by_cached_key(|_| state.random(1 << 40));
                Policy::Priority(order)
            }
        };
        state.schedule();
        state
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % below
    }

    /// Schedules the next rank. If none can run, all that are left are ended.
    fn schedule(&mut self) {
        let (stores, over) = (self.stores, self.over.is_some());
        let is_ready = |phase: &Phase| *phase == Phase::Ready || over && *phase != Phase::Done;
        let may_poll = |phase: &Phase| matches!(phase, Phase::Polls(seen) if *seen < stores);
        let ready = self.phases.iter().filter(|phase| is_ready(phase)).count();
        let polling = self.phases.iter().filter(|phase| may_poll(phase)).count();
        if ready + polling == 0 {
            if self.phases.iter().any(|phase| *phase != Phase::Done) {
                self.over = Some(End::Deadlock);
                self.schedule();
            }
            return;
        }
        let poll = polling > 0 && (ready == 0 || self.random(STEPS_PER_POLL) == 0);
        let can = |phase: &Phase| {
            if poll {
                may_poll(phase)
            } else {
                is_ready(phase)
            }
        };
        let all = 0..self.phases.len();
        let chosen = if let Policy::Priority(order) = &self.policy {
            order.iter().copied().find(|at| can(&self.phases[*at]))
        } else {
            let which = self.random(if poll { polling } else { ready } as u64);
            let mut all = all.filter(|at| can(&self.phases[*at]));
            all.nth(which as usize)
        };
        self.running = chosen.unwrap_or(self.running);
        self.phases[self.running] = Phase::Ready;
    }

    /// Whether the running rank is switched here.
    fn switches_here(&mut self) -> bool {
        if self.over.is_some() {
            return false;
        }
        if let Policy::Random(one_in) = self.policy {
            return self.random(one_in) == 0;
        }
        let change = match self.at_waits {
            true => self.random(CHANGES_AT_WAITS) == 0,
            false => self.random(CHANGES) == 0,
        };
        if let (Policy::Priority(order), true) = (&mut self.policy, change) {
            order.retain(|at| *at != self.running);
            order.push(self.running);
        }
        true
    }

    /// Another rank may be scheduled. True if one is.
    fn turn(&mut self) -> bool {
        assert!(!self.locked, "a yield point under a lock");
        let me = self.running;
        if self.switches_here() {
            self.schedule();
        }
        self.running != me
    }

    /// Ends the running rank.
    fn leave(&mut self, failed: bool) {
        self.phases[self.running] = Phase::Done;
        if failed {
            self.over.get_or_insert(End::Failed);
        }
        self.schedule();
    }
}

/// Switches to the scheduled rank; `is_new`: if that is another one.
#[allow(deprecated)]
fn switch(is_new: bool) {
    if is_new {
        // The other forms need a handle in every function that accesses an atomic.
        generator::yield_with(());
    }
}

/// Unwinds this rank's stack if another rank has failed.
fn follow() {
    let failed = with(|state| state.over == Some(End::Failed)) == Some(true);
    if failed && !std::thread::panicking() {
        resume_unwind(Box::new(()));
    }
}

/// Yield point: another rank may be scheduled. Does nothing without a scheduler.
#[inline]
fn yield_point(stored: bool) {
    let is_new = with(|state| {
        state.stores += u64::from(stored);
        (!state.at_waits).then(|| state.turn())
    });
    go_on(is_new.flatten());
}

/// Where others go by waits only ([`run_by_waits`]): what they poll for may be there. Another rank may be scheduled.
pub fn moved() {
    let is_new = with(|state| {
        state.stores += 1;
        state.turn()
    });
    go_on(is_new);
}

/// After a turn, if there was one.
fn go_on(is_new: Option<bool>) {
    if let Some(is_new) = is_new {
        switch(is_new);
        follow();
    }
}

/// The rank that runs; `None` without a scheduler.
pub fn running() -> Option<usize> {
    with(|state| state.running)
}

/// After an idle poll: waits until something was stored, or if this rank sleeps until it is woken. False in a deadlock.
pub fn pause(sleeps: bool) -> bool {
    let is_new = with(|state| {
        let me = state.running;
        if sleeps && std::mem::take(&mut state.woken[me]) || state.over.is_some() {
            return false;
        }
        state.phases[me] = match sleeps {
            true => Phase::Sleeps,
            false => Phase::Polls(state.seen[me]),
        };
        state.schedule();
        state.running != me
    });
    switch(is_new == Some(true));
    follow();
    let goes_on = with(|state| {
        let me = state.running;
        state.woken[me] = false;
        state.seen[me] = state.stores;
        state.over.is_none()
    });
    goes_on == Some(true)
}

/// Wakes a rank, or lets its next sleep end at once.
pub fn wake(rank: usize) {
    with(|state| {
        state.woken[rank] = true;
        if state.phases[rank] == Phase::Sleeps {
            state.phases[rank] = Phase::Ready;
        }
    });
}

/// Runs `body`, which holds a lock: the other ranks run in this thread, so a yield point in it would be a deadlock, and is a panic.
pub fn locked<T>(body: impl FnOnce() -> T) -> T {
    with(|state| state.locked = true);
    let result = body();
    with(|state| state.locked = false);
    result
}

/// Any number below another one, by the seed.
pub fn random(below: u64) -> u64 {
    with(|state| state.random(below)).unwrap_or(0)
}

/// Runs `body` for so many ranks; what the bodies return, by rank.
///
/// Errors: what those said that have panicked.
pub fn run<T: Send>(
    seed: u64,
    ranks: usize,
    body: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, String> {
    run_watched(seed, ranks, body, |_| {})
}

/// As [`run`]; `watch` gets each rank that has had a turn.
pub fn run_watched<T: Send>(
    seed: u64,
    ranks: usize,
    body: impl Fn(usize) -> T + Sync,
    watch: impl FnMut(usize),
) -> Result<Vec<T>, String> {
    run_in(State::new(seed, ranks), body, watch)
}

/// As [`run`]; ranks take turns at [`pause`] and [`moved`] only, so they may hold locks of the thread between those.
///
/// Errors: as there.
pub fn run_by_waits<T: Send>(
    seed: u64,
    ranks: usize,
    body: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, String> {
    let state = State {
        at_waits: true,
        ..State::new(seed, ranks)
    };
    run_in(state, body, |_| {})
}

fn run_in<T: Send>(
    state: State,
    body: impl Fn(usize) -> T + Sync,
    mut watch: impl FnMut(usize),
) -> Result<Vec<T>, String> {
    let ranks = state.phases.len();
    let results: Vec<_> = (0..ranks).map(|_| parking_lot::Mutex::new(None)).collect();
    let mut all: Vec<Generator<'_, (), ()>> = (0..ranks)
        .map(|me| {
            let (body, result) = (&body, &results[me]);
            Gn::<()>::new_opt(STACK, move || {
                let done = catch_unwind(AssertUnwindSafe(|| body(me)));
                with(|state| state.leave(done.is_err()));
                *result.lock() = Some(done);
            })
        })
        .collect();
    STATE.set(Some(state));
    while let Some(Some(running)) = with(|state| {
        let goes_on = state.phases[state.running] != Phase::Done;
        goes_on.then_some(state.running)
    }) {
        all[running].resume();
        watch(running);
    }
    STATE.set(None);
    drop(all);
    let results = results.into_iter().filter_map(|one| one.into_inner());
    let (done, failed): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
    let texts: Vec<String> = failed
        .iter()
        .filter_map(|one| text(one.as_ref().err()?))
        .collect();
    match failed.is_empty() {
        true => Ok(done.into_iter().filter_map(Result::ok).collect()),
        false => Err(texts.join("\n")),
    }
}

/// What a panic said; nothing if it only followed another one.
fn text(panic: &Box<dyn Any + Send>) -> Option<String> {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
}

/// `std`'s, with a yield point after each access of a scheduled rank.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    pub const fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    pub fn load(&self, order: Ordering) -> u64 {
        let value = self.0.load(order);
        yield_point(false);
        value
    }

    pub fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        yield_point(true);
    }

    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_add(value, order);
        yield_point(true);
        before
    }

    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_sub(value, order);
        yield_point(true);
        before
    }

    pub fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        let result = self.0.compare_exchange_weak(current, new, success, failure);
        yield_point(result.is_ok());
        result
    }
}

/// Operations that staging does not use have no yield points.
impl Deref for AtomicU64 {
    type Target = atomic::AtomicU64;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_one_rank_ends_all() {
        let ends: Result<Vec<()>, String> = run(1, 3, |me| {
            assert!(me != 1, "one {me}");
            while pause(false) {}
        });
        assert_eq!(ends, Err("one 1".to_owned()));
    }

    #[test]
    fn a_yield_point_under_a_lock_is_refused() {
        let word = AtomicU64::new(0);
        let ends = run(1, 1, |_| locked(|| word.load(Ordering::Relaxed)));
        assert_eq!(ends, Err("a yield point under a lock".to_owned()));
    }

    /// Two that add by loading and storing: whether one of them was lost.
    fn loses(seed: u64) -> bool {
        let count = AtomicU64::new(0);
        run(seed, 2, |_| {
            let seen = count.load(Ordering::Relaxed);
            count.store(seen + 1, Ordering::Relaxed);
        })
        .unwrap();
        count.load(Ordering::Relaxed) == 1
    }

    #[test]
    fn seeds_find_what_a_schedule_breaks_and_find_it_again() {
        let lost: Vec<bool> = (0..200).map(loses).collect();
        assert!(lost.contains(&true) && lost.contains(&false));
        assert_eq!(lost, (0..200).map(loses).collect::<Vec<_>>());
    }

    #[test]
    fn a_waiting_rank_runs_when_it_may_and_a_wait_for_ever_is_a_deadlock() {
        for seed in 0..50 {
            let flag = AtomicU64::new(0);
            let ends = run(seed, 3, |me| match me {
                0 => {
                    while flag.load(Ordering::Relaxed) == 0 {
                        assert!(pause(false));
                    }
                    wake(1);
                    true
                }
                1 => pause(true) && !pause(true),
                _ => {
                    flag.store(1, Ordering::Relaxed);
                    while pause(false) {}
                    true
                }
            });
            assert_eq!(ends, Ok(vec![true; 3]), "{seed}");
        }
    }
}
