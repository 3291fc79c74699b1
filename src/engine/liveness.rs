//! Liveness checks: peers from which nothing more is to be expected, because they are in MPI_Finalize or have exited.
//!
//! A rank publishes its own state; an exit may be published by mpiexec. Twice a second, and as soon as a death is told, a sleeping call
//! checks whether what it waits for can still come ([`Asked`]). Invariant: it gives up only after all that the lost ranks had sent was handled, and only where
//! none of what could end the wait can come; what it does not wait for stays as it is, for the program may cancel it. Of a process that has ended, and for
//! which something was given up, nothing is taken any more.

use super::losses::{self, error};
use super::matching::ANY_SOURCE;
use super::refusal::is_of_program;
use super::requests::{self, Answer, Index, Kind, NOT_POSTED, Request};
use super::{Engine, EngineCursor, enter, for_each, has_threads, numbers, published, tasks};
use crate::error::Error;
use crate::os::monotonic_nanoseconds;
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::transport::{Link, Loss, Route, deaths};
use parking_lot::{Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The two low bits of a context: which kind of messages it has; the program's have none.
pub(super) const KIND_OF_CONTEXT: u32 = 3;

/// A lost rank, if all ranks are lost that a message with this communicator and peer (or any) can come from.
type LostPeer = fn(i32, i32, &dyn Fn(u32) -> bool) -> Option<u32>;
static LOST_PEER: OnceLock<LostPeer> = OnceLock::new();

/// Tells the engine, which knows no communicators, how to find the lost in them.
pub fn find_lost_by(lost: LostPeer) {
    let _ = LOST_PEER.set(lost);
}

/// A rank that has ended was found in this process.
static HAS_LOST_ANY: AtomicBool = AtomicBool::new(false);

/// Longest sleep, and the interval of liveness checks.
const INTERVAL: Duration = Duration::from_millis(500);
/// Interval in a process that has lost a peer: an operation with many messages to it must not wait so long for each.
const INTERVAL_AFTER_LOSS: Duration = Duration::from_millis(5);

/// Time between liveness checks.
pub(super) fn interval() -> Duration {
    match HAS_LOST_ANY.load(Ordering::Relaxed) {
        true => INTERVAL_AFTER_LOSS,
        false => INTERVAL,
    }
}

/// When a wait, or a loop of tests, last checked.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    /// Nanoseconds; 0: never.
    at: u64,
    /// What [`deaths::count`] was. Deaths from before the first check count as news.
    deaths: u32,
}

impl Asked {
    /// The default, as a constant.
    pub const NEVER: Asked = Asked { at: 0, deaths: 0 };

    /// Whether it is time to check, which the caller does then. Time is counted from the first call.
    pub fn is_due(&mut self, now: u64) -> bool {
        let deaths = deaths::count();
        let is_over = now.saturating_sub(self.at) > interval().as_nanos() as u64;
        let is_due = self.at != 0 && is_over || deaths != self.deaths;
        if is_due || self.at == 0 {
            *self = Asked { at: now, deaths };
        }
        is_due
    }

    /// Whether a death was told since then.
    pub(super) fn is_outdated(&self) -> bool {
        deaths::count() != self.deaths
    }
}

/// Why nothing more is to be expected from a rank, if so.
#[inline]
pub fn of(engine: &Engine, process: u32) -> Option<Loss> {
    engine.peer(process).loss()
}

/// Whether a process has ended, and not only its use of MPI, or cannot be reached.
pub fn has_ended(engine: &Engine, process: u32) -> bool {
    of(engine, process).is_some_and(Loss::is_end)
}

/// Takes a process for lost, because a connection to it has broken that messages do not use.
#[cold]
pub fn lose(engine: &mut Engine, process: u32, why: &str) {
    engine.transport.lose(process, why);
}

/// Called with each check; true: it is over.
type Look = dyn Fn() -> bool + Send + Sync;
static LOOKS: Mutex<Vec<Arc<Look>>> = Mutex::new(Vec::new());

/// Has liveness checks look at something else, too, in no engine, until `is_over` says that it is.
pub fn look_until(is_over: impl Fn() -> bool + Send + Sync + 'static) {
    LOOKS.lock().push(Arc::new(is_over));
}

/// What [`deaths::count`] was when a thread of this process last looked.
static LOOKED: AtomicU32 = AtomicU32::new(0);

/// Whether this process has not looked yet since a death or a revocation was told.
pub(super) fn has_news() -> bool {
    deaths::count() != LOOKED.load(Ordering::Relaxed)
}

/// Finds out who has ended that no mpiexec of ours tells of, and what else there is to know.
pub fn look() {
    LOOKED.store(deaths::count(), Ordering::Relaxed);
    deaths::look();
    enter().transport.links().for_each(Link::mark_the_dead);
    for_each(|engine| engine.transport.fence());
    // Not under the lock: looks enter engines, and whoever is in one may begin another look.
    let looks = LOOKS.lock().clone();
    for over in looks.iter().filter(|is_over| is_over()) {
        LOOKS.lock().retain(|look| !Arc::ptr_eq(look, over));
    }
}

/// Has a waiting call check whether it can go on: its closure sees [`Engine::checks_liveness`].
#[cold]
#[inline(never)]
pub(super) fn ask<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
) -> Option<R> {
    look();
    for_each(Engine::give_up_unowned);
    let engines = if has_threads() { engines } else { 1 };
    let mut cursor = EngineCursor::at_first(engines.trailing_zeros());
    let set = |cursor: &mut EngineCursor, checks_liveness| {
        for number in numbers(engines) {
            cursor.at(number).checks_liveness = checks_liveness;
        }
    };
    set(&mut cursor, true);
    let result = done(&mut cursor);
    set(&mut cursor, false);
    result
}

/// Whether this process could have learned of deaths: a few instructions, for calls that are to cost no more before.
#[inline]
pub fn any_death() -> bool {
    deaths::count() != 0
}

/// When [`ask_in_loop`] last asked.
static ASKED: Mutex<Asked> = Mutex::new(Asked::NEVER);

/// Tests in vain before a program that tests in a loop looks at the clock.
const TESTS: u32 = 256;

thread_local! {
    /// Tests in vain, and when this thread last checked.
    static IN_VAIN: Cell<(u32, Asked)> = const { Cell::new((0, Asked::NEVER)) };
}

/// As [`ask`], for a test that has found nothing: seldom, because programs test in loops. `None`: it was not time, or still nothing.
#[inline]
pub fn ask_in_test<R>(
    engines: u32,
    done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>,
) -> Option<R> {
    let (tests, checked) = IN_VAIN.get();
    IN_VAIN.set((tests.wrapping_add(1), checked));
    match tests.wrapping_add(1).is_multiple_of(TESTS) {
        true => ask_in_time(engines, done),
        false => None,
    }
}

#[cold]
fn ask_in_time<R>(engines: u32, done: &mut dyn FnMut(&mut EngineCursor) -> Option<R>) -> Option<R> {
    let (tests, mut checked) = IN_VAIN.get();
    let is_due = checked.is_due(monotonic_nanoseconds());
    IN_VAIN.set((tests, checked));
    is_due.then(|| ask(engines, done)).flatten()
}

/// As [`ask`], for a program that never waits, but tests in a loop: called after each test of tasks that found nothing.
pub(super) fn ask_in_loop() {
    let is_due = |mut asked: MutexGuard<'_, Asked>| asked.is_due(monotonic_nanoseconds());
    // Another thread that is here asks for this one.
    if ASKED.try_lock().is_some_and(is_due) {
        look();
        for_each(Engine::give_up_unowned);
        tasks::give_up_lost_in_loop();
    }
}

/// For which peers requests are given up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GivesUp {
    /// In a call that waits: also those in MPI_Finalize, from which nothing more comes, and which refuse messages.
    Waiting,
    /// In a test: those that have ended. A program may test while others are in MPI_Finalize, and cancel the request in the end.
    Testing,
}

/// For a call on several requests of which one is enough: ends them all with errors, in a liveness check and if none can complete.
#[cold]
pub fn give_up_all(cursor: &mut EngineCursor, handles: &[i32], how: GivesUp) {
    let active = |cursor: &mut EngineCursor, handle: i32| {
        let index = requests::index_of(handle)?;
        let request = cursor.of(handle).requests.get(index)?;
        request.is_active().then_some(index)
    };
    let is_unreachable = |handle: &i32| match active(cursor, *handle) {
        Some(index) => cursor.of(*handle).unreachable(index, how).is_some(),
        None => true,
    };
    if handles.iter().all(is_unreachable) {
        for handle in handles {
            if let Some(index) = active(cursor, *handle) {
                cursor.of(*handle).give_up(index, how);
            }
        }
    }
}

/// Whether a send is the other half of an exchange with this receive.
fn is_partner(send: &Request, receive: Index) -> bool {
    let extra = send.extra.as_ref();
    extra.is_some_and(|extra| extra.partner == Some(receive))
}

impl Engine {
    /// Whether waiting calls are to check if what they wait for can still come.
    #[inline(always)]
    pub fn checks_liveness(&self) -> bool {
        self.checks_liveness
    }

    /// Ends a request of a call that waits for it or tests it, with an error, if it cannot complete.
    #[cold]
    #[inline(never)]
    pub fn give_up(&mut self, index: Index, how: GivesUp) {
        if self.end_if_revoked(index) {
            return;
        }
        let Some(process) = self.unreachable(index, how) else {
            return;
        };
        self.shut_out(process);
        if self.is_marked(index) {
            self.unqueue(index);
            self.end_cancelled(index);
            return;
        }
        let is_refused = self.requests.at(index).answer == Answer::Refused;
        let error = match of(self, process) {
            // This process has not heard of it yet.
            None if is_refused => losses::revoked(),
            _ => error(self, process),
        };
        self.end_by(index, error);
        for send in self.sends(|send| is_partner(send, index)) {
            self.give_up(send, how);
        }
    }

    /// The processes that the sends go to that complete together with a receive.
    pub fn partners(&mut self, index: Index) -> Vec<u32> {
        let sends = self.partner_sends(index);
        let process = |send: &Index| self.requests.at(*send).process;
        sends.iter().map(process).collect()
    }

    /// The sends that complete together with a receive, and are not complete.
    pub fn partner_sends(&mut self, index: Index) -> Vec<Index> {
        self.sends(|send| is_partner(send, index))
    }

    /// A lost rank, if a message with this communicator, from this peer or any, that is not here yet will never come.
    pub fn lost_sender(&mut self, communicator: i32, peer: i32) -> Option<u32> {
        let may_send = RefCell::new(Vec::new());
        let lost = self.lost_peer(communicator, peer, |engine, process| {
            let Some(loss) = of(engine, process) else {
                return false;
            };
            let may = engine.may_still_send(process, loss);
            if may {
                may_send.borrow_mut().push(process);
            }
            !may
        });
        for process in may_send.into_inner() {
            self.ask_for_last(process);
            published::stir();
        }
        let process = lost?;
        // Lost first, then nothing found: what it had sent is handled.
        (!self.progresses()).then_some(process)
    }

    /// As [`Engine::lost_sender`], if the peer's process has ended: one in MPI_Finalize still sends what it began.
    pub fn ended_sender(&mut self, communicator: i32, peer: i32) -> Option<u32> {
        let process = self.lost_peer(communicator, peer, has_ended)?;
        (!self.progresses()).then_some(process)
    }

    /// Ends a request of the library's own whose peer is lost.
    pub fn end_lost(&mut self, index: Index, process: u32) {
        self.shut_out(process);
        let error = error(self, process);
        self.end_by(index, error);
    }

    fn lost_peer(
        &self,
        communicator: i32,
        peer: i32,
        is_lost: impl Fn(&Engine, u32) -> bool,
    ) -> Option<u32> {
        LOST_PEER.get()?(communicator, peer, &|process| is_lost(self, process))
    }

    /// Makes progress. Returns whether anything happened, which may change what is unreachable.
    pub fn progresses(&mut self) -> bool {
        let mut any = false;
        for _ in 0..64 {
            if !self.progress() {
                break;
            }
            published::stir();
            any = true;
        }
        any
    }

    /// The communicator and context of an active receive of the program's that any source may match and that has met no message.
    pub fn receives_from_any(&mut self, index: Index) -> Option<(i32, u32)> {
        let request = self.requests.get(index)?;
        let is_open = request.is_active()
            && request.kind == Kind::Receive
            && request.posted != NOT_POSTED
            && is_of_program(request.context)
            && request.peer == ANY_SOURCE;
        is_open.then_some((request.owner, request.context))
    }

    /// A lost rank, if a request cannot complete because of it.
    fn unreachable(&mut self, index: Index, how: GivesUp) -> Option<u32> {
        let request = self.requests.get(index)?;
        if !request.is_active() {
            return None;
        }
        let (communicator, context) = (request.owner, request.context);
        match request.kind {
            Kind::Receive if request.posted != NOT_POSTED => {
                let peer = request.peer;
                if context & KIND_OF_CONTEXT != 0 {
                    return None;
                }
                match how {
                    GivesUp::Waiting => self.lost_sender(communicator, peer),
                    GivesUp::Testing => self.ended_sender(communicator, peer),
                }
            }
            // The rest of a message that has begun to come.
            Kind::Receive if request.moved < request.total => {
                let peer = request.status.source;
                self.ended_sender(communicator, peer)
            }
            Kind::Send(_) => {
                let process = request.process;
                let counts = how == GivesUp::Waiting || has_ended(self, process);
                let unreachable = counts && self.is_unreachable_send(index);
                (unreachable && !self.progresses()).then_some(process)
            }
            _ => None,
        }
    }

    /// Whether nobody will receive what is sent by an active request. A process in MPI_Finalize refuses messages of the program;
    /// of the others it takes what comes, but answers nothing.
    fn is_unreachable_send(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        if request.answer == Answer::Refused {
            return true;
        }
        let (process, context) = (request.process, request.context);
        let goes_straight = request.goes_straight();
        // A process in MPI_Finalize is in no collective operation any more: it has answered what it wanted of them, and does not take what
        // this process has withdrawn.
        let is_awaited = matches!(request.answer, Answer::Awaited | Answer::Offered);
        let is_left = is_awaited || request.is_withdrawn();
        let is_unwanted = is_left && context & KIND_OF_CONTEXT == 1;
        let status = self.peer(process);
        let peer = self.peers.of(process as usize);
        match status.loss() {
            None => false,
            Some(Loss::Finalizing) if is_of_program(context) => false,
            Some(Loss::Finalizing) if is_unwanted && matches!(status.route, Route::Shm(_)) => true,
            Some(Loss::Finalizing) => {
                !goes_straight
                    && status.receives_closed()
                    && peer.queue.is_empty()
                    && peer.streams.is_empty()
            }
            Some(Loss::NeverStarted | Loss::Exited | Loss::Unreachable) => true,
        }
    }

    /// Takes nothing more of a process that has ended, before something that has waited for it is given up: what it had sent may still be on
    /// its way over a fabric, and would find nothing here, or the next request of that number. (One that is in MPI_Finalize still answers.)
    #[cold]
    fn shut_out(&mut self, process: u32) {
        let is_one = !losses::is_no_process(process) && self.transport.table().has(process);
        if is_one && has_ended(self, process) && self.transport.shut_out(process) {
            self.peers.of(process as usize).partial = None;
        }
    }

    /// Ends a request with an error.
    fn end_by(&mut self, index: Index, error: Error) {
        published::stir();
        // From now on the program has its buffer again.
        self.transport.abandon(index);
        self.give_up_offer(index);
        let request = self.requests.at(index);
        let kind = request.kind;
        let partner = request.extra.as_ref().and_then(|extra| extra.partner);
        request.answer = Answer::NotWanted;
        // Of the send of an exchange the receive tells.
        let teller = self.requests.at(partner.unwrap_or(index));
        teller.error.get_or_insert(error);
        if kind != Kind::Receive {
            self.unqueue(index);
            self.complete(index);
        } else if self.cancel_receive(index) {
            self.requests.at(index).status.set_cancelled(false);
        } else {
            self.complete(index);
        }
    }

    /// Drops what is queued of a send.
    fn unqueue(&mut self, index: Index) {
        let process = self.requests.at(index).process as usize;
        let peer = self.peers.of(process);
        peer.queue.retain(|waits| waits.request() != Some(index));
        peer.streams.retain(|stream| *stream != index);
    }

    /// The active sends of a kind.
    pub(super) fn sends(&self, of_kind: impl Fn(&Request) -> bool) -> Vec<Index> {
        let requests = self.requests.numbered();
        let wanted = requests.filter(|(_, request)| {
            request.is_active() && matches!(request.kind, Kind::Send(_)) && of_kind(request)
        });
        wanted.map(|(index, _)| index).collect()
    }

    /// Ends requests for which no call may ever wait: sends to ranks that have ended, sends without a handle, and receives of tasks whose message
    /// was cut off because the sender has ended.
    #[cold]
    pub fn give_up_unowned(&mut self) {
        if !HAS_LOST_ANY.load(Ordering::Relaxed) && self.transport.table().any_lost() {
            HAS_LOST_ANY.store(true, Ordering::Relaxed);
        }
        if !HAS_LOST_ANY.load(Ordering::Relaxed) && self.sending == 0 {
            return;
        }
        self.transport.pass_over_the_dead();
        let table = self.transport.table().clone();
        let is_lost = |process: u32| {
            let loss = || table.of(process).loss();
            table.has(process) && loss().is_some_and(Loss::is_end)
        };
        for (process, peer) in self.peers.met_mut() {
            if !peer.queue.is_empty() && is_lost(process) {
                peer.queue.retain(|waits| waits.request().is_some());
            }
        }
        if self.sending > 0 {
            for index in self.sends(|send| send.detached || is_lost(send.process)) {
                self.give_up(index, GivesUp::Waiting);
            }
        }
        let cut_off = self.cut_off(&is_lost);
        // Lost first, then nothing found: what they had sent is handled.
        if !cut_off.is_empty() && !self.progresses() {
            for (index, process) in cut_off {
                self.shut_out(process);
                let error = error(self, process);
                self.end_by(index, error);
            }
        }
    }

    /// Receives of tasks whose message from a lost rank has begun and will not end, with that process. (Their source is a process, not a rank.)
    fn cut_off(&self, is_lost: &dyn Fn(u32) -> bool) -> Vec<(Index, u32)> {
        let requests = self.requests.numbered();
        let from = |request: &Request| {
            let is_ours = request.context & KIND_OF_CONTEXT != 0;
            let has_begun = request.kind == Kind::Receive && request.posted == NOT_POSTED;
            let process = request.status.source as u32;
            (request.is_active() && is_ours && has_begun && is_lost(process)).then_some(process)
        };
        requests
            .filter_map(|(index, request)| Some((index, from(request)?)))
            .collect()
    }

    /// Ends all sends that cannot complete, for a call that waits until nothing is under way.
    #[cold]
    pub fn give_up_sends(&mut self) {
        for index in self.sends(|_| true) {
            self.give_up(index, GivesUp::Waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_due_after_an_interval_and_after_each_death() {
        let interval = INTERVAL.as_nanos() as u64;
        let mut asked = Asked::NEVER;
        // Other tests of this process find deaths, too.
        asked.is_due(1);
        assert!(asked.is_due(2 + interval));
        deaths::found();
        assert!(asked.is_outdated());
        assert!(asked.is_due(3 + interval));
    }
}
