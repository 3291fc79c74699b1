//! What calls have taken, by rank and function.

use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, Default)]
pub struct Sum {
    pub calls: u64,
    pub time: i64,
    pub bytes: u64,
}

/// What calls have taken.
#[derive(Default)]
pub struct Profile {
    /// By rank and function number.
    pub calls: HashMap<(u32, u16), Sum>,
    /// From the first to the last moment of each rank.
    pub spans: BTreeMap<u32, (i64, i64)>,
    pub asleep: i64,
}

impl Profile {
    pub fn called(&mut self, rank: u32, function: u16, (begin, end): (i64, i64), bytes: u64) {
        let sum = self.calls.entry((rank, function)).or_default();
        sum.calls += 1;
        sum.time += end - begin;
        sum.bytes += bytes;
        let span = self.spans.entry(rank).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }

    pub fn slept(&mut self, _rank: u32, time: i64) {
        self.asleep += time;
    }
}
