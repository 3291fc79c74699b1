//! Queues between engines of one process, in tests: a transport that shares no memory and holds few packets.
//!
//! Packets go as bytes, header and payload, as between nodes, and announced data straight from buffer to buffer, a part a look of its sender. Invariant: packets of one process to another come in the order in
//! which they were sent.

use super::shm::pace::{LONGEST_WHOLE, Plan, Stores};
use super::straight::Place;
use super::wire::{self, Header, Packet};
use crate::datatype::Buffer;
use crate::queue::ring;
use crate::sync::scheduler;
use crate::sync::{AtomicU64, Ordering};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Packets on their way from one process to another.
#[derive(Default)]
struct Link {
    packets: VecDeque<Vec<u8>>,
    /// The receiver wants data to be held back.
    held: bool,
    /// Packets that were sent do not arrive yet.
    is_late: bool,
}

/// Where data comes straight.
struct Landing {
    token: u32,
    buffer: Buffer,
    /// Bytes that are still to come.
    rest: usize,
}

/// Data that goes straight.
struct Leaving {
    to: u32,
    token: u32,
    buffer: Buffer,
    tag: u64,
    moved: usize,
    bytes: usize,
    /// Of one that was abandoned: the buffer leads there, and its end is not told.
    copy: Option<Box<[u8]>>,
}

/// Bytes that go straight a look.
const PART: usize = 50_000;

/// All queues of a job.
pub struct Net {
    processes: usize,
    /// Packets that a queue holds at most.
    room: usize,
    /// Whether larger packets are taken.
    bulk: bool,
    /// Messages of more bytes than that go straight.
    border: usize,
    links: Mutex<Vec<Link>>,
    /// By receiver and tag.
    landings: Mutex<BTreeMap<(u32, u64), Landing>>,
    /// By receiver: whose data has come, and for what.
    landed: Mutex<Vec<(u32, u32, u32)>>,
    /// Parts of data that have moved: whoever moves one has more to do, though no packet comes of it.
    moves: AtomicU64,
}

/// One process's end.
pub struct End {
    net: Arc<Net>,
    me: u32,
    /// By peer: packets go although data is to be held back.
    passes: Vec<bool>,
    /// By peer: nothing is taken of it any more.
    shut_out: Vec<bool>,
    /// Whose packet is looked for next.
    turn: usize,
    tags: u64,
    leaving: VecDeque<Leaving>,
    /// The packet that was shown last.
    shown: Option<(Header, Vec<u8>)>,
}

impl Net {
    /// Queues of `room` packets each between so many processes.
    pub fn new(processes: usize, room: usize, bulk: bool, border: usize) -> Arc<Net> {
        let links = (0..processes * processes).map(|_| Link::default());
        Arc::new(Net {
            processes,
            room,
            bulk,
            border,
            links: Mutex::new(links.collect()),
            landings: Mutex::default(),
            landed: Mutex::default(),
            moves: AtomicU64::new(0),
        })
    }

    pub fn end(self: &Arc<Self>, me: u32) -> End {
        End {
            net: self.clone(),
            me,
            passes: vec![false; self.processes],
            shut_out: vec![false; self.processes],
            turn: 0,
            tags: 0,
            leaving: VecDeque::new(),
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

    /// Messages of more bytes than that go straight.
    pub fn border(&self) -> usize {
        self.net.border
    }

    pub fn land(&mut self, token: u32, buffer: Buffer, bytes: usize) -> Place {
        self.tags += 1;
        let landing = Landing {
            token,
            buffer,
            rest: bytes,
        };
        let mut landings = self.net.landings.lock();
        landings.insert((self.me, self.tags), landing);
        Place {
            tag: self.tags,
            piece: u64::MAX,
        }
    }

    pub fn send_straight(
        &mut self,
        to: u32,
        token: u32,
        buffer: Buffer,
        bytes: usize,
        place: Place,
    ) {
        self.leaving.push_back(Leaving {
            to,
            token,
            buffer,
            tag: place.tag,
            moved: 0,
            bytes,
            copy: None,
        });
    }

    pub fn abandon(&mut self, token: u32) -> bool {
        let me = self.me;
        let before = self.transfers();
        let is_its = |leaving: &&mut Leaving| leaving.token == token && leaving.copy.is_none();
        if let Some(leaving) = self.leaving.iter_mut().find(is_its) {
            let mut copy = vec![0; leaving.bytes].into_boxed_slice();
            leaving.buffer.read(0, &mut copy);
            leaving.buffer = Buffer::of_copy(&mut copy);
            leaving.copy = Some(copy);
            return true;
        }
        let mut landings = self.net.landings.lock();
        landings.retain(|(to, _), landing| *to != me || landing.token != token);
        let mut landed = self.net.landed.lock();
        landed.retain(|(to, _, landed)| *to != me || *landed != token);
        drop((landings, landed));
        self.transfers() < before
    }

    /// All that are under way, or whose end is not told.
    fn transfers(&self) -> usize {
        self.leaving.len() + self.net.landings.lock().len() + self.net.landed.lock().len()
    }

    /// Moves a part of the data that goes straight. The token of what has left altogether, and its receiver.
    fn move_part(&mut self) -> Option<(u32, u32)> {
        let mut leaving = self.leaving.pop_front()?;
        let mut part = vec![0; PART.min(leaving.bytes - leaving.moved)];
        leaving.buffer.read(leaving.moved, &mut part);
        let at = (leaving.to, leaving.tag);
        let mut landings = self.net.landings.lock();
        // What nobody waits for any more is lost.
        if let Some(landing) = landings.get_mut(&at) {
            scheduler::locked(|| landing.buffer.write(leaving.moved, &part));
            landing.rest -= part.len();
            if landing.rest == 0 {
                let landed = (leaving.to, self.me, landing.token);
                self.net.landed.lock().push(landed);
                landings.remove(&at);
            }
        }
        drop(landings);
        // Behind what has changed: others may look between this and the next step.
        self.net.moves.fetch_add(1, Ordering::Relaxed);
        leaving.moved += part.len();
        if leaving.moved < leaving.bytes {
            self.leaving.push_back(leaving);
            return None;
        }
        leaving
            .copy
            .is_none()
            .then_some((leaving.token, leaving.to))
    }

    /// The end of a transfer, if one has ended.
    fn ended(&mut self) -> Option<(Header, Vec<u8>)> {
        let header = |kind, context, process| Header {
            kind,
            context,
            process,
            ..Header::default()
        };
        if let Some((token, to)) = self.move_part() {
            return Some((header(wire::LEFT, token, to), Vec::new()));
        }
        let mut landed = self.net.landed.lock();
        let at = landed.iter().position(|(to, ..)| *to == self.me)?;
        let (_, from, token) = landed.remove(at);
        Some((header(wire::LANDED, token, from), Vec::new()))
    }

    /// The next packet, from the peers in turn.
    pub fn peek(&mut self) -> Option<Packet> {
        if self.shown.is_none() {
            self.shown = self.ended();
        }
        for _ in 0..self.net.processes {
            if self.shown.is_some() {
                break;
            }
            let from = self.turn as u32;
            let packet = self.net.with(from, self.me, |link| match link.is_late {
                true => None,
                false => link.packets.pop_front(),
            });
            let packet = packet.filter(|_| !self.shut_out[from as usize]);
            self.turn = (self.turn + 1) % self.net.processes;
            self.shown = packet.map(|bytes| {
                let (header, payload) = bytes.split_at(Header::BYTES);
                let header = header.try_into().expect("a header in each packet");
                (Header::decode(header), payload.to_vec())
            });
        }
        self.shown.as_ref().map(|(header, _)| Packet {
            header: *header,
            slot: ring::SlotHeader::default(),
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

    /// Takes nothing more of a peer.
    pub fn shut_out(&mut self, from: u32) {
        self.shut_out[from as usize] = true;
    }

    /// Whether what goes from one process to another stays under way.
    pub fn set_late(&self, from: u32, to: u32, is_late: bool) {
        self.net.with(from, to, |link| link.is_late = is_late);
    }

    pub fn hold(&self, from: u32, holds: bool) {
        self.net.with(from, self.me, |link| link.held = holds);
    }
}
