//! Messages that their receiver refuses, because it is in MPI_Finalize and has no receive for them.
//!
//! A process in MPI_Finalize posts no receive of the program's any more. A message of the program that waits for its CTS and
//! has met no receive will never meet one: the receiver says so in the CTS. Both sides may be in MPI_Finalize and wait for
//! their sends, so neither can wait until the other is through. Invariant: a refused send is complete at once if no call will
//! wait for it; else that call ends it with an error ([`super::liveness`]), at the latest MPI_Finalize completes it.

use super::Engine;
use super::for_each;
use super::liveness::{self, KIND_OF_CONTEXT};
use super::packets::{self, Cts};
use super::requests::{Answer, Index, Kind, Request};
use crate::events::Event;

/// The sends of this process that were refused, and that no call reports.
pub(super) type Refused = Vec<Group>;

/// Sends to the same rank with the same tag on the same communicator.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    pub first: Description,
    pub count: u64,
    /// Of all of them.
    pub bytes: u64,
}

/// A send, for the user.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    pub source: i32,
    pub peer: i32,
    pub tag: i32,
    pub bytes: usize,
    pub context: u32,
}

impl Group {
    fn has(&self, one: &Description) -> bool {
        let of = |it: &Description| (it.source, it.peer, it.tag, it.context);
        of(&self.first) == of(one)
    }
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

/// The messages that were refused since the last call.
pub fn take() -> Vec<Group> {
    let mut all: Vec<Group> = Vec::new();
    for_each(|engine| {
        for group in std::mem::take(&mut engine.refused) {
            match all.iter_mut().find(|it| it.has(&group.first)) {
                Some(known) => {
                    known.count += group.count;
                    known.bytes += group.bytes;
                }
                None => all.push(group),
            }
        }
    });
    all
}

/// What to tell the user about messages that were refused; to be asked while there are communicators. `name_of` names that of a context.
pub fn text(refused: &[Group], name_of: impl FnOnce(u32) -> Option<String>) -> Option<String> {
    let Description {
        source,
        peer,
        tag,
        bytes,
        context,
    } = refused.first()?.first;
    let communicator = name_of(context);
    let communicator = communicator.as_deref().unwrap_or("a freed communicator");
    let count: u64 = refused.iter().map(|group| group.count).sum();
    let more = match count - 1 {
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
        let process = self.requests.at(index).process;
        // One that is in no MPI_Finalize refuses what is of a revoked communicator; this process has not heard of it yet.
        let is_in_vain = refuses || liveness::of(self, process).is_some();
        let request = self.requests.at(index);
        request.answer = Answer::Refused;
        if self.ends_refused(index) {
            return;
        }
        let request = self.requests.at(index);
        if !refuses && !request.detached {
            return;
        }
        request.answer = Answer::NotWanted;
        if !is_in_vain {
            return self.complete(index);
        }
        let description = Description {
            source: request.source,
            peer: request.peer,
            tag: request.tag,
            bytes: request.total,
            context: request.context,
        };
        let bytes = description.bytes as u64;
        match self.refused.iter_mut().find(|it| it.has(&description)) {
            Some(group) => {
                group.count += 1;
                group.bytes += bytes;
            }
            None => self.refused.push(Group {
                first: description,
                count: 1,
                bytes,
            }),
        }
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
