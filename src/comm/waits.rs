//! What a call that waits for long is told of communicators: which rank is lost, and what it waits for in words and numbers of the job.
//!
//! Invariant: a rank is called lost only if no message that the call waits for can come any more.

use super::{Comm, find_used, for_each, me};
use crate::engine::waits::{Kind, Object, Wait, Whom};
use crate::engine::{self, liveness};
use crate::transport::name::NAME_BYTES;

/// From now on.
pub(super) fn begin_to_tell() {
    liveness::find_lost_by(lost_peer);
}

impl Comm {
    /// A wait for a message to or from a rank, or from any, with the communicator's name or without.
    pub fn wait(&self, kind: Kind, peer: i32, tag: i32, named: bool) -> Wait {
        let whom = match (0..self.peers()).contains(&peer) {
            true => Whom::of([self.process(peer)]),
            false => Whom::Any,
        };
        Wait {
            object: self.object(),
            peer,
            tag,
            context: self.receive_context(),
            name: self.name_on_page(named),
            ..Wait::of(kind, whom)
        }
    }

    /// The birth is made of the contexts, by which messages are told apart, too: both groups of an intercommunicator know both.
    pub fn object(&self) -> Object {
        let contexts = [self.context(), self.receive_context()].map(u64::from);
        let [least, most] = [contexts[0].min(contexts[1]), contexts[0].max(contexts[1])];
        Object::Communicator(most << 32 | least)
    }

    /// What status pages call it; nothing if it is not to be `named`.
    pub fn name_on_page(&self, named: bool) -> String {
        match named {
            true => self.short_title(NAME_BYTES),
            false => String::new(),
        }
    }

    /// Whether a context, of any of the types, is the communicator's.
    pub fn has_context(&self, context: u32) -> bool {
        [self.context(), self.receive_context()].contains(&(context & !3))
    }
}

/// The rank that is lost, if no message on a communicator from `peer`, or from any, can come any more.
fn lost_peer(handle: i32, peer: i32, is_lost: &dyn Fn(u32) -> bool) -> Option<u32> {
    let comm = find_used(handle)?;
    if (0..comm.peers()).contains(&peer) {
        return Some(comm.process(peer)).filter(|process| is_lost(*process));
    }
    // Another thread may send to this process itself.
    if engine::is_multiple() {
        return None;
    }
    let processes = (0..comm.peers()).map(|rank| comm.process(rank));
    let mut others = processes.filter(|process| *process != me()).peekable();
    let first = *others.peek()?;
    others.all(is_lost).then_some(first)
}

/// What the communicator is called that a context (of any of the types) belongs to. `None` if it cannot be told: what an intercommunicator sends has a context that the remote group chose.
pub fn name_of_context(context: u32) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for_each(|_, comm| {
        if comm.has_context(context) {
            found.push(comm.name_on_page(true));
        }
    });
    match found.as_slice() {
        [_] => found.pop(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Made, Maker, Members, Parts};
    use super::*;
    use crate::group::Group;
    use std::sync::Arc;

    fn comm(contexts: (u32, u32), remote: Option<[u32; 3]>) -> Comm {
        let members = |numbers: [u32; 3]| Members::Of(Arc::new(Group::new(numbers)));
        let parts = Parts {
            context: contexts.0,
            receive_context: contexts.1,
            engines: 1,
            rank: 0,
            members: members([5, 3, 9]),
            remote: remote.map(members),
            made: Made::without_parent(Maker::Dup),
        };
        Comm::new(0, parts, "grid")
    }

    #[test]
    fn a_wait_has_the_numbers_of_processes() {
        let intra = comm((124, 124), None);
        let wait = |peer, named| intra.wait(Kind::Receive, peer, 7, named);
        assert_eq!(wait(1, false).whom, Whom::of([3]));
        assert_eq!(wait(-2, false).whom, Whom::Any);
        assert_eq!(
            (wait(1, false).name, wait(1, true).name),
            (String::new(), "grid".to_owned())
        );
        let inter = comm((128, 124), Some([7, 8, 2]));
        assert_eq!(inter.wait(Kind::Send, 1, 7, false).whom, Whom::of([8]));
    }

    #[test]
    fn both_groups_of_an_intercommunicator_know_it_by_one_birth() {
        let there = Some([7, 8, 2]);
        let (one, other) = (comm((128, 124), there), comm((124, 128), there));
        assert_eq!(one.object(), other.object());
        assert_ne!(one.object(), comm((124, 124), None).object());
    }
}
