//! Which stores to fill a lane with, learned from what they cost, and in what pieces.
//!
//! Between cores that share a cache ordinary stores are best, between others those that go past the caches, by factors
//! of three to ten either way; and a virtual machine's host moves the cores while a job runs. So both are measured, on
//! the real data: the sender times the filling, the reader the reading. Invariant: outside of a trial the cheaper kind is used.

use super::trial::Trial;
use crate::datatype::streaming;
use crate::queue::lane::{CELL_BYTES, HEAD_PAYLOAD, LONGEST_PAYLOAD};

/// How a record's payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    Ordinary = 0,
    /// Past the caches.
    Streaming = 1,
}

impl Stores {
    /// Said for each piece of a record before it is filled: finishes before the head, which is filled last. A fence
    /// between two stores to that line, which the reader watches, would let it take the line away and cost two transfers.
    #[inline]
    pub fn finish_before_head(self, offset: usize, piece: usize) {
        if offset == 0 && piece <= HEAD_PAYLOAD {
            self.finish();
        }
    }

    /// After the last of these stores, before it is told that they are done.
    #[inline]
    pub fn finish(self) {
        if self == Stores::Streaming {
            streaming::fence();
        }
    }
}

/// Ordinary stores are given up when they cost more than this share of the others. Measured: 0.3 to 0.5 between cores
/// with a common cache, 1 to 4 between others.
pub const SHARE: f32 = 0.9;
/// Messages too small to tell anything about cost.
const MEASURED_BYTES: usize = 1024;
/// Below this ordinary stores are best wherever the cores are.
const STREAMING_BYTES: usize = 400;
/// A message's pieces with ordinary stores leave most of a kilobyte in their cells, which keeps the reader's prefetcher
/// from the next one.
const ORDINARY_CHUNK: usize = 3 * CELL_BYTES - 1024;
/// Streamed pieces fill their cells: a gap would break the reader's stream.
const STREAMING_CHUNK: usize = 2 * CELL_BYTES - 128;
const STREAMING_LARGE: usize = 4 * CELL_BYTES - 128;
/// Up to here a streamed message has the smaller pieces.
const FEW_PIECES: usize = 64 << 10;
/// Up to here a message travels in one record: splitting it costs more than is won where writing and reading overlap.
pub const LONGEST_WHOLE: usize = 16384;

const _: () = assert!(LONGEST_WHOLE <= LONGEST_PAYLOAD);

/// What is known of one peer.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    trial: Trial,
}

/// What to do with the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub stores: Stores,
    /// Whether sender and reader are to measure it.
    pub measured: bool,
    /// Bytes of the message it may carry.
    pub chunk: usize,
    /// Where heads lie in the lane: at multiples of so many cells.
    pub align: usize,
}

impl Pace {
    /// Nothing is known yet of a lane of so many bytes, whose first lap does not count: its pages are touched there.
    pub fn of_fresh(bytes: usize) -> Self {
        Self {
            trial: Trial::of_fresh(bytes, SHARE),
        }
    }

    #[inline]
    fn current(&self) -> Stores {
        match self.trial.current() {
            0 => Stores::Ordinary,
            _ => Stores::Streaming,
        }
    }

    /// Plans the next record of a message of `total` bytes, `left` of which may go now; `may_measure`: no measurement is on its way.
    #[inline]
    pub fn plan(&mut self, total: usize, left: usize, may_measure: bool) -> Plan {
        let plan = self.plan_with(self.current(), total);
        // Not the short end of a message: what a record costs a kilobyte depends on its size, and the kind of store that
        // happened to be measured there would look dear. Counted while a measurement is on its way too: by the count it
        // is known when to look for its end.
        let measured = total >= MEASURED_BYTES
            && left >= plan.chunk
            && self.trial.is_measured(plan.chunk)
            && may_measure;
        Plan { measured, ..plan }
    }

    /// The same for a peer that runs on this very core, which has the lane in its caches.
    pub fn plan_for_same_core(&self, total: usize) -> Plan {
        self.plan_with(Stores::Ordinary, total)
    }

    #[inline(always)]
    fn plan_with(&self, stores: Stores, total: usize) -> Plan {
        if total < MEASURED_BYTES {
            let stores = if total < STREAMING_BYTES {
                Stores::Ordinary
            } else {
                stores
            };
            return Plan {
                stores,
                measured: false,
                chunk: total,
                align: 1,
            };
        }
        let chunk = match stores {
            _ if total <= LONGEST_WHOLE => total,
            Stores::Ordinary => ORDINARY_CHUNK,
            Stores::Streaming if total > FEW_PIECES => STREAMING_LARGE,
            Stores::Streaming => STREAMING_CHUNK,
        };
        Plan {
            stores,
            measured: false,
            chunk,
            align: (chunk + 128).div_ceil(CELL_BYTES),
        }
    }

    /// Whether it is time to look for what the reader said.
    #[inline]
    pub fn wants_news(&self) -> bool {
        self.trial.wants_news()
    }

    /// What a record of this kind has cost, ticks a kilobyte.
    pub fn learn(&mut self, stores: Stores, cost: u32) {
        self.trial.learn(stores as usize, cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many records; the sender asks for what one has cost only now and then, until then it is on its way.
    fn run(
        pace: &mut Pace,
        pending: &mut Option<Stores>,
        records: u32,
        costs: [u32; 2],
    ) -> [u32; 2] {
        let mut used = [0; 2];
        for _ in 0..records {
            if let Some(stores) = *pending
                && pace.wants_news()
            {
                pace.learn(stores, costs[stores as usize]);
                *pending = None;
            }
            let plan = pace.plan(1 << 20, 1 << 20, pending.is_none());
            used[plan.stores as usize] += 1;
            if plan.measured {
                *pending = Some(plan.stores);
            }
        }
        used
    }

    #[test]
    fn the_short_end_of_a_message_is_never_measured() {
        const TOTAL: usize = 32 << 10;
        let mut pace = Pace::of_fresh(0);
        let mut measured = [0; 2];
        for _ in 0..10_000 {
            let mut offset = 0;
            while offset < TOTAL {
                let left = TOTAL - offset;
                let plan = pace.plan(TOTAL, left, true);
                if plan.measured {
                    assert!(left >= plan.chunk);
                    measured[plan.stores as usize] += 1;
                    pace.learn(plan.stores, 100);
                }
                offset += plan.chunk.min(left);
            }
        }
        assert!(
            measured.iter().all(|times| *times > 0),
            "whole pieces are, with either kind of store: {measured:?}"
        );
    }

    #[test]
    fn the_cheaper_stores_are_found_again_while_measurements_take_their_time() {
        for costs in [[100, 1000], [1000, 100]] {
            let mut pace = Pace::of_fresh(1 << 20);
            let mut pending = None;
            run(&mut pace, &mut pending, 20_000, costs);
            let cheap = usize::from(costs[1] < costs[0]);
            assert_eq!(run(&mut pace, &mut pending, 500, costs)[1 - cheap], 0);
            // The host moves the cores.
            pace.trial.expire();
            let moved = [costs[1], costs[0]];
            run(&mut pace, &mut pending, 20_000, moved);
            assert_eq!(run(&mut pace, &mut pending, 500, moved)[cheap], 0);
        }
    }
}
