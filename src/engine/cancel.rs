//! MPI_Cancel of a send.
//!
//! What has not left yet is taken out of the queue. What was announced and has met no receive is known to the receiver only, so
//! the sender asks for it: `CANCEL` names the message by its key and the sender's token. The receiver looks among its unexpected
//! messages. If the message is there, it goes, and the answer is a CTS with `REFUSED`: there will be no receive for it. If not, a
//! receive or a matched probe has it, and the CTS of that match is the answer; to `CANCEL` there is none.
//!
//! A send has one answer in any case, and is complete not before it, so its memory may be read and its token is its own until
//! then. Packets of one origin come in order: a `CANCEL` that comes too late comes before the next message with its token, and
//! finds nothing. It leaves behind the eager part, so that no message goes of which a part is still coming in.
//!
//! | state of the send ([`super::dispatch`]) | what MPI_Cancel does |
//! |---|---|
//! | waits | it is cancelled |
//! | announced, eager part not gone | [`Answer::Marked`]; `CANCEL` follows the eager part, if a CTS is awaited |
//! | announced, eager part gone | [`Answer::Marked`], `CANCEL` |
//! | refused | it is cancelled, [`Answer::Cancelled`] |
//! | streams, complete, on offer | nothing |
//! | to this process itself, not received | it is cancelled |
//!
//! A marked send to a process that has ended is cancelled: nobody can tell whether it was received.

use super::dispatch::Outgoing;
use super::liveness::{GivesUp, KIND_OF_CONTEXT};
use super::matching::Key;
use super::packets::{self, Cancel, Cts, Payload};
use super::receive::key_of;
use super::requests::{Answer, Index, Kind};
use super::unexpected::Message;
use super::{Engine, for_each};
use crate::events::Event;
use crate::transport::{Header, Packet, Route};

/// A context id is given back. Messages on it that nobody has received are dropped, for it will be that of another communicator.
pub fn forget_context(context: u32) {
    for_each(|engine| engine.forget_context(context));
}

impl Engine {
    /// Marks a send for cancellation. It completes, cancelled or received, once the receiver has answered.
    #[cold]
    pub fn cancel_send(&mut self, index: Index) {
        let request = self.requests.at(index);
        if !request.is_active() || !matches!(request.kind, Kind::Send(_)) {
            return;
        }
        let process = request.process as usize;
        if self.peers.route(process) == Route::Own {
            self.cancel_own(index);
            return;
        }
        let queue = &mut self.peers.of(process).queue;
        let waits = |what: &Outgoing| match what {
            Outgoing::Short(waits) | Outgoing::Rts(waits) => *waits == index,
            _ => false,
        };
        if let Some(at) = queue.iter().position(waits) {
            queue.remove(at);
            self.end_unsent(index);
            return;
        }
        let request = self.requests.at(index);
        match request.answer {
            Answer::Awaited => {
                request.answer = Answer::Marked;
                self.finish_send(index);
                // A call that polls asks for no losses.
                self.give_up(index, GivesUp::Waiting);
            }
            Answer::Refused => {
                request.answer = Answer::Cancelled;
                self.finish_send(index);
            }
            // One that is on offer is complete soon, received or not, as if its data had left.
            Answer::Offered => {}
            Answer::NotWanted | Answer::Marked | Answer::Cancelled | Answer::Come => {}
        }
    }

    fn cancel_own(&mut self, index: Index) {
        let request = self.requests.at(index);
        let key = Key {
            context: request.context,
            source: request.source,
            tag: request.tag,
        };
        if self.drop_unexpected(key, |message| message.own == Some(index)) {
            self.counted.cancelled += 1;
            self.end_cancelled(index);
        }
    }

    /// Asks the receiver for a marked send whose eager part has left, now or when there is room.
    pub(super) fn ask_for(&mut self, index: Index) {
        let process = self.requests.at(index).process as usize;
        // Its own message has left, and it is bound to no order with others.
        if let Err(rest) = self.dispatch(process, Outgoing::Cancel(index)) {
            self.peers.of(process).queue.push_front(rest);
            self.mark_busy(process);
        }
    }

    pub(super) fn dispatch_cancel(&mut self, process: usize, index: Index) -> Result<(), Outgoing> {
        let request = self.requests.at(index);
        let (context, tag, source) = (request.context, request.tag, request.source);
        let header = Header {
            context,
            tag,
            source,
            ..self.header(packets::CANCEL, 0, Cancel::BYTES)
        };
        match self.push_payload(process, &header, &Cancel { token: index }) {
            true => Ok(()),
            false => Err(Outgoing::Cancel(index)),
        }
    }

    /// The CTS of a marked send has come, or nobody waits for it: it is no longer to be asked for.
    #[cold]
    pub(super) fn is_answered(&mut self, process: usize, index: Index) {
        let asks = |what: &Outgoing| matches!(what, Outgoing::Cancel(sender) if *sender == index);
        self.peers.of(process).queue.retain(|what| !asks(what));
    }

    /// A sender wants its message back.
    #[cold]
    pub(super) fn on_cancel(&mut self, packet: &Packet, cancel: Cancel) {
        let (process, token) = (packet.process as usize, cancel.token);
        // A message that awaits no CTS may have the token of another send.
        let is_asked_for = |message: &Message| {
            (message.process, message.token) == (process, token)
                && message.awaits_cts()
                && !message.refused
        };
        if self.drop_unexpected(key_of(packet), is_asked_for) {
            self.counted.cancelled += 1;
            let cts = Cts {
                sender: token,
                receiver: 0,
                wanted: 0,
            };
            self.send_cts(process, packets::REFUSED, cts);
        }
    }

    /// Drops an unexpected message, all of whose eager part is here. False: there is none like this.
    fn drop_unexpected(&mut self, key: Key, is: impl Fn(&Message) -> bool) -> bool {
        let messages = &mut self.messages;
        let number = self.unexpected.take_one(key, |number| {
            messages.get(number).is_some_and(|message| is(message))
        });
        let Some(message) = number.and_then(|number| self.messages.take(number)) else {
            return false;
        };
        debug_assert_eq!(message.data.len(), message.eager, "a part is still coming");
        self.count_taken(message.process, message.eager);
        drop(message);
        self.give_back_memory();
        true
    }

    /// Drops an unexpected message that nobody will receive, if all of its eager part is here.
    pub(super) fn drop_message(&mut self, number: u32) {
        let Some(message) = self.messages.get(number) else {
            return;
        };
        let key = message.key;
        if message.data.len() != message.eager || message.own.is_some() {
            return;
        }
        let taken = self.unexpected.take_one(key, |other| other == number);
        if let Some(message) = taken.and_then(|number| self.messages.take(number)) {
            self.count_taken(message.process, message.eager);
            self.give_back_memory();
        }
    }

    /// See [`forget_context`]. A sender that waits for its CTS has the id still, so its message stays.
    fn forget_context(&mut self, context: u32) {
        self.progresses();
        for number in self.messages.numbers() {
            let Some(message) = self.messages.get(number) else {
                continue;
            };
            let key = message.key;
            if key.context & !KIND_OF_CONTEXT == context & !KIND_OF_CONTEXT {
                self.drop_unexpected(key, |message| {
                    let is_here = message.data.len() == message.eager;
                    let is_awaited = message.awaits_cts() && !message.refused;
                    is_here && message.own.is_none() && !is_awaited
                });
            }
        }
    }

    /// Whether a send is marked, and not known to be received.
    pub(super) fn is_marked(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        matches!(request.kind, Kind::Send(_))
            && matches!(request.answer, Answer::Marked | Answer::Cancelled)
    }

    /// The end of a send that was announced and that nobody has received.
    pub(super) fn end_cancelled(&mut self, index: Index) {
        self.raise_rendezvous(Event::RendezvousCompleted, index);
        self.end_unsent(index);
    }

    fn end_unsent(&mut self, index: Index) {
        let request = self.requests.at(index);
        request.answer = Answer::NotWanted;
        request.status.set_cancelled(true);
        self.complete(index);
    }
}
