//! The engines: requests, matching, protocols, progress and waiting.
//!
//! They know context ids and process numbers, not communicators. A process has one, and at MPI_THREAD_MULTIPLE as many
//! as its communicators are spread over ([`mapping`]). Each is behind a guard of its own ([`enter_at`]): whoever has `&mut
//! Engine` is alone in it. Invariant: a thread has at most one guard at a time, and no user callback runs while it has one.

mod arrival;
pub mod aside;
pub mod attached;
pub mod bsend;
pub mod buffers_in_use;
mod cancel;
mod cells;
mod contention;
mod copy_trials;
pub mod dispatch;
pub mod entry;
pub mod epochs;
mod failed;
pub mod failures;
mod leaving;
pub mod leftovers;
pub mod liveness;
pub mod long_wait;
pub mod losses;
pub mod mapping;
pub mod matching;
pub mod numbered_waits;
mod offers;
pub mod packets;
mod peers;
pub mod pressure;
pub mod progress;
pub mod progress_thread;
mod protocol;
pub mod published;
pub mod receive;
pub mod refusal;
pub mod requests;
pub mod revoked;
pub mod roots;
mod routes;
pub mod send;
pub mod single_copy;
mod spin_limit;
mod straight;
pub mod tasks;
#[cfg(test)]
pub mod tests;
pub mod unexpected;
pub mod wait;
mod wanted;
mod withdrawal;

pub use cancel::forget_context;
pub use entry::{
    EngineCursor, EngineGuard, SingleThreaded, enter, enter_at, enter_shared, enter_unlocked,
    single_threaded,
};

use crate::datatype;
use crate::sync::{AtomicU8, AtomicU32, Ordering, guarded::Guarded};
use crate::transport::counters::{self, Counted};
pub use crate::transport::waits;
use crate::transport::{ENGINES, Loss, Notifier, Page, Peer as Process, Table, Transport, Waiter};
use dispatch::Outgoing;
use matching::{Posted, Unexpected};
use parking_lot::Mutex;
use peers::Peers;
use requests::{Index, Slab};
use std::sync::{Arc, OnceLock};

/// The engines of this process; the first is there from MPI_Init on, others from their first communicator on.
static ALL: [Guarded<Option<Engine>>; ENGINES] = [const { Guarded::new(None) }; ENGINES];

/// Which threads may be in the library at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Threads {
    /// One of the program's.
    One,
    /// That one, and a [`progress_thread`].
    WithProgress,
    /// Several of the program's: MPI_THREAD_MULTIPLE.
    Multiple,
}

static THREADS: AtomicU8 = AtomicU8::new(Threads::One as u8);

/// The engines that are in use, a set of bits.
static IN_USE: AtomicU32 = AtomicU32::new(0);

/// The process table, also for a thread that cannot enter (a panic inside).
static TABLE: OnceLock<Arc<Table>> = OnceLock::new();

/// Where the threads of this process sleep.
static WAITER: OnceLock<Waiter> = OnceLock::new();

/// The processes of the job, once the engine was started.
#[inline]
pub fn table() -> Option<&'static Table> {
    #[cfg(test)]
    if let Some(process) = tests::processes::current() {
        return Some(process.table());
    }
    TABLE.get().map(|table| &**table)
}

/// The node of a process; 0 where the engine was not started.
pub fn node_of(process: u32) -> u32 {
    table().map_or(0, |table| table.node_of(process))
}

/// Whether a process is in this one's segment.
pub fn shares_memory(process: u32) -> bool {
    table().is_none_or(|table| table.seat_of(process).is_some())
}

/// The index of a process in this one's segment, if it is there.
pub fn seat_of(process: u32) -> Option<usize> {
    table()?.seat_of(process)
}

/// Whether a process has died, on any thread; see [`Table::has_died`].
#[inline]
pub fn has_died(process: u32) -> bool {
    table().is_some_and(|table| table.has_died(process))
}

/// Whether a process has died and stores nothing any more, on any thread; see [`Table::stores_no_more`].
pub fn stores_no_more(process: u32) -> bool {
    table().is_some_and(|table| table.stores_no_more(process))
}

/// Whether a process stores nothing any more that others of its node wait for: it is no more, or in MPI_Finalize; on any thread.
pub fn has_stopped(process: u32) -> bool {
    stores_no_more(process) || losses::loss(process) == Some(Loss::Finalizing)
}

/// As [`has_stopped`], if somebody has found that already: no call of the kernel.
pub fn is_known_to_have_stopped(process: u32) -> bool {
    table().is_some_and(|table| {
        table.is_known_over(process) || table.of(process).loss() == Some(Loss::Finalizing)
    })
}

/// This process's own page in the table.
pub fn own_page() -> Option<&'static Page> {
    table().map(Table::own)
}

/// Numbers of pending messages and requests, for reports.
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
    /// Since the start: idle polls of waiting calls, before they yield the core.
    pub spins: u64,
    /// Since the start: records sent over the fabric, bytes of messages that were copied for it, and bytes that went straight.
    pub net_records: u64,
    /// Those records that went by other engines than the first.
    pub net_further: u64,
    pub net_copied: u64,
    pub net_straight: u64,
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
        spins: 0,
        net_records: 0,
        net_further: 0,
        net_copied: 0,
        net_straight: 0,
    };
}

/// The present [`Counts`]; for threads that may call MPI. Zeros while MPI is not running.
pub fn counts() -> Counts {
    let mut sum = Counts::NONE;
    for_each(|engine| engine.add_counts(&mut sum));
    sum.spins += long_wait::spins_of_long_waits();
    *LAST.lock() = sum;
    sum
}

/// What [`counts`] last said.
static LAST: Mutex<Counts> = Mutex::new(Counts::NONE);

/// What [`counts`] said when this process last waited for long, or was last asked; for any thread.
pub fn counts_of_last_wait() -> Counts {
    let last = *LAST.lock();
    let waits = own_page().and_then(|page| page.waits.longest());
    waits.map_or(last, |waits| {
        let [posted, unexpected, sending] = waits.queues.map(u64::from);
        Counts {
            posted,
            unexpected,
            sending,
            ..last
        }
    })
}

/// See the module.
pub struct Engine {
    notifier: Notifier,
    transport: Transport,
    /// This process's number in the job.
    me: u32,
    requests: Slab,
    posted: Posted,
    unexpected: Unexpected,
    messages: unexpected::Messages,
    peers: Peers,
    /// Peers with something in `queue` or `streams`.
    busy: Vec<u32>,
    /// Sends that are not done.
    sending: u32,
    counted: Counted,
    limits: dispatch::Limits,
    trials: copy_trials::Trials,
    offers: offers::Offers,
    leaving: leaving::Leaving,
    oversubscribed: bool,
    /// Whether `oversubscribed` is final.
    surveyed: bool,
    /// Waiting calls check whether what they wait for can still come.
    checks_liveness: bool,
    /// The process is in MPI_Finalize, see [`refusal`].
    refuses: bool,
    refused: refusal::Refused,
    /// See [`revoked`].
    revoked: revoked::Contexts,
    /// Peers that are to hold data back.
    holding: u32,
    /// Whether that is because of all messages together.
    crowded: bool,
    /// The largest `unexpected_bytes` of a peer since memory was last given back.
    most_unexpected: usize,
}

/// Switches the locks on that these threads need, and off those that they do not. MPI_THREAD_MULTIPLE stays.
///
/// # Safety
/// Below MPI_THREAD_MULTIPLE the calling thread is the program's only one in the library, and has no guard; a progress thread begins after
/// [`Threads::WithProgress`] and has ended before [`Threads::One`].
#[allow(unsafe_code)]
pub unsafe fn set_threads(threads: Threads) {
    if is_multiple() {
        return;
    }
    let locked = threads != Threads::One;
    if has_threads() != locked {
        let can_bias = enter().transport.can_fence_all();
        for engine in &ALL {
            // SAFETY: by the caller, nobody is inside.
            unsafe { engine.share(locked, can_bias) };
        }
    }
    if threads == Threads::Multiple {
        // SAFETY: by the caller; a progress thread makes and ends no datatype.
        unsafe { datatype::share(true) };
    }
    THREADS.store(threads as u8, Ordering::Release);
}

/// Starts the first engine on this transport, for a program with one thread.
///
/// # Safety
/// This is the only thread in the library.
#[allow(unsafe_code)]
pub unsafe fn start(transport: Transport) {
    // SAFETY: by the caller.
    unsafe { datatype::share(false) };
    datatype::start();
    let _ = TABLE.set(transport.table().clone());
    WAITER.get_or_init(|| transport.waiter());
    transport.publish_heap();
    *entry::slot(0) = Some(Engine::new(transport));
    IN_USE.store(1, Ordering::Release);
    enter_at(0).tell_counters(0);
}

/// Has a descriptor wake threads that sleep for the first engine. False: it cannot be watched.
pub fn watch(descriptor: std::os::fd::BorrowedFd<'_>) -> bool {
    (WAITER.get()).is_some_and(|waiter| waiter.watch(descriptor, 0).is_ok())
}

/// Whether several threads may be in engines at once: the program's, or a [`progress_thread`].
#[inline(always)]
pub fn has_threads() -> bool {
    THREADS.load(Ordering::Relaxed) != Threads::One as u8
}

/// Whether several threads of the program may be in the library at once: MPI_THREAD_MULTIPLE.
#[inline(always)]
pub fn is_multiple() -> bool {
    THREADS.load(Ordering::Relaxed) == Threads::Multiple as u8
}

/// The engines that are in use, a set of bits.
#[inline]
pub fn in_use() -> u32 {
    IN_USE.load(Ordering::Acquire) // pairs with `activate`
}

/// The numbers in a set.
#[inline]
pub fn numbers(mut engines: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (engines != 0).then(|| engines.trailing_zeros())?;
        engines &= engines - 1;
        Some(number)
    })
}

/// Takes engines into use, of those that this process offers.
pub fn activate(engines: u32) {
    /// An engine has one port, which the first end that is made takes.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if engines & !in_use() == 0 {
        return;
    }
    let one = ONE_AT_A_TIME.lock();
    for number in numbers(engines & !in_use()) {
        let transport = enter().transport.for_engine(number as usize);
        *entry::slot(number) = Some(Engine::new(transport));
        IN_USE.fetch_or(1 << number, Ordering::AcqRel);
        enter_at(number).tell_counters(number as usize);
    }
    drop(one);
    // Threads that sleep do not listen to them yet.
    wake_own_threads();
}

/// Visits the engines in use, one after the other.
pub fn for_each(mut visit: impl FnMut(&mut Engine)) {
    for number in numbers(in_use()) {
        visit(&mut enter_at(number));
    }
}

/// Wakes all threads of this process that sleep in a call: what they wait for may be there.
#[cold]
pub fn wake_own_threads() {
    if let Some(waiter) = WAITER.get() {
        for number in numbers(in_use()) {
            waiter.notifier(number).wake(true);
        }
    }
}

impl Engine {
    fn new(mut transport: Transport) -> Self {
        routes::watch(&mut transport);
        let oversubscribed = transport.node().is_oversubscribed();
        let number = transport.engine() as u32;
        let table = transport.table();
        Self {
            notifier: transport.notifier(),
            me: table.me(),
            peers: Peers::new(table.clone()),
            requests: Slab::new(number),
            posted: Posted::default(),
            unexpected: Unexpected::default(),
            messages: unexpected::Messages::new(number),
            busy: Vec::new(),
            sending: 0,
            trials: copy_trials::Trials::default(),
            offers: offers::Offers::default(),
            leaving: leaving::Leaving::default(),
            counted: Counted::default(),
            limits: dispatch::Limits::new(),
            oversubscribed,
            surveyed: false,
            checks_liveness: false,
            refuses: false,
            revoked: revoked::Contexts::default(),
            refused: refusal::Refused::default(),
            holding: 0,
            crowded: false,
            most_unexpected: 0,
            transport,
        }
    }

    /// An engine that no thread of MPI enters.
    #[cfg(test)]
    pub fn for_test(transport: Transport) -> Self {
        Self::new(transport)
    }

    /// Meets a process.
    #[cfg(test)]
    pub fn meet_process(&mut self, process: u32) {
        self.peers.of(process as usize);
    }

    /// Tells those who watch the process where this engine counts, which stays where it is.
    fn tell_counters(&self, number: usize) {
        let table = counters::tell(number, &self.counted, self.unexpected.ever_at());
        if let Some(page) = own_page() {
            page.counters.store(table, Ordering::Release);
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
        let taken = self.posted.ever() - posted + self.unexpected.ever() - unexpected;
        sum.matches += taken - self.counted.cancelled;
        sum.eager += self.counted.eager;
        sum.rendezvous += self.counted.rendezvous;
        sum.spins += self.counted.spins;
        let traffic = self.transport.traffic();
        sum.net_records += traffic.records;
        if self.transport.engine() > 0 {
            sum.net_further += traffic.records;
        }
        sum.net_copied += traffic.copied;
        sum.net_straight += traffic.straight;
    }

    /// The requests of this process.
    pub fn requests(&mut self) -> &mut Slab {
        &mut self.requests
    }

    /// This process's number in the job.
    pub fn me(&self) -> usize {
        self.me as usize
    }

    /// How many processes the job has.
    pub fn processes(&self) -> usize {
        self.transport.table().size()
    }

    /// Entry of a process in the process table.
    #[inline]
    pub fn peer(&self, process: u32) -> Process {
        self.transport.table().of(process)
    }

    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Whether this process may leave the job: peers on other nodes have all that it has sent. To be asked until it is so.
    pub fn has_left(&mut self) -> bool {
        self.transport.has_left()
    }

    /// Marks a request as done; a detached one is recycled.
    #[inline]
    fn complete(&mut self, index: Index) {
        debug_assert!(
            !self.has_queued(index),
            "request {index} is complete and queued"
        );
        let request = self.requests.at(index);
        if let requests::Kind::Send(_) = request.kind {
            self.sending -= 1;
            let bytes = request.total;
            if let Some(extra) = request.extra.take() {
                if let Some(charge) = extra.bsend {
                    attached::give_back(charge, bytes);
                }
                if let Some(partner) = extra.partner {
                    self.part_done(partner);
                }
                if let Some(ended) = extra.stands_in_for {
                    self.ends_stand_in(ended);
                }
            }
        }
        self.part_done(index);
        if has_threads() {
            self.wake_own_sleepers();
        }
    }

    /// Whether something that is queued names a send. A CTS or CANCEL may be in front of its eager part, other sends may not.
    fn has_queued(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        if !matches!(request.kind, requests::Kind::Send(_)) {
            return false;
        }
        let peer = self.peers.of(request.process as usize);
        let of_others =
            |what: &&Outgoing| matches!(what, Outgoing::Cancel(other) if *other != index);
        let mut others = peer.queue.iter().skip_while(of_others);
        let first = others.find_map(Outgoing::request);
        first == Some(index) || peer.streams.contains(&index)
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
