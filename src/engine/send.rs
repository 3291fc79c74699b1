//! Sending: short messages go straight into the ring or the bulk ring, what is larger or finds no room goes by [`dispatch`].
//!
//! Invariant: a message goes straight only if nothing waits for its peer.
//!
//! [`dispatch`]: super::dispatch

use super::Engine;
use super::dispatch::{Outgoing, copy_out};
use super::matching::Key;
use super::packets::{self, Cts};
use super::requests::{Index, Kind, Mode, NOT_POSTED, Request};
use crate::datatype::pack::Buffer;
use crate::events::{self, Event};
use crate::transport::{Header, LONGEST_WHOLE, RING_PAYLOAD, Route};

/// Where and how a message goes.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Process number in the job.
    pub process: u32,
    pub context: u32,
    /// Own rank in the communicator.
    pub source: i32,
    pub tag: i32,
    /// Destination rank in the communicator, for reports.
    pub peer: i32,
    /// Handle of the communicator, for errors.
    pub communicator: i32,
}

impl Engine {
    /// Tries to send a short message at once. False: it is not short, or must wait its turn.
    #[inline(always)]
    pub fn send_short(&mut self, envelope: &Envelope, buffer: &Buffer) -> bool {
        let bytes = buffer.len();
        let Some(peer) = self.peers.get(envelope.process) else {
            return false;
        };
        let route = peer.route;
        if bytes > LONGEST_WHOLE || route == Route::Own || !peer.queue.is_empty() {
            return false;
        }
        let (context, tag, source) = (envelope.context, envelope.tag, envelope.source);
        let header = self.short_header(context, tag, source, bytes);
        if bytes > RING_PAYLOAD {
            let sent = self.transport.goes_whole(route, bytes)
                && self.push_through_bulk_ring(route, &{ header }, buffer);
            self.counted.eager += u64::from(sent);
            return sent;
        }
        let sent = self
            .transport
            .push(route, &header, |offset, piece| buffer.read(offset, piece));
        self.counted.eager += u64::from(sent);
        sent
    }

    /// Sends a whole message in one packet through the bulk ring, which exists. False: no room.
    #[inline(never)]
    pub(super) fn push_through_bulk_ring(
        &mut self,
        route: Route,
        header: &Header,
        buffer: &Buffer,
    ) -> bool {
        let plan = self.transport.plan(route, buffer.len());
        self.transport
            .push_large(route, header, plan, |offset, piece| {
                plan.stores.finish_before_head(offset, piece.len());
                copy_out(buffer, offset, piece, plan.stores);
            })
    }

    /// Begins a send; the request may be complete on return.
    pub fn send(&mut self, mode: Mode, envelope: &Envelope, buffer: Buffer) -> Index {
        let request = Request {
            process: envelope.process,
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
        self.start_send(index);
        index
    }

    /// Starts an active send.
    pub fn start_send(&mut self, index: Index) {
        self.sending += 1;
        let request = self.requests.at(index);
        request.moved = 0;
        let (process, total) = (request.process as usize, request.total);
        let synchronous = request.kind == Kind::Send(Mode::Synchronous);
        let route = self.peers.route(process);
        if route == Route::Own {
            self.send_to_self(index);
            return;
        }
        let short = total <= RING_PAYLOAD || self.transport.goes_whole(route, total);
        let what = if short && !synchronous {
            Outgoing::Short(index)
        } else {
            Outgoing::Rts(index)
        };
        self.send_in_order(process, what);
    }

    /// Sends it now, or behind what waits for room to its peer.
    #[inline]
    pub(super) fn send_in_order(&mut self, process: usize, what: Outgoing) {
        if !self.peers.of(process).queue.is_empty() {
            self.peers.of(process).queue.push_back(what);
        } else if let Err(rest) = self.dispatch(process, what) {
            self.peers.of(process).queue.push_back(rest);
            self.mark_busy(process);
        }
    }

    pub(super) fn mark_busy(&mut self, process: usize) {
        if !self.peers.of(process).busy {
            self.peers.of(process).busy = true;
            self.busy.push(process as u32);
        }
    }

    /// Sends a CTS, now or when there is room.
    pub(super) fn send_cts(&mut self, process: usize, flags: u8, cts: Cts) {
        self.send_answer(process, Outgoing::Cts { flags, cts });
    }

    /// Sends a CTS or a PLACE, now or when there is room.
    pub(super) fn send_answer(&mut self, process: usize, what: Outgoing) {
        if self.peers.of(process).queue.is_empty() {
            let Err(rest) = self.dispatch(process, what) else {
                return;
            };
            self.peers.of(process).queue.push_back(rest);
        } else {
            // A CTS is bound to no order; in front of data that waits for cells it lets the peer go on.
            self.peers.of(process).queue.push_front(what);
        }
        self.mark_busy(process);
    }

    /// Raises an event of a send that needs a CTS.
    pub(super) fn raise_rendezvous(&mut self, event: Event, index: Index) {
        events::raise(event, || {
            let send = self.requests.at(index);
            events::message(send.context, send.peer, send.tag, send.total)
        });
    }

    /// The CTS has come, and all that the receiver wants has left.
    pub(super) fn end_rendezvous(&mut self, index: Index) {
        self.raise_rendezvous(Event::RendezvousCompleted, index);
        self.complete(index);
    }

    /// A message to this process itself: no transport, the data is copied once or kept.
    fn send_to_self(&mut self, index: Index) {
        let me = self.me();
        let request = self.requests.at(index);
        let buffer = request.buffer;
        let key = Key {
            context: request.context,
            source: request.source,
            tag: request.tag,
        };
        let synchronous = request.kind == Kind::Send(Mode::Synchronous);
        self.counted.eager += u64::from(!synchronous);
        self.counted.rendezvous += u64::from(synchronous);
        if synchronous {
            self.raise_rendezvous(Event::RendezvousBegun, index);
        }
        if let Some(receive) = self.posted.take(key) {
            self.requests.at(receive).posted = NOT_POSTED;
            self.receive_from_buffer(receive, key, &buffer);
            match synchronous {
                true => self.end_rendezvous(index),
                false => self.complete(index),
            }
            return;
        }
        let data = match buffer.copied() {
            Ok(data) => data.into_vec(),
            Err(error) => {
                self.requests.at(index).error = Some(error);
                return self.complete(index);
            }
        };
        self.store_own(key, me, data, synchronous.then_some(index));
        if !synchronous {
            self.complete(index);
        }
    }

    /// The header of a whole message.
    #[inline(always)]
    pub(super) fn short_header(&self, context: u32, tag: i32, source: i32, bytes: usize) -> Header {
        Header {
            context,
            tag,
            source,
            ..self.header(packets::SHORT, 0, bytes)
        }
    }
}
