//! Peers of the fabric that are in MPI_Finalize: when their last messages have come.
//!
//! A rank says that it is in MPI_Finalize after its sends are complete, so ranks that share its memory find all of them with one more look. Over
//! the fabric that word can be faster than a message, and a poll that finds nothing may have moved a message on within the provider. So who
//! waits for such a rank asks it once (`ASK_LAST`). The answer (`LAST`) goes the way of messages, behind all of them. Ranks in MPI_Finalize
//! make progress, and answer.
//!
//! Invariant: nothing comes behind an answer, because MPI_Finalize is called once. A rank that has left without an answer has nothing on its way
//! either: it leaves when whoever it has met has all that it has sent.

use super::Engine;
use super::dispatch::Outgoing;
use super::packets;
use crate::group::names;
use crate::transport::{Loss, Packet, Route, State, deaths};
use std::collections::BTreeMap;

/// The peers that waits have seen in MPI_Finalize, and whether they have answered.
#[derive(Default)]
pub(super) struct Leaving(BTreeMap<u32, bool>);

impl Leaving {
    fn has_answered(&self, process: u32) -> bool {
        self.0.get(&process).is_some_and(|answered| *answered)
    }
}

impl Engine {
    /// Whether messages of a process that is lost may still be on their way.
    pub(super) fn may_still_send(&self, process: u32, loss: Loss) -> bool {
        let peer = self.peer(process);
        // Of another job: it counts as one in MPI_Finalize only when all that it has sent has come.
        let is_far = matches!(peer.route, Route::Net(_)) && !names::is_foreign(process);
        is_far
            && loss == Loss::Finalizing
            && peer.state() != State::Finalized
            && !self.leaving.has_answered(process)
    }

    /// Asks a process that is in MPI_Finalize for its last message, unless that was done before.
    pub(super) fn ask_for_last(&mut self, process: u32) {
        if let std::collections::btree_map::Entry::Vacant(first) = self.leaving.0.entry(process) {
            first.insert(false);
            self.send_in_order(process as usize, Outgoing::AskLast);
        }
    }

    pub(super) fn on_ask_last(&mut self, packet: &Packet) {
        self.send_in_order(packet.process as usize, Outgoing::Last);
    }

    /// All that the process has sent is here. The waits of this process look again.
    pub(super) fn on_last(&mut self, packet: &Packet) {
        self.leaving.0.insert(packet.process, true);
        deaths::found();
        self.wake_own_sleepers();
    }

    pub(super) fn dispatch_about_last(
        &mut self,
        process: usize,
        what: Outgoing,
    ) -> Result<(), Outgoing> {
        let kind = match what {
            Outgoing::AskLast => packets::ASK_LAST,
            _ => packets::LAST,
        };
        let header = self.header(kind, 0, 0);
        let route = self.peers.route(process);
        match self.transport.push(route, &header, |_, _| {}) {
            true => Ok(()),
            false => Err(what),
        }
    }
}
