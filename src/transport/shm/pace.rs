//! Which stores to fill a lane with, learned from what they cost, and in what pieces.
//!
//! Between cores that share a cache ordinary stores are best, between others those that go past the caches, by factors
//! of three to ten either way; and a virtual machine's host moves the cores while a job runs. So both are measured, on
//! the real data: the sender times the filling, the reader the reading. Invariant: outside of a trial the cheaper kind is used.

use crate::datatype::streaming;
use crate::os::ticks;
use crate::queue::lane::{CELL_BYTES, LONGEST_PAYLOAD};

/// How a record's payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    Ordinary = 0,
    /// Past the caches.
    Streaming = 1,
}

impl Stores {
    /// After the last of these stores, before anything is written to the line that the reader watches: a fence between
    /// two stores to that line would let the reader take it away, and cost two transfers.
    #[inline]
    pub fn finish(self) {
        if self == Stores::Streaming {
            streaming::fence();
        }
    }
}

/// Records of a trial that count, when the records before have been written in the same way.
const COUNTED: u32 = 8;
/// Bytes of a trial before that: more than a core's own caches, so that lines are where this kind of store leaves them.
const SETTLING: u32 = 1 << 20;
/// Ticks between trials of the other kind, about 100 ms: a trial costs a millisecond at worst.
const INTERVAL: u64 = 250_000_000;
/// A kind that was so many times dearer is tried again after four intervals only.
const FAR_OFF: f32 = 3.0;
/// Ordinary stores are given up when they cost more than this share of the others. Measured: 0.3 to 0.5 between cores
/// with a common cache, 1 to 4 between others.
const SHARE: f32 = 0.9;
/// One record of so many is measured between trials.
const SAMPLE: u32 = 64;
/// Messages too small to tell anything about cost.
const MEASURED_BYTES: usize = 1024;
/// Below this ordinary stores are best wherever the cores are.
const STREAMING_BYTES: usize = 400;
/// A message's pieces with ordinary stores: the first one is small, so that the reader begins early. All leave most of a
/// kilobyte in their cells, which keeps the reader's prefetcher from the next one.
const ORDINARY_FIRST: usize = 8192;
const ORDINARY_CHUNK: usize = 3 * CELL_BYTES - 1024;
/// Streamed pieces fill their cells: a gap would break the reader's stream.
const STREAMING_CHUNK: usize = 2 * CELL_BYTES - 128;
const STREAMING_LARGE: usize = 4 * CELL_BYTES - 128;
/// Up to here a streamed message has the smaller pieces.
const FEW_PIECES: usize = 64 << 10;
/// Up to here a message travels in one record: splitting it costs more than is won where writing and reading overlap.
const WHOLE: [usize; 2] = [8192, 16384];
/// The largest of these.
pub const LONGEST_WHOLE: usize = 16384;

const _: () = assert!(LONGEST_WHOLE <= LONGEST_PAYLOAD);

/// What is known of one peer.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    current: Stores,
    /// Ticks a kilobyte, smoothed; zero is unknown.
    cost: [f32; 2],
    /// Bytes left of a trial of `current` until its records count.
    settling: u32,
    /// Records of a trial still to be counted.
    trial: u32,
    next_trial: u64,
    count: u32,
}

/// What to do with the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub stores: Stores,
    /// Whether sender and reader are to measure it, if it carries at least `least` bytes: what a record costs a kilobyte
    /// depends on its size, and the short end of a message would make its kind of store look dear.
    pub measured: bool,
    pub least: usize,
    /// Bytes of the message it may carry.
    pub chunk: usize,
    /// Where heads lie in the lane: at multiples of so many cells.
    pub align: usize,
}

impl Pace {
    /// Nothing is known yet of a lane of so many bytes, whose first lap does not count: its pages are touched there.
    pub fn of_fresh(bytes: usize) -> Self {
        Self {
            current: Stores::Ordinary,
            cost: [0.0; 2],
            settling: bytes as u32,
            trial: COUNTED,
            next_trial: 0,
            count: 0,
        }
    }

    /// Plans the record at `offset` of a message of `total` bytes; `may_measure`: no measurement is on its way.
    #[inline]
    pub fn plan(&mut self, total: usize, offset: usize, may_measure: bool) -> Plan {
        if total < MEASURED_BYTES {
            let stores = if total < STREAMING_BYTES {
                Stores::Ordinary
            } else {
                self.current
            };
            return Plan {
                stores,
                measured: false,
                least: 0,
                chunk: total,
                align: 1,
            };
        }
        let (chunk, extent) = match self.current {
            _ if total <= self.whole() => (total, total),
            Stores::Ordinary if offset == 0 => (ORDINARY_FIRST, ORDINARY_CHUNK),
            Stores::Ordinary => (ORDINARY_CHUNK, ORDINARY_CHUNK),
            Stores::Streaming if total > FEW_PIECES => (STREAMING_LARGE, STREAMING_LARGE),
            Stores::Streaming => (STREAMING_CHUNK, STREAMING_CHUNK),
        };
        self.count = self.count.wrapping_add(1);
        let measured = if self.settling > 0 {
            self.settling = self.settling.saturating_sub(chunk as u32);
            false
        } else {
            may_measure && (self.trial > 0 || self.count.is_multiple_of(SAMPLE))
        };
        Plan {
            stores: self.current,
            measured,
            least: total.min(4096),
            chunk,
            align: (extent + 128).div_ceil(CELL_BYTES),
        }
    }

    /// The longest message that is best sent in one record.
    #[inline]
    pub fn whole(&self) -> usize {
        WHOLE[self.current as usize]
    }

    /// Whether it is time to look for what the reader said.
    #[inline]
    pub fn wants_news(&self) -> bool {
        self.trial > 0 || self.count % SAMPLE == SAMPLE / 2
    }

    /// What a record of this kind has cost, ticks a kilobyte.
    pub fn learn(&mut self, stores: Stores, cost: u32) {
        let cost = (cost.max(1)) as f32;
        let known = &mut self.cost[stores as usize];
        *known = if *known == 0.0 {
            cost
        } else {
            // A preempted reader is no reason to change: what is far off counts little.
            let weight = if self.trial > 0 { 0.5 } else { 0.125 };
            *known + (cost.min(*known * 4.0) - *known) * weight
        };
        if stores == self.current {
            self.trial = self.trial.saturating_sub(1);
            if self.trial == 0 {
                self.decide();
            }
        }
    }

    /// After a trial, or when it is time for one.
    #[cold]
    fn decide(&mut self) {
        let other = match self.current {
            Stores::Ordinary => Stores::Streaming,
            Stores::Streaming => Stores::Ordinary,
        };
        let now = ticks();
        if self.cost[other as usize] == 0.0 || now >= self.next_trial {
            let [ordinary, streaming] = self.cost;
            let known = ordinary > 0.0 && streaming > 0.0;
            let far_off = known && ordinary.max(streaming) > FAR_OFF * ordinary.min(streaming);
            self.next_trial = now + if far_off { 4 * INTERVAL } else { INTERVAL };
            self.cost[other as usize] = 0.0;
            self.current = other;
            self.settling = SETTLING;
            self.trial = COUNTED;
        } else {
            let [ordinary, streaming] = self.cost;
            self.current = if ordinary > streaming * SHARE {
                Stores::Streaming
            } else {
                Stores::Ordinary
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages whose costs are given; returns how many went with each kind.
    fn run(pace: &mut Pace, records: u32, costs: [u32; 2]) -> [u32; 2] {
        let mut used = [0; 2];
        for _ in 0..records {
            let plan = pace.plan(1 << 20, 1 << 16, true);
            used[plan.stores as usize] += 1;
            if plan.measured {
                pace.learn(plan.stores, costs[plan.stores as usize]);
            }
        }
        used
    }

    #[test]
    fn the_cheaper_kind_is_found_and_found_again() {
        for costs in [[100, 1000], [1000, 100]] {
            let mut pace = Pace::of_fresh(1 << 20);
            run(&mut pace, 2000, costs);
            let cheap = usize::from(costs[1] < costs[0]);
            assert_eq!(run(&mut pace, 500, costs)[1 - cheap], 0);
            // The host moves the cores.
            pace.next_trial = 0;
            let moved = [costs[1], costs[0]];
            run(&mut pace, 2000, moved);
            assert_eq!(run(&mut pace, 500, moved)[cheap], 0);
        }
    }
}
