//! What calls have taken, by rank and function.

use oxmpi::events::timeline::layout::Record;
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
    pub fn called(&mut self, rank: u32, record: &Record, (begin, end): (i64, i64)) {
        let sum = self.calls.entry((rank, record.function)).or_default();
        let calls = record.calls();
        sum.calls += calls;
        sum.time += end - begin;
        sum.bytes += if calls > 1 { 0 } else { record.bytes };
        let span = self.spans.entry(rank).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }

    pub fn slept(&mut self, _rank: u32, time: i64) {
        self.asleep += time;
    }
}
