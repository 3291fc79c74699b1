//! The loss of a peer: its connection has broken, and what was under way is gone, so nothing may follow. For this process it is as if the peer
//! had died: calls that need it end with errors, and all others go on. One that has died is shut out once something is given up that has waited
//! for it.
//!
//! Invariant: of a lost peer nothing is taken any more, and nothing goes to it but the record that says so ([`record::LOST`]), upon
//! which it does likewise. The provider may make connections again for that.

use super::order::Came;
use super::{Net, PATIENCE, TICK, monotonic_nanoseconds, record};
use crate::group::names;
use crate::os::tell;
use crate::transport::deaths;
use crate::transport::wire::Header;

/// How long after a process has gone its connection is closed if the provider keeps buffers for it, nanoseconds.
const CLOSE_AFTER: u64 = 500_000_000;

impl Net {
    /// The provider takes nothing for a peer now. `net` of 1.17 says no more than that of one that refuses connections. Where a connection has been,
    /// and less is under way than its buffers hold, it can have no other reason for long.
    #[cold]
    pub(super) fn is_refused(&mut self, to: u32) {
        let is_untold = self.table.is_untold(to);
        let peer = self.peer(to);
        // In the first contact a connection may have given way, and its peer compute.
        let has_connection = peer.order.has_come() && (is_untold || !peer.first.keeps());
        if has_connection && peer.credit.is_light() && peer.broken.is_none() && !peer.lost {
            let now = monotonic_nanoseconds();
            if let Some(since) = peer.refused.since(now).filter(|it| now - it > PATIENCE) {
                peer.broken = Some(("no connection can be made".to_owned(), since));
                self.list(to);
            }
        }
    }

    /// The connection to a peer has broken. It is lost if nobody tells within [`PATIENCE`] that it has left or died.
    #[cold]
    pub(super) fn breaks(&mut self, process: u32, text: String) {
        let now = monotonic_nanoseconds();
        match self.peers.get_mut(process) {
            Some(peer) if peer.lost => peer.lost_due = false,
            Some(peer) => {
                peer.broken.get_or_insert((text, now));
                self.list(process);
            }
            // One that was forgotten.
            None => {}
        }
    }

    /// What a peer has sent is lost, or came twice.
    #[cold]
    pub(super) fn loses_records(&mut self, process: u32, came: Came) {
        let what = match came {
            Came::Early(number) => format!("{number} of its messages are lost"),
            _ => "messages came twice".to_owned(),
        };
        self.lose(
            process,
            &format!("the connection was broken and made again: {what}"),
        );
    }

    /// Takes a peer for lost, and says why, once.
    #[cold]
    pub fn lose(&mut self, process: u32, text: &str) {
        let is_guest = names::is_foreign(process);
        if is_guest && self.peers.get(process).is_none() {
            return;
        }
        let is_known = self.is_gone(process);
        if !self.takes_no_more(process) {
            return;
        }
        self.peer(process).lost_due = true;
        self.receiving.connection_broke();
        self.list(process);
        match is_guest {
            true => {
                self.table.of(process).page.set_exited();
                deaths::found();
            }
            false => self.table.lose(process),
        }
        if !is_known {
            let who = self.name(process);
            tell(&format!(
                "oxmpi: rank {}: {who} cannot be reached any more by {} and is taken for lost: {text}\n",
                self.table.me(),
                self.port.description()
            ));
        }
    }

    /// From now on nothing is taken of a peer, or sent to it. False: that was so.
    fn takes_no_more(&mut self, process: u32) -> bool {
        let peer = self.peer(process);
        if std::mem::replace(&mut peer.lost, true) {
            return false;
        }
        peer.broken = None;
        peer.first.give_up();
        for kept in peer.early.take_all() {
            self.done_with(kept.buffer);
        }
        true
    }

    /// Takes nothing more of a peer whose process has ended. What it had sent may still be under way.
    #[cold]
    pub fn shut_out(&mut self, process: u32) {
        // A guest that is not known is one that was forgotten.
        if !names::is_foreign(process) || self.peers.get(process).is_some() {
            self.takes_no_more(process);
        }
    }

    /// Takes for lost whom mpiexec has told to be on lost hosts, once.
    #[cold]
    pub fn fence(&mut self) {
        let news = deaths::count();
        if std::mem::replace(&mut self.fenced_at, news) != news {
            for process in self.table.fenced() {
                self.lose(process, "its host is lost");
            }
        }
    }

    /// Takes all peers that were met for lost.
    #[cold]
    pub(super) fn lose_all(&mut self, text: &str) {
        let met = self.peers.met().filter(|(_, peer)| peer.met && !peer.lost);
        let met: Vec<u32> = met.map(|(process, _)| process).collect();
        met.into_iter().for_each(|process| self.lose(process, text));
    }

    /// A process, for texts.
    pub(super) fn name(&self, process: u32) -> String {
        match names::is_foreign(process) {
            true => format!("rank {} of another job", names::of(process).rank),
            false => format!("rank {process} on {}", self.directory.host(process)),
        }
    }

    /// A lost peer has sent a record all the same, as one does that does not know: it is told again.
    #[cold]
    pub(super) fn remind(&mut self, process: u32, kind: u8) {
        let now = monotonic_nanoseconds();
        let peer = self.peer(process);
        if kind != record::LOST && now - peer.reminded > TICK {
            peer.reminded = now;
            peer.lost_due = true;
            self.list(process);
        }
    }

    /// Tells a lost peer. False: it is still to be told.
    #[cold]
    pub(super) fn tell_lost(&mut self, process: u32) -> bool {
        // The page of a guest says only that it is lost.
        let is_over = !names::is_foreign(process) && self.table.of(process).is_over_for_all();
        let peer = self.peer(process);
        peer.lost_due &= !is_over;
        if !peer.lost_due {
            return true;
        }
        if peer.contact.is_none() && !self.find(process) {
            return false;
        }
        let header = Header {
            kind: record::LOST,
            process: self.table.me(),
            ..Header::default()
        };
        let is_told = self.transmit(process, &header, |_, _| {});
        let peer = self.peer(process);
        peer.lost_due &= !is_told;
        !peer.lost_due
    }

    /// Whether the provider keeps buffers for a peer that has gone so long that it will not give them back. Its connection is closed before.
    #[cold]
    pub(super) fn keeps_for_long(&mut self, process: u32) -> bool {
        let now = monotonic_nanoseconds();
        let peer = self.peer(process);
        let since = *peer.gone_since.get_or_insert(now);
        if now - since > CLOSE_AFTER
            && let Some((address, _)) = peer.contact.take()
        {
            peer.lost_due = false;
            self.port.remove(address);
        }
        now - since > PATIENCE
    }

    /// A record has come of a peer that is lost, or that says that this process is lost to it.
    #[cold]
    pub(super) fn take_of_lost(&mut self, process: u32, kind: u8) {
        if self.peer(process).lost {
            return self.remind(process, kind);
        }
        let text = match self.failed.take() {
            Some(text) => format!("it has lost this process ({text})"),
            None => "it has lost this process".to_owned(),
        };
        self.lose(process, &text);
    }
}
