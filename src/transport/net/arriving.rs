//! What a port has completed: records that come in, and transmissions that have ended.

use super::early::Kept;
use super::order::Came;
use super::port::Completion;
use super::record::{self, Record};
use super::{Arrived, Net, Peer, pool};
use crate::os::monotonic_nanoseconds;
use crate::transport::wire;

impl Net {
    pub(super) fn handle(&mut self, completion: Completion) {
        match completion {
            Completion::Sent(context) => {
                if let Some(index) = self.pool.sender_of(context) {
                    self.pool.give(index);
                } else {
                    self.piece_ended(context, None, None);
                }
            }
            Completion::Received {
                context,
                data,
                length,
                released,
            } => {
                let Some(buffer) = self.pool.receiver_of(context) else {
                    self.piece_ended(context, Some(length), None);
                    return;
                };
                // A provider that only releases the buffer names no data.
                let end = (released && length > 0 && self.completes_in_order)
                    .then(|| self.pool.offset(buffer, data).wrapping_add(length));
                // Else it was still coming into memory that the buffer has no more.
                if length == 0 || self.pool.offset(buffer, data) < pool::RECEIVE_BYTES {
                    self.receiving.came(buffer, length, released, end);
                }
                if length == 0 {
                    self.give_back(buffer);
                } else {
                    let came = Kept {
                        buffer,
                        data,
                        length,
                    };
                    if let Some(process) = self.take_in(came)
                        && self.keeps_early
                    {
                        self.take_in_early(process);
                    }
                }
            }
            Completion::Failed { context, text } => {
                if let Some(index) = self.pool.sender_of(context) {
                    let process = self.pool.give(index);
                    self.fails_to_send(process, text);
                } else if let Some(buffer) = self.pool.receiver_of(context) {
                    self.receiving.failed(buffer);
                } else if !self.piece_ended(context, None, Some(text.clone())) {
                    // An inject's failure says not whose. The one that misses it finds that out by a question, and tells.
                    self.failed = Some(text);
                    self.ask(true);
                }
            }
        }
    }

    /// Takes a record that is the next of its sender. Returns that.
    pub(super) fn take_in(&mut self, came: Kept) -> Option<u32> {
        let Kept {
            buffer,
            data,
            length,
        } = came;
        // SAFETY: the provider has written so many bytes there, in a buffer that is given back only when this is done.
        let message = unsafe { std::slice::from_raw_parts(data, length) };
        let mut record = Record::decode(message)?;
        let own = self.sender_of(&mut record)?;
        let header = record.header;
        let process = header.process;
        let mut peer = self.peers.of(process, Peer::default);
        let place = peer.order.came(own, record.word);
        if place != Came::Foreign && (peer.lost || header.kind == record::LOST) {
            self.take_of_lost(process, header.kind);
            return None;
        }
        if header.kind == record::AGAIN && matches!(place, Came::Next | Came::Early(_)) {
            // An early one, too: what it waits for may be what this process waits for. If the records are not here any more, the peer will
            // find by a question that they are lost.
            peer.first.want(header.context, header.tag as u32);
            self.list(process);
            peer = self.peers.of(process, Peer::default);
        }
        match place {
            Came::Next => {}
            Came::Foreign => return None,
            // Sent again in the first contact.
            Came::Again if self.completes_in_order => return None,
            Came::Early(missing) if peer.may_come_early(self.completes_in_order) => {
                self.keep_early(process, &record, came, missing);
                return None;
            }
            place => {
                self.loses_records(process, place);
                return None;
            }
        }
        if record::is_counted(header.kind) {
            self.page.waits.count_handled_of(process);
        }
        peer.met = true;
        peer.unanswered = 0;
        peer.credit.confirmed(record.taken);
        if peer.first.keeps() && record.taken != 0 {
            peer.first.told(record.taken, peer.credit.count());
        }
        match header.kind {
            record::TAKEN => peer.passed.confirmed = header.context,
            record::HOLD => peer.held = true,
            record::END_HOLD => peer.held = false,
            record::ASK => {
                peer.answer_due = true;
                let lost = peer.passed.asked(header.context, monotonic_nanoseconds());
                match lost {
                    Some(pieces) => self.loses_records(process, Came::Early(pieces)),
                    None => self.list(process),
                }
            }
            record::AGAIN => {}
            // Not what others send.
            wire::LEFT | wire::LANDED => {}
            record::GOODBYE => {
                peer.heard_goodbye = true;
                if !peer.said_goodbye {
                    peer.goodbye_due = true;
                    self.list(process);
                }
            }
            _ => {
                // The peer is here again, and waits for another goodbye when it leaves.
                peer.heard_goodbye = false;
                peer.said_goodbye = false;
                self.receiving.keep(buffer);
                self.arrived.push_back(Arrived {
                    buffer,
                    data,
                    header,
                });
            }
        }
        Some(process)
    }
}
