//! Ways to move bytes between processes. Knows no communicators and no matching.
//!
//! The border: what is above names this module's items and none of a transport's own. A [`Transport`] is one engine's end of all of
//! them; each peer has a [`Route`], which the caller looks up once a message. Routes and transports are enums and fields, not
//! trait objects: the compiler puts the short path into the caller.

pub mod calls;
pub mod counters;
pub mod deaths;
mod fabric;
pub mod life;
pub mod link;
#[cfg(test)]
pub mod loopback;
pub mod name;
pub mod net;
pub mod ofi;
mod paged;
pub mod peer;
pub mod shm;
pub mod slots;
pub mod straight;
pub mod waiter;
pub mod waits;
pub mod wanted;
pub mod wire;

pub use fabric::{open_fabric, open_late, show_fabric};
pub use layout::ENGINES;
pub use link::Link;
/// Writes to and reads of windows of other hosts.
pub mod rma {
    pub use super::ofi::rma::{Begun, End, Move, Rma, opened, rma};
    pub use super::ofi::{LONGEST_ADDRESS, Registered, There};
}
pub use life::{Loss, State, World};
pub use paged::Paged;
pub use peer::{NodeOf, Page, Peer, Route, Seat, Table};
pub use shm::cells::{CELL_BYTES, CellName, Lack};
pub use shm::endpoint::RING_PAYLOAD;
pub use shm::heap::{AwaitedBlock, Heap, HeapLock, LOCKS, SharedWith, note_fork};
pub use shm::layout;
pub use shm::notifier::{FirstNotifier, Notifier};
pub use shm::pace::{LONGEST_WHOLE, Plan, Stores};
pub use straight::{LANDED, LEFT, Place, Traffic};
pub use waiter::Waiter;
pub use wire::{Header, Packet};

/// Staging of collective operations in a node's memory.
pub mod collective {
    #[cfg(test)]
    pub use super::shm::staging::Ring;
    pub use super::shm::staging::area::{
        Area, Event, Geometry, INLINE, MOST_RANKS, Place, RESULT_SLOTS, SHARED_ROUNDS, SMALL_DEPTH,
        Told, UNIT,
    };
    #[cfg(test)]
    pub use super::shm::staging::fixture::{Fixture, Form};
    #[cfg(test)]
    pub use super::shm::staging::tally;
    pub use super::shm::staging::{Access, Areas, Large, Reach, Spacing, Staging, Turn};
}

use crate::node::Node;
use crate::node::distance::{CacheDistance, Sight};
use net::Net;
use shm::desks::Desks;
pub use shm::desks::{Key as DeskKey, Opened as OpenedDesk};
use shm::endpoint::Endpoint;
use std::sync::{Arc, OnceLock};

static HEAP: OnceLock<Heap> = OnceLock::new();
static DESKS: OnceLock<Desks> = OnceLock::new();

/// The heap of this process's node; `None` before the process has joined one.
#[inline]
pub fn heap() -> Option<&'static Heap> {
    HEAP.get()
}

/// The desks of this process's node; `None` before the process has joined one.
pub fn desks() -> Option<&'static Desks> {
    DESKS.get()
}

/// One engine's end of all transports.
pub struct Transport {
    table: Arc<Table>,
    shm: Endpoint,
    /// Only in jobs whose nodes have a fabric between them.
    net: Option<Box<Net>>,
    /// Links to processes of other jobs, by number; `None`: a link that has ended, whose number is free.
    links: Vec<Option<Box<Link>>>,
    /// Whether there is a fabric, or a link.
    has_others: bool,
    /// The link whose packet [`Self::peek`] has shown last, if it was one's.
    shown: Option<u16>,
    /// Where the next look at segments begins: 0, this job's; then the links.
    turn: usize,
    #[cfg(test)]
    loopback: Option<loopback::End>,
}

impl Transport {
    /// The first engine's end, of a process that has joined its node's segment.
    pub fn new(table: Arc<Table>, shm: Endpoint) -> Self {
        Self {
            table,
            shm,
            net: None,
            links: Vec::new(),
            has_others: false,
            shown: None,
            turn: 0,
            #[cfg(test)]
            loopback: None,
        }
    }

    /// An engine's end, of a process that also has a fabric.
    pub fn with_net(table: Arc<Table>, shm: Endpoint, net: Net) -> Self {
        Self {
            net: Some(Box::new(net)),
            has_others: true,
            ..Self::new(table, shm)
        }
    }

    /// The end of another engine of this process, which room was made for.
    pub fn for_engine(&mut self, engine: usize) -> Self {
        let (table, shm) = (self.table.clone(), self.shm.for_engine(engine));
        match self.net.as_mut().and_then(|net| net.for_engine(engine)) {
            Some(net) => Self::with_net(table, shm, net),
            None => Self::new(table, shm),
        }
    }

    /// How many engines of this process others of other nodes reach.
    pub fn far_engines(&self) -> usize {
        self.net.as_ref().map_or(1, |net| net.ports())
    }

    /// Makes room for the ends of so many engines of this process. Returns how many there is memory for, at least one.
    pub fn reserve_engines(&self, engines: usize) -> usize {
        self.shm.reserve_engines(engines)
    }

    /// The processes of the job.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The number of the engine that this is the end of.
    pub fn engine(&self) -> usize {
        self.shm.engine()
    }

    /// The node whose ranks share memory with this process.
    pub fn node(&self) -> Node {
        self.shm.node()
    }

    /// Sends one packet of at most [`RING_PAYLOAD`] bytes: `fill(offset, piece)` is called for the pieces of the payload. False: no
    /// room now.
    #[inline(always)]
    pub fn push(&mut self, to: Route, header: &Header, fill: impl FnMut(usize, &mut [u8])) -> bool {
        match to {
            Route::Shm(index) => self.shm.push(index as usize, header, fill),
            Route::Link(seat) => self.linked(seat).push(seat.index(), header, fill),
            Route::Net(index) => self.remote().push(index, header, fill),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().push(index, header, fill),
            Route::Own => no_transport(),
        }
    }

    /// Whether packets of up to [`Plan::chunk`] bytes can be sent by [`Self::push_large`], for a message of so many bytes.
    #[inline]
    pub fn has_bulk(&mut self, to: Route, bytes: usize) -> bool {
        match to {
            Route::Shm(index) => self.shm.has_bulk_ring(index as usize, bytes),
            Route::Link(seat) => self.linked(seat).has_bulk_ring(seat.index(), bytes),
            Route::Net(_) => true,
            #[cfg(test)]
            Route::Loopback(index) => self.looped().has_bulk(index),
            Route::Own => no_transport(),
        }
    }

    /// Whether a message of so many bytes, more than [`RING_PAYLOAD`], goes in one packet.
    #[inline]
    pub fn goes_whole(&mut self, to: Route, bytes: usize) -> bool {
        bytes <= LONGEST_WHOLE && self.has_bulk(to, bytes)
    }

    /// How the next part of a message of `total` bytes is to be sent to a peer with room for large packets.
    #[inline]
    pub fn plan(&mut self, to: Route, total: usize) -> Plan {
        match to {
            Route::Shm(index) => self.shm.plan(index as usize, total),
            Route::Link(seat) => self.linked(seat).plan(seat.index(), total),
            Route::Net(_) => net::plan(total),
            #[cfg(test)]
            Route::Loopback(_) => loopback::plan(total),
            Route::Own => no_transport(),
        }
    }

    /// As [`Self::push`], for larger packets, according to `plan`.
    #[inline]
    pub fn push_large(
        &mut self,
        to: Route,
        header: &Header,
        plan: Plan,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        match to {
            Route::Shm(index) => self.shm.push_large(index as usize, header, plan, fill),
            Route::Link(seat) => {
                let end = self.linked(seat);
                end.push_large(seat.index(), header, plan, fill)
            }
            Route::Net(index) => self.remote().push(index, header, fill),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().push(index, header, fill),
            Route::Own => no_transport(),
        }
    }

    /// The next packet that has come in. The engine reads its payload and then says [`Self::done`].
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Packet> {
        #[cfg(test)]
        if let Some(loopback) = &mut self.loopback
            && let Some(packet) = loopback.peek()
        {
            return Some(packet);
        }
        if self.has_others {
            return self.peek_at_all();
        }
        let slot = self.shm.peek()?;
        Some(self.shm.unpacked(slot))
    }

    /// As [`Self::peek`], where there is a fabric or a link, too.
    #[cold]
    #[inline(never)]
    fn peek_at_all(&mut self) -> Option<Packet> {
        self.shown = None;
        if let Some(net) = &mut self.net
            && (net.has_packet() || net.is_due() && net.look() && net.has_packet())
        {
            return net.peek();
        }
        let segments = 1 + self.links.len();
        for _ in 0..segments {
            if self.turn >= segments {
                self.turn = 0;
            }
            let Some(link) = self.turn.checked_sub(1) else {
                if let Some(slot) = self.shm.peek() {
                    if let Some(net) = &mut self.net {
                        net.node_is_busy();
                    }
                    return Some(self.shm.unpacked(slot));
                }
                self.turn += 1;
                continue;
            };
            if let Some(link) = &mut self.links[link]
                && let Some(slot) = link.end().peek()
            {
                self.shown = Some(self.turn as u16 - 1);
                let mut packet = link.end().unpacked(slot);
                // It has another number at the sender's.
                if packet.header.names_process() {
                    packet.header.source = packet.header.process as i32;
                }
                return Some(packet);
            }
            self.turn += 1;
        }
        None
    }

    /// This process's end of a link.
    fn linked(&mut self, seat: Seat) -> &mut Endpoint {
        match self.links.get_mut(seat.link as usize) {
            Some(Some(link)) => link.end(),
            _ => no_link(),
        }
    }

    fn linked_ref(&self, seat: Seat) -> &Endpoint {
        self.link(seat.link)
            .map_or_else(|| no_link(), Link::end_ref)
    }

    /// The link of this number, while it is there.
    pub fn link(&self, number: u16) -> Option<&Link> {
        self.links.get(number as usize)?.as_deref()
    }

    /// See [`peer::Page::revoke_addresses`].
    #[cold]
    pub fn revoke_addresses(&self) {
        self.table.own().revoke_addresses();
        self.links().for_each(|link| link.own().revoke_addresses());
    }

    /// All links.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().flatten().map(|link| &**link)
    }

    /// Takes a link in. Returns its number.
    pub fn add_link(&mut self, link: Link) -> u16 {
        self.has_others = true;
        let free = self.links.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.links.push(None);
            self.links.len() - 1
        });
        self.links[number] = Some(Box::new(link));
        number as u16
    }

    /// Ends a link, to which nothing refers any more.
    pub fn remove_link(&mut self, number: u16) {
        self.links[number as usize] = None;
        while let Some(None) = self.links.last() {
            self.links.pop();
        }
        self.has_others = self.net.is_some() || !self.links.is_empty();
        self.shown = None;
    }

    /// The payload of the packet that [`Self::peek`] showed.
    #[inline(always)]
    pub fn payload(&self, packet: &Packet, take: impl FnMut(usize, &[u8])) {
        #[cfg(test)]
        if self.is_looped(packet) {
            return self.loopback.as_ref().unwrap().payload(take);
        }
        if self.has_others {
            if let Some(net) = &self.net
                && net.is_shown()
            {
                return net.payload(take);
            }
            if let Some(number) = self.shown
                && let Some(link) = self.link(number)
            {
                return link.end_ref().payload(&packet.slot, take);
            }
        }
        self.shm.payload(&packet.slot, take);
    }

    /// Gives the packet that [`Self::peek`] showed back.
    #[inline(always)]
    pub fn done(&mut self, packet: &Packet) {
        #[cfg(test)]
        if self.is_looped(packet) {
            return self.looped().done();
        }
        if self.has_others {
            if let Some(net) = &mut self.net
                && net.is_shown()
            {
                return net.done();
            }
            if let Some(number) = self.shown
                && let Some(Some(link)) = self.links.get_mut(number as usize)
            {
                return link.end().done(&packet.slot);
            }
        }
        self.shm.done(&packet.slot);
    }

    /// Whether a peer wants data to be held back, as of the last check for space.
    #[inline]
    pub fn is_held(&mut self, to: Route) -> bool {
        match to {
            Route::Shm(index) => self.shm.is_held(index as usize),
            Route::Link(seat) => self.linked(seat).is_held(seat.index()),
            Route::Net(index) => self.remote().is_held(index),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().is_held(index),
            Route::Own => false,
        }
    }

    /// Whether nothing goes on here but by packets and records that are counted: see [`Net::is_settled`].
    pub fn is_settled(&self) -> bool {
        self.net.as_ref().is_none_or(|net| net.is_settled())
    }

    /// Whether a packet that finds no room on a route waits for its receiver and nothing else.
    pub fn waits_for_peer(&self, to: Route) -> bool {
        match (to, &self.net) {
            (Route::Net(process), Some(net)) => net.waits_for_peer(process),
            _ => true,
        }
    }

    /// Whether no packet that came through memory lies behind one that its sender has begun and not written.
    pub fn has_read_all(&self) -> bool {
        self.shm.has_read_all() && self.links().all(|link| link.end_ref().has_read_all())
    }

    /// Lets packets pass although data is to be held back, or not any more.
    #[cold]
    pub fn pass(&mut self, to: Route, passes: bool) {
        match to {
            Route::Shm(index) => self.shm.pass(index as usize, passes),
            Route::Link(seat) => self.linked(seat).pass(seat.index(), passes),
            Route::Net(index) => self.remote().pass(index, passes),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().pass(index, passes),
            Route::Own => {}
        }
    }

    /// Wants the origin of the packet that [`Self::peek`] showed to hold data back, and perhaps others that share its way.
    #[cold]
    pub fn hold(&mut self, origin: Route) {
        match origin {
            Route::Shm(_) => self.shm.hold(),
            Route::Link(seat) => self.linked(seat).hold(),
            Route::Net(index) => self.remote().hold(index, true),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().hold(index, true),
            Route::Own => {}
        }
    }

    /// Takes back [`Self::hold`]; `from_all`: also in the receive queue that all peers share.
    #[cold]
    pub fn end_hold(&mut self, origin: Route, from_all: bool) {
        match origin {
            Route::Shm(index) => self.shm.end_hold(index as usize, from_all),
            Route::Link(seat) => self.linked(seat).end_hold(seat.index(), from_all),
            Route::Net(index) => self.remote().hold(index, false),
            #[cfg(test)]
            Route::Loopback(index) => self.looped().hold(index, false),
            Route::Own => {}
        }
    }

    /// See [`Endpoint::pass_over_the_dead`].
    #[cold]
    pub fn pass_over_the_dead(&mut self) {
        self.shm.pass_over_the_dead();
        for link in self.links.iter_mut().flatten() {
            link.end().pass_over_the_dead();
        }
    }

    /// Dies between claim and commit of a packet to the first process of this host.
    #[cfg(test)]
    pub fn leave_open(&mut self, slots: u32) {
        self.shm.leave_open(0, slots);
    }

    /// Says that a push found no room, before sleeping.
    pub fn request_space(&self, to: Route) {
        match to {
            Route::Shm(index) => self.shm.request_space(index as usize),
            Route::Link(seat) => self.linked_ref(seat).request_space(seat.index()),
            _ => {}
        }
    }

    /// Fills a copy buffer for a peer; its name goes into a packet.
    #[inline]
    pub fn fill_cell(
        &mut self,
        to: Route,
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<CellName, Lack> {
        match to {
            Route::Shm(index) => self.shm.fill_cell(index as usize, bytes, write),
            _ => Err(Lack::OfMemory),
        }
    }

    /// Whether there are copy buffers for a peer, or may be some.
    #[inline]
    pub fn has_cells(&self, to: Route) -> bool {
        matches!(to, Route::Shm(_)) && self.shm.has_cells()
    }

    /// Takes back a copy buffer whose packet could not be sent.
    pub fn take_back(&mut self, name: CellName) {
        self.shm.take_back(name);
    }

    /// Reads a copy buffer that a packet has named.
    #[inline]
    pub fn read_cell(
        &self,
        packet: &Packet,
        cell: CellName,
        bytes: usize,
        take: impl FnOnce(&[u8]),
    ) {
        self.shm
            .read_cell(packet.slot.origin as usize, cell, bytes, take);
    }

    /// Whether a peer may be able to read this process's memory itself.
    #[inline]
    pub fn may_be_readable(&self, peer: Route) -> bool {
        matches!(peer, Route::Shm(_) | Route::Link(_))
    }

    /// The process id by which this process may read the memory of that one, if the kernel allows it.
    pub fn readable(&self, process: u32) -> Option<i32> {
        let peer = self.table.of(process);
        match peer.route {
            Route::Net(_) if peer.seat.is_none() => None,
            Route::Shm(_) | Route::Own | Route::Net(_) | Route::Link(_) => {
                peer.page.readable_by_id()
            }
            #[cfg(test)]
            Route::Loopback(_) => None,
        }
    }

    /// Tells the others of the node which core this process runs on.
    #[inline]
    pub fn tell_core(&mut self) {
        self.shm.tell_core();
    }

    /// How far the caches of this process's core are from those of a peer's, as the node knows it.
    #[inline]
    pub fn distance(&mut self, peer: Route) -> CacheDistance {
        match peer {
            Route::Shm(index) => self.shm.distance(index as usize),
            Route::Link(seat) => self.linked(seat).distance(seat.index()),
            _ => CacheDistance::Shared,
        }
    }

    /// How far away the farthest of some processes of this node is, asked now.
    #[cold]
    pub fn farthest(&self, processes: impl Iterator<Item = u32>) -> Sight {
        self.shm.farthest(
            processes.filter_map(|process| match self.table.of(process).route {
                Route::Shm(index) => Some(index as usize),
                _ => None,
            }),
        )
    }

    /// Takes part in measuring that, for a peer that wants to know.
    #[inline]
    pub fn answer(&self, peer: Route) {
        match peer {
            Route::Shm(index) => self.shm.answer(index as usize),
            Route::Link(seat) => self.linked_ref(seat).answer(seat.index()),
            _ => {}
        }
    }

    /// Gives all peers this distance.
    #[cfg(test)]
    pub fn pretend(&mut self, distance: CacheDistance) {
        self.shm.pretend(distance);
    }

    /// Says that ranks share cores, or not.
    pub fn set_oversubscribed(&mut self, oversubscribed: bool) {
        self.shm.set_oversubscribed(oversubscribed);
        for link in self.links.iter_mut().flatten() {
            link.end().set_oversubscribed(oversubscribed);
        }
    }

    /// Wakes a peer if it sleeps, after something was stored for it.
    #[inline]
    pub fn wake(&self, peer: Route) {
        match peer {
            Route::Shm(index) => self.shm.wake(index as usize),
            Route::Link(seat) => self.linked_ref(seat).wake(seat.index()),
            _ => {}
        }
    }

    /// Lets [`heap`] and [`desks`] find those of this process's node.
    pub fn publish_heap(&self) {
        HEAP.get_or_init(|| self.shm.heap());
        DESKS.get_or_init(|| self.shm.desks());
    }

    /// Wakes the threads that sleep for a peer's first engine, as windows need it; `None` without a way to it.
    pub fn notifier_of(&self, process: u32) -> Option<FirstNotifier> {
        let peer = self.table.of(process);
        match peer.route {
            Route::Own => Some(FirstNotifier::of(self.shm.own_page())),
            // Windows of pretended nodes are in the memory that their processes share all the same.
            Route::Shm(_) | Route::Net(_) => {
                let seat = peer.seat?;
                Some(self.shm.notifier_of(seat as usize))
            }
            Route::Link(_) => None,
            #[cfg(test)]
            Route::Loopback(_) => None,
        }
    }

    /// Wakes the threads that sleep for this engine.
    pub fn notifier(&self) -> Notifier {
        self.shm.notifier()
    }

    /// Where the threads of this process sleep.
    pub fn waiter(&self) -> Waiter {
        Waiter::new(self.shm.own_page())
    }

    /// Whether this process can make every core of its threads execute a fence.
    pub fn can_fence_all(&self) -> bool {
        self.shm.can_fence_all()
    }

    /// The node's memory, for collective operations.
    pub fn node_memory(&self) -> &Endpoint {
        &self.shm
    }
}

/// The engine delivers messages of a process to itself, so the transport never sees them.
#[cold]
#[inline(never)]
fn no_transport() -> ! {
    unreachable!("a packet of this process to itself came to the transport")
}

#[cold]
#[inline(never)]
fn no_link() -> ! {
    unreachable!("a route by a link that has ended")
}

#[cfg(test)]
impl Transport {
    /// An end that reaches some peers through queues in this process.
    pub fn with_loopback(table: Arc<Table>, shm: Endpoint, loopback: loopback::End) -> Self {
        Self {
            loopback: Some(loopback),
            ..Self::new(table, shm)
        }
    }

    /// Joins a segment that several processes of a test share with its mapping.
    pub fn join_for_test(
        fd: std::os::fd::OwnedFd,
        map: &'static crate::os::memory::Mapping,
        me: usize,
        processes: &[u32],
    ) -> Endpoint {
        Endpoint::join_mapped(fd, map, me, processes).expect("a segment of the test")
    }

    /// Whether packets from one process to another stay under way, where the route between them is the loopback.
    pub fn set_late(&mut self, from: u32, to: u32, is_late: bool) {
        let me = self.table.me();
        let other = if me == from { to } else { from };
        if matches!(self.table.of(other).route, Route::Loopback(_)) {
            self.looped().set_late(from, to, is_late);
        }
    }

    fn looped(&mut self) -> &mut loopback::End {
        self.loopback.as_mut().expect("a route by loopback")
    }

    fn is_looped(&self, packet: &Packet) -> bool {
        matches!(self.table.of(packet.process).route, Route::Loopback(_))
    }
}
