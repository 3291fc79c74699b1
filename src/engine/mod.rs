//! The engine: requests, matching, protocols, progress and waiting, for one process.
//!
//! It knows context ids and process numbers, not communicators. All of it is behind one guard ([`ENGINE`]): whoever
//! has `&mut Engine` is alone, and no user callback runs while a guard is held.

pub mod account;
mod arrival;
pub mod calls;
pub mod dispatch;
pub mod matching;
pub mod progress;
pub mod receive;
pub mod records;
pub mod requests;
pub mod roots;
pub mod send;
pub mod tasks;
pub mod wait;

use crate::datatype::{self, Buffer};
use crate::sync::{Exclusive, ExclusiveGuard, Ordering};
use crate::transport::shm::endpoint::Endpoint;
use crate::transport::shm::layout::RankPage;
use crate::transport::shm::status::Page;
use crate::transport::shm::trial::Trial;
use dispatch::Outgoing;
use matching::{Posted, Unexpected};
use parking_lot::Mutex;
use receive::{Inflow, Message};
use requests::{Index, Slab};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// The engine of this process; empty outside MPI_Init .. MPI_Finalize.
static ENGINE: Exclusive<Option<Engine>> = Exclusive::new(None);

/// This process's own page, also for a thread that cannot enter (a panic inside).
static PAGE: std::sync::OnceLock<&'static RankPage> = std::sync::OnceLock::new();

/// The status page of this process, once the engine was started.
pub fn status_page() -> Option<&'static Page> {
    PAGE.get().map(|page| &page.status)
}

/// What is under way, for those who look from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub posted: u64,
    pub unexpected: u64,
    pub sending: u64,
    pub requests: u64,
    /// Bytes kept of unexpected messages.
    pub unexpected_bytes: u64,
    /// Since the start: messages that nobody had asked for.
    pub unexpected_ever: u64,
    /// Since the start: receives and messages that met in one of the queues.
    pub matches: u64,
    /// Since the start: messages sent without waiting for an answer, and with.
    pub eager: u64,
    pub rendezvous: u64,
}

impl Counts {
    const NONE: Counts = Counts {
        posted: 0,
        unexpected: 0,
        sending: 0,
        requests: 0,
        unexpected_bytes: 0,
        unexpected_ever: 0,
        matches: 0,
        eager: 0,
        rendezvous: 0,
    };
}

/// What is counted on the way of a message: plain additions.
#[derive(Default)]
struct Counted {
    eager: u64,
    rendezvous: u64,
    cancelled: u64,
}

/// What is under way now; for threads that may call MPI. Nothing while MPI is not running.
pub fn counts() -> Counts {
    let mut sum = Counts::NONE;
    if let Some(engine) = ENGINE.enter().as_mut() {
        engine.add_counts(&mut sum);
    }
    *LAST.lock() = sum;
    sum
}

/// What [`counts`] last said.
static LAST: Mutex<Counts> = Mutex::new(Counts::NONE);

/// The same as far as this process said when it last waited for long, or was last asked; for any thread.
pub fn counts_of_last_wait() -> Counts {
    let last = *LAST.lock();
    status_page().map_or(last, |status| Counts {
        posted: status.posted.load(Ordering::Relaxed).into(),
        unexpected: status.unexpected.load(Ordering::Relaxed).into(),
        sending: status.sending.load(Ordering::Relaxed).into(),
        ..last
    })
}

/// What is kept for each process of the job.
#[derive(Default)]
struct Peer {
    /// Records that found no room, in order.
    queue: VecDeque<Outgoing>,
    /// Sends that the receiver has matched and that stream the rest of their data.
    streams: VecDeque<Index>,
    /// A message whose first part is coming in.
    inflow: Option<Inflow>,
    /// Whether its memory can be read: unknown until tried.
    readable: Option<bool>,
    /// Whether it has said that it cannot read ours.
    cannot_read_us: bool,
    /// Is in `Engine::busy`.
    busy: bool,
}

/// See the module.
pub struct Engine {
    shm: Endpoint,
    requests: Slab,
    posted: Posted,
    unexpected: Unexpected,
    messages: receive::Messages,
    peers: Vec<Peer>,
    /// Peers with something in `queue` or `streams`.
    busy: Vec<u32>,
    /// Sends that are not done.
    sending: u32,
    accounts: Vec<account::Account>,
    /// Requests that wait for an account to be empty.
    flushes: Vec<(u32, Index)>,
    counted: Counted,
    limits: dispatch::Limits,
    oversubscribed: bool,
    /// How large messages travel best where it is.
    crowd: Trial,
    /// Whether `oversubscribed` is final.
    surveyed: bool,
}

/// The guard under which the engine is used.
pub struct EngineGuard(ExclusiveGuard<'static, Option<Engine>>);

impl Deref for EngineGuard {
    type Target = Engine;
    #[inline(always)]
    fn deref(&self) -> &Engine {
        match &*self.0 {
            Some(engine) => engine,
            None => not_running(),
        }
    }
}

impl DerefMut for EngineGuard {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Engine {
        match &mut *self.0 {
            Some(engine) => engine,
            None => not_running(),
        }
    }
}

#[cold]
#[inline(never)]
fn not_running() -> ! {
    panic!("communication before MPI_Init or after MPI_Finalize")
}

/// Enters the engine. Entries check that MPI is initialised before they come here.
#[inline(always)]
pub fn enter() -> EngineGuard {
    EngineGuard(ENGINE.enter())
}

/// From now on several threads may be in the library at once. While this is said only one is: the program has promised so,
/// unless it was said before.
pub fn share() {
    ENGINE.share(true);
    datatype::share(true);
}

/// Starts the engine on this transport; `threads` says that several threads will enter.
pub fn start(shm: Endpoint, threads: bool) {
    ENGINE.share(threads);
    datatype::start(threads);
    let _ = PAGE.set(shm.page(shm.me()));
    *ENGINE.enter() = Some(Engine::new(shm));
}

/// Visits the engine, if there is one.
pub fn for_each(mut visit: impl FnMut(&mut Engine)) {
    if let Some(engine) = ENGINE.enter().as_mut() {
        visit(engine);
    }
}

/// Whether several threads may be in the library at once.
pub fn has_threads() -> bool {
    ENGINE.is_shared()
}

/// Ends the engine.
pub fn stop() {
    *ENGINE.enter() = None;
    tasks::stop();
}

impl Engine {
    fn new(shm: Endpoint) -> Self {
        let ranks = shm.ranks();
        let oversubscribed = shm.oversubscribed();
        Self {
            peers: (0..ranks).map(|_| Peer::default()).collect(),
            requests: Slab::default(),
            posted: Posted::default(),
            unexpected: Unexpected::default(),
            messages: receive::Messages::default(),
            busy: Vec::new(),
            sending: 0,
            accounts: Vec::new(),
            flushes: Vec::new(),
            counted: Counted::default(),
            limits: dispatch::Limits::new(),
            oversubscribed,
            crowd: Trial::of_fresh(0, 1.5),
            surveyed: false,
            shm,
        }
    }

    fn add_counts(&self, sum: &mut Counts) {
        let (posted, unexpected) = (self.posted.len() as u64, self.unexpected.len() as u64);
        sum.posted += posted;
        sum.unexpected += unexpected;
        sum.sending += u64::from(self.sending);
        sum.requests += self.requests.count() as u64;
        sum.unexpected_bytes += self.messages.bytes() as u64;
        sum.unexpected_ever += self.unexpected.ever();
        sum.matches += self.posted.ever() - posted - self.counted.cancelled;
        sum.matches += self.unexpected.ever() - unexpected;
        sum.eager += self.counted.eager;
        sum.rendezvous += self.counted.rendezvous;
    }

    /// The requests of this process.
    pub fn requests(&mut self) -> &mut Slab {
        &mut self.requests
    }

    /// This process's number in the job.
    pub fn me(&self) -> usize {
        self.shm.me()
    }

    /// The transport, for those who look at status pages.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shm
    }

    /// Marks a request as done; a detached one is recycled.
    #[inline]
    fn complete(&mut self, index: Index) {
        let request = self.requests.at(index);
        if let requests::Kind::Send(_) = request.kind {
            self.sending -= 1;
            let bytes = request.total;
            if let Some(extra) = request.extra.take() {
                if let Some(account) = extra.account {
                    self.give_back(account, bytes);
                }
                if let Some(partner) = extra.partner {
                    self.part_done(partner);
                }
            }
        }
        self.part_done(index);
        if ENGINE.is_shared() {
            self.wake_own_sleepers();
        }
    }

    /// A message has left an attached buffer; who waits for it to be empty may be done.
    fn give_back(&mut self, account: u32, bytes: usize) {
        self.accounts[account as usize].give_back(bytes);
        if self.accounts[account as usize].messages > 0 {
            return;
        }
        let flushes = std::mem::take(&mut self.flushes);
        for (of, index) in flushes {
            if of == account {
                self.complete(index);
            } else {
                self.flushes.push((of, index));
            }
        }
    }

    /// A request that is complete when an attached buffer is empty.
    pub fn flush_account(&mut self, account: u32) -> Index {
        let request = requests::Request::new(requests::Kind::Receive, Buffer::empty(), 0, 0, 0);
        let index = self.requests.insert(request);
        if self.accounts[account as usize].messages == 0 {
            self.complete(index);
        } else {
            self.flushes.push((account, index));
        }
        index
    }

    /// One part of an operation is done; most have only one.
    #[inline]
    fn part_done(&mut self, index: Index) {
        let request = self.requests.at(index);
        if request.others > 0 {
            request.others -= 1;
            return;
        }
        request.phase = requests::Phase::Complete;
        if request.detached {
            self.requests.release(index);
        }
    }
}

/// A place for messages kept for later, see [`receive`].
type MessageSlots = Vec<Option<Message>>;
