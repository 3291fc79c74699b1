//! What goes on at files behind the calls that began it ([`super::request`]): counts, queues, results.

use super::wait::until_done;
use super::workers::{Job, Queue};
use crate::engine::{self, aside, tasks};
use crate::pt2pt::complete::Completion;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// What goes on at a file.
///
/// Invariant: collective operations come to the board in the order of their calls. Those in steps are taken further one after the other; a
/// worker does the others when there is none of these before them, and none begins in steps while a worker has one to do.
#[derive(Default)]
pub struct Operations {
    queue: Arc<Queue>,
    /// Collective ones that have begun and are not over, and others.
    pub collective: AtomicUsize,
    pub independent: AtomicUsize,
    /// Collective ones that workers have to do.
    with_workers: AtomicUsize,
    in_steps: Mutex<VecDeque<InSteps>>,
    /// What operations in steps leave to a worker, which may be waiting for them in `queue`.
    meetings: Arc<Queue>,
}

/// A collective operation that is taken further a step at a time.
struct InSteps {
    steps: Pin<Box<dyn Future<Output = Completion> + Send>>,
    outcome: Arc<Outcome>,
}

/// Puts what `work` gives into the outcome, and wakes those who wait for it.
fn job(outcome: &Arc<Outcome>, work: impl FnOnce() -> Completion + Send + 'static) -> Job {
    let outcome = outcome.clone();
    Box::new(move || {
        outcome.put(work());
        engine::wake_own_threads();
    })
}

impl Operations {
    /// Has a worker do a collective operation after all that began before it. Steps that wait in memory it may take further itself.
    pub fn begin_with_worker(
        &'static self,
        function: &'static str,
        waits_in_memory: bool,
        work: impl FnOnce() -> Completion + Send + 'static,
    ) -> Arc<Outcome> {
        let outcome = Arc::new(Outcome::default());
        self.with_workers.fetch_add(1, Ordering::Relaxed);
        self.queue.give(job(&outcome, move || {
            match aside::is_here() {
                true => aside::until(|| self.is_without_steps(waits_in_memory).then_some(())),
                // No thread was to be had: this one takes them further.
                false => until_done(function, 0, || self.in_steps.lock().is_empty()),
            }
            let done = work();
            self.with_workers.fetch_sub(1, Ordering::Release);
            done
        }));
        outcome
    }

    fn is_without_steps(&self, may_take_further: bool) -> bool {
        let Some(mut all) = self.in_steps.try_lock() else {
            return false;
        };
        while let Some(first) = all.front_mut().filter(|_| may_take_further) {
            if !first.take_further() {
                return false;
            }
            all.pop_front();
            // For whoever waits for this one.
            engine::wake_own_threads();
        }
        all.is_empty()
    }

    /// Has a worker do a part of the operation whose turn it is.
    pub fn begin_meeting(
        &self,
        work: impl FnOnce() -> Completion + Send + 'static,
    ) -> Arc<Outcome> {
        let outcome = Arc::new(Outcome::default());
        self.meetings.give(job(&outcome, work));
        outcome
    }

    /// Whether a collective operation may be done in steps: no worker has one to do that began before it.
    pub fn may_be_in_steps(&self) -> bool {
        self.with_workers.load(Ordering::Acquire) == 0
    }

    /// Begins a collective operation in steps, where that may be; [`Operations::await_steps`] takes it further.
    pub fn begin_in_steps(
        &self,
        steps: impl Future<Output = Completion> + Send + 'static,
    ) -> Arc<Outcome> {
        let outcome = Arc::new(Outcome::default());
        self.in_steps.lock().push_back(InSteps {
            steps: Box::pin(steps),
            outcome: outcome.clone(),
        });
        outcome
    }

    /// The steps of an operation, in a task of its own.
    pub async fn await_steps(&self, outcome: &Arc<Outcome>) {
        std::future::poll_fn(|_| {
            if outcome.is_there() {
                tasks::go_on();
                return Poll::Ready(());
            }
            // The holder of the lock does it.
            let mut all = self.in_steps.try_lock();
            let first = all.as_mut().and_then(|all| all.front_mut());
            let Some(first) = first.filter(|first| Arc::ptr_eq(&first.outcome, outcome)) else {
                tasks::wait_for_anything();
                return Poll::Pending;
            };
            if !first.take_further() {
                return Poll::Pending;
            }
            all.and_then(|mut all| all.pop_front());
            tasks::go_on();
            Poll::Ready(())
        })
        .await;
    }
}

impl InSteps {
    /// True when it is over.
    fn take_further(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        match self.steps.as_mut().poll(&mut context) {
            Poll::Ready(done) => self.outcome.put(done),
            Poll::Pending => return false,
        }
        true
    }
}

/// Operations on all files that are not over.
pub static ALL: AtomicUsize = AtomicUsize::new(0);

/// Has a worker do an operation of one rank.
pub fn begin_independent(work: impl FnOnce() -> Completion + Send + 'static) -> Arc<Outcome> {
    static QUEUE: OnceLock<Arc<Queue>> = OnceLock::new();
    let outcome = Arc::new(Outcome::default());
    QUEUE.get_or_init(Arc::default).give(job(&outcome, work));
    outcome
}

/// The result of an operation, once it is there.
#[derive(Default)]
pub struct Outcome {
    is_there: AtomicBool,
    done: Mutex<Option<Completion>>,
}

impl Outcome {
    pub fn put(&self, done: Completion) {
        *self.done.lock() = Some(done);
        self.is_there.store(true, Ordering::Release);
    }

    pub fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Acquire)
    }

    /// Takes it, once, when it is there.
    pub fn take(&self) -> Completion {
        self.done
            .lock()
            .take()
            .expect("an outcome is taken once, when it is there")
    }
}
