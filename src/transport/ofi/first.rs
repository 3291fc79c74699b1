//! Records of the first contact with a peer, kept until it has said that it took one of them.
//!
//! Where two processes connect to each other at once, one of the two connections gives way, and `net` of libfabric 1.17 may drop what it had
//! accepted for that one. The peer sees by the next record that some are missing, or by a question ([`super::record::ASK`]), and asks for
//! them ([`super::record::AGAIN`]). Invariant: as long as a peer has told nothing of what it took, all records to it are here.

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
