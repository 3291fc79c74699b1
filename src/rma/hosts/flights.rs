//! Calls that the program goes on without, and the requests that wait for them.
//!
//! A [`Queue`] has the calls of this process to one target in order. Whoever enters the engine ends those at its front whose answers have come:
//! their data goes to the origin's memory. Invariants: what an answer is received into is kept until it is there; the lock of a queue is
//! taken inside of the engine, for a few steps, and nobody waits with it.

use super::wire::{self, ANSWER_HEAD, Groups};
use crate::datatype::Buffer;
use crate::engine::liveness::Asked;
use crate::engine::matching::ANY_SOURCE;
use crate::engine::requests::{self, Index, Kind, Phase, Request};
use crate::engine::wait::WINDOW;
use crate::engine::{Engine, enter_at, liveness, losses, published, tasks, wake_own_threads};
use crate::error::{Class, Error, Result};
use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicUsize, Ordering};
use crate::transport::rma::opened;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long an operation of the fabric may have failed before it is clear that its target lives.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call whose answer has not come.
pub struct Flight {
    pub receive: Index,
    /// What it receives into.
    pub answer: Box<[u8]>,
    /// Where its elements are among those of the operation.
    pub at: usize,
    /// The origin's memory that the data goes to, if the program goes on; in the order of the data.
    pub sink: Groups,
    /// The request that waits for it.
    pub tracked: Option<Arc<Tracked>>,
}

impl Flight {
    /// What has become of the call; `None`: nothing yet. `asks`: whether the target is lost. Not to be called again when it is over.
    ///
    /// Errors: those of the target; MPIX_ERR_PROC_FAILED if it is lost.
    pub fn outcome(
        &mut self,
        engine: &mut Engine,
        target: &Queue,
        asks: bool,
    ) -> Option<Result<()>> {
        let index = self.receive;
        let request = engine.requests().at(index);
        if request.phase == Phase::Complete {
            let error = request.error.take();
            let bytes = request.status.bytes() as usize;
            engine.requests().release(index);
            return Some(match error {
                Some(error) => Err(target.silent(error)),
                None => wire::outcome(&self.answer[..bytes.min(self.answer.len())]),
            });
        }
        // Lost first, then nothing found: what it had sent is handled.
        if asks
            && liveness::has_ended(engine, target.process)
            && !engine.progresses()
            && engine.cancel_receive(index)
        {
            engine.requests().release(index);
            return Some(Err(target.silent(losses::error(engine, target.process))));
        }
        None
    }

    /// Moves the data to the origin's memory.
    fn deliver(&self) {
        let mut data = &self.answer[ANSWER_HEAD..];
        for group in &self.sink.0 {
            for address in group.addresses() {
                let (part, rest) = data.split_at(group.bytes as usize);
                // SAFETY: memory of the operation's origin buffer, which is the library's until the operation is complete.
                unsafe {
                    std::ptr::copy_nonoverlapping(part.as_ptr(), address as *mut u8, part.len());
                }
                data = rest;
            }
        }
    }
}

/// Calls to a target that the program goes on without.
pub struct Queue {
    title: fn(i32) -> String,
    pub process: u32,
    /// The target, and the window's handle, for messages.
    rank: usize,
    window: i32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In the order in which they were sent.
    flights: VecDeque<Flight>,
    /// Those of them whose data goes to the origin's memory.
    with_data: usize,
    /// Operations of the fabric ([`super::direct`]) by number, with their requests.
    direct: HashMap<u64, Option<Arc<Tracked>>>,
    /// Their numbers so far.
    numbers: u64,
    /// What was wrong with the first that has failed, and when.
    failed: Option<(String, Instant)>,
    /// The first error of one that is over.
    error: Option<Error>,
}

impl State {
    /// Something is over: its error is the request's, else that of the call that synchronises.
    fn end_one(&mut self, tracked: Option<&Tracked>, error: Option<Error>) {
        match (tracked, error) {
            (Some(tracked), error) => tracked.end_one(error),
            (None, Some(error)) => {
                self.error.get_or_insert(error);
            }
            (None, None) => {}
        }
    }
}

/// The error of an operation that the fabric says has failed.
#[cold]
fn failure(text: &str) -> Error {
    Error::new(
        Class::Other,
        format!("an RMA operation of the fabric has failed: {text}"),
    )
}

/// What a wait for calls waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// All are complete at the target; the first error is told.
    Settled,
    /// All that has a result is here.
    Delivered,
    /// No more than so many are under way.
    AtMost(usize),
}

impl Queue {
    /// `title`: what messages call a window.
    pub fn new((window, title): (i32, fn(i32) -> String), rank: usize, process: u32) -> Arc<Queue> {
        Arc::new(Queue {
            title,
            process,
            rank,
            window,
            state: Mutex::default(),
        })
    }

    #[cold]
    fn silent(&self, error: Error) -> Error {
        let title = (self.title)(self.window);
        error.context(format_args!(
            "target rank {} of {title} does not answer",
            self.rank
        ))
    }

    /// A number for an operation of the fabric.
    pub fn begin_direct(&self, tracked: Option<Arc<Tracked>>) -> u64 {
        let mut state = self.state.lock();
        state.numbers += 1;
        let number = state.numbers;
        state.direct.insert(number, tracked);
        number
    }

    /// Whether it is under way.
    pub fn is_direct(&self, number: u64) -> bool {
        self.state.lock().direct.contains_key(&number)
    }

    /// The fabric says that it has ended; nothing to do if it was given up. One that has failed stays for a while: most failures are the
    /// death of the target, of which others tell.
    pub fn end_direct(&self, number: u64, error: Option<String>) {
        // Whoever polls the fabric comes here, also between two looks.
        published::stir();
        let mut state = self.state.lock();
        if let Some(text) = error {
            let now = Instant::now();
            state.failed.get_or_insert((text, now));
            return;
        }
        if let Some(tracked) = state.direct.remove(&number) {
            state.end_one(tracked.as_deref(), None);
        }
        if state.direct.is_empty() {
            drop(state);
            wake_own_threads();
        }
    }

    /// Makes the fabric go on. If the target is lost, or an operation has failed, which is a loss, too, all are given up.
    fn poll_direct(&self, engine: &mut Engine, asks: bool) {
        let Some(rma) = opened().filter(|_| !self.state.lock().direct.is_empty()) else {
            return;
        };
        if rma.poll() {
            return;
        }
        let is_lost = asks && liveness::has_ended(engine, self.process);
        let mut state = self.state.lock();
        let failed = state
            .failed
            .take_if(|(_, since)| since.elapsed() > PATIENCE);
        if state.failed.is_some() {
            // It will be given up.
            published::stir();
        }
        if !is_lost && failed.is_none() {
            return;
        }
        if let Some((text, _)) = failed.as_ref().filter(|_| !is_lost) {
            liveness::lose(engine, self.process, text);
        }
        for tracked in std::mem::take(&mut state.direct).into_values() {
            let error = match &failed {
                Some((text, _)) if !is_lost => failure(text),
                _ => losses::error(engine, self.process),
            };
            state.end_one(tracked.as_deref(), Some(self.silent(error)));
        }
    }

    pub fn push(&self, flight: Flight) {
        let mut state = self.state.lock();
        state.with_data += usize::from(!flight.sink.0.is_empty());
        state.flights.push_back(flight);
    }

    /// Ends the calls at the front that are over. Returns whether what is waited for holds, with the error that is told then.
    ///
    /// Errors: those that the target has found; MPIX_ERR_PROC_FAILED if it is lost.
    pub fn reap(&self, engine: &mut Engine, asks: bool, until: Until) -> Option<Result<()>> {
        self.poll_direct(engine, asks);
        let mut state = self.state.lock();
        while let Some(first) = state.flights.front_mut()
            && let Some(done) = first.outcome(engine, self, asks)
            && let Some(flight) = state.flights.pop_front()
        {
            if done.is_ok() {
                flight.deliver();
            }
            state.with_data -= usize::from(!flight.sink.0.is_empty());
            state.end_one(flight.tracked.as_deref(), done.err());
        }
        let holds = match until {
            Until::Settled => state.flights.is_empty() && state.direct.is_empty(),
            Until::Delivered => state.with_data == 0 && state.direct.is_empty(),
            Until::AtMost(most) => state.flights.len() + state.direct.len() <= most,
        };
        holds.then(|| match (until, state.error.take()) {
            (Until::AtMost(_), error) => {
                state.error = error;
                Ok(())
            }
            (_, error) => error.map_or(Ok(()), Err),
        })
    }
}

/// The calls of one operation that has a request.
pub struct Tracked {
    /// Those that are under way.
    left: AtomicUsize,
    /// The first error.
    error: Mutex<Option<Error>>,
    queue: Arc<Queue>,
}

impl Tracked {
    fn end_one(&self, error: Option<Error>) {
        if let Some(error) = error {
            self.error.lock().get_or_insert(error);
        }
        // Release: the data is there, pairs with `is_over`.
        if self.left.fetch_sub(1, Ordering::Release) == 1 {
            wake_own_threads();
        }
    }

    fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// As [`Tracked::is_over`], after a look at what has come.
    fn is_over_now(&self, asked: &mut Asked) -> bool {
        if self.is_over() {
            return true;
        }
        let asks = asked.is_due(monotonic_nanoseconds());
        let mut engine = enter_at(0);
        // What waits for all is told of errors, not this.
        let _ = self
            .queue
            .reap(&mut engine, asks, Until::AtMost(usize::MAX));
        self.is_over()
    }
}

/// What MPI_Rget and its like want to know of the operation that they begin.
#[derive(Default)]
pub struct Track(OnceLock<Arc<Tracked>>);

impl Track {
    /// Errors: MPI_ERR_NO_MEM, there is no request for it.
    pub fn new() -> Result<Track> {
        enter_at(0).requests().check_room()?;
        Ok(Track::default())
    }

    /// A further call of the operation.
    pub fn another(&self, queue: &Arc<Queue>) -> Arc<Tracked> {
        let tracked = self.0.get_or_init(|| {
            Arc::new(Tracked {
                left: AtomicUsize::new(0),
                error: Mutex::default(),
                queue: queue.clone(),
            })
        });
        tracked.left.fetch_add(1, Ordering::Relaxed);
        tracked.clone()
    }

    /// The handle of the operation's request, when all of it was begun.
    pub fn request(&self) -> i32 {
        let Some(tracked) = self.0.get().cloned() else {
            return requests::SENT;
        };
        let request = Request {
            peer: ANY_SOURCE,
            tag: tracked.queue.window,
            ..Request::new(
                Kind::General,
                Buffer::empty(),
                tracked.queue.window,
                WINDOW,
                0,
            )
        };
        let index = enter_at(0).requests().insert(request);
        tasks::spawn(async move {
            let mut asked = Asked::NEVER;
            tasks::condition(|| tracked.is_over_now(&mut asked)).await;
            let error = tracked.error.lock().take();
            enter_at(0).end_task(index, error);
        });
        requests::handle_of(index)
    }
}
