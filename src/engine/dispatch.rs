//! What leaves for a peer: whole messages, RTS, the data of announced messages, CTS.
//!
//! Invariant: what is announced to one peer leaves in the order of the sends; `queue` holds what found no room, and while it is
//! not empty nothing overtakes it. Only the data that a CTS has asked for (`streams`) is free of it, once the eager part has
//! left.
//!
//! # The states of a send
//!
//! | state | what is queued of it | next |
//! |---|---|---|
//! | waits | `Short` or `Rts` | its packet leaves: complete (`Short`), or announced |
//! | announced, eager part not gone (`moved < eager_part`) | `EagerPart` | its data leaves; the CTS may come before |
//! | announced, eager part gone, [`Answer::Awaited`] | nothing | the CTS |
//! | asked for back ([`Answer::Marked`], `cancel.rs`) | `Cancel`, until it leaves | the CTS |
//! | streams ([`Answer::Come`], `moved < wanted`) | an entry of `streams` | its data leaves |
//! | goes straight (as that, after a `PLACE`; [`super::straight`]) | nothing | the transport says that its data has left |
//! | complete | nothing | |
//!
//! The CTS and the end of the eager part come in either order, so neither completes a send by itself: [`Engine::finish_send`]
//! does, where nothing is left to wait for. A CTS says how much the receiver wants: nothing more than the eager part (`FIN`; of
//! an RTS with address all was read), or more, up to `wanted`, which then streams. Lost peers end a send in any state; what is
//! queued of it goes first (`liveness.rs`). A receiver in MPI_Finalize may refuse a message ([`Answer::Refused`], `refusal.rs`).
//! Invariant: nothing that is queued names a complete send.

use super::Engine;
use super::cells::Sent;
use super::matching::Key;
use super::offers;
use super::packets::{
    self, Cell, Cts, EAGER_PART, Failed, NO_CELL, Payload, Placed, RTS_ADDRESS, Rts, STRAIGHT,
    SYNCHRONOUS,
};
use super::protocol::{Facts, Protocol};
use super::requests::{Answer, Index, Kind, Mode, Phase};
use super::single_copy;
use crate::datatype::pack::Buffer;
use crate::events::Event;
use crate::node::distance::CacheDistance;
use crate::transport::{CELL_BYTES, Header, Plan, RING_PAYLOAD, Stores};
use crate::variables::{Listed, Variable};

static EAGER_BYTES: Variable<u64> = Variable::new(
    "EAGER_BYTES",
    64 << 10,
    "Up to so many bytes of a message are sent before the receiver has asked for it; what comes too early is kept there.",
)
.with_aliases(&[
    "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
    "MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ",
    "I_MPI_EAGER_THRESHOLD",
]);
/// What users can set about protocols.
pub static VARIABLES: &[&dyn Listed] = &[
    &EAGER_BYTES,
    &super::pressure::UNEXPECTED_BYTES,
    &single_copy::SINGLE_COPY,
    &single_copy::SINGLE_COPY_BYTES,
];

/// The settings, read once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    eager: usize,
    /// See [`super::pressure`].
    pub(super) unexpected: usize,
    pub(super) messages: usize,
    pub(super) single_copy: single_copy::Limit,
    /// How long a send waits for the receiver of an offer, nanoseconds ([`super::offers`]).
    pub(super) patience: u64,
}

impl Limits {
    pub(super) fn new() -> Self {
        Self {
            // An RTS has 32 bits for it.
            eager: EAGER_BYTES.get().clamp(1, 1 << 30) as usize,
            unexpected: super::pressure::limit(),
            messages: super::pressure::MOST_MESSAGES,
            single_copy: single_copy::Limit::new(),
            patience: offers::PATIENCE,
        }
    }

    /// Whether a message of so many bytes waits for its receiver.
    pub(super) fn waits(&self, bytes: usize) -> bool {
        bytes > self.eager
    }
}

#[cfg(test)]
impl Limits {
    pub(super) fn of(
        eager: usize,
        single_copy: single_copy::Limit,
        unexpected: usize,
        messages: usize,
    ) -> Self {
        Self {
            eager,
            unexpected,
            messages,
            single_copy,
            patience: offers::PATIENCE,
        }
    }
}

/// The longest message that goes by cells although its receiver may read it: a few cells that the core still holds beat both
/// reading and bulk rings to many peers, as long as the cores share a cache.
const MOST_BY_CELLS: usize = 2 * CELL_BYTES;

/// Something that waits for room.
#[derive(Debug)]
pub enum Outgoing {
    /// A whole short message of this request.
    Short(Index),
    /// An RTS that has not left.
    Rts(Index),
    /// The rest of an announced message's eager part.
    EagerPart(Index),
    /// A wish for the cancellation of this send, whose eager part has left.
    Cancel(Index),
    /// A CTS to a sender.
    Cts { flags: u8, cts: Cts },
    /// A CTS that says where the data comes.
    Place(Placed),
    /// In place of a message with this key.
    Failed { key: Key, failed: Failed },
    /// Word of a revoked communicator.
    Revoked { context: u32 },
    /// To a process that is in MPI_Finalize: it is to say when all that it has sent has come.
    AskLast,
    /// All was sent.
    Last,
}

impl Outgoing {
    /// The request that it belongs to; a CTS has none here, nor what stands for a message.
    pub(super) fn request(&self) -> Option<Index> {
        match self {
            Outgoing::Short(index)
            | Outgoing::Rts(index)
            | Outgoing::EagerPart(index)
            | Outgoing::Cancel(index) => Some(*index),
            Outgoing::Cts { .. }
            | Outgoing::Place(_)
            | Outgoing::Failed { .. }
            | Outgoing::Revoked { .. }
            | Outgoing::AskLast
            | Outgoing::Last => None,
        }
    }
}

impl Engine {
    /// Does as much as there is room for; the rest comes back. It goes also to a peer that wants data to be held back: what is
    /// to be, is announced without any.
    pub(super) fn dispatch(&mut self, process: usize, what: Outgoing) -> Result<(), Outgoing> {
        self.passing(process, |engine| engine.dispatch_now(process, what))
    }

    fn dispatch_now(&mut self, process: usize, what: Outgoing) -> Result<(), Outgoing> {
        match what {
            Outgoing::Short(index) => self.dispatch_short(process, index),
            Outgoing::Rts(index) => self.dispatch_rts(process, index),
            Outgoing::EagerPart(index) => self.dispatch_eager_part(process, index),
            Outgoing::Cancel(index) => self.dispatch_cancel(process, index),
            Outgoing::Failed { key, failed } => self.dispatch_failed(process, key, failed),
            Outgoing::Revoked { context } => self.dispatch_revoked(process, context),
            Outgoing::AskLast | Outgoing::Last => self.dispatch_about_last(process, what),
            Outgoing::Cts { flags, cts } => {
                let header = self.header(packets::CTS, flags, Cts::BYTES);
                if self.push_payload(process, &header, &cts) {
                    Ok(())
                } else {
                    Err(what)
                }
            }
            Outgoing::Place(placed) => {
                let header = self.header(packets::PLACE, 0, Placed::BYTES);
                match self.push_payload(process, &header, &placed) {
                    true => Ok(()),
                    false => Err(what),
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn header(&self, kind: u8, flags: u8, bytes: usize) -> Header {
        Header {
            kind,
            flags,
            length: bytes as u32,
            process: self.me() as u32,
            ..Header::default()
        }
    }

    /// Sends a packet whose payload is one of [`packets`].
    pub(super) fn push_payload<P: Payload>(
        &mut self,
        process: usize,
        header: &Header,
        payload: &P,
    ) -> bool {
        let mut bytes = [0u8; packets::LONGEST_PAYLOAD];
        payload.encode(&mut bytes[..P::BYTES]);
        self.transport
            .push(self.peers.route(process), header, |offset, piece| {
                piece.copy_from_slice(&bytes[offset..offset + piece.len()]);
            })
    }

    fn dispatch_short(&mut self, process: usize, index: Index) -> Result<(), Outgoing> {
        let request = self.requests.at(index);
        let (context, tag, source) = (request.context, request.tag, request.source);
        let buffer = request.buffer;
        let header = self.short_header(context, tag, source, buffer.len());
        if self.is_held_back(process, header.context) {
            return self.dispatch_rts(process, index);
        }
        let route = self.peers.route(process);
        let done = if buffer.len() > RING_PAYLOAD {
            self.push_through_bulk_ring(route, &header, &buffer)
        } else {
            self.transport
                .push(route, &header, |offset, piece| buffer.read(offset, piece))
        };
        if !done {
            return Err(Outgoing::Short(index));
        }
        self.counted.eager += 1;
        self.complete(index);
        Ok(())
    }

    fn dispatch_rts(&mut self, process: usize, index: Index) -> Result<(), Outgoing> {
        let limits = self.limits;
        let own = self.header(packets::RTS, 0, 0);
        let route = self.peers.route(process);
        let request = self.requests.at(index);
        let (buffer, total) = (request.buffer, request.total);
        let is_copy = matches!(request.kind, Kind::Send(Mode::Buffered));
        let mut header = Header {
            flags: match request.kind {
                Kind::Send(Mode::Synchronous) => SYNCHRONOUS,
                _ => 0,
            },
            context: request.context,
            tag: request.tag,
            source: request.source,
            length: Rts::BYTES as u32,
            ..own
        };
        let held = self.is_held_back(process, header.context);
        let protocol = self.choose_protocol(process, &buffer, held, is_copy);
        let mut rts = Rts {
            total: total as u64,
            token: index,
            eager: total.min(limits.eager) as u32,
            cell: NO_CELL,
            ..Rts::default()
        };
        if held {
            header.flags |= SYNCHRONOUS;
            rts.eager = 0;
        }
        // What does not wait for its receiver otherwise shall not begin to.
        let waits = held || is_copy || header.flags & SYNCHRONOUS != 0 || limits.waits(total);
        let is_read = protocol == Protocol::Read;
        let offered = match protocol {
            Protocol::Bulk | Protocol::Cells | Protocol::Read if !waits => {
                self.offer(process, index, &buffer, is_read)
            }
            _ => None,
        };
        let protocol = match offered {
            Some(token) => {
                rts.token = token;
                Protocol::Read
            }
            None if is_read && !waits => {
                Protocol::choose(Facts::default(), || self.transport.has_bulk(route, total))
            }
            None => protocol,
        };
        if protocol == Protocol::Read {
            header.flags |= RTS_ADDRESS;
            rts.address = buffer.contiguous().map_or(0, |data| data as u64);
            rts.eager = 0;
        }
        if protocol == Protocol::Straight {
            header.flags |= STRAIGHT;
            rts.address = self.transport.longest_piece();
            rts.eager = 0;
        }
        let eager = rts.eager as usize;
        let sent = match protocol {
            Protocol::Bulk if eager > 0 => {
                let plan = self.transport.plan(route, total);
                let first = eager.min(plan.chunk);
                if eager < total {
                    // Whole packets, for a reader's stream breaks where one ends early.
                    rts.eager = (eager / first * first) as u32;
                }
                self.push_rts(process, &header, &rts, plan, &buffer, first)
                    .then_some(first)
            }
            Protocol::Cells | Protocol::HotCells if eager > 0 => {
                let first = eager.min(protocol.cell_bytes(total));
                let sent = self.push_cell(process, &buffer, 0, first, |engine, cell| {
                    let rts = Rts {
                        cell,
                        cell_bytes: first as u32,
                        ..rts
                    };
                    engine.push_payload(process, &header, &rts)
                });
                match sent {
                    Sent::Done => Some(first),
                    Sent::NoRoom => None,
                    Sent::NoMemory => self.push_payload(process, &header, &rts).then_some(0),
                }
            }
            _ => self.push_payload(process, &header, &rts).then_some(0),
        };
        let Some(first) = sent else {
            self.take_back_offer(rts.token);
            return Err(Outgoing::Rts(index));
        };
        let answered = header.flags != 0 || (rts.eager as usize) < total;
        self.counted.eager += u64::from(!answered);
        self.counted.rendezvous += u64::from(answered);
        self.counted.announced += total as u64;
        if answered {
            self.raise_rendezvous(Event::RendezvousBegun, index);
        }
        let request = self.requests.at(index);
        request.protocol = protocol;
        request.moved = first;
        request.eager_part = rts.eager;
        request.answer = match answered {
            _ if offered.is_some() => Answer::Offered,
            true => Answer::Awaited,
            false => Answer::NotWanted,
        };
        self.dispatch_eager_part(process, index)
    }

    /// How the data of a message that is announced will travel. `is_copy`: the data is the library's own copy. What of that does not leave
    /// before the CTS would leave only when the sender calls MPI again, and has been copied once already: the receiver reads it.
    pub(super) fn choose_protocol(
        &mut self,
        process: usize,
        buffer: &Buffer,
        held: bool,
        is_copy: bool,
    ) -> Protocol {
        let (peer, bytes) = (self.peers.of(process), buffer.len());
        let route = peer.route;
        let leaves_later = is_copy && bytes > self.limits.eager;
        let readable = !peer.cannot_read_us
            && self.transport.may_be_readable(route)
            && buffer.contiguous().is_some()
            && self.wants_single_copy(process, bytes, leaves_later);
        let facts = Facts {
            straight: bytes > self.limits.eager.max(self.transport.straight_border(route))
                && buffer.contiguous().is_some(),
            readable,
            cells_are_better: readable
                && bytes <= MOST_BY_CELLS.min(self.limits.eager)
                && self.transport.has_cells(route)
                && self.transport.distance(route) < CacheDistance::Far,
            held,
        };
        Protocol::choose(facts, || bytes > 0 && self.transport.has_bulk(route, bytes))
    }

    fn dispatch_eager_part(&mut self, process: usize, index: Index) -> Result<(), Outgoing> {
        let eager_part = self.requests.at(index).eager_part as usize;
        while self.requests.at(index).moved < eager_part {
            if !self.push_data(process, index, EAGER_PART, eager_part) {
                return Err(Outgoing::EagerPart(index));
            }
        }
        self.finish_send(index);
        Ok(())
    }

    /// Completes an announced send if nothing is left to wait for: its eager part has left, the CTS has come if one is
    /// expected, and all that the receiver wants has left.
    pub(super) fn finish_send(&mut self, index: Index) {
        let request = self.requests.at(index);
        if request.moved < request.eager_part as usize {
            return;
        }
        match request.answer {
            Answer::NotWanted => self.complete(index),
            Answer::Awaited | Answer::Offered => {}
            Answer::Marked => self.ask_for(index),
            Answer::Come if request.moved < request.wanted() => {}
            Answer::Come => self.end_rendezvous(index),
            Answer::Refused => self.on_refused(index),
            Answer::Cancelled => self.end_cancelled(index),
        }
    }

    /// Sends the next chunk of a request, up to the byte `end` of the message. False: no room.
    #[inline]
    fn push_data(&mut self, process: usize, index: Index, token: u32, end: usize) -> bool {
        let route = self.peers.route(process);
        let request = self.requests.at(index);
        let (buffer, offset) = (request.buffer, request.moved);
        let (total, protocol) = (request.total, request.protocol);
        let (done, bytes) = if protocol == Protocol::Bulk {
            let plan = self.transport.plan(route, total);
            let bytes = (end - offset).min(plan.chunk);
            let header = Header {
                context: token,
                ..self.header(packets::DATA, 0, bytes)
            };
            // The receiver handles one of these for each few kilobytes: nothing but the data is in it.
            let done = self
                .transport
                .push_large(route, &header, plan, |at, piece| {
                    plan.stores.finish_before_head(at, piece.len());
                    copy_out(&buffer, offset + at, piece, plan.stores);
                });
            (done, bytes)
        } else {
            let bytes = (end - offset).min(protocol.cell_bytes(total));
            let header = self.header(packets::CELL, 0, Cell::BYTES);
            let sent = self.push_cell(process, &buffer, offset, bytes, |engine, cell| {
                let cell = Cell {
                    token,
                    cell,
                    bytes: bytes as u32,
                };
                engine.push_payload(process, &header, &cell)
            });
            if sent == Sent::NoMemory {
                let bytes = bytes.min(RING_PAYLOAD);
                (
                    self.push_small_data(process, &buffer, offset, token, bytes),
                    bytes,
                )
            } else {
                (sent == Sent::Done, bytes)
            }
        };
        if !done {
            return false;
        }
        self.requests.at(index).moved += bytes;
        true
    }

    /// Sends an RTS through the bulk ring, and the first bytes of its message.
    fn push_rts(
        &mut self,
        process: usize,
        header: &Header,
        rts: &Rts,
        plan: Plan,
        buffer: &Buffer,
        bytes: usize,
    ) -> bool {
        const SPLIT: usize = Rts::BYTES;
        let mut words = [0u8; SPLIT];
        rts.encode(&mut words);
        let route = self.peers.route(process);
        let header = Header {
            length: (SPLIT + bytes) as u32,
            ..*header
        };
        self.transport
            .push_large(route, &header, plan, |at, piece| {
                plan.stores.finish_before_head(at, piece.len());
                let split = SPLIT.saturating_sub(at).min(piece.len());
                let (words_piece, data) = piece.split_at_mut(split);
                words_piece.copy_from_slice(&words[at.min(SPLIT)..][..split]);
                if !data.is_empty() {
                    copy_out(buffer, at + split - SPLIT, data, plan.stores);
                }
            })
    }

    /// Goes on with what waits for room to `process`. True if something left.
    pub(super) fn flush(&mut self, process: usize) -> bool {
        let mut any = false;
        while let Some(what) = self.peers.of(process).queue.pop_front() {
            let before = match &what {
                Outgoing::EagerPart(index) => Some(self.requests.at(*index).moved),
                _ => None,
            };
            match self.dispatch(process, what) {
                Ok(()) => any = true,
                Err(rest) => {
                    if let Outgoing::EagerPart(index) = rest {
                        // Where a message was announced just now, at least the RTS has left.
                        let moved = self.requests.at(index).moved;
                        any |= before.is_none_or(|before| moved > before);
                    }
                    self.peers.of(process).queue.push_front(rest);
                    break;
                }
            }
        }
        any | self.passing(process, |engine| engine.stream(process))
    }

    /// Streams the data that CTS packets have asked for.
    fn stream(&mut self, process: usize) -> bool {
        let mut any = false;
        while let Some(&index) = self.peers.of(process).streams.front() {
            let request = self.requests.at(index);
            let (wanted, token) = (request.wanted(), request.token);
            // The eager part may still wait for room, behind a CTS perhaps.
            if request.moved < request.eager_part as usize
                || !self.push_data(process, index, token, wanted)
            {
                break;
            }
            any = true;
            if self.requests.at(index).moved >= wanted {
                self.peers.of(process).streams.pop_front();
                self.finish_send(index);
            }
        }
        any
    }

    fn awaits_answer(&mut self, process: usize, sender: Index) -> bool {
        let request = self.requests.get(sender);
        request.is_some_and(|request| {
            request.phase == Phase::Active
                && matches!(request.answer, Answer::Awaited | Answer::Marked)
                && request.process as usize == process
        })
    }

    /// Notes the answer of a receiver that one of our sends waits for. Returns the request that goes on with it.
    pub(super) fn take_answer(&mut self, process: usize, flags: u8, named: Index) -> Index {
        let sender = match self.awaits_answer(process, named) {
            true => named,
            false => (self.stand_in(named))
                .filter(|sender| self.awaits_answer(process, *sender))
                .unwrap_or_else(|| panic!("process {process} answered a send that does not exist")),
        };
        let request = self.requests.at(sender);
        let marked = request.answer == Answer::Marked;
        request.answer = match flags & packets::REFUSED {
            0 => Answer::Come,
            _ if marked => Answer::Cancelled,
            _ => Answer::Refused,
        };
        if marked {
            self.is_answered(process, sender);
        }
        sender
    }

    /// The receiver has matched one of our messages: its CTS.
    pub(super) fn on_cts(&mut self, process: usize, flags: u8, mut cts: Cts) {
        if flags & packets::UNREADABLE != 0 {
            self.peers.of(process).cannot_read_us = true;
        }
        if let Some(offer) = offers::offer_of(cts.sender) {
            match self.answered_offer(process, offer) {
                Some(sender) => cts.sender = sender,
                None => return,
            }
        }
        cts.sender = self.take_answer(process, flags, cts.sender);
        let request = self.requests.at(cts.sender);
        if flags & (packets::FIN | packets::REFUSED) != 0 {
            request.set_wanted(0);
            self.finish_send(cts.sender);
            return;
        }
        request.token = cts.receiver;
        request.set_wanted(cts.wanted);
        if cts.wanted <= u64::from(request.eager_part) {
            self.finish_send(cts.sender);
            return;
        }
        if request.protocol == Protocol::Read {
            // The receiver could not: a way that is left.
            let buffer = request.buffer;
            let protocol = self.choose_protocol(process, &buffer, false, false);
            self.requests.at(cts.sender).protocol = protocol;
        } else if request.protocol == Protocol::Straight {
            // Its buffer has holes.
            let (total, route) = (request.total, self.peers.route(process));
            let transport = &mut self.transport;
            let protocol = Protocol::choose(Facts::default(), || transport.has_bulk(route, total));
            self.requests.at(cts.sender).protocol = protocol;
        }
        self.peers.of(process).streams.push_back(cts.sender);
        self.mark_busy(process);
        self.flush_busy();
    }
}

/// Fills a cell.
#[inline]
pub(super) fn copy_out(buffer: &Buffer, offset: usize, data: &mut [u8], stores: Stores) {
    match stores {
        Stores::Ordinary => buffer.read(offset, data),
        Stores::NonTemporal => buffer.read_nontemporal(offset, data),
    }
}
