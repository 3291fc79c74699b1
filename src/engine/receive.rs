//! Receiving: an arriving message matches a posted receive or is unexpected, and kept until a receive matches it.
//!
//! Invariant: of one origin at most one announced message is still sending its eager part (`Peer::partial`); its packets come
//! in order. A receive is complete when `moved` reaches `total`, the bytes that will come; more than its buffer holds
//! is taken off the wire and dropped, and the receive ends with MPI_ERR_TRUNCATE.

use super::arrival::Arrival;
use super::matching::Key;
use super::offers;
use super::packets::{self, Cts, Payload, Rts};
use super::progress::Handled;
use super::protocol::Response;
use super::refusal::is_of_program;
use super::requests::{Index, Kind, NOT_POSTED, Phase, Request};
use super::unexpected::{Message, status};
use super::{Engine, losses};
use crate::datatype::Status;
use crate::datatype::pack::Buffer;
use crate::error::{Class, Error, Result};
use crate::events::{self, Event};
use crate::os::{monotonic_nanoseconds, peer_memory};
use crate::sync::Ordering;
use crate::transport::Packet;

/// From here on a message that lies in memory is read in several streams at once. Not the parts of a larger one: the
/// hardware's prefetcher keeps one stream going over all of them.
const MANY_STREAMS: usize = 8192;

/// Receiver of the rest of a message's eager part.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Request(Index),
    Message(u32),
}

/// A message whose eager part is still coming in.
#[derive(Clone, Copy, Debug)]
pub struct PartialMessage {
    pub(super) target: Target,
    /// Size of the eager part.
    pub(super) eager: usize,
}

/// The answer of [`Engine::receive_directly`].
#[derive(Debug)]
pub enum Direct {
    Received(Status),
    Nothing,
    /// Something else has come in first.
    Other,
}

#[inline(always)]
pub(super) fn key_of(packet: &Packet) -> Key {
    Key {
        context: packet.context,
        source: packet.source,
        tag: packet.tag,
    }
}

impl Engine {
    /// Begins a receive of the program's; `key` may have wildcards. The request may be complete on return.
    ///
    /// Errors: MPI_ERR_NO_MEM, there are too many requests.
    #[inline]
    pub fn receive(
        &mut self,
        key: Key,
        peer: i32,
        communicator: i32,
        buffer: Buffer,
    ) -> Result<Index> {
        let requests = &mut self.requests;
        let index = requests.insert_receive(buffer, communicator, key.context, peer, key.tag)?;
        self.post(index, key);
        Ok(index)
    }

    /// As [`Engine::receive`], in the middle of an operation, which cannot be given up.
    #[inline]
    pub fn receive_for_library(
        &mut self,
        key: Key,
        peer: i32,
        communicator: i32,
        buffer: Buffer,
    ) -> Index {
        let begun = self.receive(key, peer, communicator, buffer);
        begun.unwrap_or_else(|_| self.receive_beyond_limit(key, peer, communicator, buffer))
    }

    #[cold]
    fn receive_beyond_limit(
        &mut self,
        key: Key,
        peer: i32,
        communicator: i32,
        buffer: Buffer,
    ) -> Index {
        let index = self.requests.insert(Request {
            peer,
            tag: key.tag,
            ..Request::new(Kind::Receive, buffer, communicator, key.context, 0)
        });
        self.post(index, key);
        index
    }

    /// Starts an active receive.
    #[inline(always)]
    pub fn post(&mut self, index: Index, key: Key) {
        if let Some(message) = self.unexpected.take(key) {
            self.match_message(index, message);
        } else {
            let name = self.posted.post(key, index);
            self.requests.at(index).posted = name;
        }
    }

    /// One poll for a message that is received without a request, the shortest way for a blocking receive.
    ///
    /// Only when nothing else could take the message: no receive is posted, and no message is unexpected. Of other threads only those
    /// that probe or receive like this want it too, and whom it goes to is not the library's to say.
    #[inline(always)]
    pub fn receive_directly(&mut self, key: Key, buffer: &Buffer) -> Direct {
        let Some(packet) = self.transport.peek() else {
            return Direct::Nothing;
        };
        let length = packet.length as usize;
        if packet.kind != packets::SHORT || !key.takes(key_of(&packet)) || length > buffer.len() {
            return Direct::Other;
        }
        self.copy_eager(&packet, buffer);
        self.transport.done(&packet);
        Direct::Received(status(key_of(&packet), length))
    }

    /// Copies a whole message out of its packet.
    #[inline(always)]
    fn copy_eager(&self, packet: &Packet, buffer: &Buffer) {
        if packet.is_nontemporal() && packet.length as usize >= MANY_STREAMS {
            self.transport
                .payload(packet, |offset, piece| buffer.write_streams(offset, piece));
        } else {
            self.transport
                .payload(packet, |offset, piece| buffer.write(offset, piece));
        }
    }

    /// Whether [`Engine::receive_directly`] may be used.
    #[inline(always)]
    pub fn may_receive_directly(&self) -> bool {
        self.posted.is_empty()
            && self.unexpected.is_empty()
            && self.busy.is_empty()
            && !self.oversubscribed
    }

    /// What is first in line for `key`, left there.
    pub fn probe(&mut self, key: Key) -> Option<Status> {
        let index = self.unexpected.find(key)?;
        self.messages.get(index).map(|message| message.status())
    }

    /// Takes what is first in line for `key`, a message on this communicator, for [`Engine::receive_matched`].
    pub fn probe_matched(&mut self, key: Key, communicator: i32) -> Option<(u32, Status)> {
        let index = self.unexpected.take(key)?;
        let message = self.messages.get(index)?;
        message.communicator = communicator;
        Some((index, message.status()))
    }

    /// A message taken by [`Engine::probe_matched`].
    pub fn matched(&mut self, index: u32) -> Option<&mut Message> {
        self.messages.get(index)
    }

    /// Begins the receive of a matched message.
    pub fn receive_matched(&mut self, message: u32, communicator: i32, buffer: Buffer) -> Index {
        // The library's own are given up when their sender has ended, which is known by the context.
        let context = self.matched(message).map(|found| found.key.context);
        let context = context.filter(|context| !is_of_program(*context));
        let request = Request::new(Kind::Receive, buffer, communicator, context.unwrap_or(0), 0);
        let index = self.requests.insert(request);
        self.match_message(index, message);
        index
    }

    /// Withdraws a posted receive. False: it has met its message already.
    pub fn cancel_receive(&mut self, index: Index) -> bool {
        let name = std::mem::replace(&mut self.requests.at(index).posted, NOT_POSTED);
        if name == NOT_POSTED {
            return false;
        }
        self.posted.withdraw(name);
        self.counted.cancelled += 1;
        let request = self.requests.at(index);
        request.status.set_cancelled(true);
        self.complete(index);
        true
    }

    /// A receive matches an unexpected message.
    fn match_message(&mut self, index: Index, message: u32) {
        let Some(found) = self.messages.take(message) else {
            return;
        };
        debug_assert!(!found.refused, "a receive was posted in MPI_Finalize");
        self.count_taken(found.process, found.eager);
        let here = found.data.len();
        self.meet(index, found.key, found.total);
        self.put(index, &found.data);
        if let Some(failed) = found.failed {
            self.requests.at(index).error = Some(losses::told(failed));
        }
        if let Some(own) = found.own {
            self.end_rendezvous(own);
        }
        if here < found.eager {
            // Its eager part is still coming: from now on into the receive.
            self.peers.of(found.process).partial = Some(PartialMessage {
                target: Target::Request(index),
                eager: found.eager,
            });
        }
        let rts = Rts {
            total: found.total as u64,
            address: found.address,
            eager: found.eager as u32,
            token: found.token,
            ..Rts::default()
        };
        drop(found.data);
        self.answer(index, found.process, found.flags, &rts);
        self.finish_if_all_is_here(index);
        self.give_back_memory();
    }

    /// Notes the match of a receive, and whether its buffer is too small.
    #[inline(always)]
    fn meet(&mut self, index: Index, key: Key, total: usize) {
        let request = self.requests.at(index);
        let room = request.buffer.len();
        request.status = status(key, total.min(room));
        request.total = total;
        request.moved = 0;
        request.posted = NOT_POSTED;
        if total > room {
            request.error = Some(truncated(key, total, room));
        }
    }

    /// The next bytes of a receive's message.
    #[inline(always)]
    fn put(&mut self, index: Index, data: &[u8]) {
        let request = self.requests.at(index);
        let room = request.buffer.len();
        if request.moved < room {
            let bytes = data.len().min(room - request.moved);
            request.buffer.write(request.moved, &data[..bytes]);
        }
        request.moved += data.len();
    }

    #[inline(always)]
    pub(super) fn finish_if_all_is_here(&mut self, index: Index) {
        let request = self.requests.at(index);
        if request.phase == Phase::Active && request.moved >= request.total {
            self.complete(index);
        }
    }

    /// Tells the sender what it waits for, and how much of the message will come.
    fn answer(&mut self, index: Index, process: usize, flags: u8, rts: &Rts) {
        let (total, eager) = (rts.total as usize, rts.eager as usize);
        let wanted = total.min(self.requests.at(index).buffer.len());
        let cts = Cts {
            sender: rts.token,
            receiver: index,
            wanted: wanted as u64,
        };
        let has_place = wanted > 0 && self.requests.at(index).buffer.contiguous().is_some();
        let mut response = Response::choose(flags, total, eager, has_place);
        if response == Response::Place && !self.give_place(index, process, wanted, rts) {
            response = Response::Cts;
        }
        match response {
            Response::Place => {}
            Response::Read => {
                self.transport.answer(self.peers.route(process));
                let began = monotonic_nanoseconds();
                if self.read_peer(index, process, rts, wanted) {
                    self.requests.at(index).total = 0;
                    self.send_cts(process, packets::FIN | packets::RTS_ADDRESS, cts);
                    self.note_copy(true, wanted, wanted, began);
                } else {
                    self.requests.at(index).total = wanted;
                    self.send_cts(process, packets::UNREADABLE, cts);
                }
            }
            Response::Cts => {
                self.requests.at(index).total = wanted.max(eager);
                self.begin_timing(index);
                self.send_cts(process, 0, cts);
            }
            Response::Fin => self.send_cts(process, packets::FIN, cts),
            Response::Nothing => {}
        }
    }

    /// Reads a whole message out of the sender's memory, if the kernel lets us.
    fn read_peer(&mut self, index: Index, process: usize, rts: &Rts, bytes: usize) -> bool {
        let address = rts.address;
        let pid = self.peer(process as u32).page.pid.load(Ordering::Relaxed);
        let transport = &self.transport;
        let readable = self
            .peers
            .of(process)
            .readable
            .get_or_insert_with(|| transport.readable(process as u32).is_some());
        if let Some(offer) = offers::offer_of(rts.token) {
            let read = *readable && self.read_offered(index, process, offer, address, bytes);
            self.peers.of(process).readable = Some(read);
            return read;
        }
        let read = *readable
            && (bytes == 0
                || self
                    .requests
                    .at(index)
                    .buffer
                    .fill_from(bytes, |out| peer_memory::read(pid, address, out))
                    .is_ok());
        // Read first, then looked at: what had changed before it was read was revoked before that.
        let read = read && !self.peer(process as u32).page.has_revoked();
        self.peers.of(process).readable = Some(read);
        read
    }

    #[inline(always)]
    pub(super) fn on_short(&mut self, packet: &Packet, may_defer: bool) -> Handled {
        let key = key_of(packet);
        let length = packet.length as usize;
        let Some(index) = self.posted.take(key) else {
            if may_defer {
                return Handled::Deferred;
            }
            self.store_short(&{ *packet }, key);
            return Handled::Unexpected;
        };
        let request = self.requests.at(index);
        let room = request.buffer.len();
        request.status = status(key, length.min(room));
        request.posted = NOT_POSTED;
        let buffer = request.buffer;
        if length <= room {
            self.copy_eager(packet, &buffer);
        } else {
            request.error = Some(truncated(key, length, room));
            self.transport.payload(packet, |offset, piece| {
                if offset < room {
                    buffer.write(offset, &piece[..piece.len().min(room - offset)]);
                }
            });
        }
        self.complete(index);
        Handled::Matched
    }

    #[inline(never)]
    fn store_short(&mut self, packet: &Packet, key: Key) {
        if self.is_unwanted(key.context) {
            return;
        }
        let length = packet.length as usize;
        let mut data = Vec::with_capacity(length);
        self.transport
            .payload(packet, |_, piece| data.extend_from_slice(piece));
        let rts = Rts {
            total: length as u64,
            eager: length as u32,
            ..Rts::default()
        };
        self.store(key, packet.process as usize, 0, &rts, data, None);
    }

    pub(super) fn store(
        &mut self,
        key: Key,
        process: usize,
        flags: u8,
        rts: &Rts,
        data: Vec<u8>,
        own: Option<Index>,
    ) -> u32 {
        let total = rts.total as usize;
        events::raise(Event::UnexpectedMessage, || {
            events::message(key.context, key.source, key.tag, total)
        });
        let index = self.messages.insert(Message {
            key,
            process,
            total,
            data,
            eager: rts.eager as usize,
            flags,
            token: rts.token,
            address: rts.address,
            own,
            refused: false,
            failed: None,
            communicator: 0,
        });
        self.unexpected.push(key, index);
        if process != self.me() {
            self.count_unexpected(process, rts.eager as usize);
        }
        if self.refuses {
            self.refuse(index);
        }
        if super::has_threads() {
            // Another thread may sleep in a probe.
            self.wake_own_sleepers();
        }
        index
    }

    /// Keeps an unexpected message of this process to itself.
    pub(super) fn store_own(&mut self, key: Key, me: usize, data: Vec<u8>, own: Option<Index>) {
        let rts = Rts {
            total: data.len() as u64,
            eager: data.len() as u32,
            ..Rts::default()
        };
        self.store(key, me, 0, &rts, data, own);
    }

    /// A receive matches a send of this process itself.
    pub(super) fn receive_from_buffer(&mut self, index: Index, key: Key, buffer: &Buffer) {
        let total = buffer.len();
        self.meet(index, key, total);
        let room = self.requests.at(index).buffer.len();
        let into = self.requests.at(index).buffer;
        buffer.copy_to(&into, total.min(room));
        self.requests.at(index).moved = total;
        self.finish_if_all_is_here(index);
    }

    /// RTS of a larger message; its first bytes may have come along.
    pub(super) fn on_rts(&mut self, packet: &Packet, rts: &Rts, may_defer: bool) -> Handled {
        let (key, process) = (key_of(packet), packet.process as usize);
        let first = Arrival::of(packet, Rts::BYTES, rts.cell, rts.cell_bytes);
        let eager = rts.eager as usize;
        let bytes = first.bytes(packet);
        if let Some(index) = self.posted.take(key) {
            self.meet(index, key, rts.total as usize);
            self.answer(index, process, packet.flags, rts);
            if bytes < eager {
                self.begin_timing(index);
            }
            if bytes > 0 {
                self.put_arrival(index, packet, first);
            }
            if bytes < eager {
                self.peers.of(process).partial = Some(PartialMessage {
                    target: Target::Request(index),
                    eager,
                });
            }
            self.finish_if_all_is_here(index);
            return Handled::Matched;
        }
        if may_defer {
            return Handled::Deferred;
        }
        let mut data = Vec::with_capacity(eager);
        if bytes > 0 {
            self.read_arrival(packet, first, |_, piece| data.extend_from_slice(piece));
        }
        let message = self.store(key, process, packet.flags, rts, data, None);
        if bytes < eager {
            self.peers.of(process).partial = Some(PartialMessage {
                target: Target::Message(message),
                eager,
            });
        }
        self.refuse_if_revoked(message);
        Handled::Unexpected
    }
}

#[cold]
fn truncated(key: Key, total: usize, room: usize) -> Error {
    Error::new(
        Class::Truncate,
        format!(
            "message truncated: {total} bytes from rank {} with tag {} came in, the receive buffer holds {room}",
            key.source, key.tag
        ),
    )
}
