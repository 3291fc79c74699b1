//! A rank's end of a segment: where its packets go out and come in, its copy buffers, areas and notifiers.
//!
//! Invariant: packets to one peer leave by one ring at a time. The switch from the peer's inbox to a private ring is
//! itself the last packet in the inbox, and the peer polls the private ring only after it has read that packet.

mod join;

use super::cells::{self, CellName, Lack, Pool};
use super::desks::Desks;
use super::heap::Heap;
use super::inbound::Inbound;
use super::layout::RankPage;
use super::notifier::{FirstNotifier, Notifier};
use super::outbound::{ASKS, Common, KIND_BULK_RING, Outbound};
use super::pace::Plan;
use super::settings::{self, Other};
use super::staging::area::{Area, Geometry, Told};
use crate::node::Node;
use crate::node::distance::{CacheDistance, Sight};
use crate::queue::ring::SlotHeader;
use crate::sync::Ordering;
use crate::transport::peer::Page;
use crate::transport::wire::Header;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

pub use crate::queue::channel::RING_PAYLOAD;

/// This rank's transport within the node.
pub struct Endpoint {
    pub(super) common: Common,
    fd: Arc<OwnedFd>,
    /// The job's numbers of the ranks.
    pub(super) processes: Arc<[u32]>,
    out: Vec<Outbound>,
    inbound: Inbound,
    pool: Pool,
    fences: bool,
    /// Cache distance of every peer, in tests.
    #[cfg(test)]
    pretended: Option<CacheDistance>,
}

impl Endpoint {
    /// This rank's view of the node's heap.
    pub fn heap(&self) -> Heap {
        Heap::new(self.common.segment, self.fd.clone(), self.common.me)
    }

    /// The desks of the node's communicators.
    pub fn desks(&self) -> Desks {
        Desks::new(self.common.segment, self.fd.clone(), self.common.me)
    }

    /// Compares the settings that must be equal on all ranks with those of the rank that joined first. Call once, after `join`.
    ///
    /// Errors: what that rank has instead.
    pub fn compare_settings(&self, hash: u64, values: &[u64]) -> std::result::Result<(), Other> {
        let Common { segment, me, .. } = self.common;
        let of = |rank| (rank < segment.ranks()).then(|| &segment.rank(rank).settings);
        settings::compare(&segment.header().settings, of, me, hash, values)
    }

    /// The number of the engine that this is the end of.
    pub fn engine(&self) -> usize {
        self.common.engine
    }

    pub(super) fn ranks(&self) -> usize {
        self.out.len()
    }

    pub(super) fn page(&self, rank: usize) -> &'static RankPage {
        self.common.segment.rank(rank)
    }

    /// What the rank with this place in the segment publishes.
    pub fn status(&self, rank: usize) -> &'static Page {
        &self.page(rank).status
    }

    /// The page of this rank.
    pub fn own_page(&self) -> &'static RankPage {
        self.page(self.common.me)
    }

    /// The node whose ranks share the segment.
    pub fn node(&self) -> Node {
        Node::new(&self.common.segment.header().node, self.ranks())
    }

    /// Sends one packet of at most [`RING_PAYLOAD`] bytes to `peer`: `fill(offset, piece)` is called for the pieces of
    /// the payload. False: no room now.
    #[inline(always)]
    pub fn push(
        &mut self,
        peer: usize,
        header: &Header,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        let header = self.packed(header);
        let out = &mut self.out[peer];
        let done = match out.ring() {
            Some(ring) => {
                let done = ring.push(&header, fill);
                ring.prefetch();
                done
            }
            None => out.push(&self.common, self.fd.as_fd(), peer, &{ header }, fill),
        };
        if done {
            out.notifier().wake(self.fences);
        }
        done
    }

    /// Whether packets of up to [`crate::queue::bulk_ring::LONGEST_PAYLOAD`] bytes can be sent to `peer`, for a message of so many.
    #[inline]
    pub fn has_bulk_ring(&mut self, peer: usize, bytes: usize) -> bool {
        self.out[peer].has_bulk_ring(&self.common, self.fd.as_fd(), bytes)
    }

    /// How the next part of a message of `total` bytes is to be sent to a peer that has a bulk ring.
    #[inline]
    pub fn plan(&mut self, peer: usize, total: usize) -> Plan {
        let sight = self.look_at(peer);
        self.out[peer].grow_when_due(&self.common, self.fd.as_fd());
        self.out[peer].plan(total, sight)
    }

    /// As [`Self::push`], through the bulk ring and according to `plan`.
    #[inline]
    pub fn push_large(
        &mut self,
        peer: usize,
        header: &Header,
        plan: Plan,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        let header = &self.packed(header);
        let out = &mut self.out[peer];
        let done = out.push_large(header, plan, fill);
        if done {
            out.notifier().wake(self.fences);
        }
        done
    }

    /// The next packet that has come in, from rings in turn. The engine reads its payload and then says [`Self::done`].
    #[inline(always)]
    pub fn peek(&mut self) -> Option<SlotHeader> {
        let header = self.inbound.peek()?;
        if header.kind >= KIND_BULK_RING {
            // Here and below the cold way gets a copy: a header whose address is taken would be written to memory.
            self.accept(&{ header });
            return self.peek_again();
        }
        Some(header)
    }

    /// Whether no packet lies behind one that its sender has begun and not written.
    pub fn has_read_all(&self) -> bool {
        self.inbound.has_read_all()
    }

    #[cold]
    #[inline(never)]
    fn peek_again(&mut self) -> Option<SlotHeader> {
        self.peek()
    }

    /// Takes a ring or a bulk ring into use that a peer has announced.
    #[cold]
    #[inline(never)]
    fn accept(&mut self, header: &SlotHeader) {
        let announced = self.inbound.announced(header);
        self.done(header);
        self.inbound.accept(self.common.segment, header, announced);
    }

    /// The payload of the packet that [`Self::peek`] showed.
    #[inline(always)]
    pub fn payload(&self, header: &SlotHeader, take: impl FnMut(usize, &[u8])) {
        if header.flags & ASKS != 0 {
            self.answer(header.origin as usize);
        }
        self.inbound.payload(header, take);
    }

    /// Gives the packet that [`Self::peek`] showed back to its ring.
    #[inline(always)]
    pub fn done(&mut self, header: &SlotHeader) {
        if self.inbound.done(header) {
            self.wake_producers(self.inbound.origin());
        }
    }

    #[cold]
    fn wake_producers(&self, origin: Option<usize>) {
        match origin {
            Some(peer) => self.out[peer].notifier().wake(true),
            None => self.out.iter().for_each(|out| out.notifier().wake(true)),
        }
    }

    /// Claims slots of a peer's inbox and never fills them, where packets to it still go there.
    #[cfg(test)]
    pub fn leave_open(&mut self, peer: usize, slots: u32) {
        self.out[peer].leave_open(slots);
    }

    /// Passes over what ranks that have died claimed of the inbox and never filled, so that it shows what others have put behind it, and takes
    /// cells back that were lent to them. To be called from time to time once a rank has died.
    #[cold]
    pub fn pass_over_the_dead(&mut self) {
        let Common {
            segment,
            me,
            engine,
            ranks,
            ..
        } = self.common;
        // One whose exit handlers run may still have a thread that fills what it has claimed.
        let has_ended = |rank: usize| segment.rank(rank).status.stores_no_more();
        self.pool.take_back_from(|rank| has_ended(rank as usize));
        let claim = |rank| {
            // Liveness first: a dead rank claims nothing any more, so the claim read after that is its last.
            let lives = !has_ended(rank);
            (segment.rank(rank).claims[engine].read(), lives)
        };
        let inbox = self.inbound.inbox();
        let mut has_room = false;
        while let Some(slots) = inbox.abandoned(me as u16, || (0..ranks).map(claim).collect()) {
            has_room |= inbox.pass_over(slots);
        }
        if has_room {
            self.wake_producers(None);
        }
    }

    /// Whether `peer` wants data to be held back, as of the last check for space.
    #[inline]
    pub fn is_held(&mut self, peer: usize) -> bool {
        self.out[peer].is_held()
    }

    /// Lets packets to `peer` pass although data is to be held back, or not any more.
    #[cold]
    pub fn pass(&mut self, peer: usize, passes: bool) {
        self.out[peer].pass(passes);
    }

    /// Wants the origin of the packet that [`Self::peek`] showed to hold data back; so do others that use the inbox, if it came
    /// there.
    #[cold]
    pub fn hold(&self) {
        self.inbound.hold();
    }

    /// Takes that back; `from_all`: nobody is to hold anything back.
    #[cold]
    pub fn end_hold(&self, origin: usize, from_all: bool) {
        self.inbound.end_hold(origin, from_all);
    }

    /// Says that a push to `peer` found no room, before sleeping.
    pub fn request_space(&self, peer: usize) {
        self.out[peer].request_space();
    }

    /// Fills a cell for `peer`; its name goes into a packet.
    #[inline]
    pub fn fill_cell(
        &mut self,
        peer: usize,
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> std::result::Result<CellName, Lack> {
        let segment = self.common.segment;
        let fd = self.fd.as_fd();
        self.pool.fill(segment, fd, peer as u32, bytes, write)
    }

    /// Whether there are cells, or may be some.
    #[inline]
    pub fn has_cells(&self) -> bool {
        self.pool.has_some()
    }

    /// Tells the others which core this rank runs on.
    #[inline]
    pub fn tell_core(&self) {
        self.common.tell_core();
    }

    /// Whether `peer` ran on this very core when it last published its core.
    #[inline]
    fn shares_core(&self, peer: usize) -> bool {
        let core = |rank| self.page(rank).core.load(Ordering::Relaxed);
        core(self.common.me) != 0 && core(self.common.me) == core(peer)
    }

    /// How far the caches of this rank's core are from those of a peer's.
    #[inline]
    pub fn distance(&mut self, peer: usize) -> CacheDistance {
        self.look_at(peer).0
    }

    /// That, and whether the peer is to ask, too. Ranks that share cores change them from message to message.
    #[inline]
    fn look_at(&mut self, peer: usize) -> (CacheDistance, bool) {
        #[cfg(test)]
        if let Some(distance) = self.pretended {
            return (distance, false);
        }
        if self.common.oversubscribed && self.shares_core(peer) {
            return (CacheDistance::SameCore, false);
        }
        let common = &self.common;
        self.out[peer].distance(|| common.sight(peer))
    }

    /// Asks how far away `peer` is, which wants to know: both have to, where that is measured.
    #[cold]
    pub fn answer(&self, peer: usize) {
        self.common.sight(peer);
    }

    /// How far away the farthest of some ranks is, asked now.
    #[cold]
    pub fn farthest(&self, ranks: impl Iterator<Item = usize>) -> Sight {
        let sights = ranks.map(|rank| self.common.sight(rank));
        sights.fold(Sight::SAME_CORE, Sight::or_farther)
    }

    /// Tells whether ranks share cores, see [`Common::oversubscribed`].
    pub fn set_oversubscribed(&mut self, oversubscribed: bool) {
        self.common.oversubscribed = oversubscribed;
    }

    /// Says how far apart all ranks are.
    #[cfg(test)]
    pub fn pretend(&mut self, distance: CacheDistance) {
        self.pretended = Some(distance);
    }

    /// Takes back a cell whose packet could not be sent.
    pub fn take_back(&mut self, name: CellName) {
        self.pool.take_back(name);
    }

    /// Reads a cell that a packet of `origin` named.
    #[inline]
    pub fn read_cell(&self, origin: usize, cell: CellName, bytes: usize, take: impl FnOnce(&[u8])) {
        cells::read(self.common.segment, cell, bytes, take)
            .unwrap_or_else(|| panic!("rank {origin} named a cell at {}", cell.0));
        if self.common.oversubscribed {
            self.answer(origin);
        }
        if let Some(out) = self.out.get(origin) {
            out.notifier().wake(self.fences);
        }
    }

    /// Makes a staging area for these ranks of this node, this one first. `None`: there is no memory for it.
    pub fn make_area(&self, geometry: Geometry, ranks: impl Iterator<Item = u32>) -> Option<Told> {
        let (segment, me) = (self.common.segment, self.common.me as u32);
        Area::make(segment, self.fd.as_fd(), geometry, me, ranks)
    }

    /// The staging area that another rank told, see [`Area::open`].
    pub fn area(&self, told: Told, geometry: Geometry, rank: usize) -> Option<Area> {
        Area::open(self.common.segment, told, geometry, rank)
    }

    /// Gives an area large rings, see [`Area::make_large`].
    pub fn make_large_rings(&self, area: &Area) {
        area.make_large(self.common.segment, self.fd.as_fd());
    }

    /// Looks for them, see [`Area::open_large`].
    pub fn open_large_rings(&self, area: &mut Area) -> bool {
        area.open_large(self.common.segment)
    }

    /// Wakes a rank if it sleeps, after something was stored for it.
    #[inline]
    pub fn wake(&self, rank: usize) {
        self.out[rank].notifier().wake(self.fences);
    }

    /// Wakes the threads that sleep for a rank's first engine.
    pub fn notifier_of(&self, rank: usize) -> FirstNotifier {
        FirstNotifier::of(self.page(rank))
    }

    /// Wakes the threads that sleep for this end's engine.
    pub fn notifier(&self) -> Notifier {
        Notifier::of(self.page(self.common.me), self.common.engine)
    }

    /// Whether this process can make every core of its threads execute a fence.
    pub fn can_fence_all(&self) -> bool {
        !self.fences
    }

    /// Whether every rank of the node is reached by a sleeper's fence; if not, sleep for short times only.
    pub fn fences_reach_all(&self) -> bool {
        self.common.segment.header().fences.load(Ordering::SeqCst) == 0
    }

    /// Wakes a rank's threads whether they have announced themselves or not.
    pub fn notify(&self, rank: usize) {
        self.out[rank].notifier().notify();
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{initialise, segment_bytes};
    use super::super::pace::Stores;
    use super::*;
    use crate::os::memory;

    /// A core that no machine has.
    const ELSEWHERE: u32 = 1000;

    fn joined(ranks: usize) -> Vec<Endpoint> {
        let fd = memory::create("test", segment_bytes(ranks), false).unwrap();
        initialise(fd.as_fd(), ranks).unwrap();
        let processes: Vec<u32> = (0..ranks as u32).collect();
        let join = |me| Endpoint::join(fd.try_clone().unwrap(), me, &processes).unwrap();
        (0..ranks).map(join).collect()
    }

    /// Something larger until `peer` has a large bulk ring.
    fn grow(end: &mut Endpoint, peer: &mut Endpoint) {
        let header = Header {
            kind: 1,
            length: 10_000,
            ..Header::default()
        };
        for _ in 0..200 {
            if end.has_bulk_ring(1, 1) {
                let plan = end.plan(1, 10_000);
                assert!(end.push_large(1, &header, plan, |_, piece| piece.fill(0)));
            } else {
                assert!(end.push(1, &Header::default(), |_, _| {}));
            }
            while let Some(header) = peer.peek() {
                peer.payload(&header, |_, _| {});
                peer.done(&header);
            }
        }
    }

    #[test]
    fn all_who_ask_how_far_a_rank_is_get_one_answer() {
        for (distance, stores) in [
            (CacheDistance::Far, Stores::NonTemporal),
            (CacheDistance::Shared, Stores::Ordinary),
        ] {
            let [mut one, mut two]: [Endpoint; 2] = joined(2).try_into().ok().unwrap();
            grow(&mut one, &mut two);
            let known = |end: &Endpoint| {
                let page = end.page(1);
                page.core.store(ELSEWHERE + 1, Ordering::Relaxed);
                end.node().pretend(ELSEWHERE as usize, distance);
            };
            known(&one);
            assert_eq!(one.reserve_engines(2), 2);
            let mut for_engine = one.for_engine(1);
            for _ in 0..100 {
                one.distance(1);
            }
            assert_eq!(one.distance(1), distance);
            assert_eq!(for_engine.distance(1), distance);
            assert_eq!(one.farthest(0..2), for_engine.farthest(0..2));
            assert_eq!(one.farthest(0..2).distance, distance);
            assert_eq!(one.plan(1, 10_000).stores, stores);
            assert_eq!(one.plan(1, 1 << 20).stores, Stores::for_much(distance));
            assert_eq!(one.plan(1, 100).stores, Stores::Ordinary);
        }
    }

    #[test]
    fn a_small_bulk_ring_that_may_grow_gets_ordinary_stores() {
        let [mut one, two]: [Endpoint; 2] = joined(2).try_into().ok().unwrap();
        one.pretend(CacheDistance::Far);
        while !one.has_bulk_ring(1, 1) {
            assert!(one.push(1, &Header::default(), |_, _| {}));
        }
        assert_eq!(one.plan(1, 1 << 20).stores, Stores::Ordinary);
        drop(two);
    }
}
