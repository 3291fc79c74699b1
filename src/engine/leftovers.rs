//! What the program leaves when it ends MPI: requests that it holds, and messages that it has not received.

use super::for_each;
use super::refusal::is_of_program;
use super::requests::{Kind, Phase, handle_of};

/// A request that the program has neither completed nor freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub handle: i32,
    pub kind: Kind,
    pub phase: Phase,
    pub tag: i32,
    pub context: u32,
    /// The object that it is on.
    pub owner: i32,
    /// Rank in the communicator; negative: any.
    pub peer: i32,
    /// Of the message, or room for it.
    pub bytes: u64,
}

/// The program's requests that there are.
pub fn requests() -> Vec<Held> {
    let mut all = Vec::new();
    for_each(|engine| {
        let requests = engine.requests.numbered();
        let held = requests.filter(|(_, request)| {
            let is_message = matches!(request.kind, Kind::Send(_) | Kind::Receive);
            request.phase != Phase::Free
                && !request.detached
                && (!is_message || is_of_program(request.context))
        });
        all.extend(held.map(|(index, request)| Held {
            handle: handle_of(index),
            kind: request.kind,
            phase: request.phase,
            tag: request.tag,
            context: request.context,
            owner: request.owner,
            peer: request.peer,
            bytes: request.buffer.len() as u64,
        }));
    });
    all
}

/// Messages from the same rank with the same tag on the same communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreceived {
    pub source: i32,
    pub tag: i32,
    pub context: u32,
    pub count: u64,
    /// Of all of them.
    pub bytes: u64,
}

/// The messages that have come and were not received, but for those that their senders tell of as refused.
pub fn messages() -> Vec<Unreceived> {
    let mut all: Vec<Unreceived> = Vec::new();
    for_each(|engine| {
        for number in engine.messages.numbers() {
            let Some(message) = engine.messages.get(number) else {
                continue;
            };
            let key = message.key;
            if message.refused || !is_of_program(key.context) {
                continue;
            }
            let same = |it: &&mut Unreceived| {
                (it.source, it.tag, it.context) == (key.source, key.tag, key.context)
            };
            match all.iter_mut().find(same) {
                Some(group) => {
                    group.count += 1;
                    group.bytes += message.total as u64;
                }
                None => all.push(Unreceived {
                    source: key.source,
                    tag: key.tag,
                    context: key.context,
                    count: 1,
                    bytes: message.total as u64,
                }),
            }
        }
    });
    all
}
