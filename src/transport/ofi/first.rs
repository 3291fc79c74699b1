//! Records of the first contact with a peer, kept until it has said that it took one of them.
//!
//! Where two processes connect to each other at once, one of the two connections gives way, and `net` of libfabric 1.17 may drop what it had
//! accepted for that one. The peer sees by the next record that some are missing, or by a question ([`super::record::ASK`]), and asks for
//! them ([`super::record::AGAIN`]). Invariant: as long as a peer has told nothing of what it took, all records to it are here.

use super::early::Kept;
use super::library::Sent;
use super::order::Came;
use super::record::{self, Record};
use super::{Net, Peer};
use crate::os::monotonic_nanoseconds;
use std::ops::Range;

/// The records that have gone to a peer.
#[derive(Debug, Default)]
pub struct First {
    /// By their numbers.
    records: Vec<Box<[u8]>>,
    /// Those that are to go again.
    due: Range<usize>,
    over: bool,
    /// This process has asked for some of the peer's: they may come twice.
    pub asked: bool,
    /// Those to ask for, the first and how many.
    pub missing: Option<(u32, u32)>,
}

impl First {
    /// Whether records are kept still.
    #[inline]
    pub fn keeps(&self) -> bool {
        !self.over
    }

    /// Keeps the next record.
    #[cold]
    pub fn keep(&mut self, record: &[u8]) {
        self.records.push(record.into());
    }

    /// The peer has told what it took.
    #[cold]
    pub fn ends(&mut self) {
        let asked = self.asked;
        *self = Self {
            over: true,
            asked,
            ..Self::default()
        };
    }

    /// The peer wants so many records again, from this number on: those that are here.
    pub fn want(&mut self, first: u32, number: u32) {
        self.due = first as usize..(first as usize + number as usize).min(self.records.len());
    }

    /// The next record that is to go again.
    pub fn due(&self) -> Option<&[u8]> {
        let next = self.due.clone().next()?;
        self.records.get(next).map(|record| &**record)
    }

    /// It has left.
    pub fn resent(&mut self) {
        self.due.next();
    }
}

impl Peer {
    /// Whether records that were sent before one that is there may still come.
    pub(super) fn may_come_early(&self, completes_in_order: bool) -> bool {
        !completes_in_order || !self.credit.has_told() || !self.early.is_empty()
    }
}

impl Net {
    /// Keeps a record until those before it have come, so many, and asks for them if the provider has lost them.
    #[cold]
    pub(super) fn keep_early(&mut self, process: u32, record: &Record, came: Kept, missing: u32) {
        let asks = record.header.kind == record::ASK;
        let peer = self.peers.of(process, Peer::default);
        if self.completes_in_order && (asks || peer.early.is_empty()) {
            peer.first.missing = Some((peer.order.counts().1, missing));
            self.keeps_early = true;
            self.list(process);
        }
        let early = &mut self.peer(process).early;
        if early.keep(record.word, came, asks, monotonic_nanoseconds()) {
            self.receiving.keep(came.buffer);
        } else if !self.loses_guest(process) {
            self.fail_to_receive(process, Came::Early(missing));
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
        match pool.send(port, (to, address), record.len(), write) {
            Some((Sent::Done, _)) => {
                peer.first.resent();
                true
            }
            Some((Sent::Failed(text), _)) => {
                self.breaks(to, text);
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
    fn records_go_again_until_the_peer_has_taken_one() {
        let mut first = First::default();
        for number in 0..4 {
            assert!(first.keeps());
            first.keep(&[number]);
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
        first.ends();
        first.want(0, 1);
        assert!(!first.keeps() && first.due().is_none());
    }
}
