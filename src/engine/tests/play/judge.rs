//! What has to be true while a play goes on and at its end: each message arrives once, whole and in order, or was cancelled.

use super::{Fate, Play, Reached, Receive, TAG_OF_SMALL, content};
use crate::engine::Engine;
use crate::engine::dispatch::Outgoing;
use crate::engine::offers::offer_of;
use crate::engine::packets::{self, Cts, Placed};
use crate::engine::requests::{Answer, Phase};
use crate::error::Class;
use crate::transport::Packet;
use std::collections::BTreeMap;

impl Play {
    pub(super) fn check(&mut self, reached: &mut Reached) {
        for at in 0..self.engines.len() {
            self.overwrite(at);
            for to in 0..self.engines.len() {
                let route = self.engines[at].peers.route(to);
                if self.engines[at].transport.is_held(route) {
                    *reached.entry("held back").or_default() += 1;
                }
            }
            for (_, peer) in self.engines[at].peers.met() {
                for what in &peer.queue {
                    let name = match what {
                        Outgoing::Short(_) => "short",
                        Outgoing::Rts(_) => "RTS",
                        Outgoing::EagerPart(_) => "eager part",
                        Outgoing::Cts { .. } => "CTS",
                        Outgoing::Place(_) => "PLACE",
                        Outgoing::Failed { .. } => "FAILED",
                        Outgoing::Revoked { .. } => "REVOKED",
                        Outgoing::AskLast => "ASK_LAST",
                        Outgoing::Last => "LAST",
                        Outgoing::Cancel(_) => "CANCEL",
                    };
                    *reached.entry(name).or_default() += 1;
                }
            }
        }
        let receives = std::mem::take(&mut self.receives);
        for receive in receives {
            let engine = &mut self.engines[receive.at];
            if engine.requests.at(receive.index).phase == Phase::Complete {
                self.compare(&receive);
            } else {
                self.receives.push(receive);
            }
        }
    }

    fn compare(&mut self, receive: &Receive) {
        let engine = &mut self.engines[receive.at];
        let request = engine.requests.at(receive.index);
        let (status, error) = (request.status, request.error.take());
        engine.requests.release(receive.index);
        self.received += 1;
        let (bytes, room) = (status.bytes() as usize, receive.data.buffer.len());
        if status.tag == TAG_OF_SMALL || bytes < 8 {
            return;
        }
        let mut found = vec![0; bytes];
        receive.data.buffer.read(0, &mut found);
        let number = u64::from_ne_bytes(found[..8].try_into().unwrap()) as usize;
        assert!(
            number < self.messages.len(),
            "{bytes} bytes begin with {number:#x}"
        );
        let message = &mut self.messages[number];
        assert_eq!(
            (message.from as i32, message.to),
            (status.source, receive.at)
        );
        assert_eq!((message.tag, message.bytes.min(room)), (status.tag, bytes));
        let truncated = error.map(|error| error.class() == Class::Truncate);
        assert_eq!(truncated, (message.bytes > room).then_some(true));
        assert_eq!(message.received.replace(receive.order), None);
        assert_ne!(message.fate, Fate::Cancelled);
        let expected = content(number, message.bytes);
        let wrong = (0..bytes).find(|at| found[*at] != expected[*at]);
        assert_eq!(wrong, None, "of the {bytes} bytes of message {number}");
    }

    pub(super) fn end(&mut self, refuses: bool) {
        for receive in std::mem::take(&mut self.receives) {
            let engine = &mut self.engines[receive.at];
            assert!(
                engine.cancel_receive(receive.index),
                "half of a message came"
            );
            engine.requests.release(receive.index);
        }
        assert!(self.sends.is_empty());
        for engine in &self.engines {
            assert_eq!(engine.requests.count(), 0);
            assert!(refuses || engine.unexpected.is_empty());
            assert!(refuses || engine.holding == 0);
            for (_, peer) in engine.peers.met() {
                assert!(refuses || peer.unexpected_bytes == 0 && !peer.holds);
                assert!(peer.queue.is_empty() && peer.streams.is_empty() && peer.partial.is_none());
            }
        }
        if !refuses {
            let count = |fate: Fate| self.messages.iter().filter(|one| one.fate == fate).count();
            let (cancelled, unknown) = (count(Fate::Cancelled), count(Fate::Unknown));
            let arrived = self.messages.len() - cancelled;
            assert!(self.received <= arrived && self.received + unknown >= arrived);
        }
        // Messages of one sender and tag meet receives in the order of both.
        let mut last: BTreeMap<(usize, usize, i32), usize> = BTreeMap::new();
        for message in &self.messages {
            if let Some(order) = message.received {
                let before = last.insert((message.from, message.to, message.tag), order);
                assert!(before < Some(order), "a message was overtaken");
            }
        }
    }
}

/// Notes in which state a send is whose PLACE is here.
pub(super) fn note_place(engine: &mut Engine, packet: &Packet, reached: &mut Reached) {
    let placed = engine.decode::<Placed>(packet);
    let request = engine.requests.at(placed.sender);
    let name = match (request.answer, placed.wanted < request.total as u64) {
        (Answer::Marked, _) => "straight, marked and received",
        (_, true) => "straight, a part",
        (_, false) => "straight, all",
    };
    *reached.entry(name).or_default() += 1;
}

/// Notes in which state a send is whose CTS is here.
pub(super) fn note(engine: &mut Engine, packet: &Packet, reached: &mut Reached) {
    let cts = engine.decode::<Cts>(packet);
    if let Some(offer) = offer_of(cts.sender) {
        let is_kept = engine.requests.at(engine.offers.request(offer)).detached;
        let name = match (packet.flags & !packets::RTS_ADDRESS, is_kept) {
            (packets::FIN, false) => "offer read in time",
            (packets::FIN, true) => "offer read, kept",
            (packets::REFUSED, false) => "offer refused",
            (packets::REFUSED, true) => "offer refused, kept",
            (_, false) => "offer not readable",
            (_, true) => "offer not readable, kept",
        };
        *reached.entry(name).or_default() += 1;
        return;
    }
    let request = engine.requests.at(cts.sender);
    let gone = request.moved >= request.eager_part as usize;
    if request.answer == Answer::Marked {
        let name = match packet.flags {
            packets::REFUSED => "marked and refused",
            _ => "marked and received",
        };
        *reached.entry(name).or_default() += 1;
    }
    let name = match packet.flags {
        packets::REFUSED if gone => "refused, eager part gone",
        packets::REFUSED => "refused, eager part queued",
        packets::FIN if gone => "done, eager part gone",
        packets::FIN => "done, eager part queued",
        packets::UNREADABLE if cts.wanted == 0 => "unreadable and nothing wanted, eager part gone",
        packets::UNREADABLE => "unreadable, eager part gone",
        0 => match (cts.wanted > u64::from(request.eager_part), gone) {
            (true, true) => "more, eager part gone",
            (true, false) => "more, eager part queued",
            (false, true) => "enough, eager part gone",
            (false, false) => "enough, eager part queued",
        },
        _ => "read, eager part gone",
    };
    *reached.entry(name).or_default() += 1;
}
