//! What a rank keeps for each peer it sends to: the channel, and how much of it there is by now.
//!
//! Invariant: a bulk ring or a private ring is used only after the peer was told by a packet in what was used before. Memory
//! follows traffic: a pair that exchanges little has the peer's inbox and nothing of its own.

use super::layout::{RankPage, Segment};
use super::notifier::Notifier;
use super::pace::{FEW_PIECES, LONGEST_WHOLE, Plan, Stores};
use crate::node::Node;
use crate::node::distance::{CacheDistance, Sight, Watch};
use crate::os::schedule;
use crate::queue::bulk_ring;
use crate::queue::channel::Sender;
use crate::queue::ring::{Producer, SlotHeader};
use crate::sync::Ordering;
use std::io;
use std::os::fd::BorrowedFd;

/// The packet that announces a private ring; other kinds are the engine's.
pub const KIND_RING: u8 = 255;
/// The packet that announces a bulk ring.
pub const KIND_BULK_RING: u8 = 254;
/// Flag of a header: the reader is to ask the node how far it is from the sender, which measures that.
pub const ASKS: u8 = 32;
/// Flag of a header: the payload was written with non-temporal stores, so its lines come from memory.
pub const NONTEMPORAL: u8 = 16;
/// Packets in the inbox before a sender asks for a ring of its own, at least; half the number of ranks where that is
/// more, so that a few barriers do not make rings.
const PRIVATE_RING_AFTER: u32 = 4;
/// Larger messages to a peer, or pieces of them, before it gets a bulk ring.
const BULK_RING_AFTER: u32 = 8;
/// Private rings a receiver accepts: memory grows with the ranks, not with their square.
const MOST_PRIVATE: u32 = 32;
/// Slots of a first bulk ring, 80 KB where there are few ranks.
const FIRST_SLOTS: usize = 13 + bulk_ring::END_SLOTS;
/// Slots of a bulk ring for a lot of data: 2 MB, more than a core's own caches.
const MOST_SLOTS: usize = 408 + bulk_ring::END_SLOTS;
/// Bytes through a first bulk ring before there is a large one.
const GROW_AFTER: u64 = 256 << 10;
/// All bulk rings of one size of a node together, bytes.
const NODE_BYTES: usize = 64 << 20;
/// Below this a larger bulk ring is not worth it.
const LEAST_GROWTH: usize = 4 * FIRST_SLOTS;

/// How far a pair's channel has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Nothing was sent yet, and the peer may not use this engine yet.
    Unused,
    Inbox,
    /// No private ring was to be had: the inbox for good.
    InboxForGood,
    Ring,
    SmallBulkRing,
    LargeBulkRing,
}

/// See the module.
pub struct Outbound {
    channel: Sender<'static>,
    stage: Stage,
    /// Packets sent, while that still decides something.
    packets: u32,
    /// Larger messages, likewise.
    large: u32,
    bytes: u64,
    /// Where the ring (of no slots) or bulk ring is that there was no room to announce yet, and its slots.
    unannounced: Option<(usize, usize)>,
    notifier: Notifier,
    watch: Watch,
    /// There is no room for a larger bulk ring.
    stays_small: bool,
}

/// What a rank's outbound channels have in common.
#[derive(Clone, Copy)]
pub struct Common {
    pub segment: Segment<'static>,
    pub me: usize,
    /// The number of the engine: packets go to the peer's engine of the same number.
    pub engine: usize,
    pub ranks: usize,
    /// More ranks than cores: the reader may run on the writer's core next, which has the lines of a small bulk ring; one
    /// that is larger than the caches is no good.
    pub oversubscribed: bool,
}

impl Common {
    /// Tells the others which core this rank runs on: its number, and 1; 0 is unknown.
    pub fn tell_core(&self) -> u32 {
        let core = schedule::core().map_or(0, |core| core + 1);
        let told = &self.segment.rank(self.me).core;
        if told.load(Ordering::Relaxed) != core {
            told.store(core, Ordering::Relaxed);
        }
        core
    }

    /// How far this rank's core is from that of a peer, as the node knows it.
    #[cold]
    #[inline(never)]
    pub fn sight(&self, peer: usize) -> Sight {
        let mine = self.tell_core();
        let theirs = self.segment.rank(peer).core.load(Ordering::Relaxed);
        let node = Node::new(&self.segment.header().node, self.ranks);
        match (mine.checked_sub(1), theirs.checked_sub(1)) {
            (Some(mine), Some(theirs)) => node.distance(mine as usize, theirs as usize),
            _ => Sight::UNKNOWN,
        }
    }

    /// Slots of the first bulk rings, so that all that there may be fit into the node's share.
    fn first_slots(&self) -> usize {
        let pairs = self.ranks * self.ranks.min(MOST_PRIVATE as usize);
        (NODE_BYTES / pairs / bulk_ring::SLOT_BYTES).clamp(bulk_ring::LEAST_SLOTS, FIRST_SLOTS)
    }
}

impl Outbound {
    /// To a peer that is woken by what is in the page `bell`.
    pub fn new(common: &Common, peer: usize, bell: &'static RankPage) -> Self {
        let Common {
            segment,
            me,
            engine,
            ..
        } = *common;
        let claim = &segment.rank(me).claims[engine];
        Self {
            // An unused one is given the right ring before anything is sent.
            channel: Sender::new(segment.inbox(peer).producer(claim, peer as u16)),
            stage: match engine {
                0 => Stage::Inbox,
                _ => Stage::Unused,
            },
            packets: 0,
            large: 0,
            bytes: 0,
            unannounced: None,
            notifier: Notifier::of(bell, engine),
            watch: Watch::new(),
            stays_small: false,
        }
    }

    /// See [`Producer::leave_open`].
    #[cfg(test)]
    pub fn leave_open(&mut self, slots: u32) {
        if let Some(ring) = self.channel.ring() {
            ring.leave_open(slots);
        }
    }

    #[inline(always)]
    pub fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    /// See [`Sender::is_held`].
    #[inline]
    pub fn is_held(&mut self) -> bool {
        self.channel.is_held()
    }

    /// See [`Sender::pass`].
    pub fn pass(&mut self, passes: bool) {
        self.channel.pass(passes);
    }

    pub fn request_space(&self) {
        self.channel.request_space();
    }

    /// The ring that the next small packet goes to, unless that needs thought ([`Self::push`]).
    #[inline(always)]
    pub fn ring(&mut self) -> Option<&mut Producer<'static>> {
        if self.stage <= Stage::Inbox {
            return None;
        }
        self.channel.ring()
    }

    /// Sends a small packet where [`Self::ring`] gives none. False: no room.
    pub fn push(
        &mut self,
        common: &Common,
        fd: BorrowedFd<'_>,
        peer: usize,
        header: &SlotHeader,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        if self.stage == Stage::Unused && !self.begin(common, peer) {
            return false;
        }
        if self.stage == Stage::Inbox {
            self.count_packet(common, fd, peer);
        }
        self.channel.push(header, fill)
    }

    /// The first packet to this peer. False: it does not use the engine yet.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, common: &Common, peer: usize) -> bool {
        let Some(inbox) = common.segment.sender(common.me, peer, common.engine) else {
            return false;
        };
        self.channel = Sender::new(inbox);
        self.stage = Stage::Inbox;
        true
    }

    /// Counts a packet to the inbox, and changes over to a private ring when there were enough.
    #[cold]
    #[inline(never)]
    fn count_packet(&mut self, common: &Common, fd: BorrowedFd<'_>, peer: usize) {
        self.packets += 1;
        if self.packets < PRIVATE_RING_AFTER.max(common.ranks as u32 / 2) && common.ranks > 2 {
            return;
        }
        // Without memory for a private ring the inbox goes on serving.
        self.stage = Stage::InboxForGood;
        let accepted = &common.segment.rank(peer).private_rings;
        if self.unannounced.is_none() && accepted.fetch_add(1, Ordering::Relaxed) >= MOST_PRIVATE {
            return;
        }
        let make = || common.segment.allocate_private(fd);
        let Some(offset) = self.made(0, make) else {
            return;
        };
        let Some(ring) = common.segment.private(offset) else {
            return;
        };
        if self.announce(common, KIND_RING, offset, 0) {
            // SAFETY: this rank has allocated the ring, and nobody else sends through it.
            self.channel = Sender::new(unsafe { ring.sole_producer() });
            self.stage = Stage::Ring;
        } else {
            // The inbox is full: ask again with the next packet.
            self.unannounced = Some((offset, 0));
            self.stage = Stage::Inbox;
        }
    }

    /// What was made before and not announced, or something new: what is announced in vain may be tried with each look of a
    /// call that waits.
    fn made(&mut self, slots: usize, make: impl FnOnce() -> io::Result<usize>) -> Option<usize> {
        match self.unannounced.take() {
            Some((offset, found)) if found == slots => Some(offset),
            _ => make().ok(),
        }
    }

    fn announce(&mut self, common: &Common, kind: u8, offset: usize, slots: usize) -> bool {
        let header = SlotHeader {
            kind,
            length: 16,
            origin: common.me as u16,
            ..SlotHeader::default()
        };
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&(offset as u64).to_ne_bytes());
        bytes[8..].copy_from_slice(&(slots as u64).to_ne_bytes());
        self.channel.push(&header, |offset, piece| {
            piece.copy_from_slice(&bytes[offset..offset + piece.len()]);
        })
    }

    /// Whether larger packets can be sent, for a message of so many bytes; makes a bulk ring when the traffic asks for it.
    #[inline]
    pub fn has_bulk_ring(&mut self, common: &Common, fd: BorrowedFd<'_>, bytes: usize) -> bool {
        match self.stage {
            Stage::LargeBulkRing | Stage::SmallBulkRing => true,
            Stage::Ring => self.count_large(common, fd, bytes),
            Stage::Unused | Stage::Inbox | Stage::InboxForGood => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn count_large(&mut self, common: &Common, fd: BorrowedFd<'_>, bytes: usize) -> bool {
        // The pieces of a message count, for it cannot change over to the bulk ring once it has begun without.
        self.large = self
            .large
            .saturating_add((1 + bytes / LONGEST_WHOLE) as u32);
        (self.large >= BULK_RING_AFTER || common.ranks <= 2)
            && self.new_bulk_ring(common, fd, common.first_slots(), Stage::SmallBulkRing)
    }

    /// Makes a larger bulk ring when there was enough traffic, before a packet is planned.
    #[inline]
    pub fn grow_when_due(&mut self, common: &Common, fd: BorrowedFd<'_>) {
        if self.stage == Stage::SmallBulkRing && self.bytes > GROW_AFTER {
            self.grow(common, fd);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, common: &Common, fd: BorrowedFd<'_>) {
        let pairs = common.ranks * (common.ranks - 1);
        let slots = (NODE_BYTES / pairs / bulk_ring::SLOT_BYTES).min(MOST_SLOTS);
        if slots < LEAST_GROWTH
            || common.oversubscribed
            || !self.new_bulk_ring(common, fd, slots, Stage::LargeBulkRing)
        {
            self.bytes = 0;
            self.stays_small = true;
        }
    }

    fn new_bulk_ring(
        &mut self,
        common: &Common,
        fd: BorrowedFd<'_>,
        slots: usize,
        stage: Stage,
    ) -> bool {
        let make = || common.segment.allocate_bulk_ring(fd, slots);
        let Some(offset) = self.made(slots, make) else {
            return false;
        };
        let Some(ring) = common.segment.bulk_ring(offset, slots) else {
            return false;
        };
        let done = self.announce(common, KIND_BULK_RING, offset, slots);
        if done {
            // SAFETY: this rank has allocated the bulk ring, and nobody else sends through it.
            self.channel.set_bulk_ring(unsafe { ring.producer() });
            self.stage = stage;
        } else {
            self.unannounced = Some((offset, slots));
        }
        done
    }

    /// How far apart the caches of both cores are, as `ask` says when it is time; and whether the peer is to ask, too.
    #[inline]
    pub fn distance(&mut self, ask: impl FnOnce() -> Sight) -> (CacheDistance, bool) {
        self.watch.look(ask)
    }

    /// How the next part of a message of `total` bytes is to be sent through the bulk ring, at this distance. A small bulk ring
    /// that may still grow stays in the caches.
    #[inline]
    pub fn plan(&self, total: usize, (distance, asks): (CacheDistance, bool)) -> Plan {
        let stores = match self.stage == Stage::LargeBulkRing || self.stays_small {
            true if total > FEW_PIECES => Stores::for_much(distance),
            true => Stores::for_reader(distance),
            false => Stores::Ordinary,
        };
        Plan {
            asks,
            ..Plan::new(stores, total)
        }
    }

    /// Sends a packet through the bulk ring. False: no room.
    #[inline]
    pub fn push_large(
        &mut self,
        header: &SlotHeader,
        plan: Plan,
        fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        self.bytes += u64::from(header.length);
        let mut header = *header;
        if plan.stores == Stores::NonTemporal {
            header.flags |= NONTEMPORAL;
        }
        if plan.asks {
            header.flags |= ASKS;
        }
        self.channel.push_part(&header, plan.align, fill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::memory::{self, Mapping};
    use crate::transport::shm::layout::{initialise, segment_bytes};
    use std::os::fd::AsFd;

    #[test]
    fn what_cannot_be_announced_is_announced_later() {
        let fd = memory::create("test", segment_bytes(2), false).unwrap();
        let fd = fd.as_fd();
        initialise(fd, 2).unwrap();
        let segment = Segment::open(Mapping::of(fd).unwrap().leak(), 2).unwrap();
        let common = Common {
            segment,
            me: 0,
            engine: 0,
            ranks: 2,
            oversubscribed: false,
        };
        let packet = SlotHeader::default();
        let push = |out: &mut Outbound| out.push(&common, fd, 1, &packet, |_, _| {});
        let mut out = Outbound::new(&common, 1, segment.rank(1));
        let mut others = segment.sender(0, 1, 0).unwrap();
        while others.push(&packet, |_, _| {}) {}
        assert!(!push(&mut out));
        let before = segment.allocate(fd, 1).unwrap();
        for _ in 0..100 {
            assert!(!push(&mut out));
        }
        let page = segment.allocate(fd, 1).unwrap() - before;
        assert!(page <= 4096, "{page} bytes for a ring that was made");
        // SAFETY: the test has the only one.
        let mut inbox = unsafe { segment.inbox(1).consumer() };
        while let Some(header) = inbox.peek() {
            inbox.advance(header.length as usize);
        }
        while push(&mut out) {}
        assert_eq!(out.stage, Stage::Ring);
        assert!(!out.has_bulk_ring(&common, fd, 1));
        let before = segment.allocate(fd, 1).unwrap();
        for _ in 0..100 {
            assert!(!out.has_bulk_ring(&common, fd, 1));
        }
        let page = segment.allocate(fd, 1).unwrap() - before;
        assert!(page <= 4096, "{page} bytes for a bulk ring that was made");
    }
}
