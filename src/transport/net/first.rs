//! Records of the first contact with a peer, kept until it has said that it took them, and later ones.
//!
//! Where two processes connect to each other at once, one of the two connections gives way, and `net` of libfabric 1.17 may drop what it had
//! accepted for that one. The peer sees by the next record that some are missing, or by a question ([`super::record::ASK`]), and asks for
//! them ([`super::record::AGAIN`]). It may have taken others by the connection before that gives way, so what it says of these proves nothing
//! of the connection. By the time that it takes what was sent after that, it has seen both. Invariant: until the peer has told twice of what
//! it took, all records to it are here that it has not told of.
//!
//! The end that is to stay may be the one that goes: an end whose request was answered takes the peer's own one, which that has given up since, for a new
//! connection, and closes the good one. Its sends fail then, and the peer lives. So a send that fails proves nothing before the first contact is over:
//! all goes again, and the peer is asked for all that this process may have missed.

use super::early::{self, Kept};
use super::order::Came;
use super::port::Sent;
use super::record::{self, Record};
use super::turns::Series;
use super::{Net, PATIENCE, Peer};
use crate::os::monotonic_nanoseconds;
use std::collections::VecDeque;
use std::ops::Range;

/// How long nothing is sent again after a failure, nanoseconds.
const PAUSE: u64 = 5_000_000;
/// Failures with pauses between them, at most: a host that is off answers each attempt late, or not at all.
const ATTEMPTS: u32 = 60;
/// More records than were ever sent in a first contact.
const ALL: u32 = i32::MAX as u32;

/// The records that have gone to a peer.
#[derive(Debug, Default)]
pub struct First {
    /// By their numbers, each with what the peer must have taken (as [`super::credit::Credit`] counts) before it is sure to have it.
    records: VecDeque<(Box<[u8]>, u32)>,
    /// The number of the first of them.
    number: u32,
    /// What had been sent when the peer told of anything first.
    told: Option<u32>,
    /// Those that are to go again.
    due: Range<u32>,
    over: bool,
    /// Sends that have failed one after the other, how often that was so, and when to try again.
    failures: Series,
    attempts: u32,
    next_try: u64,
    /// Those to ask for, the first and how many.
    pub missing: Option<(u32, u32)>,
}

impl First {
    /// Whether records are kept still.
    #[inline]
    pub fn keeps(&self) -> bool {
        !self.over
    }

    /// Keeps the next record, which the peer has when it has taken so much.
    #[cold]
    pub fn keep(&mut self, record: &[u8], taken: u32) {
        self.records.push_back((record.into(), taken));
    }

    /// The peer has told what it took, of what was sent until now.
    #[cold]
    pub fn told(&mut self, taken: u32, sent: u32) {
        let is_behind = |count: u32| taken.wrapping_sub(count) as i32 >= 0;
        let before = *self.told.get_or_insert(sent);
        if is_behind(before.wrapping_add(1)) {
            *self = Self {
                over: true,
                ..Self::default()
            };
        }
        while self
            .records
            .front()
            .is_some_and(|(_, needed)| is_behind(*needed))
        {
            self.records.pop_front();
            self.number += 1;
        }
    }

    /// The peer wants so many records again, from this number on: those that are here.
    pub fn want(&mut self, first: u32, number: u32) {
        let end = self.number.saturating_add(self.records.len() as u32);
        self.due = first.max(self.number)..first.saturating_add(number).min(end);
    }

    /// The next record that is to go again.
    pub fn due(&self) -> Option<&[u8]> {
        let next = self.due.clone().next()?.checked_sub(self.number)?;
        self.records.get(next as usize).map(|(record, _)| &**record)
    }

    /// It has left.
    pub fn resent(&mut self) {
        self.due.next();
    }

    /// A send has failed; `came`: so many of the peer's records are here. Whether the contact can be mended, as far as is known: all goes again,
    /// and the peer is to do likewise.
    fn mends(&mut self, came: u32, now: u64) -> bool {
        let since = self.failures.since(now);
        self.attempts += u32::from(since.is_none());
        let for_long = since.is_some_and(|since| now - since > PATIENCE);
        if self.over || for_long || self.attempts > ATTEMPTS {
            return false;
        }
        self.want(0, ALL);
        self.missing = Some((came, ALL));
        self.next_try = now + PAUSE;
        true
    }

    /// The peer has gone: nothing goes again, and nothing is asked for.
    pub fn give_up(&mut self) {
        self.due = 0..0;
        self.missing = None;
    }

    /// Whether nothing goes again or is to be asked for.
    pub fn is_idle(&self) -> bool {
        self.due.is_empty() && self.missing.is_none() && !self.pauses()
    }

    /// Whether a send has failed just now.
    pub fn pauses(&self) -> bool {
        self.next_try != 0 && monotonic_nanoseconds() < self.next_try
    }
}

impl Peer {
    /// Whether records that were sent before one that is there may still come.
    pub(super) fn may_come_early(&self, completes_in_order: bool) -> bool {
        !completes_in_order || !self.credit.has_told_twice() || !self.early.is_empty()
    }
}

impl Net {
    /// A send to a peer has failed. Before the first contact is over that is no more than a connection that has given way.
    #[cold]
    pub(super) fn fails_to_send(&mut self, process: u32, text: String) {
        if self.peers.get(process).is_some_and(|peer| peer.lost) {
            return self.breaks(process, text);
        }
        let mends = self.completes_in_order
            && !self.is_gone(process)
            && self.peers.get_mut(process).is_some_and(|peer| {
                let (_, came) = peer.order.counts();
                peer.broken.is_none() && peer.first.mends(came, monotonic_nanoseconds())
            });
        self.receiving.connection_broke();
        match mends {
            true => self.list(process),
            false => self.breaks(process, text),
        }
    }

    /// Keeps a record until those before it have come, so many, and asks for them if the provider has lost them.
    #[cold]
    pub(super) fn keep_early(&mut self, process: u32, record: &Record, came: Kept, missing: u32) {
        let asks = record.header.kind == record::ASK;
        let peer = self.peers.of(process, Peer::default);
        if self.completes_in_order && (asks || peer.early.is_empty()) {
            peer.first.missing = Some((peer.order.counts().1, missing));
            self.keeps_early = true;
            self.receiving.connection_broke();
            self.list(process);
        }
        // What answers the first question may be lost, too, with another connection.
        let lost_after = match self.completes_in_order {
            true => PATIENCE,
            false => early::LOST_AFTER,
        };
        let early = &mut self.peer(process).early;
        let Some(age) = early.keep(record.word, came, monotonic_nanoseconds()) else {
            return;
        };
        self.receiving.keep(came.buffer);
        if asks && age >= lost_after {
            self.loses_records(process, Came::Early(missing));
        }
    }

    /// Takes in what has waited for records of a peer that have come now.
    pub(super) fn take_in_early(&mut self, process: u32) {
        while !self.peer(process).early.is_empty() {
            let own = self.own_word_for(process);
            let peer = self.peer(process);
            let next = peer.order.next(own);
            let Some(kept) = peer.early.take(next, monotonic_nanoseconds()) else {
                return;
            };
            self.take_in(kept);
            self.receiving.let_go(kept.buffer);
        }
    }

    /// Sends a record of the first contact once more. False: no room now.
    #[cold]
    pub(super) fn send_again(&mut self, to: u32) -> bool {
        let Self {
            peers, port, pool, ..
        } = self;
        let peer = peers.of(to, Peer::default);
        let (Some((address, _)), Some(record)) = (peer.contact, peer.first.due()) else {
            return true;
        };
        let write = |message: &mut [u8]| message.copy_from_slice(record);
        match pool.send(&mut **port, (to, address), record.len(), write) {
            Some((Sent::Done, _)) => {
                peer.first.resent();
                true
            }
            Some((Sent::Failed(text), _)) => {
                self.fails_to_send(to, text);
                false
            }
            Some((Sent::Later, _)) | None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_go_again_until_the_peer_has_told_twice() {
        let mut first = First::default();
        for number in 0..4 {
            assert!(first.keeps());
            first.keep(&[number], 10 * (u32::from(number) + 1));
        }
        assert!(first.due().is_none());
        first.want(7, 2);
        assert!(first.due().is_none(), "there are four");
        first.want(1, 2);
        let mut again = Vec::new();
        while let Some(record) = first.due() {
            again.extend_from_slice(record);
            first.resent();
        }
        assert_eq!(again, [1, 2]);
        // It has the first two; the connection may have given way behind them.
        for taken in [20, 29, 20] {
            first.told(taken, 40);
            assert!(first.keeps());
        }
        first.keep(&[4], 50);
        first.want(0, 5);
        let mut again = Vec::new();
        while let Some(record) = first.due() {
            again.extend_from_slice(record);
            first.resent();
        }
        assert_eq!(again, [2, 3, 4]);
        first.told(40, 50);
        assert!(first.keeps(), "nothing that was sent since");
        first.told(50, 50);
        first.want(0, 1);
        assert!(!first.keeps() && first.due().is_none());
    }

    #[test]
    fn a_contact_can_be_mended_until_sends_fail_for_long_or_it_is_over() {
        let begun = || {
            let mut first = First::default();
            first.keep(&[7], 10);
            first
        };
        let mut first = begun();
        let at = |milliseconds: u64| 9 * PATIENCE + milliseconds * 1_000_000;
        for milliseconds in (0..=5000).step_by(500) {
            assert!(first.mends(3, at(milliseconds)));
            assert_eq!(
                (first.due(), first.missing),
                (Some(&[7][..]), Some((3, ALL)))
            );
        }
        assert!(!first.mends(3, at(5001)));
        // A peer that computes for long between two failures.
        let mut first = begun();
        assert!((0..u64::from(ATTEMPTS)).all(|time| first.mends(0, at(9000 * time))));
        assert!(!first.mends(0, at(9_000_000)));
        let mut first = begun();
        first.told(10, 10);
        first.told(11, 11);
        assert!(!first.keeps() && !first.mends(0, at(0)));
    }
}
