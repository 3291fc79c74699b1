//! Progress: what has come in is handled, what waited for room goes on.

use super::Engine;
use super::packets::{self, Cancel, Cell, Cts, Failed, Payload, Placed, Rts};
use crate::transport::{LANDED, LEFT, Packet};

/// Packets handled before the caller checks its own request.
const BATCH: usize = 32;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handled {
    /// Somebody waited for it.
    Matched,
    /// The message is unexpected, and kept.
    Unexpected,
    /// The message is unexpected, and its packet stays in the ring: the caller may be satisfied with what has come before, and
    /// its next receive takes the message from there without a copy in between. On an oversubscribed node most messages of a
    /// neighbour that ran ahead would be unexpected otherwise.
    Deferred,
}

impl Engine {
    /// Handles what has come in and sends what can be sent. True if anything happened.
    #[inline(always)]
    pub fn progress(&mut self) -> bool {
        let mut handled = 0;
        let mut matched = false;
        while handled < BATCH {
            let Some(packet) = self.transport.peek() else {
                break;
            };
            match self.handle(&packet, matched) {
                Handled::Deferred => break,
                Handled::Matched => matched = true,
                Handled::Unexpected => {}
            }
            self.transport.done(&packet);
            handled += 1;
        }
        let mut any = handled > 0;
        if !any && self.offers.are_waiting() {
            self.look_at_offers();
        }
        if !self.busy.is_empty() {
            any |= self.flush_busy();
        }
        any
    }

    #[inline(always)]
    pub(super) fn handle(&mut self, packet: &Packet, may_defer: bool) -> Handled {
        if packet.kind == packets::SHORT {
            self.on_short(packet, may_defer)
        } else {
            // A copy, so that the packet of a short message stays in registers.
            self.handle_other(&{ *packet }, may_defer)
        }
    }

    #[inline(never)]
    fn handle_other(&mut self, packet: &Packet, may_defer: bool) -> Handled {
        let process = packet.process as usize;
        assert!(
            self.transport.table().has(packet.process),
            "a packet came from process {process}, which does not exist"
        );
        match packet.kind {
            packets::RTS => {
                let rts = self.decode::<Rts>(packet);
                return self.on_rts(packet, &rts, may_defer);
            }
            packets::DATA => self.on_data(packet),
            packets::CELL => {
                let cell = self.decode::<Cell>(packet);
                self.on_cell(packet, &cell);
            }
            packets::CTS => {
                let cts = self.decode::<Cts>(packet);
                self.on_cts(process, packet.flags, cts);
            }
            packets::PLACE => {
                let placed = self.decode::<Placed>(packet);
                self.on_place(process, placed);
            }
            LEFT => self.on_left(packet.context),
            LANDED => self.on_landed(packet.context),
            packets::CANCEL => {
                let cancel = self.decode::<Cancel>(packet);
                self.on_cancel(packet, cancel);
            }
            packets::FAILED => {
                let failed = self.decode::<Failed>(packet);
                return self.on_failed(packet, failed, may_defer);
            }
            packets::REVOKED => self.on_revoked(packet),
            packets::ASK_LAST => self.on_ask_last(packet),
            packets::LAST => self.on_last(packet),
            kind => panic!("process {process} sent a packet of unknown kind {kind}"),
        }
        Handled::Matched
    }

    pub(super) fn decode<P: Payload>(&self, packet: &Packet) -> P {
        assert!(
            packet.length as usize >= P::BYTES,
            "a packet of kind {} with {} bytes came from process {}",
            packet.kind,
            packet.length,
            packet.process
        );
        // With the whole length: where the first bytes lie depends on it.
        let mut bytes = [0u8; packets::LONGEST_PAYLOAD];
        self.transport.payload(packet, |offset, piece| {
            let rest = &mut bytes[offset.min(packets::LONGEST_PAYLOAD)..];
            let here = rest.len().min(piece.len());
            rest[..here].copy_from_slice(&piece[..here]);
        });
        P::decode(&bytes)
    }

    /// Goes on with everything that waits for room. True if something left.
    #[inline(never)]
    pub(super) fn flush_busy(&mut self) -> bool {
        let mut any = false;
        let busy = std::mem::take(&mut self.busy);
        for process in busy {
            let process = process as usize;
            self.peers.of(process).busy = false;
            any |= self.flush(process);
            let peer = self.peers.of(process);
            if !(peer.queue.is_empty() && peer.streams.is_empty()) {
                self.mark_busy(process);
            }
        }
        any
    }

    /// Whether nothing waits for room and no send is unfinished.
    pub fn is_drained(&mut self) -> bool {
        if self.checks_liveness {
            self.give_up_sends();
        }
        self.busy.is_empty() && self.sending == 0
    }

    /// As [`Engine::is_drained`], but for sends that were withdrawn: nobody may ever want those of peers that have not said yet that
    /// they receive nothing any more.
    pub fn is_drained_but_for_withdrawn(&mut self) -> bool {
        self.is_drained()
            || self.busy.is_empty() && self.sends(|send| !send.is_withdrawn()).is_empty()
    }

    /// Says to every peer that we wait for room, before sleeping.
    pub(super) fn request_space(&self) {
        for process in &self.busy {
            self.transport
                .request_space(self.peers.route(*process as usize));
        }
    }

    /// Whether the fabric has nothing to do but to bring records, and what waits for room there waits for its peer's word.
    pub(super) fn is_settled(&self) -> bool {
        let waits_for_peer = |process: &u32| {
            let route = self.peers.route(*process as usize);
            self.transport.waits_for_peer(route)
        };
        self.transport.is_settled() && self.busy.iter().all(waits_for_peer)
    }

    /// Whether something waits for room.
    pub(super) fn is_blocked(&self) -> bool {
        !self.busy.is_empty()
    }
}
