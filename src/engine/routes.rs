//! Routes that come and go while an engine runs: by links to processes of other jobs, and by the fabric.
//!
//! The module `connections` decides which processes are connected, and for how long. Invariant: queued data and state of a peer end with its
//! route.

use super::{Engine, WAITER};
use crate::transport::net::Net;
use crate::transport::{Link, Peer, Transport};

/// Has threads that sleep for an engine woken by its end of the fabric.
pub(super) fn watch(transport: &mut Transport) {
    let engine = transport.engine() as u32;
    let watched = (transport.descriptor().zip(WAITER.get()))
        .is_some_and(|(descriptor, waiter)| waiter.watch(descriptor, engine).is_ok());
    if watched {
        transport.set_watched();
    }
}

impl Engine {
    /// Its end of the fabric, if there is one.
    pub fn net(&mut self) -> Option<&mut Net> {
        self.transport.net()
    }

    /// Opens the way to other hosts, in a process whose job needs none.
    pub fn open_net(&mut self, net: Net) {
        self.transport.set_net(net);
        watch(&mut self.transport);
    }

    /// Takes a link in. Returns its number.
    pub fn add_link(&mut self, link: Link) -> u16 {
        let number = self.transport.add_link(link);
        self.transport.set_oversubscribed(self.oversubscribed);
        number
    }

    /// Ends a link, whose processes are [disconnected](Engine::disconnect).
    pub fn remove_link(&mut self, number: u16) {
        self.transport.remove_link(number);
    }

    /// A process of another job is reached as `peer` says from now on.
    pub fn reach(&mut self, process: u32, peer: Peer) {
        self.transport.table().set_foreign(process, peer);
        let (bytes, held) = self.peers.forget(process);
        self.holding -= u32::from(held);
        if bytes > 0 {
            // Of messages that are here, and may be received yet.
            self.peers.of(process as usize).unexpected_bytes = bytes;
        }
    }

    /// These processes of other jobs are not reached any more.
    pub fn disconnect(&mut self, processes: &[u32]) {
        // What waits for room, if a peer has died, will never leave.
        self.busy.retain(|process| !processes.contains(process));
        for process in processes {
            self.reach(*process, Peer::disconnected());
        }
    }

    /// Whether all that goes to a process has left: nothing waits for room.
    pub fn has_sent_all(&self, process: u32) -> bool {
        let peer = self.peers.get(process);
        peer.is_none_or(|peer| peer.queue.is_empty() && peer.streams.is_empty())
    }
}
