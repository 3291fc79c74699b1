//! What is around a board: the communicator whose ranks sit at it, and in tests a stage on which they take turns.
//!
//! Invariant: all that a [`super::Work`] needs besides its seat and its call it asks for here, or in the waits of `waiting.rs`.

use crate::comm::Comm;
use crate::engine::enter;
use crate::node::distance::Sight;
#[cfg(test)]
use crate::transport::collective::Stage;
use crate::transport::collective::{Board, Pipes};
use crate::transport::collective::{Service, Trays};

/// See the module.
#[derive(Clone, Copy)]
pub(super) enum Around<'a> {
    Comm(&'a Comm),
    /// There is no engine: the ranks take turns.
    #[cfg(test)]
    Stage(&'a Stage),
}

impl<'a> Around<'a> {
    /// The communicator; tests have none.
    #[inline(always)]
    pub fn comm(self) -> &'a Comm {
        match self {
            Around::Comm(comm) => comm,
            #[cfg(test)]
            Around::Stage(_) => unreachable!("a stage has no communicator"),
        }
    }

    /// How far the caches of the farthest of so many ranks are from those of this one.
    pub fn farthest(self, ranks: usize) -> Sight {
        match self {
            Around::Comm(comm) => {
                let processes = (0..ranks as i32).map(|rank| comm.process(rank));
                enter().transport().farthest(processes)
            }
            #[cfg(test)]
            Around::Stage(stage) => stage.farthest(),
        }
    }

    /// By one rank, before it tells the others.
    pub fn make_pipes(self, board: &Board) {
        match self {
            Around::Comm(_) => enter().transport().node_memory().make_pipes(board),
            #[cfg(test)]
            Around::Stage(stage) => stage.make_pipes(),
        }
    }

    /// After that.
    pub fn pipes(self, board: &Board, me: usize) -> Option<Pipes> {
        match self {
            Around::Comm(_) => enter().transport().node_memory().pipes(board, me),
            #[cfg(test)]
            Around::Stage(stage) => stage.pipes(me),
        }
    }

    /// As pipes.
    pub fn make_trays(self, board: &Board, service: Service) {
        match self {
            Around::Comm(_) => enter().transport().node_memory().make_trays(board, service),
            #[cfg(test)]
            Around::Stage(stage) => stage.make_trays(board, service),
        }
    }

    pub fn trays(self, board: &Board, service: Service) -> Option<Trays> {
        match self {
            Around::Comm(_) => enter().transport().node_memory().trays(board, service),
            #[cfg(test)]
            Around::Stage(stage) => stage.trays(board, service),
        }
    }
}
