//! Ranks that take turns in one thread, each with a stack of its own: a seed decides who goes on, at each access to an [`AtomicU64`]
//! and wherever one waits. So protocols in shared memory are tested under many schedules, and what a seed shows, it shows again.
//!
//! Accesses follow each other as they are written; what weaker orders allow is for loom. Invariant: a rank goes on when it is
//! chosen, and nobody is chosen who waits and has not been told, or has nothing new to look at.

use generator::{Generator, Gn};
use std::any::Any;
use std::cell::RefCell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{self, Ordering};

/// One in so many turns while some could go on is given to one that waits, to look again.
const LOOKS: u64 = 8;
/// A rank goes behind all others at one in so many points, where some come before others.
const CHANGES: u64 = 300;
/// Words of a rank's stack.
const STACK: usize = 128 << 10;

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Ready,
    /// To look again when more has been stored than this.
    Watches(u64),
    /// Until somebody wakes it.
    Sleeps,
    Done,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Nobody can go on.
    Stuck,
    /// One has failed.
    Failed,
}

/// Which rank is to go on.
enum Policy {
    /// Any; one in so many points is the end of a turn.
    Even(u64),
    /// The first in this order who can. Some run far ahead, until they are put last.
    Ordered(Vec<usize>),
}

struct State {
    random: u64,
    policy: Policy,
    /// The rank that runs.
    turn: usize,
    phases: Vec<Phase>,
    /// Ranks that were woken, and have not slept since.
    roused: Vec<bool>,
    stores: u64,
    /// How many there were when each began to look for what it waits for, or before.
    looked: Vec<u64>,
    over: Option<End>,
}

thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// Of those who take turns in this thread, if it is one of them that asks.
fn with<T>(look: impl FnOnce(&mut State) -> T) -> Option<T> {
    let look = |state: &RefCell<Option<State>>| state.borrow_mut().as_mut().map(look);
    STATE.try_with(look).ok().flatten()
}

impl State {
    fn new(seed: u64, ranks: usize) -> State {
        let mut state = State {
            random: seed,
            policy: Policy::Even(1),
            turn: 0,
            phases: vec![Phase::Ready; ranks],
            roused: vec![false; ranks],
            stores: 1,
            looked: vec![0; ranks],
            over: None,
        };
        state.policy = match state.random(5) {
            0 => Policy::Even(2),
            1 => Policy::Even(10),
            2 => Policy::Even(60),
            _ => {
                let mut order: Vec<usize> = (0..ranks).collect();
                order.sort_by_cached_key(|_| state.random(1 << 40));
                Policy::Ordered(order)
            }
        };
        state.choose();
        state
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % below
    }

    /// Says who goes on. If nobody can, it is the end, and each of those who are left is told.
    fn choose(&mut self) {
        let (stores, over) = (self.stores, self.over.is_some());
        let is_ready = |phase: &Phase| *phase == Phase::Ready || over && *phase != Phase::Done;
        let may_look = |phase: &Phase| matches!(phase, Phase::Watches(seen) if *seen < stores);
        let ready = self.phases.iter().filter(|phase| is_ready(phase)).count();
        let looking = self.phases.iter().filter(|phase| may_look(phase)).count();
        if ready + looking == 0 {
            if self.phases.iter().any(|phase| *phase != Phase::Done) {
                self.over = Some(End::Stuck);
                self.choose();
            }
            return;
        }
        let look = looking > 0 && (ready == 0 || self.random(LOOKS) == 0);
        let can = |phase: &Phase| {
            if look {
                may_look(phase)
            } else {
                is_ready(phase)
            }
        };
        let all = 0..self.phases.len();
        let chosen = if let Policy::Ordered(order) = &self.policy {
            order.iter().copied().find(|at| can(&self.phases[*at]))
        } else {
            let which = self.random(if look { looking } else { ready } as u64);
            let mut all = all.filter(|at| can(&self.phases[*at]));
            all.nth(which as usize)
        };
        self.turn = chosen.unwrap_or(self.turn);
        self.phases[self.turn] = Phase::Ready;
    }

    /// Whether the turn of the rank that has it may end here.
    fn ends_here(&mut self) -> bool {
        if self.over.is_some() {
            return false;
        }
        if let Policy::Even(one_in) = self.policy {
            return self.random(one_in) == 0;
        }
        let change = self.random(CHANGES) == 0;
        if let (Policy::Ordered(order), true) = (&mut self.policy, change) {
            order.retain(|at| *at != self.turn);
            order.push(self.turn);
        }
        true
    }

    /// What the end of this rank means for the others.
    fn leave(&mut self, failed: bool) {
        self.phases[self.turn] = Phase::Done;
        if failed {
            self.over.get_or_insert(End::Failed);
        }
        self.choose();
    }
}

/// Lets whoever is chosen go on; `is_new`: if that is another rank than this one.
#[allow(deprecated)]
fn give(is_new: bool) {
    if is_new {
        // The other forms need a handle in every function that accesses an atomic.
        generator::yield_with(());
    }
}

/// Ends this rank, too, if another one has failed.
fn follow() {
    let failed = with(|state| state.over == Some(End::Failed)) == Some(true);
    if failed && !std::thread::panicking() {
        resume_unwind(Box::new(()));
    }
}

/// A place where another rank may go on; of no meaning where nobody takes turns.
#[inline]
fn point(stored: bool) {
    let is_new = with(|state| {
        let me = state.turn;
        state.stores += u64::from(stored);
        if state.ends_here() {
            state.choose();
        }
        state.turn != me
    });
    if is_new.is_some() {
        give(is_new == Some(true));
        follow();
    }
}

/// After a look in vain: waits until something may be stored that was not there, or if this rank sleeps until somebody
/// wakes it. False if that cannot come, because nobody can go on.
pub fn pause(sleeps: bool) -> bool {
    let is_new = with(|state| {
        let me = state.turn;
        if sleeps && std::mem::take(&mut state.roused[me]) || state.over.is_some() {
            return false;
        }
        state.phases[me] = match sleeps {
            true => Phase::Sleeps,
            false => Phase::Watches(state.looked[me]),
        };
        state.choose();
        state.turn != me
    });
    give(is_new == Some(true));
    follow();
    let goes_on = with(|state| {
        let me = state.turn;
        state.roused[me] = false;
        state.looked[me] = state.stores;
        state.over.is_none()
    });
    goes_on == Some(true)
}

/// Wakes a rank, or lets its next sleep end at once.
pub fn rouse(rank: usize) {
    with(|state| {
        state.roused[rank] = true;
        if state.phases[rank] == Phase::Sleeps {
            state.phases[rank] = Phase::Ready;
        }
    });
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
    STATE.set(Some(State::new(seed, ranks)));
    while let Some(Some(turn)) = with(|state| {
        let goes_on = state.phases[state.turn] != Phase::Done;
        goes_on.then_some(state.turn)
    }) {
        all[turn].resume();
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

/// `std`'s, with a point after each access by those who take turns.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    pub const fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    pub fn load(&self, order: Ordering) -> u64 {
        let value = self.0.load(order);
        point(false);
        value
    }

    pub fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        point(true);
    }

    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_add(value, order);
        point(true);
        before
    }

    pub fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_sub(value, order);
        point(true);
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
        point(result.is_ok());
        result
    }
}

/// What boards, trays and pipes do not use has no points.
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
    fn what_one_says_ends_all() {
        let ends: Result<Vec<()>, String> = run(1, 3, |me| {
            assert!(me != 1, "one {me}");
            while pause(false) {}
        });
        assert_eq!(ends, Err("one 1".to_owned()));
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
    fn who_waits_goes_on_when_it_may_and_a_wait_for_ever_is_an_end() {
        for seed in 0..50 {
            let flag = AtomicU64::new(0);
            let ends = run(seed, 3, |me| match me {
                0 => {
                    while flag.load(Ordering::Relaxed) == 0 {
                        assert!(pause(false));
                    }
                    rouse(1);
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
