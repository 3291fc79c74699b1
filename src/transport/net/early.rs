//! Records that came before others that their sender sent first.
//!
//! A provider matches messages in order and may complete them in another one: `ofi_rxm` fetches those of more than 16 KB, and completes small ones behind
//! them first. So a record that is early is kept until those before it have come. They may have been lost instead, with a connection
//! that was made again; but the provider may also wait for the sender's help, so only a sender that looks at its fabric can tell: if it
//! asks ([`super::record::ASK`]) after a while, what is missing is lost.

/// How long the first early record is there before a question of its sender decides, nanoseconds.
pub const LOST_AFTER: u64 = 500_000_000;

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

    /// Keeps a record with this word. For how long records have waited for one before them, nanoseconds; `None`: it is here already.
    pub fn keep(&mut self, word: u32, kept: Kept, now: u64) -> Option<u64> {
        if self.records.is_empty() {
            self.since = now;
        }
        if self.records.iter().any(|(other, _)| *other == word) {
            return None;
        }
        self.records.push((word, kept));
        Some(now - self.since)
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
    fn early_records_come_in_order_and_it_is_known_since_when_one_is_awaited() {
        let mut early = Early::default();
        for (at, (word, buffer)) in (100..).zip([(7, 2), (6, 1), (9, 3)]) {
            assert_eq!(early.keep(word, kept(buffer), at), Some(at - 100));
        }
        assert_eq!(early.keep(6, kept(4), 105), None, "it was sent again");
        assert!(early.take(5, 110).is_none());
        assert_eq!(early.take(6, 110).map(|kept| kept.buffer), Some(1));
        assert_eq!(early.take(7, 120).map(|kept| kept.buffer), Some(2));
        assert!(early.take(8, 130).is_none());
        assert_eq!(early.keep(10, kept(0), 150), Some(30));
        assert_eq!(early.take_all().len(), 2);
        assert!(early.is_empty());
        assert_eq!(early.keep(12, kept(0), 200), Some(0));
    }
}
