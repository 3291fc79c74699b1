//! Data that comes with a packet: in its payload, or in a copy buffer that it names.
//!
//! Invariant: the parts of a message come in order, so what has come in is always its beginning.

use super::Engine;
use super::packets::{self, Cell, NO_CELL};
use super::receive::Target;
use super::requests::{Index, Phase};
use crate::transport::{CellName, Packet};

/// Where the data is that came with a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrival {
    /// In the payload, behind so many bytes of it.
    Here {
        skip: usize,
    },
    Cell {
        name: CellName,
        bytes: usize,
    },
}

impl Arrival {
    /// `skip` is the size of what the payload begins with.
    pub(super) fn of(packet: &Packet, skip: usize, cell: u32, bytes: u32) -> Self {
        if cell == NO_CELL || packet.length as usize > skip {
            Self::Here { skip }
        } else {
            Self::Cell {
                name: CellName(cell),
                bytes: bytes as usize,
            }
        }
    }

    pub(super) fn bytes(&self, packet: &Packet) -> usize {
        match *self {
            Self::Here { skip } => packet.length as usize - skip,
            Self::Cell { bytes, .. } => bytes,
        }
    }
}

impl Engine {
    /// Calls `take(offset, piece)` for the data that came with a packet.
    #[inline]
    pub(super) fn read_arrival(
        &self,
        packet: &Packet,
        arrival: Arrival,
        mut take: impl FnMut(usize, &[u8]),
    ) {
        match arrival {
            Arrival::Here { skip: 0 } => self.transport.payload(packet, take),
            Arrival::Here { skip } => self.transport.payload(packet, |offset, piece| {
                let skipped = skip.saturating_sub(offset).min(piece.len());
                take(
                    offset + skipped - skip.min(offset + skipped),
                    &piece[skipped..],
                );
            }),
            Arrival::Cell { name, bytes } => {
                self.transport
                    .read_cell(packet, name, bytes, |piece| take(0, piece));
            }
        }
    }

    /// The next bytes of a receive's message, as they came with a packet.
    pub(super) fn put_arrival(&mut self, index: Index, packet: &Packet, arrival: Arrival) {
        let request = self.requests.at(index);
        let (moved, room, buffer) = (request.moved, request.buffer.len(), request.buffer);
        request.moved += arrival.bytes(packet);
        self.read_arrival(packet, arrival, |offset, piece| {
            let at = moved + offset;
            if at < room {
                buffer.write(at, &piece[..piece.len().min(room - at)]);
            }
        });
    }

    /// Further bytes of an announced message, in a copy buffer.
    pub(super) fn on_cell(&mut self, packet: &Packet, named: &Cell) {
        let cell = Arrival::Cell {
            name: CellName(named.cell),
            bytes: named.bytes as usize,
        };
        self.on_further(packet, named.token, cell);
    }

    /// Further bytes of an announced message, in the packet.
    #[inline]
    pub(super) fn on_data(&mut self, packet: &Packet) {
        self.on_further(packet, packet.context, Arrival::Here { skip: 0 });
    }

    #[inline]
    fn on_further(&mut self, packet: &Packet, token: u32, arrival: Arrival) {
        let process = packet.process as usize;
        let bytes = arrival.bytes(packet);
        if token != packets::EAGER_PART {
            let active = self
                .requests
                .get(token)
                .is_some_and(|request| request.phase == Phase::Active);
            assert!(
                active,
                "process {process} sent data for a receive that does not exist"
            );
            self.put_arrival(token, packet, arrival);
            self.finish_if_all_is_here(token);
            self.look_at_timed(Some(token), bytes);
            return;
        }
        let partial = self.peers.of(process).partial.unwrap_or_else(|| {
            panic!("process {process} sent data of a message it did not announce")
        });
        let here = match partial.target {
            Target::Request(index) => {
                self.put_arrival(index, packet, arrival);
                let here = self.requests.at(index).moved;
                self.finish_if_all_is_here(index);
                self.look_at_timed(Some(index), bytes);
                here
            }
            Target::Message(message) => {
                let mut data = match self.messages.get(message) {
                    Some(message) => std::mem::take(&mut message.data),
                    None => panic!("the message that process {process} is sending was lost"),
                };
                self.read_arrival(packet, arrival, |_, piece| data.extend_from_slice(piece));
                let here = data.len();
                if let Some(message) = self.messages.get(message) {
                    message.data = data;
                }
                self.look_at_timed(None, bytes);
                here
            }
        };
        if here >= partial.eager {
            self.peers.of(process).partial = None;
        }
    }
}
