//! Records that came before others that their sender sent first.
//!
//! A provider matches messages in order and may complete them in another one: `ofi_rxm` fetches those of more than 16 KB, and completes small ones behind
//! them first. So a record that is early is kept until those before it have come. They may have been lost instead, with a connection
//! that was made again; but the provider may also wait for the sender's help, so only a sender that looks at its fabric can tell: if it
//! asks ([`super::record::ASK`]) after a while, what is missing is lost.

/// How long the first early record is there before a question of its sender decides, nanoseconds.
const LOST_AFTER: u64 = 500_000_000;

/// A record in a receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub buffer: usize,
    pub data: *const u8,
    pub length: usize,
}

/// Those of a peer.
#[derive(Debug, Default)]
pub struct Early {
    records: Vec<(u32, Kept)>,
    since: u64,
}

impl Early {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Keeps a record with this word. False: what is missing before it is lost.
    pub fn keep(&mut self, word: u32, kept: Kept, asks: bool, now: u64) -> bool {
        if self.records.is_empty() {
            self.since = now;
        }
        self.records.push((word, kept));
        !(asks && now - self.since > LOST_AFTER)
    }

    /// All of them, in any order.
    pub fn take_all(&mut self) -> Vec<Kept> {
        let records = std::mem::take(&mut self.records);
        records.into_iter().map(|(_, kept)| kept).collect()
    }

    /// The record whose word is the next.
    pub fn take(&mut self, next: u32, now: u64) -> Option<Kept> {
        let at = self.records.iter().position(|(word, _)| *word == next)?;
        self.since = now;
        Some(self.records.swap_remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(buffer: usize) -> Kept {
        Kept {
            buffer,
            data: std::ptr::null(),
            length: 0,
        }
    }

    #[test]
    fn early_records_come_in_order_and_a_question_decides_late() {
        let mut early = Early::default();
        for (word, buffer) in [(7, 2), (6, 1), (9, 3)] {
            assert!(early.keep(word, kept(buffer), false, 0));
        }
        assert!(early.take(5, 0).is_none());
        assert_eq!(early.take(6, 1).map(|kept| kept.buffer), Some(1));
        assert_eq!(early.take(7, 1).map(|kept| kept.buffer), Some(2));
        assert!(early.take(8, 1).is_none());
        assert!(early.keep(10, kept(0), false, 10 * LOST_AFTER));
        assert!(!early.keep(11, kept(0), true, 10 * LOST_AFTER));
        let mut asked_at_once = Early::default();
        assert!(asked_at_once.keep(1, kept(0), true, 5));
        assert!(asked_at_once.keep(2, kept(0), true, 5 + LOST_AFTER));
        assert!(!asked_at_once.keep(3, kept(0), true, 6 + LOST_AFTER));
    }
}
