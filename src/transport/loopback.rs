//! Queues between engines of one process, in tests: a transport that shares no memory and holds few packets.
//!
//! Packets go as bytes, header and payload, as between nodes. Invariant: packets of one process to another come in the order in
//! which they were sent.

use super::shm::pace::{LONGEST_WHOLE, Plan, Stores};
use super::wire::{Header, Packet};
use crate::queue::ring;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Packets on their way from one process to another.
#[derive(Default)]
struct Link {
    packets: VecDeque<Vec<u8>>,
    /// The receiver wants data to be held back.
    held: bool,
}

/// All queues of a job.
pub struct Net {
    processes: usize,
    /// Packets that a queue holds at most.
    room: usize,
    /// Whether larger packets are taken.
    bulk: bool,
    links: Mutex<Vec<Link>>,
}

/// One process's end.
pub struct End {
    net: Arc<Net>,
    me: u32,
    /// By peer: packets go although data is to be held back.
    passes: Vec<bool>,
    /// Whose packet is looked for next.
    turn: usize,
    /// The packet that was shown last.
    shown: Option<(Header, Vec<u8>)>,
}

impl Net {
    /// Queues of `room` packets each between so many processes.
    pub fn new(processes: usize, room: usize, bulk: bool) -> Arc<Net> {
        let links = (0..processes * processes).map(|_| Link::default());
        Arc::new(Net {
            processes,
            room,
            bulk,
            links: Mutex::new(links.collect()),
        })
    }

    pub fn end(self: &Arc<Self>, me: u32) -> End {
        End {
            net: self.clone(),
            me,
            passes: vec![false; self.processes],
            turn: 0,
            shown: None,
        }
    }

    fn with<T>(&self, from: u32, to: u32, look: impl FnOnce(&mut Link) -> T) -> T {
        look(&mut self.links.lock()[from as usize * self.processes + to as usize])
    }
}

/// How the next part of a message of so many bytes is sent.
pub fn plan(total: usize) -> Plan {
    Plan {
        stores: Stores::Ordinary,
        asks: false,
        chunk: total.min(LONGEST_WHOLE),
        align: 1,
    }
}

impl End {
    /// Sends a packet. False: no room, or the peer wants data to be held back.
    pub fn push(
        &mut self,
        to: u32,
        header: &Header,
        mut fill: impl FnMut(usize, &mut [u8]),
    ) -> bool {
        assert_eq!(header.process, self.me);
        let passes = self.passes[to as usize];
        let room = self.net.room;
        let has_room = |link: &mut Link| link.packets.len() < room && (passes || !link.held);
        if !self.net.with(self.me, to, has_room) {
            return false;
        }
        let mut packet = header.encode().to_vec();
        packet.resize(Header::BYTES + header.length as usize, 0);
        // In pieces, the first one last, as in shared memory.
        let (head, rest) = packet[Header::BYTES..].split_at_mut(8.min(header.length as usize));
        if !rest.is_empty() {
            fill(head.len(), rest);
        }
        if !head.is_empty() {
            fill(0, head);
        }
        self.net
            .with(self.me, to, |link| link.packets.push_back(packet));
        true
    }

    pub fn has_bulk(&self, _to: u32) -> bool {
        self.net.bulk
    }

    /// The next packet, from the peers in turn.
    pub fn peek(&mut self) -> Option<Packet> {
        for _ in 0..self.net.processes {
            if self.shown.is_some() {
                break;
            }
            let from = self.turn as u32;
            let packet = self
                .net
                .with(from, self.me, |link| link.packets.pop_front());
            self.turn = (self.turn + 1) % self.net.processes;
            self.shown = packet.map(|bytes| {
                let (header, payload) = bytes.split_at(Header::BYTES);
                let header = header.try_into().expect("a header in each packet");
                (Header::decode(header), payload.to_vec())
            });
        }
        self.shown.as_ref().map(|(header, _)| Packet {
            header: *header,
            slot: ring::Header::default(),
        })
    }

    /// The payload of the packet that was shown.
    pub fn payload(&self, mut take: impl FnMut(usize, &[u8])) {
        let payload = self.shown.as_ref().map_or(&[][..], |(_, payload)| payload);
        let (head, rest) = payload.split_at(8.min(payload.len()));
        take(0, head);
        if !rest.is_empty() {
            take(head.len(), rest);
        }
    }

    pub fn done(&mut self) {
        self.shown = None;
    }

    pub fn is_held(&self, to: u32) -> bool {
        self.net.with(self.me, to, |link| link.held)
    }

    pub fn pass(&mut self, to: u32, passes: bool) {
        self.passes[to as usize] = passes;
    }

    pub fn hold(&self, from: u32, holds: bool) {
        self.net.with(from, self.me, |link| link.held = holds);
    }
}
