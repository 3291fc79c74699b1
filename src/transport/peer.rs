//! The process table: what this process knows of each process of the job, and the only place where that is asked.
//!
//! Each process writes a [`Page`] of its own that others read; a transport says where a peer's page is and how packets get there
//! ([`Route`]). These pages decide which processes are members or lost, and whose memory can be read.
//! Invariant: process numbers are the job's. What a transport calls a peer (an index in its segment) stays in the route.

use super::calls::{self, COMMUNICATORS, Calls};
use super::life::{
    ENDS, EXITED, End, FENCED, FINALIZED, FINALIZING, Loss, NEVER_STARTED, OVER, REAPED,
    RECEIVES_CLOSED, SURVIVES, State, UNREACHABLE, World, told,
};
use super::paged::Paged;
use super::slots::{self, Slots};
use crate::os::peer_memory;
use crate::os::process::{self, Birth};
use crate::queue::asked::Asked;
use crate::queue::offers::Offers;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicI32, AtomicU32, AtomicU64, Ordering, fence};
use parking_lot::RwLock;
use std::sync::{Arc, LazyLock, OnceLock};

/// What a process tells the others of itself. A page of zeros is that of a process that has not come yet.
#[derive(Default)]
#[repr(C, align(64))]
pub struct Page {
    state: AtomicU32,
    /// A [`World`].
    world: AtomicU32,
    /// How many sessions it has open.
    pub sessions: AtomicU32,
    /// Process id, as the rank itself sees it.
    pub pid: AtomicI32,
    /// See [`Page::is_over`].
    born: AtomicU64,
    pid_namespace: AtomicU64,
    /// The process that traced the rank when it joined, as the rank itself sees it; 0: none.
    pub tracer: AtomicI32,
    /// The code of MPI_Abort.
    pub abort_code: AtomicI32,
    /// What its threads wait for.
    pub waits: Slots,
    /// CLOCK_MONOTONIC nanoseconds when it last announced a message of more than its caches hold; 0: never.
    pub sent_much: AtomicU64,
    /// Whether it wants to read large messages out of their senders' memory, by size (`engine/copy_trials.rs`).
    pub copies: AtomicU32,
    /// A word that others read to prove that they can read this process's memory: its address, and its value.
    pub probe_address: AtomicU64,
    pub probe_value: AtomicU64,
    /// How many engines it has to offer, once it has joined: one below MPI_THREAD_MULTIPLE.
    pub engines: AtomicU32,
    /// What others cannot expect of the rank any more, see [`Page::loss`].
    lost: AtomicU32,
    /// See [`Page::revoke_addresses`].
    revoked: AtomicU32,
    /// What other processes have asked it for, which it does in its next wait (`engine/tasks.rs`).
    pub asked: Asked,
    /// Messages that others may read out of its memory although their sends may be complete (`engine/offers.rs`).
    pub offers: Offers,
    /// Not zero when it wants to go on when other processes die (`process/survival.rs`).
    pub survives: AtomicU32,
    /// Where it counts its messages (`transport/counters.rs`), in its own memory.
    pub counters: AtomicU64,
    /// Of its communicators.
    pub calls: [Calls; COMMUNICATORS],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape::combine(&[
    calls::SHAPE,
    slots::SHAPE,
    shape!(Page {
        state,
        world,
        sessions,
        pid,
        born,
        pid_namespace,
        tracer,
        abort_code,
        waits,
        sent_much,
        copies,
        probe_address,
        probe_value,
        engines,
        lost,
        revoked,
        asked,
        offers,
        survives,
        counters,
        calls,
    }),
]);

impl Page {
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::NotJoined,
            1 => State::Joined,
            2 => State::Finalized,
            _ => State::Aborted,
        }
    }

    /// Publishes that the rank is in MPI_Finalize: all that it has begun to send has left, and if it is not `receiving` it has
    /// no receive posted either.
    pub fn set_finalizing(&self, receiving: bool) {
        let bits = if receiving {
            FINALIZING
        } else {
            FINALIZING | RECEIVES_CLOSED
        };
        self.lost.fetch_or(bits, Ordering::Release); // pairs with `loss`
    }

    /// Publishes that the process has exited; called by itself or by mpiexec.
    pub fn set_exited(&self) {
        self.lost
            .fetch_or(EXITED | RECEIVES_CLOSED, Ordering::Release); // pairs with `loss`
    }

    /// As [`Page::set_exited`], by mpiexec, when the process is no more.
    pub fn set_reaped(&self) {
        self.lost
            .fetch_or(EXITED | RECEIVES_CLOSED | REAPED, Ordering::Release); // pairs with `loss`
    }

    /// Whether mpiexec has said that the process is no more, which may itself have said before that it exits.
    pub fn was_reaped(&self) -> bool {
        self.lost.load(Ordering::Acquire) & REAPED != 0
    }

    /// As [`Page::stores_no_more`], if somebody has found that already.
    pub fn is_known_over(&self) -> bool {
        self.lost.load(Ordering::Acquire) & (REAPED | OVER) != 0
    }

    /// Whether its process is known to be no more, so that what it had can be another one's.
    pub fn stores_no_more(&self) -> bool {
        if self.is_known_over() {
            return true;
        }
        let has_ended = self.has_died() || self.loss().is_some_and(Loss::is_end);
        let is_over = has_ended && self.is_over();
        if is_over {
            // So that /proc is asked once.
            self.lost.fetch_or(OVER, Ordering::Release);
        }
        is_over
    }

    /// Takes [`Page::set_finalizing`] and [`Page::set_exited`] back.
    pub fn clear_loss(&self) {
        self.lost.store(0, Ordering::Release);
    }

    /// Why nothing more is to be expected from the rank, if so; what it had sent is there to be found.
    pub fn loss(&self) -> Option<Loss> {
        match self.lost.load(Ordering::Acquire) {
            0 => None,
            _ => End::loss_in(self.known_end()),
        }
    }

    /// Whether the rank receives nothing any more.
    pub fn receives_closed(&self) -> bool {
        self.lost.load(Ordering::Acquire) & RECEIVES_CLOSED != 0
    }

    /// Whether it is known to have exited without MPI_Finalize.
    pub fn is_marked_dead(&self) -> bool {
        End::is_death(self.known_end())
    }

    /// What other hosts are told of it, for [`End::tell`].
    pub fn known_end(&self) -> u32 {
        let survives = self.survives.load(Ordering::Acquire) != 0;
        let survives = if survives { SURVIVES } else { 0 };
        let lost = self.lost.load(Ordering::Acquire) | survives;
        match self.state() {
            State::Finalized => lost | FINALIZED,
            State::NotJoined if lost & EXITED != 0 => lost | NEVER_STARTED,
            _ => lost,
        }
    }

    /// The process id by which the kernel lets this process read that one's memory, if it does. A process id may mean another
    /// process where namespaces differ: only the right word proves it.
    pub fn readable_by_id(&self) -> Option<i32> {
        let pid = self.pid.load(Ordering::Relaxed);
        let from = self.probe_address.load(Ordering::Relaxed);
        let mut word = [0u8; 8];
        let read = peer_memory::read(pid, from, &mut word).is_ok();
        (read && u64::from_ne_bytes(word) == self.probe_value.load(Ordering::Relaxed))
            .then_some(pid)
    }

    /// As [`Self::readable_by_id`], for writing too: the word gets the value that it has.
    pub fn writable_by_id(&self) -> Option<i32> {
        let pid = self.readable_by_id()?;
        let to = self.probe_address.load(Ordering::Relaxed);
        let word = self.probe_value.load(Ordering::Relaxed).to_ne_bytes();
        peer_memory::write(pid, to, &word).ok().map(|()| pid)
    }

    /// Tells the others that what they read at addresses that this process has announced may have changed by then; from now on.
    pub fn revoke_addresses(&self) {
        self.revoked.store(1, Ordering::Relaxed);
        // SeqCst: pairs with `has_revoked`; the memory changes afterwards.
        fence(Ordering::SeqCst);
    }

    /// Whether what was read at announced addresses of this process may be something else than was announced.
    pub fn has_revoked(&self) -> bool {
        // SeqCst: pairs with `revoke_addresses`; the memory was read before.
        fence(Ordering::SeqCst);
        self.revoked.load(Ordering::Relaxed) != 0
    }

    /// Takes over what proves that this process's memory can be read.
    pub fn copy_probe(&self, from: &Page) {
        for (to, from) in [
            (&self.probe_address, &from.probe_address),
            (&self.probe_value, &from.probe_value),
        ] {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Says which process the rank is, and what traces it.
    pub fn introduce(&self) {
        let tracer = crate::os::process::tracer("self").unwrap_or(0);
        self.tracer.store(tracer, Ordering::Relaxed);
        self.introduce_as(Birth::own());
    }

    pub(super) fn introduce_as(&self, birth: Birth) {
        self.born.store(birth.ticks, Ordering::Relaxed);
        self.pid_namespace
            .store(process::pid_namespace(), Ordering::Relaxed);
        self.pid.store(birth.pid, Ordering::Release); // pairs with `is_over`
    }

    /// Whether its process has ended, as the kernel knows; false if it has not introduced itself, or has process ids of its own.
    pub fn is_over(&self) -> bool {
        let birth = Birth {
            pid: self.pid.load(Ordering::Acquire),
            ticks: self.born.load(Ordering::Relaxed),
        };
        let (theirs, own) = (
            self.pid_namespace.load(Ordering::Relaxed),
            process::pid_namespace(),
        );
        birth.pid != 0 && theirs == own && own != 0 && birth.is_over()
    }

    /// Its process id as this process sees it, if both see it alike.
    pub fn pid_here(&self) -> Option<i32> {
        let own = process::pid_namespace();
        let theirs = self.pid_namespace.load(Ordering::Relaxed);
        let pid = self.pid.load(Ordering::Acquire);
        (pid != 0 && own != 0 && theirs == own).then_some(pid)
    }

    pub fn set_state(&self, state: State) {
        self.state.store(state as u32, Ordering::Release);
    }

    pub fn world(&self) -> World {
        match self.world.load(Ordering::Acquire) {
            0 => World::Before,
            1 => World::Initialized,
            2 => World::Failed,
            _ => World::Finalized,
        }
    }

    pub fn set_world(&self, world: World) {
        self.world.store(world as u32, Ordering::Release);
    }
}

/// How packets reach a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It is this process: no transport.
    Own,
    /// Through the node's segment, where it has this index.
    Shm(u32),
    /// Through the fabric, where it has this number of the job.
    Net(u32),
    /// Through the segment of a link to another job.
    Link(Seat),
    /// Through the queues of [`super::loopback`].
    #[cfg(test)]
    Loopback(u32),
}

/// A place in the segment of a [`super::link::Link`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub link: u16,
    pub index: u16,
}

/// An entry of the table.
#[derive(Clone, Copy)]
pub struct Peer {
    /// The number of the node that it is on.
    pub node: u32,
    pub route: Route,
    /// Its index in this process's segment, also of a process that is sent messages another way.
    pub seat: Option<u32>,
    /// Its page, or what stands for the pages of all processes of other hosts: what ends a process is asked of the entry.
    pub page: &'static Page,
    /// What this process had found out itself when it asked: see [`Table::lose`].
    found: u32,
}

/// What this process takes every process of another host for until its [`End`] says more: one that has joined and has one engine. Its own
/// page cannot be seen from here.
static ELSEWHERE: LazyLock<Page> = LazyLock::new(|| {
    let page = Page::default();
    page.set_state(State::Joined);
    page.engines.store(1, Ordering::Relaxed);
    page
});

/// What is known of a process whose job is connected no more.
static GONE: LazyLock<Page> = LazyLock::new(|| {
    let page = Page::default();
    page.set_state(State::Finalized);
    page
});

impl Peer {
    pub fn new(node: u32, route: Route, seat: Option<u32>, page: &'static Page) -> Peer {
        Peer {
            node,
            route,
            seat,
            page,
            found: 0,
        }
    }

    /// A process of another job, of whom nothing more is to be expected: the connection has ended.
    pub fn disconnected() -> Peer {
        let nowhere = Seat {
            link: u16::MAX,
            index: 0,
        };
        Peer::new(u32::MAX, Route::Link(nowhere), None, &GONE)
    }

    /// Whether the process is of another job and there is no connection to it.
    pub fn is_disconnected(&self) -> bool {
        std::ptr::eq(self.page, &*GONE)
    }

    /// A process of another host.
    fn elsewhere(node: u32, process: u32) -> Peer {
        Peer::new(node, Route::Net(process), None, &ELSEWHERE)
    }

    /// Of a process of another host: what is known of its end.
    fn end(&self) -> Option<&'static End> {
        match (self.seat, self.route) {
            (None, Route::Net(process)) => ENDS.get()?.get(process as usize),
            _ => None,
        }
    }

    /// As [`Page::known_end`]; of a process of another host, as far as this host has been told.
    fn known_end(&self) -> u32 {
        self.told_end() | self.found
    }

    fn told_end(&self) -> u32 {
        self.end().map_or_else(|| self.page.known_end(), End::load)
    }

    /// Whether its process or its use of MPI is known to be over, and not only the connection to it.
    pub fn is_over_for_all(&self) -> bool {
        self.told_end() & (EXITED | FINALIZED) != 0
    }

    /// As [`Page::state`]; of a process of another host, as far as this host has been told.
    pub fn state(&self) -> State {
        self.end().map_or_else(|| self.page.state(), End::state)
    }

    /// As [`Page::loss`].
    #[inline]
    pub fn loss(&self) -> Option<Loss> {
        match (self.seat, self.found) {
            (Some(_), 0) => self.page.loss(),
            _ => End::loss_in(self.known_end()),
        }
    }

    /// As [`Page::receives_closed`].
    pub fn receives_closed(&self) -> bool {
        self.known_end() & RECEIVES_CLOSED != 0
    }

    /// As [`Page::is_marked_dead`].
    pub(super) fn is_marked_dead(&self) -> bool {
        End::is_death(self.known_end())
    }
}

/// The node of a process of the job.
pub type NodeOf = Arc<dyn Fn(u32) -> u32 + Send + Sync>;

/// The processes of the job, by number: entries of those of this process's segment; what there is to say of others follows from their
/// numbers.
pub struct Table {
    own: u32,
    size: u32,
    /// The numbers of those of the segment, ascending.
    here: Arc<[u32]>,
    /// Theirs, by seat.
    entries: Box<[Peer]>,
    node_of: NodeOf,
    /// A word for each process of the job, from the first that this process has lost over the fabric.
    found: OnceLock<Box<[AtomicU32]>>,
    /// Processes of other jobs, whose numbers follow.
    foreign: RwLock<Foreign>,
}

/// Processes of other jobs, by what their numbers are beyond the job's: those that are connected.
#[derive(Default)]
struct Foreign {
    connected: Paged<Peer>,
    /// One more than the highest that ever was.
    numbers: u32,
}

impl Table {
    /// The table of process `own` of a job of `size`. `here` are the numbers of those of its segment, ascending, itself among them;
    /// `entry(seat, node)` makes the entry of each.
    pub fn new(
        own: u32,
        size: u32,
        here: Arc<[u32]>,
        node_of: NodeOf,
        entry: impl Fn(u32, u32) -> Peer,
    ) -> Self {
        assert!(here.is_sorted() && here.binary_search(&own).is_ok());
        let seats = (0u32..).zip(here.iter());
        let entries = seats.map(|(seat, process)| entry(seat, node_of(*process)));
        Self {
            entries: entries.collect(),
            own,
            size,
            here,
            node_of,
            found: OnceLock::new(),
            foreign: RwLock::default(),
        }
    }

    /// The table with other routes to the processes of the segment: `route(number, entry)`.
    pub fn with_routes(mut self, route: impl Fn(u32, &Peer) -> Route) -> Self {
        for (process, peer) in self.here.iter().zip(&mut self.entries) {
            peer.route = route(*process, peer);
        }
        self
    }

    /// The table with messages between nodes going over the fabric.
    pub fn with_net(self) -> Self {
        let own = self.node_of(self.own);
        self.with_routes(|process, peer| match peer.node == own {
            true => peer.route,
            false => Route::Net(process),
        })
    }

    /// This process's own number.
    #[inline]
    pub fn me(&self) -> u32 {
        self.own
    }

    /// This process's own page.
    pub fn own(&self) -> &'static Page {
        self.of(self.own).page
    }

    /// How many processes the job has.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Whether there is a process of this number.
    #[inline]
    pub fn has(&self, process: u32) -> bool {
        process < self.size || self.foreign.read().numbers > process - self.size
    }

    /// Its index in this process's segment, if it is there. Those of a host mostly follow each other.
    #[inline]
    pub fn seat_of(&self, process: u32) -> Option<usize> {
        let guess = process.wrapping_sub(self.here[0]) as usize;
        match self.here.get(guess) {
            Some(found) if *found == process => Some(guess),
            _ => self.here.binary_search(&process).ok(),
        }
    }

    /// Entry of a process of the job, or of one that was met.
    #[inline]
    pub fn of(&self, process: u32) -> Peer {
        let peer = match self.seat_of(process) {
            Some(seat) => self.entries[seat],
            None if process < self.size => Peer::elsewhere(self.node_of(process), process),
            None => {
                let foreign = self.foreign.read();
                let connected = foreign.connected.get(process - self.size);
                return connected.copied().unwrap_or_else(Peer::disconnected);
            }
        };
        match self.found.get() {
            None => peer,
            Some(found) => Peer {
                found: found[process as usize].load(Ordering::Acquire),
                ..peer
            },
        }
    }

    /// Sets the entry of a process of another job. Those before it that have none are disconnected, and cost nothing.
    pub fn set_foreign(&self, process: u32, peer: Peer) {
        let place = process - self.size;
        let mut foreign = self.foreign.write();
        foreign.numbers = foreign.numbers.max(place + 1);
        foreign.connected.take(place);
        if !peer.is_disconnected() {
            foreign.connected.of(place, || peer);
        }
    }

    /// The number of the node that a process is on.
    pub fn node_of(&self, process: u32) -> u32 {
        match process < self.size {
            true => (self.node_of)(process),
            false => self.of(process).node,
        }
    }

    /// Whether all processes of the job are in this process's segment, and on one node.
    pub fn is_of_one_node(&self) -> bool {
        let node = self.entries[0].node;
        self.entries.len() == self.size() && self.entries.iter().all(|peer| peer.node == node)
    }

    /// Whether processes of this process's segment send each other messages over the fabric.
    pub fn pretends_hosts(&self) -> bool {
        let mut all = self.entries.iter();
        all.any(|peer| matches!(peer.route, Route::Net(_)))
    }

    /// Whether nobody tells this process of the end of that one: it is on another host, and the launcher is not ours.
    pub fn is_untold(&self, process: u32) -> bool {
        process < self.size && self.seat_of(process).is_none() && ENDS.get().is_none()
    }

    /// For [`super::deaths`].
    pub(super) fn mark_lost(&self, process: u32) {
        let none = || (0..self.size).map(|_| AtomicU32::new(0)).collect();
        if let Some(found) = self.found.get_or_init(none).get(process as usize) {
            found.store(UNREACHABLE | RECEIVES_CLOSED, Ordering::Release); // pairs with `of`
        }
    }

    /// Pages of the other processes of this host.
    pub fn others_here(&self) -> impl Iterator<Item = &'static Page> {
        let own = self.own();
        let pages = self.entries.iter().map(|it| it.page);
        pages.filter(move |page| !std::ptr::eq(*page, own))
    }

    /// Whether a process has exited, of this host or, as far as this host has been told, of another; or one cannot be reached.
    pub fn any_lost(&self) -> bool {
        let ended = |loss: Option<Loss>| loss.is_some_and(Loss::is_end);
        self.entries.iter().any(|peer| ended(peer.loss()))
            || self.found.get().is_some()
            || self
                .foreign
                .read()
                .connected
                .met()
                .any(|(_, it)| it.is_marked_dead())
            || told().zip(0u32..).any(|(end, process)| {
                ended(End::loss_in(end.load())) && self.seat_of(process).is_none()
            })
    }

    /// Processes of lost hosts, of which nothing is to be taken any more.
    pub(super) fn fenced(&self) -> Vec<u32> {
        let told = told().zip(0u32..);
        let fenced = told.filter(|(end, _)| end.load() & FENCED != 0);
        fenced.map(|(_, process)| process).collect()
    }

    /// Those that have ended without MPI_Finalize, as far as this process can see.
    pub fn failed(&self) -> Vec<u32> {
        let has_failed = |peer: &Peer| End::has_failed(peer.told_end());
        let of_job = (0..self.size).filter(|process| has_failed(&self.of(*process)));
        let foreign = self.foreign.read();
        let others = foreign.connected.met().filter(|(_, it)| has_failed(it));
        of_job
            .chain(others.map(|(place, _)| self.size + place))
            .collect()
    }

    /// The number that all offer as [`Page::engines`], if they have all joined and it is the same.
    pub fn common_engines(&self) -> Option<u32> {
        // Acquire: pairs with `engine::mapping::offer`.
        let engines = |page: &Page| page.engines.load(Ordering::Acquire);
        let own = engines(self.own());
        let elsewhere = self.entries.len() == self.size() || engines(&ELSEWHERE) == own;
        let mut here = self.entries.iter();
        (elsewhere && here.all(|peer| engines(peer.page) == own)).then_some(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::keep::keep;

    #[test]
    fn a_broken_connection_is_a_loss_to_this_process_alone() {
        let pages: [&'static Page; 2] = [0, 1].map(|_| {
            let page: &'static Page = keep(Page::default());
            page.set_state(State::Joined);
            page
        });
        // The first two share this process's segment, as pretended hosts do; the last is on another host.
        let table = |own: u32| {
            let entry = |seat: u32, node| {
                Peer::new(node, Route::Net(seat), Some(seat), pages[seat as usize])
            };
            let here: Arc<[u32]> = Arc::new([0, 1]);
            Table::new(own, 3, here, Arc::new(|process| process), entry)
        };
        let (table, other) = (table(0), table(1));
        for process in [1, 2] {
            assert_eq!(table.of(process).loss(), None);
            table.lose(process);
            let peer = table.of(process);
            assert_eq!(peer.loss(), Some(Loss::Unreachable));
            assert!(peer.has_died() && peer.receives_closed() && table.any_lost());
        }
        assert_eq!(table.of(0).loss(), None);
        assert!(!pages[1].has_died(), "it shares memory all the same");
        assert_eq!(other.of(2).loss(), None);
        assert!(!other.any_lost());
        assert!(table.failed().is_empty(), "it may live");
        // Whatever it does later.
        pages[1].set_finalizing(true);
        assert!(!table.of(1).is_over_for_all());
        pages[1].set_exited();
        assert!(table.of(1).is_over_for_all());
        assert_eq!(table.of(1).loss(), Some(Loss::Exited));
        assert_eq!((table.failed(), other.failed()), (vec![1], vec![1]));
        pages[1].set_state(State::Finalized);
        assert!(table.failed().is_empty(), "it has left in good order");
        let peer = table.of(1);
        assert!(peer.has_died() && peer.loss() == Some(Loss::Unreachable));
    }
}
