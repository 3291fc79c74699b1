//! Over how many of the engines a communicator's messages are spread.
//!
//! Invariant: all members come to the same, and it does not change once something may be received.

use super::{Comm, Members, WORLD_CONTEXT};
use crate::engine;
use crate::engine::mapping::{self, EngineMapping};
use crate::sync::Ordering;

impl Comm {
    /// The engines that its messages go by.
    #[inline]
    pub fn engine_mapping(&self) -> EngineMapping {
        EngineMapping::from_bits(self.engine_mapping.load(Ordering::Relaxed))
    }

    /// Over how many engines each of its processes could spread messages. Over several nodes, as far as its members
    /// [have agreed](Self::has_agreed_on_engines).
    pub fn engines_offered(&self) -> u32 {
        let contexts = (self.context(), self.receive_context());
        let agreed = self.engine_mapping().count();
        mapping_of(contexts, agreed, &self.peers, self.local.as_ref()).count()
    }

    /// `false`: its members are on several nodes, and none knows how many engines the others offer, because they have not agreed on its
    /// context id. That is MPI_COMM_WORLD. All members get the same answer.
    pub fn has_agreed_on_engines(&self) -> bool {
        let mut processes = (0..self.peers.size()).map(|rank| self.peers.process(rank));
        self.context() != WORLD_CONTEXT || !processes.any(mapping::is_far)
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

/// The engines of messages with these contexts, sent and received, between these processes, who have all taken part in making them and
/// have agreed on so many.
pub(super) fn mapping_of(
    contexts: (u32, u32),
    agreed: u32,
    members: &Members,
    others: Option<&Members>,
) -> EngineMapping {
    let processes = |members: &Members| {
        let members = members.clone();
        (0..members.size()).map(move |rank| members.process(rank))
    };
    let others = others.into_iter().flat_map(processes);
    EngineMapping::of(contexts, agreed, processes(members).chain(others))
}

/// Over how many engines each of these processes, who have all joined and have agreed on so many, could spread messages.
pub fn engines_offered_by(members: &Members, agreed: u32) -> u32 {
    mapping_of((WORLD_CONTEXT, WORLD_CONTEXT), agreed, members, None).count()
}
