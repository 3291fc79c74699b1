//! Tasks: operations of several steps that progress takes further, such as MPI_Comm_idup.
//!
//! A task is a future that begins requests of the engine and waits for one of them at a time. Whoever makes progress
//! polls those that can go on, one thread at a time and without the guard. Invariant: a task that waits is polled again
//! only when its request is complete, so that a poll of many waiting tasks costs a load each.

use super::requests::{self, Extra, Index, Kind, Phase, Request, Restart};
use super::wait::Watch;
use super::{Engine, EngineCursor, enter_at, losses, published, wake_own_threads};
use crate::datatype::Buffer;
use crate::error::{Error, Result};
use crate::os::monotonic_nanoseconds;
use crate::os::turns::{TASK_LOOKS_PER_CHECK, TASK_POLLS_PER_CHECK};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

struct Task {
    /// The request it waits for, or [`ANYTHING`].
    waits_for: Index,
    /// The process that it is a message of.
    from: u32,
    watch: Watch,
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// A task that is polled at every poll of the engines: it waits for something that is no request.
const ANYTHING: Index = Index::MAX;

/// How many tasks there are, and [`ANSWERS`].
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// An operation of another process was done since [`has_served`] was asked.
static SERVED: AtomicBool = AtomicBool::new(false);
/// Bit of [`LIVE`]: other processes may [`ask`] this one for something.
const ANSWERS: usize = 1 << (usize::BITS - 1);
/// The work of [`answer_by`].
static ANSWER: Mutex<Option<Answer>> = Mutex::new(None);
type Answer = Box<dyn FnMut(Wish) + Send>;
static TASKS: Mutex<Vec<Task>> = Mutex::new(Vec::new());
/// Tasks begun since the last run.
static BEGUN: Mutex<Vec<Task>> = Mutex::new(Vec::new());
/// A thread has found [`TASKS`] locked, and may sleep by now.
static MISSED: AtomicBool = AtomicBool::new(false);
/// Idle polls; the count need not be exact.
static IDLE_POLLS: AtomicU32 = AtomicU32::new(0);
/// When tasks were last polled for a liveness check, nanoseconds, and the time between two such polls: each looks at all members.
static CHECKED: AtomicU64 = AtomicU64::new(0);
const CHECK_INTERVAL: u64 = 5_000_000;

thread_local! {
    /// What the future that is being polled on this thread waits for, and of which process.
    static WAITS_FOR: Cell<(Index, u32)> = const { Cell::new((ANYTHING, 0)) };
    static SLEEPS: Cell<bool> = const { Cell::new(false) };
    /// The poll is for a liveness check.
    static CHECKS: Cell<bool> = const { Cell::new(false) };
    /// A future that was polled on this thread has got what it waited for, since tasks were last run.
    static WENT_ON: Cell<bool> = const { Cell::new(false) };
}

/// Begins a task; its first steps are made at once.
pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    let mut task = Task {
        waits_for: ANYTHING,
        from: 0,
        watch: Watch::default(),
        future: Box::pin(future),
    };
    let over = task.poll();
    WENT_ON.set(false);
    if !over {
        LIVE.fetch_add(1, Ordering::Relaxed);
        BEGUN.lock().push(task);
    }
}

/// Whether there are tasks that wait: one load.
#[inline(always)]
pub fn any() -> bool {
    LIVE.load(Ordering::Relaxed) & !ANSWERS != 0
}

/// Takes all tasks further that can go on, and answers other processes. True if a task could go on, or an operation of another process was done:
/// who waits stays awake for the next one. Call it without the guard.
#[inline(always)]
pub fn run() -> bool {
    LIVE.load(Ordering::Relaxed) != 0 && run_live()
}

#[cold]
#[inline(never)]
fn run_live() -> bool {
    let has_served = answer();
    any() && run_all() || has_served
}

/// What another process wants of this one.
#[derive(Clone, Copy)]
pub enum Wish {
    /// It has [asked](ask).
    Answer,
    /// It offers an operation, which lies there in the node's heap ([`Asked`]).
    ///
    /// [`Asked`]: crate::queue::asked::Asked
    Operation(u64),
}

/// Has `work` done in the waits of this process from now on, where another process wants it.
pub fn answer_by(work: impl FnMut(Wish) + Send + 'static) {
    *ANSWER.lock() = Some(Box::new(work));
    LIVE.fetch_or(ANSWERS, Ordering::Relaxed);
}

/// Asks a process of this node for what it does by [`answer_by`]. Whoever asks wakes it, too: it may sleep in a wait.
pub fn ask(process: u32) {
    if let Some(table) = super::table() {
        table.of(process).page.asked.ask();
    }
}

/// Does what other processes have asked for. True if that was an operation. Call it without the guard.
#[inline]
pub fn answer() -> bool {
    LIVE.load(Ordering::Relaxed) & ANSWERS != 0
        && super::own_page().is_some_and(|page| page.asked.is_any())
        && answer_now()
}

/// Whether an operation of another process was done since this was asked: the next one may come at once.
#[inline]
pub(super) fn has_served() -> bool {
    SERVED.load(Ordering::Relaxed) && SERVED.swap(false, Ordering::Relaxed)
}

/// Does the operation that another process offers this one, if there is one.
#[inline]
pub fn serve() -> bool {
    ANSWER
        .try_lock()
        .is_some_and(|mut work| do_offered(&mut work))
}

fn do_offered(work: &mut Option<Answer>) -> bool {
    if let (Some(work), Some(page)) = (work, super::own_page())
        && let Some(at) = page.asked.claim()
    {
        work(Wish::Operation(at));
        page.asked.end();
        SERVED.store(true, Ordering::Relaxed);
        return true;
    }
    false
}

#[cold]
#[inline(never)]
fn answer_now() -> bool {
    // A thread that answers already has not looked yet, or looks again when it next waits.
    let (Some(mut work), Some(page)) = (ANSWER.try_lock(), super::own_page()) else {
        return false;
    };
    let has_served = do_offered(&mut work);
    if page.asked.take_question() {
        published::stir();
        if let Some(work) = work.as_mut() {
            work(Wish::Answer);
        }
    }
    has_served
}

#[inline(never)]
fn run_all() -> bool {
    let Some(mut tasks) = TASKS.try_lock().or_else(|| {
        MISSED.store(true, Ordering::Relaxed);
        // SeqCst: pairs with the one below. Either the other thread sees that we have missed them, or it has let them go.
        fence(Ordering::SeqCst);
        TASKS.try_lock()
    }) else {
        published::is_partial();
        return false;
    };
    let moved = run_ready(&mut tasks);
    if !moved
        && IDLE_POLLS
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(TASK_POLLS_PER_CHECK)
    {
        give_up(&mut tasks);
    }
    drop(tasks);
    fence(Ordering::SeqCst);
    // What became ready behind our back is for whoever could not look: this thread may not come back.
    if MISSED.load(Ordering::Relaxed) && MISSED.swap(false, Ordering::Relaxed) {
        wake_own_threads();
    }
    moved
}

/// Lets tasks announce that they may sleep, and looks whether the processes that they wait for still live. For a thread that is about to
/// sleep. True if a task could go on.
pub(super) fn prepare_sleep() -> bool {
    if !any() {
        return false;
    }
    SLEEPS.set(true);
    let moved = run_all();
    SLEEPS.set(false);
    give_up_lost();
    moved
}

/// Liveness check of the processes that tasks wait for.
pub(super) fn give_up_lost() {
    if !any() {
        return;
    }
    match TASKS.try_lock() {
        Some(mut tasks) => give_up(&mut tasks),
        None => published::is_partial(),
    }
}

/// As [`give_up_lost`], of a program that tests in a loop and never sleeps: tasks that wait for something that is no request are polled all
/// the time, but seldom if the program tests seldom, and the clock decides when they look.
pub(super) fn give_up_lost_in_loop() {
    let Some(mut tasks) = any().then(|| TASKS.try_lock()).flatten() else {
        return;
    };
    give_up(&mut tasks);
    CHECKS.set(true);
    for at in positions(&tasks, true).into_iter().rev() {
        poll_at(&mut tasks, at);
    }
    CHECKS.set(false);
}

/// There is news that ends waits: the next look at who is lost is not to be put off.
pub fn check_at_once() {
    CHECKED.store(0, Ordering::Relaxed);
}

/// Whether a task is polled for a liveness check.
pub fn checks_liveness() -> bool {
    CHECKS.get()
}

/// Whether a task that has looked so often without success at what others store is to ask whether they live.
pub fn is_to_ask(looks: u32) -> bool {
    checks_liveness() || looks.is_multiple_of(TASK_LOOKS_PER_CHECK)
}

/// Whether the thread that polls a task is about to sleep: who is to wake it must learn of that now.
pub fn before_sleep() -> bool {
    SLEEPS.get()
}

/// The future that is being polled goes on: what it has waited for has come.
#[inline]
pub fn go_on() {
    WENT_ON.set(true);
    published::stir();
}

/// The future that is being polled waits for something that is no request.
pub fn wait_for_anything() {
    WAITS_FOR.set((ANYTHING, 0));
}

/// Ends waits for messages of processes that are lost, and asks the tasks what else they give up.
#[cold]
fn give_up(tasks: &mut Vec<Task>) {
    let mut cursor = EngineCursor::at_first(0);
    for task in tasks.iter_mut().filter(|task| task.waits_for != ANYTHING) {
        let engine = cursor.at(requests::engine_of(task.waits_for));
        let is_gone = task.watch.is_gone(engine, task.from);
        if is_gone && !engine.progresses() && engine.cancel_receive(task.waits_for) {
            published::stir();
            let error = losses::error(engine, task.from);
            engine.requests().at(task.waits_for).error = Some(error);
        }
    }
    drop(cursor);
    let now = monotonic_nanoseconds();
    let is_soon = now - CHECKED.load(Ordering::Relaxed).min(now) < CHECK_INTERVAL;
    if is_soon && !published::puts_nothing_off() {
        return;
    }
    CHECKED.store(now, Ordering::Relaxed);
    CHECKS.set(true);
    for at in positions(tasks, false).into_iter().rev() {
        let task = &mut tasks[at];
        let (before, watch) = ((task.waits_for, task.from), std::mem::take(&mut task.watch));
        if !poll_at(tasks, at) && before == (tasks[at].waits_for, tasks[at].from) {
            tasks[at].watch = watch;
        }
    }
    CHECKS.set(false);
}

/// True if a task could go on, also from one wait for anything to the next: the next one is not announced to those who are to end it,
/// so this thread must not sleep before tasks were told of it once more.
fn run_ready(tasks: &mut Vec<Task>) -> bool {
    let mut moved = false;
    loop {
        tasks.append(&mut BEGUN.lock());
        let mut any = false;
        // Those that wait for no request need no look into an engine. Another one that was polled already takes the place of one that is over.
        for at in (0..tasks.len()).rev() {
            if tasks[at].waits_for == ANYTHING {
                any |= poll_at(tasks, at) || tasks[at].waits_for != ANYTHING;
            }
        }
        if tasks.iter().any(|task| task.waits_for != ANYTHING) {
            for at in positions(tasks, true).into_iter().rev() {
                if tasks[at].waits_for != ANYTHING {
                    poll_at(tasks, at);
                    any = true;
                }
            }
        }
        if !any {
            return moved | WENT_ON.take();
        }
        moved = true;
    }
}

/// The positions of the tasks that can go on, or of the others, ascending; few at a time, so that a poll allocates nothing.
fn positions(tasks: &[Task], ready: bool) -> SmallVec<[usize; 32]> {
    let mut cursor = EngineCursor::at_first(0);
    let mut is_ready = |index: Index| {
        let mut is_complete = |index| {
            let engine = cursor.at(requests::engine_of(index));
            engine.requests().at(index).phase == Phase::Complete
        };
        index == ANYTHING || is_complete(index)
    };
    let positions = tasks.iter().enumerate();
    positions
        .filter_map(|(at, task)| (is_ready(task.waits_for) == ready).then_some(at))
        .collect()
}

/// Polls a task, and removes it if it is over, which is returned; another one takes its place then.
fn poll_at(tasks: &mut Vec<Task>, at: usize) -> bool {
    let over = tasks[at].poll();
    if over {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        drop(tasks.swap_remove(at));
    }
    over
}

impl Task {
    /// True when it is over.
    fn poll(&mut self) -> bool {
        WAITS_FOR.set((ANYTHING, 0));
        let mut context = Context::from_waker(Waker::noop());
        let over = self.future.as_mut().poll(&mut context).is_ready();
        (self.waits_for, self.from) = WAITS_FOR.get();
        self.watch = Watch::default();
        over
    }
}

/// Waits, inside a task, until a request is complete, and recycles it. It is one to or `from` this process. `exact`: see
/// [`Request::take_error`]. Liveness checks ask whether the
/// task gives it up: `gives_up` has recycled it then.
pub async fn completion(
    (index, from): (Index, u32),
    exact: bool,
    mut gives_up: impl FnMut(&mut Engine) -> Option<Error>,
) -> Result<()> {
    std::future::poll_fn(|_| {
        let mut engine = enter_at(requests::engine_of(index));
        if engine.requests().at(index).phase != Phase::Complete {
            if CHECKS.get()
                && let Some(error) = gives_up(&mut engine)
            {
                go_on();
                return Poll::Ready(Err(error));
            }
            WAITS_FOR.set((index, from));
            return Poll::Pending;
        }
        go_on();
        let result = engine.requests().at(index).take_error(exact);
        engine.requests().release(index);
        Poll::Ready(result)
    })
    .await
}

/// Waits, inside a task, for a condition that is no request; checked at every poll.
pub async fn condition(mut holds: impl FnMut() -> bool) {
    std::future::poll_fn(|_| {
        if holds() {
            go_on();
            return Poll::Ready(());
        }
        wait_for_anything();
        Poll::Pending
    })
    .await;
}

impl Engine {
    /// The request that a program holds for a task, whose messages have this context.
    pub fn begin_task(&mut self, communicator: i32, context: u32) -> Index {
        let request = Request {
            others: 1,
            ..Request::new(Kind::Task, Buffer::empty(), communicator, context, 0)
        };
        self.requests.insert(request)
    }

    /// The request of a task that is begun when the program starts it, by `restart`.
    pub fn keep_task(&mut self, communicator: i32, context: u32, restart: Restart) -> Index {
        let request = Request {
            phase: Phase::Inactive,
            persistent: true,
            extra: Some(Box::new(Extra {
                restart: Some(restart),
                ..Extra::default()
            })),
            ..Request::new(Kind::Task, Buffer::empty(), communicator, context, 0)
        };
        self.requests.insert(request)
    }

    /// Completes it.
    pub fn end_task(&mut self, index: Index, error: Option<Error>) {
        let request = self.requests.at(index);
        request.others = 0;
        request.error = error;
        self.complete(index);
    }
}

/// [`Engine::end_task`] in whichever engine it is.
pub fn end(index: Index, error: Option<Error>) {
    enter_at(requests::engine_of(index)).end_task(index, error);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_task_that_goes_on_to_another_wait_has_moved() {
        let reached = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&reached);
        let mut tasks = vec![Task {
            waits_for: ANYTHING,
            from: 0,
            watch: Watch::default(),
            future: Box::pin(async move {
                for step in 1..=2 {
                    condition(|| seen.load(Ordering::Relaxed) >= step).await;
                }
            }),
        }];
        assert!(!run_ready(&mut tasks));
        reached.store(1, Ordering::Relaxed);
        assert!(run_ready(&mut tasks), "the first wait has ended");
        assert!(!run_ready(&mut tasks), "nothing has happened since");
        reached.store(2, Ordering::Relaxed);
        assert!(run_ready(&mut tasks));
        assert!(tasks.is_empty());
    }
}
