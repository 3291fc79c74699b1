//! What peers are told by records of this end's own, which are no messages: HOLD, what was taken, questions, that nothing follows.
//!
//! Invariant: whom something is due to is in `due`, once; a record that finds no room stays due.

use super::{Net, PATIENCE, Peer, TICK, monotonic_nanoseconds, record};
use crate::transport::wire::Header;

impl Net {
    /// Looks at the clock, and for peers to ask if it is time.
    pub(super) fn tick(&mut self) {
        let now = monotonic_nanoseconds();
        if now > self.next_tick {
            self.next_tick = now + TICK;
            self.ask(false);
            self.ask_in_turn();
        }
    }

    /// Lets peers be asked that have not said for a while that they have everything; `all`: whoever has anything open.
    #[cold]
    pub(super) fn ask(&mut self, all: bool) {
        let table = &self.table;
        let mut due = Vec::new();
        for (process, peer) in self.peers.met_mut() {
            let is_gone = table.of(process).has_gone();
            // One that has said goodbye may be gone, which not every launcher tells.
            let is_settled = peer.credit.is_settled() && peer.passed.is_settled();
            let is_open = !peer.heard_goodbye && (peer.said_goodbye || !is_settled);
            let asks = peer.order.tick(is_open) || all && is_open;
            if asks && peer.met && peer.broken.is_none() && !is_gone {
                peer.ask_due = true;
                due.push(process);
            }
        }
        due.into_iter().for_each(|process| self.list(process));
    }

    /// Asks one peer in its turn whether it is there.
    #[cold]
    pub(super) fn ask_in_turn(&mut self) {
        let table = &self.table;
        let is_open = |(process, peer): &(u32, &Peer)| {
            let is_leaving = peer.said_goodbye || peer.heard_goodbye;
            let may_be_asked = peer.met && peer.broken.is_none() && !is_leaving;
            may_be_asked && !table.of(*process).has_gone()
        };
        let open = || self.peers.met().filter(is_open);
        let open = || open().map(|(process, peer)| (process, peer.unanswered));
        if let Some(process) = self.turns.next(open) {
            let peer = self.peer(process);
            peer.ask_due = true;
            peer.unanswered = peer.unanswered.saturating_add(1);
            self.list(process);
        }
    }

    pub(super) fn list(&mut self, process: u32) {
        let peer = self.peer(process);
        if !peer.listed {
            peer.listed = true;
            self.due.push(process);
        }
    }

    /// Sends the records that are due.
    #[cold]
    pub(super) fn tell(&mut self) {
        for process in std::mem::take(&mut self.due) {
            self.peer(process).listed = false;
            if !self.tell_one(process) {
                self.list(process);
            }
        }
    }

    /// False: something is still due.
    pub(super) fn tell_one(&mut self, process: u32) -> bool {
        let is_gone = self.is_gone(process);
        let peer = self.peer(process);
        if peer.lost {
            return self.tell_lost(process);
        }
        if is_gone {
            peer.first.give_up();
            if peer.contact.is_none() {
                return true;
            }
        }
        if let Some((text, since)) = &peer.broken {
            if is_gone {
                return true;
            }
            if monotonic_nanoseconds() - since <= PATIENCE {
                return false;
            }
            let text = text.clone();
            self.lose(process, &text);
            return self.tell_lost(process);
        }
        if peer.first.pauses() || peer.contact.is_none() && !self.find(process) {
            return false;
        }
        loop {
            let peer = self.peer(process);
            let passed = peer.passed;
            let missing = peer.first.missing;
            if peer.first.due().is_some() {
                if !self.send_again(process) {
                    return false;
                }
                continue;
            }
            let kind = match peer {
                _ if missing.is_some() => record::AGAIN,
                _ if peer.hold_due && peer.holds => record::HOLD,
                _ if peer.hold_due => record::END_HOLD,
                _ if peer.goodbye_due => record::GOODBYE,
                _ if peer.answer_due => record::TAKEN,
                _ if peer.credit.wants_telling() && !peer.said_goodbye => record::TAKEN,
                _ if peer.ask_due => record::ASK,
                _ => return true,
            };
            let header = Header {
                kind,
                process: self.table.me(),
                context: match (kind, missing) {
                    (record::AGAIN, Some((first, _))) => first,
                    (record::ASK, _) => passed.left,
                    _ => passed.came,
                },
                tag: missing.map_or(0, |(_, number)| number as i32),
                ..Header::default()
            };
            if !self.transmit(process, &header, |_, _| {}) {
                return false;
            }
            let peer = self.peer(process);
            if kind == record::AGAIN {
                peer.first.missing = None;
                continue;
            }
            peer.credit.told();
            match kind {
                record::HOLD | record::END_HOLD => peer.hold_due = false,
                record::GOODBYE => {
                    peer.goodbye_due = false;
                    peer.said_goodbye = true;
                }
                record::TAKEN => peer.answer_due = false,
                record::ASK => {
                    peer.ask_due = false;
                    peer.order.asked();
                }
                _ => {}
            }
        }
    }

    /// Wants a peer to hold data back, or not any more.
    pub fn hold(&mut self, origin: u32, holds: bool) {
        let peer = self.peer(origin);
        if peer.holds != holds {
            peer.holds = holds;
            peer.hold_due = true;
            self.list(origin);
            self.tell();
        }
    }

    /// Whether this process may leave: peers have all that it has sent, and know that nothing follows, as it knows of them. To be
    /// called until it is so.
    pub fn has_left(&mut self) -> bool {
        let owes = |peer: &Peer| peer.met && !(peer.said_goodbye || peer.goodbye_due);
        let owed = self.peers.met().filter(|(_, peer)| owes(peer));
        let owed: Vec<u32> = owed.map(|(process, _)| process).collect();
        for process in owed {
            if !self.is_gone(process) {
                self.peer(process).goodbye_due = true;
                self.list(process);
            }
        }
        self.look();
        if !self.straight.is_empty() {
            self.abandon_lost();
        }
        let mut all = self.peers.met().filter(|(_, peer)| peer.met);
        let answered = all.all(|(process, peer)| {
            peer.said_goodbye && peer.heard_goodbye || self.is_gone(process)
        });
        // Records to a peer that is gone may stay under way for long.
        let under_way = self.pool.under_way().any(|to| !self.is_gone(to));
        answered && !under_way && self.straight.is_empty()
    }
}
