//! Sending: short messages go straight into the ring, larger ones are announced and stream through cells.
//!
//! Invariant: what is announced to one peer leaves in the order of the sends; `queue` holds what found no room, and
//! while it is not empty nothing overtakes it. Only the second part of a matched message (`streams`) is free of it.

use super::matching::Key;
use super::records::{
    self, Announcement, Data, FIRST_PART, NO_CELL, Payload, READ_ME, Reply, SYNCHRONOUS,
};
use super::requests::{Extra, Index, Kind, Mode, NOT_POSTED, Phase, Request};
use super::{Engine, requests};
use crate::datatype::pack::Buffer;
use crate::queue::ring::Header;
use crate::transport::shm::cells::CELL_BYTES;
use crate::transport::shm::endpoint::RING_PAYLOAD;
use crate::transport::shm::pace::{ORDINARY_CHUNK, Plan, Stores};

/// Up to so many bytes travel in one record where ranks have a lane; without one, [`RING_PAYLOAD`].
const SHORT_BYTES: usize = ORDINARY_CHUNK;
/// Up to so many bytes are sent without asking whether the receiver has matched.
pub const EAGER_BYTES: usize = 64 << 10;
/// On a node with more ranks than cores, from here on the receiver reads the sender's memory.
const SINGLE_COPY_BYTES: usize = 32 << 10;

/// Something that waits for room.
#[derive(Debug)]
pub enum Outgoing {
    /// A whole short message of this request.
    Short(Index),
    /// An announcement still to be made.
    Long(Index),
    /// The first part of an announced message, of this many bytes.
    FirstPart(Index, usize),
    /// An answer to a sender.
    Reply { flags: u8, reply: Reply },
}

/// Where and how a message goes.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Process number on the node.
    pub world: u32,
    pub context: u32,
    /// Own rank in the communicator.
    pub source: i32,
    pub tag: i32,
    /// Destination rank in the communicator, for reports.
    pub peer: i32,
    /// Handle of the communicator, for errors.
    pub communicator: i32,
}

/// Space for buffered sends: how much is attached and how much is in use, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    pub capacity: usize,
    pub used: usize,
    pub messages: usize,
    /// MPI_BUFFER_AUTOMATIC: as much as memory allows.
    pub automatic: bool,
    pub open: bool,
}

/// MPI_BSEND_OVERHEAD.
pub const BSEND_OVERHEAD: usize = 96;

impl Account {
    pub fn fits(&self, bytes: usize) -> bool {
        self.automatic || self.used + bytes + BSEND_OVERHEAD <= self.capacity
    }

    fn take(&mut self, bytes: usize) {
        self.used += bytes + BSEND_OVERHEAD;
        self.messages += 1;
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used -= bytes + BSEND_OVERHEAD;
        self.messages -= 1;
    }
}

impl Engine {
    /// Tries to send a short message at once. False: it is not short, or must wait its turn.
    #[inline(always)]
    pub fn send_short(&mut self, envelope: &Envelope, buffer: &Buffer) -> bool {
        let bytes = buffer.len();
        let world = envelope.world as usize;
        if bytes > SHORT_BYTES || world == self.shm.me() || !self.peers[world].queue.is_empty() {
            return false;
        }
        let header = short_header(envelope, bytes, self.shm.me());
        if bytes > RING_PAYLOAD {
            return self.push_through_lane(world, &header, buffer);
        }
        self.shm
            .push(world, &header, |offset, piece| buffer.read(offset, piece))
    }

    /// Sends a whole message in one record through the lane, if there is one and it has room.
    #[inline(never)]
    fn push_through_lane(&mut self, world: usize, header: &Header, buffer: &Buffer) -> bool {
        if !self.shm.has_lane(world) {
            return false;
        }
        let plan = self.shm.plan(world, buffer.len());
        self.shm.push_large(world, header, plan, |offset, piece| {
            if offset == 0 {
                plan.stores.finish();
            }
            copy_out(buffer, offset, piece, plan.stores);
        })
    }

    /// Begins a send; the request may be complete on return.
    pub fn send(&mut self, mode: Mode, envelope: &Envelope, buffer: Buffer) -> Index {
        let request = requests::Request {
            world: envelope.world,
            peer: envelope.peer,
            tag: envelope.tag,
            total: buffer.len(),
            ..Request::new(
                Kind::Send(mode),
                buffer,
                envelope.communicator,
                envelope.context,
                envelope.source,
            )
        };
        let index = self.requests.insert(request);
        self.launch(index);
        index
    }

    /// Begins a buffered send on an account that has room for it: the data is copied, and the request lives by itself.
    pub fn send_buffered(&mut self, account: u32, envelope: &Envelope, buffer: Buffer) {
        let mut copy = vec![0u8; buffer.len()].into_boxed_slice();
        buffer.read(0, &mut copy);
        let request = Request {
            world: envelope.world,
            peer: envelope.peer,
            tag: envelope.tag,
            total: copy.len(),
            detached: true,
            buffer: Buffer::of_copy(&mut copy),
            extra: Some(Box::new(Extra {
                copy: Some(copy),
                account: Some(account),
                partner: None,
            })),
            ..Request::new(
                Kind::Send(Mode::Buffered),
                Buffer::empty(),
                envelope.communicator,
                envelope.context,
                envelope.source,
            )
        };
        self.accounts[account as usize].take(request.total);
        let index = self.requests.insert(request);
        self.launch(index);
    }

    /// The accounts of attached buffers.
    pub fn accounts(&mut self) -> &mut Vec<Account> {
        &mut self.accounts
    }

    /// Sets an active send going.
    pub fn launch(&mut self, index: Index) {
        self.sending += 1;
        let me = self.shm.me();
        let request = self.requests.at(index);
        request.moved = 0;
        let (world, total) = (request.world as usize, request.total);
        let synchronous = request.kind == Kind::Send(Mode::Synchronous);
        if world == me {
            self.send_to_self(index);
            return;
        }
        let short = total <= RING_PAYLOAD || total <= SHORT_BYTES && self.shm.has_lane(world);
        let what = if short && !synchronous {
            Outgoing::Short(index)
        } else {
            Outgoing::Long(index)
        };
        if !self.peers[world].queue.is_empty() {
            self.peers[world].queue.push_back(what);
        } else if let Err(rest) = self.dispatch(world, what) {
            self.peers[world].queue.push_back(rest);
            self.mark_busy(world);
        }
    }

    pub(super) fn mark_busy(&mut self, world: usize) {
        if !self.peers[world].busy {
            self.peers[world].busy = true;
            self.busy.push(world as u32);
        }
    }

    /// Sends a reply, now or when there is room.
    pub(super) fn reply(&mut self, world: usize, flags: u8, reply: Reply) {
        let what = Outgoing::Reply { flags, reply };
        if self.peers[world].queue.is_empty() {
            let Err(rest) = self.dispatch(world, what) else {
                return;
            };
            self.peers[world].queue.push_back(rest);
        } else {
            // A reply is bound to no order; in front of data that waits for cells it lets the peer go on.
            self.peers[world].queue.push_front(what);
        }
        self.mark_busy(world);
    }

    /// Does as much as there is room for; the rest comes back.
    pub(super) fn dispatch(&mut self, world: usize, what: Outgoing) -> Result<(), Outgoing> {
        match what {
            Outgoing::Short(index) => self.dispatch_short(world, index),
            Outgoing::Long(index) => self.dispatch_long(world, index),
            Outgoing::FirstPart(index, eager) => self.dispatch_first_part(world, index, eager),
            Outgoing::Reply { flags, reply } => {
                let header = self.header(records::REPLY, flags, Reply::BYTES);
                if self.push_payload(world, &header, &reply) {
                    Ok(())
                } else {
                    Err(what)
                }
            }
        }
    }

    fn header(&self, kind: u8, flags: u8, bytes: usize) -> Header {
        Header {
            kind,
            flags,
            length: bytes as u16,
            origin: self.shm.me() as u16,
            ..Header::default()
        }
    }

    /// Sends a record whose payload is one of [`records`].
    fn push_payload<P: Payload>(&mut self, world: usize, header: &Header, payload: &P) -> bool {
        let mut bytes = [0u8; records::LONGEST_PAYLOAD];
        payload.encode(&mut bytes[..P::BYTES]);
        self.shm.push(world, header, |offset, piece| {
            piece.copy_from_slice(&bytes[offset..offset + piece.len()]);
        })
    }

    fn dispatch_short(&mut self, world: usize, index: Index) -> Result<(), Outgoing> {
        let request = self.requests.at(index);
        let header = Header {
            kind: records::SHORT,
            context: request.context,
            tag: request.tag,
            source: request.source,
            length: request.total as u16,
            origin: self.shm.me() as u16,
            ..Header::default()
        };
        let buffer = request.buffer;
        let done = if buffer.len() > RING_PAYLOAD {
            self.push_through_lane(world, &header, &buffer)
        } else {
            self.shm
                .push(world, &header, |offset, piece| buffer.read(offset, piece))
        };
        if !done {
            return Err(Outgoing::Short(index));
        }
        self.complete(index);
        Ok(())
    }

    fn dispatch_long(&mut self, world: usize, index: Index) -> Result<(), Outgoing> {
        let me = self.shm.me() as u16;
        let peer = &self.peers[world];
        let may_read = self.oversubscribed && !peer.cannot_read_us;
        let request = self.requests.at(index);
        let (buffer, total) = (request.buffer, request.total);
        let mut header = Header {
            kind: records::LONG,
            flags: match request.kind {
                Kind::Send(Mode::Synchronous) => SYNCHRONOUS,
                _ => 0,
            },
            context: request.context,
            tag: request.tag,
            source: request.source,
            length: Announcement::BYTES as u16,
            origin: me,
            ..Header::default()
        };
        let mut announcement = Announcement {
            total: total as u64,
            token: index,
            eager: total.min(EAGER_BYTES) as u32,
            cell: NO_CELL,
            ..Announcement::default()
        };
        match buffer.contiguous() {
            Some(address) if may_read && total >= SINGLE_COPY_BYTES => {
                header.flags |= READ_ME;
                announcement.address = address as u64;
                announcement.eager = 0;
            }
            _ => {}
        }
        let eager = announcement.eager as usize;
        let sent = if eager > 0 && self.shm.has_lane(world) {
            let plan = self.shm.plan(world, total);
            let first = eager.min(plan.chunk);
            self.push_part(world, &header, &announcement, plan, &buffer, 0, first)
                .then_some(first)
        } else if eager > 0 {
            let first = eager.min(chunk(total));
            self.push_cell(world, &buffer, 0, first, |engine, cell| {
                announcement.cell = cell;
                announcement.cell_bytes = first as u32;
                engine.push_payload(world, &header, &announcement)
            })
            .then_some(first)
        } else {
            self.push_payload(world, &header, &announcement)
                .then_some(0)
        };
        let Some(first) = sent else {
            return Err(Outgoing::Long(index));
        };
        self.requests.at(index).moved = first;
        self.dispatch_first_part(world, index, announcement.eager as usize)
    }

    fn dispatch_first_part(
        &mut self,
        world: usize,
        index: Index,
        eager: usize,
    ) -> Result<(), Outgoing> {
        while self.requests.at(index).moved < eager {
            if !self.push_data(world, index, FIRST_PART, eager) {
                return Err(Outgoing::FirstPart(index, eager));
            }
        }
        let request = self.requests.at(index);
        if eager == request.total && request.kind != Kind::Send(Mode::Synchronous) {
            self.complete(index);
        }
        Ok(())
    }

    /// Sends the next chunk of a request, up to the byte `end` of the message. False: no room.
    #[inline]
    fn push_data(&mut self, world: usize, index: Index, token: u32, end: usize) -> bool {
        let request = self.requests.at(index);
        let (buffer, offset) = (request.buffer, request.moved);
        let total = request.total;
        let mut data = Data {
            token,
            cell: NO_CELL,
            bytes: 0,
        };
        let header = self.header(records::DATA, 0, Data::BYTES);
        let (done, bytes) = if self.shm.has_lane(world) {
            let plan = self.shm.plan(world, total);
            let bytes = (end - offset).min(plan.chunk);
            let done = self.push_part(world, &header, &data, plan, &buffer, offset, bytes);
            (done, bytes)
        } else {
            let bytes = (end - offset).min(chunk(total));
            let done = self.push_cell(world, &buffer, offset, bytes, |engine, cell| {
                data.cell = cell;
                data.bytes = bytes as u32;
                engine.push_payload(world, &header, &data)
            });
            (done, bytes)
        };
        if !done {
            return false;
        }
        self.requests.at(index).moved += bytes;
        true
    }

    /// Sends a record through the lane: `beginning`, and `bytes` of the message from `offset` on.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn push_part<P: Payload>(
        &mut self,
        world: usize,
        header: &Header,
        beginning: &P,
        plan: Plan,
        buffer: &Buffer,
        offset: usize,
        bytes: usize,
    ) -> bool {
        let mut words = [0u8; records::LONGEST_PAYLOAD];
        beginning.encode(&mut words[..P::BYTES]);
        let header = Header {
            length: (P::BYTES + bytes) as u16,
            ..*header
        };
        self.shm.push_large(world, &header, plan, |at, piece| {
            if at == 0 {
                plan.stores.finish();
            }
            let split = P::BYTES.saturating_sub(at).min(piece.len());
            let (words_piece, data) = piece.split_at_mut(split);
            words_piece.copy_from_slice(&words[at.min(P::BYTES)..][..split]);
            if !data.is_empty() {
                copy_out(buffer, offset + at + split - P::BYTES, data, plan.stores);
            }
        })
    }

    /// Fills a cell and lets `announce` send the record that names it.
    fn push_cell(
        &mut self,
        world: usize,
        buffer: &Buffer,
        offset: usize,
        bytes: usize,
        announce: impl FnOnce(&mut Self, u32) -> bool,
    ) -> bool {
        let Some(name) = self
            .shm
            .fill_cell(world, bytes, |data| buffer.read(offset, data))
        else {
            return false;
        };
        let done = announce(self, name.0);
        if !done {
            self.shm.take_back(name);
        }
        done
    }

    /// Goes on with what waits for room to `world`. True if something left.
    pub(super) fn flush(&mut self, world: usize) -> bool {
        let mut any = false;
        while let Some(what) = self.peers[world].queue.pop_front() {
            let before = match &what {
                Outgoing::FirstPart(index, _) => self.requests.at(*index).moved,
                _ => 0,
            };
            match self.dispatch(world, what) {
                Ok(()) => any = true,
                Err(rest) => {
                    if let Outgoing::FirstPart(index, _) = rest {
                        any |= self.requests.at(index).moved > before;
                    }
                    self.peers[world].queue.push_front(rest);
                    break;
                }
            }
        }
        any | self.stream(world)
    }

    /// Streams the second parts of matched messages.
    fn stream(&mut self, world: usize) -> bool {
        let mut any = false;
        while let Some(&index) = self.peers[world].streams.front() {
            if matches!(self.peers[world].queue.front(), Some(Outgoing::FirstPart(first, _)) if *first == index)
            {
                // Its first part still waits for room, and has to leave before.
                break;
            }
            let request = self.requests.at(index);
            let (wanted, token) = (request.status.bytes() as usize, request.token);
            if request.moved < wanted {
                if !self.push_data(world, index, token, wanted) {
                    break;
                }
                any = true;
            } else {
                self.peers[world].streams.pop_front();
                self.complete(index);
                any = true;
            }
        }
        any
    }

    /// The receiver has matched one of our messages.
    pub(super) fn on_reply(&mut self, world: usize, flags: u8, reply: Reply) {
        if flags & records::UNREADABLE != 0 {
            self.peers[world].cannot_read_us = true;
        }
        let request = self
            .requests
            .get(reply.sender)
            .filter(|request| request.phase == Phase::Active && request.world as usize == world)
            .unwrap_or_else(|| panic!("process {world} answered a send that does not exist"));
        if flags & records::DONE != 0 {
            self.complete(reply.sender);
            return;
        }
        request.token = reply.receiver;
        // The status of a send is free until it completes: it keeps how far the receiver wants to go.
        request.status.set_bytes(reply.wanted);
        self.peers[world].streams.push_back(reply.sender);
        self.mark_busy(world);
        self.flush_busy();
    }

    /// A message to this process itself: no transport, the data is copied once or kept.
    fn send_to_self(&mut self, index: Index) {
        let me = self.shm.me();
        let request = self.requests.at(index);
        let (buffer, total) = (request.buffer, request.total);
        let key = Key {
            context: request.context,
            source: request.source,
            tag: request.tag,
        };
        let synchronous = request.kind == Kind::Send(Mode::Synchronous);
        if let Some(receive) = self.posted.take(key) {
            self.requests.at(receive).posted = NOT_POSTED;
            self.receive_from_buffer(receive, key, &buffer);
            self.complete(index);
            return;
        }
        let mut data = vec![0u8; total];
        buffer.read(0, &mut data);
        self.keep_own(key, me, data, synchronous.then_some(index));
        if !synchronous {
            self.complete(index);
        }
    }
}

#[inline(always)]
fn short_header(envelope: &Envelope, bytes: usize, me: usize) -> Header {
    Header {
        kind: records::SHORT,
        context: envelope.context,
        tag: envelope.tag,
        source: envelope.source,
        length: bytes as u16,
        origin: me as u16,
        ..Header::default()
    }
}

/// Fills a cell.
#[inline]
fn copy_out(buffer: &Buffer, offset: usize, data: &mut [u8], stores: Stores) {
    match stores {
        Stores::Ordinary => buffer.read(offset, data),
        Stores::Streaming => buffer.read_streaming(offset, data),
    }
}

/// How many bytes of a message go into the next cell: small ones, so that the receiver starts to copy early, but not so
/// small that the records cost more than the copies.
#[inline]
fn chunk(total: usize) -> usize {
    match total {
        0..=4096 => total,
        4097..=16_384 => 4096,
        16_385..=32_768 => 8192,
        32_769..=262_144 => 16_384,
        _ => CELL_BYTES,
    }
}
