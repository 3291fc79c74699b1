//! Over how many of the engines a communicator's messages are spread.
//!
//! Invariant: all members come to the same, and it does not change once something may be received.

use super::{Comm, Members, WORLD_CONTEXT};
use crate::engine;
use crate::engine::mapping::EngineMapping;
use crate::sync::Ordering;

impl Comm {
    /// The engines that its messages go by.
    #[inline]
    pub fn engine_mapping(&self) -> EngineMapping {
        EngineMapping::from_bits(self.engine_mapping.load(Ordering::Relaxed))
    }

    /// Over how many engines each of its processes could spread messages.
    pub fn engines_offered(&self) -> u32 {
        let (send, receive) = (self.context(), self.receive_context());
        mapping(send, receive, &self.peers, self.local.as_ref()).count()
    }

    /// To be called before anything is received with the communicator; the same on all members.
    pub fn set_engine_mapping(&self, mapping: EngineMapping) {
        if mapping != EngineMapping::FIRST {
            engine::activate(mapping.engines());
        }
        self.engine_mapping
            .store(mapping.to_bits(), Ordering::Relaxed);
    }
}

/// The engines of messages with these contexts between these processes, who have all taken part in making them.
pub(super) fn mapping(
    context: u32,
    receive_context: u32,
    members: &Members,
    others: Option<&Members>,
) -> EngineMapping {
    let processes = |members: &Members| {
        let members = members.clone();
        (0..members.size()).map(move |rank| members.process(rank))
    };
    let others = others.into_iter().flat_map(processes);
    EngineMapping::of(context, receive_context, processes(members).chain(others))
}

/// Over how many engines each of these processes, who have all joined, could spread messages.
pub fn engines_offered_by(members: &Members) -> u32 {
    mapping(WORLD_CONTEXT, WORLD_CONTEXT, members, None).count()
}
