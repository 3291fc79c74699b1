//! Messages that their receiver refuses, because it is in MPI_Finalize and has no receive for them.
//!
//! A process in MPI_Finalize posts no receive of the program's any more. A message of the program that waits for its CTS and
//! has met no receive will never meet one: the receiver says so in the CTS. Both sides may be in MPI_Finalize and wait for
//! their sends, so neither can wait until the other is through. Invariant: a refused send is complete at once if no call will
//! wait for it; else that call ends it with an error ([`super::liveness`]), at the latest MPI_Finalize completes it.

use super::Engine;
use super::for_each;
use super::liveness::KIND_OF_CONTEXT;
use super::packets::{self, Cts};
use super::requests::{Answer, Index, Kind, Request};
use crate::events::Event;

/// The sends of this process that were refused, and that no call reports.
#[derive(Debug, Default)]
pub(super) struct Refused {
    first: Option<Description>,
    count: u64,
}

/// A send, for the user.
#[derive(Clone, Copy, Debug)]
struct Description {
    source: i32,
    peer: i32,
    tag: i32,
    bytes: usize,
    context: u32,
}

/// MPI_Finalize has begun, or is over: from now on messages without a receive are refused, or not any more.
pub fn refuse_all(refuses: bool) {
    for_each(|engine| {
        engine.refuses = refuses;
        if refuses {
            engine.refuse_unexpected();
            engine.end_refused();
        }
    });
}

/// What to tell the user about messages that were refused, once; to be asked while there are communicators. `name_of` names that of a context.
pub fn report(name_of: impl FnOnce(u32) -> Option<String>) -> Option<String> {
    let mut all = Refused::default();
    for_each(|engine| {
        let refused = std::mem::take(&mut engine.refused);
        all.first = all.first.or(refused.first);
        all.count += refused.count;
    });
    let Description {
        source,
        peer,
        tag,
        bytes,
        context,
    } = all.first?;
    let communicator = name_of(context);
    let communicator = communicator.as_deref().unwrap_or("a freed communicator");
    let more = match all.count - 1 {
        0 => String::new(),
        1 => ", nor was 1 further message".to_owned(),
        more => format!(", nor were {more} further messages"),
    };
    Some(format!(
        "a message was not received: {bytes} bytes with tag {tag} from rank {source} to rank {peer} of {communicator}{more}"
    ))
}

/// Whether a context is of the program's own messages. Only these are refused: operations of the library may still go on.
pub fn is_of_program(context: u32) -> bool {
    context & KIND_OF_CONTEXT == 0
}

impl Engine {
    pub(super) fn refuse_unexpected(&mut self) {
        for message in self.messages.numbers() {
            self.refuse(message);
        }
    }

    /// Refuses an unexpected message, if its sender waits for a CTS.
    pub(super) fn refuse(&mut self, number: u32) {
        let Some(message) = self.messages.get(number) else {
            return;
        };
        if message.refused || !is_of_program(message.key.context) {
            return;
        }
        let (process, sender) = (message.process, message.token);
        let own = message.own.take();
        message.refused = own.is_some() || message.awaits_cts();
        if let Some(own) = own {
            self.on_refused(own);
        } else if message.refused {
            let cts = Cts {
                sender,
                receiver: 0,
                wanted: 0,
            };
            self.send_cts(process, packets::REFUSED, cts);
        }
    }

    /// The receiver has refused a send, and nothing of it is queued.
    pub(super) fn on_refused(&mut self, index: Index) {
        let refuses = self.refuses;
        let request = self.requests.at(index);
        request.answer = Answer::Refused;
        if !refuses && !request.detached {
            return;
        }
        request.answer = Answer::NotWanted;
        let description = Description {
            source: request.source,
            peer: request.peer,
            tag: request.tag,
            bytes: request.total,
            context: request.context,
        };
        self.refused.first.get_or_insert(description);
        self.refused.count += 1;
        self.raise_rendezvous(Event::RendezvousCompleted, index);
        self.complete(index);
    }

    /// Completes the sends that were refused before.
    pub(super) fn end_refused(&mut self) {
        let refused = |(_, request): &(Index, &Request)| {
            request.is_active()
                && matches!(request.kind, Kind::Send(_))
                && request.answer == Answer::Refused
                && request.moved >= request.eager_part as usize
        };
        let numbered = self.requests.numbered().filter(refused);
        let all: Vec<Index> = numbered.map(|(index, _)| index).collect();
        for index in all {
            self.on_refused(index);
        }
    }
}
