//! Which creation of a communicator an id is for: its parent, and its number among the creations on it.

use super::space::Key;
use crate::comm::{Comm, SELF_CONTEXT};
use crate::group::Group;
use std::sync::Arc;

/// Which creation an allocation is for.
pub struct Creation {
    pub(super) parent: u32,
    pub(super) group: Option<(i32, Arc<Group>)>,
    /// Where it does not follow from parent and tag.
    pub(super) key: Option<Key>,
    /// This process makes nothing, see [`Creation::refused_if`].
    pub(super) refused: bool,
}

/// The tag of a creation over both groups of an intercommunicator, which no program has.
const BOTH_GROUPS: i32 = -2;

impl Creation {
    /// One that all members of the parent take part in; of an intercommunicator, all of the local group.
    pub fn whole(parent: &Comm) -> Creation {
        Creation {
            parent: parent.receive_context(),
            group: None,
            key: None,
            refused: false,
        }
    }

    /// This process has a wrong argument: it takes part, so that the creations on the parent keep their order and nobody
    /// waits for it, and makes nothing. Members who talk are told, and make nothing either.
    pub fn refused_if(self, refused: bool) -> Creation {
        Creation { refused, ..self }
    }

    /// One without a parent: as on MPI_COMM_SELF.
    pub fn without_parent(group: Arc<Group>, tag: i32) -> Creation {
        Creation {
            parent: SELF_CONTEXT,
            group: Some((tag, group)),
            key: None,
            refused: false,
        }
    }

    /// One in which this group takes part; at one time, each has a tag of its own.
    pub fn group(parent: &Comm, group: Arc<Group>, tag: i32) -> Creation {
        Creation {
            parent: parent.receive_context(),
            group: Some((tag, group)),
            key: None,
            refused: false,
        }
    }

    /// One over both groups of an intercommunicator, which know it by the same two ids the other way round.
    pub fn merge(parent: &Comm, both: Arc<Group>) -> Creation {
        let (send, receive) = (parent.context(), parent.receive_context());
        let key = Key {
            context: send.min(receive),
            tag: BOTH_GROUPS,
            sequence: both.fingerprint() ^ send.max(receive),
        };
        Creation {
            key: Some(key),
            ..Creation::group(parent, both, BOTH_GROUPS)
        }
    }

    /// The key of this creation, which has this number in the order of those on the parent.
    pub(super) fn key(&self, number: u32) -> Key {
        self.key.unwrap_or(Key {
            context: self.parent,
            tag: self.group.as_ref().map_or(-1, |(tag, _)| *tag),
            sequence: if self.group.is_none() { number } else { 0 },
        })
    }

    /// A number that all members have in common, if they make the same.
    pub(super) fn fingerprint(&self) -> u32 {
        let group = self.group.as_ref();
        group.map_or(0, |(tag, group)| group.fingerprint() ^ *tag as u32)
    }
}
