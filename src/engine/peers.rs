//! What an engine keeps of the processes that it has met: sent to, or heard of.
//!
//! Invariant: what the process table says of a peer's route does not change but at [`Peers::forget`], so it is looked up once.

use super::dispatch::Outgoing;
use super::offers;
use super::receive::PartialMessage;
use super::requests::Index;
use crate::transport::{Paged, Route, Table};
use std::collections::VecDeque;
use std::sync::Arc;

/// State for a process of the job that this one has met.
pub struct Peer {
    /// As the process table says.
    pub route: Route,
    /// What found no room, in order.
    pub queue: VecDeque<Outgoing>,
    /// Sends that the receiver has matched and that stream the rest of their data.
    pub streams: VecDeque<Index>,
    /// A message whose eager part is still coming in.
    pub partial: Option<PartialMessage>,
    /// Whether its memory can be read: unknown until tried.
    pub readable: Option<bool>,
    /// Whether it has said that it cannot read ours.
    pub cannot_read_us: bool,
    /// Is in `Engine::busy`.
    pub busy: bool,
    /// Bytes of its unexpected messages, and whether it was told to hold data back; see [`pressure`].
    pub unexpected_bytes: usize,
    pub holds: bool,
    /// See [`offers`](super::offers).
    pub(super) offers: offers::Receiver,
}

impl Peer {
    fn new(route: Route) -> Self {
        Self {
            route,
            queue: VecDeque::new(),
            streams: VecDeque::new(),
            partial: None,
            readable: None,
            cannot_read_us: false,
            busy: false,
            unexpected_bytes: 0,
            holds: false,
            offers: offers::Receiver::default(),
        }
    }
}

/// See the module.
pub struct Peers {
    met: Paged<Peer>,
    table: Arc<Table>,
}

impl Peers {
    /// Of a process that has met none yet.
    pub fn new(table: Arc<Table>) -> Self {
        Self {
            met: Paged::default(),
            table,
        }
    }

    /// What is kept of a process, which is met now if it was not.
    #[inline]
    pub fn of(&mut self, process: usize) -> &mut Peer {
        let Self { met, table } = self;
        met.of(process as u32, || Peer::new(table.of(process as u32).route))
    }

    /// Forgets what was kept of a process of another job, to whom a connection begins or has ended. Returns the size of its unexpected messages, and
    /// whether it was told to hold data back.
    pub fn forget(&mut self, process: u32) -> (usize, bool) {
        let peer = self.met.take(process);
        peer.map_or((0, false), |peer| (peer.unexpected_bytes, peer.holds))
    }

    /// What is kept of a process, if it was met.
    #[inline(always)]
    pub fn get(&self, process: u32) -> Option<&Peer> {
        self.met.get(process)
    }

    /// How packets reach a process, met or not.
    #[inline]
    pub fn route(&self, process: usize) -> Route {
        match self.get(process as u32) {
            Some(peer) => peer.route,
            None => self.table.of(process as u32).route,
        }
    }

    /// Those that were met, by number.
    #[cfg(test)]
    pub fn met(&self) -> impl Iterator<Item = (u32, &Peer)> {
        self.met.met()
    }

    /// As [`Self::met`].
    pub fn met_mut(&mut self) -> impl Iterator<Item = (u32, &mut Peer)> {
        self.met.met_mut()
    }
}
