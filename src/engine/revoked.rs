//! What becomes of the messages of a communicator that was revoked.
//!
//! Invariant: a request of the program's on such a communicator ends at once, with MPIX_ERR_REVOKED, unless both sides have agreed to transfer
//! its message: that goes on, so nothing is written to memory that the program has back. A send that was announced, and whose receiver may yet
//! want it, waits for nobody: another request *stands in* for it, with a copy of its data, until the receiver answers. It answers by the number
//! of the ended one, which no other request has until then. Nothing of the library's own ends here: whoever waits for that asks whether the
//! communicator was revoked.

use super::dispatch::Outgoing;
use super::liveness::KIND_OF_CONTEXT;
use super::packets;
use super::protocol::Protocol;
use super::refusal::is_of_program;
use super::requests::{Answer, Index, Kind, NOT_POSTED, Request, Restart};
use super::{Engine, enter, for_each, losses};
use crate::datatype::Status;
use crate::sync::{AtomicBool, Ordering};
use crate::transport::{Header, Packet, Route, deaths};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// In place of the own rank in a persistent request that is not to be started any more; its peer is MPI_PROC_NULL.
const NO_RANK: i32 = i32::MIN;
const PROC_NULL: i32 = -1;

/// The contexts of revoked communicators, without their kinds: of messages that are sent, and that come.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    sent: BTreeSet<u32>,
    received: BTreeSet<u32>,
    /// The requests that stand in for ended ones, by these.
    stand_ins: BTreeMap<Index, Index>,
}

/// Word of a process that the communicator with this context was revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub context: u32,
    pub from: u32,
}

static HEARD: Mutex<Vec<Word>> = Mutex::new(Vec::new());
static ANY_HEARD: AtomicBool = AtomicBool::new(false);

/// The words that have come since the last call.
pub fn take_heard() -> Vec<Word> {
    match ANY_HEARD.load(Ordering::Relaxed) && ANY_HEARD.swap(false, Ordering::Acquire) {
        true => std::mem::take(&mut HEARD.lock()),
        false => Vec::new(),
    }
}

/// Tells a process. `context`: by which it receives.
pub fn tell(process: u32, context: u32) {
    enter().send_in_order(process as usize, Outgoing::Revoked { context });
}

/// The communicator with these contexts was revoked: ends what is under way.
pub fn end(communicator: i32, sent: u32, received: u32) {
    let mut tasks = Vec::new();
    for_each(|engine| {
        engine.revoked.sent.insert(sent);
        engine.revoked.received.insert(received);
        tasks.extend(engine.end_revoked(communicator, [sent, received]));
    });
    for (index, Restart(end)) in tasks {
        end(index);
    }
}

impl Contexts {
    fn has_sent(&self, context: u32) -> bool {
        self.sent.contains(&context)
    }

    fn has_received(&self, context: u32) -> bool {
        self.received.contains(&context)
    }
}

impl Request {
    /// Whether a persistent request is of a revoked communicator.
    pub fn is_of_revoked(&self) -> bool {
        self.source == NO_RANK
    }
}

impl Engine {
    pub(super) fn dispatch_revoked(
        &mut self,
        process: usize,
        context: u32,
    ) -> Result<(), Outgoing> {
        let header = Header {
            context,
            ..self.header(packets::REVOKED, 0, 0)
        };
        let route = self.peers.route(process);
        match self.transport.push(route, &header, |_, _| {}) {
            true => Ok(()),
            false => Err(Outgoing::Revoked { context }),
        }
    }

    /// The waits of this process look for news from now on.
    #[cold]
    pub(super) fn on_revoked(&mut self, packet: &Packet) {
        let word = Word {
            context: packet.context,
            from: packet.process,
        };
        HEARD.lock().push(word);
        ANY_HEARD.store(true, Ordering::Release); // pairs with `take_heard`
        deaths::found();
        self.wake_own_sleepers();
    }

    /// Returns the tasks that end by a function of their own.
    fn end_revoked(&mut self, communicator: i32, contexts: [u32; 2]) -> Vec<(Index, Restart)> {
        let mut tasks = Vec::new();
        let is_its = |request: &Request| {
            request.owner == communicator
                && contexts.contains(&(request.context & !KIND_OF_CONTEXT))
        };
        let all = self.requests.numbered();
        let all: Vec<Index> = all
            .filter_map(|(index, request)| is_its(request).then_some(index))
            .collect();
        for index in all {
            if is_of_program(self.requests.at(index).context) {
                self.end_if_revoked(index);
            }
            let request = self.requests.at(index);
            if request.persistent {
                (request.peer, request.source) = (PROC_NULL, NO_RANK);
                let extra = request.extra.as_ref();
                let end = extra.and_then(|extra| extra.at_revocation.clone());
                tasks.extend(end.map(|end| (index, end)));
            }
        }
        for number in self.messages.numbers() {
            self.refuse_if_revoked(number);
        }
        tasks
    }

    /// Ends an active request of the program's whose communicator was revoked, if it can end now. Whether it has.
    pub(super) fn end_if_revoked(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        let context = request.context;
        if !request.is_active() || !is_of_program(context) {
            return false;
        }
        match request.kind {
            Kind::Receive if self.revoked.has_received(context) => self.end_receive(index),
            Kind::Send(_) if self.revoked.has_sent(context) => self.end_send(index),
            _ => false,
        }
    }

    fn end_receive(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        if request.posted == NOT_POSTED {
            return false;
        }
        request.error = Some(losses::revoked());
        self.cancel_receive(index);
        self.requests.at(index).status = Status::empty();
        true
    }

    fn end_send(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        let process = request.process as usize;
        if self.peers.route(process) == Route::Own {
            // What it is told when its message is refused.
            return false;
        }
        let is_refused = request.answer == Answer::Refused;
        let queue = &mut self.peers.of(process).queue;
        let waits = |what: &Outgoing| matches!(what, Outgoing::Short(waits) | Outgoing::Rts(waits) if *waits == index);
        let at = queue.iter().position(waits);
        if let Some(at) = at {
            queue.remove(at);
        }
        if at.is_some() || is_refused {
            self.end_send_with_error(index);
        }
        at.is_some() || is_refused || self.stands_in(index)
    }

    /// Ends a send that waits for its receiver, and has another request go on with a copy of its data. False: both transfer it, or nobody waits
    /// for it, or there is no memory for the copy.
    fn stands_in(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        let is_marked = request.answer == Answer::Marked;
        let awaits = is_marked || request.answer == Answer::Awaited;
        if !awaits && request.answer != Answer::NotWanted {
            return false;
        }
        if request.detached {
            return self.parts_from_receive(index);
        }
        let Ok(mut stand_in) = request.with_copy() else {
            return false;
        };
        if is_marked {
            // Nobody asks for its cancellation any more; the answer to a CANCEL that has left is one like another.
            stand_in.answer = Answer::Awaited;
        }
        stand_in.extra.get_or_insert_default().stands_in_for = Some(index);
        if awaits && request.protocol == Protocol::Read {
            // Its receiver may read the data where it was, at any time.
            self.transport.revoke_addresses();
        }
        let process = stand_in.process;
        let stand_in = self.requests.insert(stand_in);
        self.sending += 1;
        if is_marked {
            self.is_answered(process as usize, index);
        }
        for waits in &mut self.peers.of(process as usize).queue {
            if let Outgoing::EagerPart(sender) = waits
                && *sender == index
            {
                *sender = stand_in;
            }
        }
        if awaits {
            self.revoked.stand_ins.insert(index, stand_in);
        }
        self.end_send_with_error(index);
        if awaits {
            let request = self.requests.at(index);
            request.extra.get_or_insert_default().keeps_number = true;
        }
        true
    }

    /// Has the send of an exchange go on by itself, so that the receive, for which the call waits, is complete without it. False: nobody waits for
    /// the send.
    fn parts_from_receive(&mut self, index: Index) -> bool {
        let request = self.requests.at(index);
        let extra = request.extra.as_mut();
        let Some(receive) = extra.and_then(|extra| extra.partner.take()) else {
            return false;
        };
        if !self.requests.at(index).is_withdrawn() {
            self.withdraw(index);
        }
        let request = self.requests.at(receive);
        request.error.get_or_insert_with(losses::revoked);
        self.part_done(receive);
        if super::has_threads() {
            self.wake_own_sleepers();
        }
        true
    }

    /// The request that goes on with an ended send.
    #[cold]
    pub(super) fn stand_in(&mut self, ended: Index) -> Option<Index> {
        self.revoked.stand_ins.get(&ended).copied()
    }

    /// The request that stands in for this one is complete.
    #[cold]
    pub(super) fn ends_stand_in(&mut self, ended: Index) {
        if self.revoked.stand_ins.remove(&ended).is_some() {
            self.requests.give_number_back(ended);
        }
    }

    fn end_send_with_error(&mut self, index: Index) {
        let request = self.requests.at(index);
        request.answer = Answer::NotWanted;
        request.error = Some(losses::revoked());
        self.complete(index);
    }

    /// Whether a send whose receiver has refused it is of a revoked communicator; then it ends.
    pub(super) fn ends_refused(&mut self, index: Index) -> bool {
        let context = self.requests.at(index).context;
        let is_revoked = self.revoked.has_sent(context);
        if is_revoked {
            self.end_send_with_error(index);
        }
        is_revoked
    }

    /// Whether no receive will be posted for a message with this context.
    #[inline]
    pub(super) fn is_unwanted(&self, context: u32) -> bool {
        !self.revoked.received.is_empty() && self.revoked.has_received(context)
    }

    /// Refuses an unexpected message that nobody will receive, and drops it when it is here.
    pub(super) fn refuse_if_revoked(&mut self, number: u32) {
        let Some(message) = self.messages.get(number) else {
            return;
        };
        // One that a matched probe has taken is received.
        let (key, is_taken) = (message.key, message.communicator != 0);
        if is_taken || !self.is_unwanted(key.context) {
            return;
        }
        self.refuse(number);
        self.drop_message(number);
    }
}
