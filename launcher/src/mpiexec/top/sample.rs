//! What is seen of the ranks of a host while somebody watches: how often they wait, and what they have counted.
//!
//! Invariant: the counts of a rank only grow, so two samples of it say what was in between, whoever else watches.

use crate::mpiexec::process_times::ticks_of;
use crate::mpiexec::rank::{Rank, Stage};
use crate::mpiexec::table::Row;
use oxmpi::os::monotonic_nanoseconds;
use oxmpi::sync::Ordering;
use oxmpi::transport::calls::{COMMUNICATORS, Whose};
use oxmpi::transport::counters;
use oxmpi::transport::layout::Segment;
use oxmpi::transport::peer::Page;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Looks at a rank in a period, for the share of time in which it waits; of all ranks of a host together at most so many.
const LOOKS: usize = 20;
const ALL_LOOKS: usize = 1280;
/// Looks at many ranks must not be a load themselves.
const FEWEST_LOOKS: usize = 4;
/// Who has not asked for so long, and so many periods, watches no more.
const LINGER: Duration = Duration::from_secs(5);
const PERIODS: u32 = 3;

/// A rank at a moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// In MPI_COMM_WORLD.
    pub rank: u32,
    pub row: Row,
    /// It is behind MPI_Finalize, or its process is no more.
    pub has_ended: bool,
    /// `None`: its host does not say.
    pub counts: Option<Counts>,
}

/// Since the watching began, or the rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// When that was, nanoseconds of its host's clock.
    pub at: u64,
    /// At so many looks it waited so often.
    pub looks: u64,
    pub waits: u64,
    /// Time on processors, nanoseconds.
    pub busy: u64,
    /// Collective operations begun.
    pub collectives: u64,
    /// `None`: its memory cannot be read.
    pub messages: Option<Messages>,
}

/// What a rank's engines have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    pub sent: u64,
    /// Of those that are announced.
    pub bytes: u64,
    pub unexpected: u64,
}

/// Looks at the ranks of a host again and again.
pub struct Sampler {
    /// Between two looks.
    pause: Duration,
    next: Instant,
    /// When nobody watches any more.
    until: Instant,
    ranks: HashMap<usize, Seen>,
}

/// Of a rank.
#[derive(Default)]
struct Seen {
    looks: u64,
    waits: u64,
    collectives: Collectives,
}

/// Collective operations that a rank has begun, as its page tells them: communicators come and go there.
#[derive(Default)]
struct Collectives {
    count: u64,
    /// `None`: before the first look.
    last: Option<[Tally; COMMUNICATORS]>,
}

type Tally = Option<(Whose, [u64; 2])>;

impl Sampler {
    pub fn new(now: Instant) -> Sampler {
        Sampler {
            pause: LINGER,
            next: now,
            until: now,
            ranks: HashMap::new(),
        }
    }

    /// Somebody watches so many ranks, and asks once in a period.
    pub fn watch(&mut self, period: Duration, ranks: usize, now: Instant) {
        let looks = (ALL_LOOKS / ranks.max(1)).clamp(FEWEST_LOOKS, LOOKS);
        self.pause = period / looks as u32;
        self.next = self.next.min(now + self.pause);
        self.until = self.until.max(now + LINGER.max(period * PERIODS));
    }

    /// Looks, if it is time; when it will be. `None`: nobody watches any more.
    pub fn tend<'a>(
        &mut self,
        ranks: impl Iterator<Item = &'a Rank>,
        segment: &Segment<'_>,
        now: Instant,
    ) -> Option<Instant> {
        if now >= self.until {
            return None;
        }
        if now >= self.next {
            self.next = now + self.pause;
            for rank in ranks {
                let seen = self.ranks.entry(rank.number).or_default();
                seen.looks += 1;
                seen.waits += u64::from(rank.is_waiting(segment));
                seen.collectives
                    .look(&tallies(&segment.rank(rank.seat).status));
            }
        }
        Some(self.next)
    }

    /// A rank of this host, now.
    pub fn sample(&mut self, rank: &Rank, segment: &Segment<'_>) -> Sample {
        let page = &segment.rank(rank.seat).status;
        let pid = rank.mpi_pid(segment);
        let seen = self.ranks.entry(rank.number).or_default();
        seen.collectives.look(&tallies(page));
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let messages = match page.counters.load(Ordering::Acquire) {
            table if table != 0 && rank.is_running() => counters::read(pid, table),
            _ => None,
        };
        Sample {
            rank: rank.world as u32,
            row: rank.row(segment),
            has_ended: !rank.is_running() || rank.stage(segment) == Stage::Finalized,
            counts: Some(Counts {
                at: monotonic_nanoseconds(),
                looks: seen.looks,
                waits: seen.waits,
                busy: ticks_of(pid).filter(|_| rank.is_running()).unwrap_or(0) * tick,
                collectives: seen.collectives.count,
                messages: messages.map(|sum| Messages {
                    sent: sum.messages,
                    bytes: sum.bytes,
                    unexpected: sum.unexpected,
                }),
            }),
        }
    }
}

fn tallies(page: &Page) -> [Tally; COMMUNICATORS] {
    std::array::from_fn(|at| page.calls[at].tally())
}

impl Collectives {
    fn look(&mut self, now: &[Tally; COMMUNICATORS]) {
        if let Some(last) = &self.last {
            for (last, now) in last.iter().zip(now) {
                let Some((whose, begun)) = now else {
                    continue;
                };
                // A place that has become another communicator's begins anew.
                let before = last.filter(|last| last.0 == *whose);
                let before = before.map_or([0; 2], |(_, before)| before);
                let more = begun.iter().zip(before);
                let more = more.map(|(begun, before)| begun.saturating_sub(before));
                self.count += more.sum::<u64>();
            }
        }
        self.last = Some(*now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collective_operations_of_communicators_that_come_and_go_are_counted() {
        let [one, other] = [4, 8].map(|context| Whose::new(context, 0..2));
        let mut collectives = Collectives::default();
        let mut look = |first: Tally, second: Tally| {
            let mut now = [None; COMMUNICATORS];
            (now[0], now[9]) = (first, second);
            collectives.look(&now);
            collectives.count
        };
        // What was before the first look is not counted.
        assert_eq!(look(Some((one, [1000, 7])), None), 0);
        assert_eq!(look(Some((one, [1003, 8])), None), 4);
        assert_eq!(look(Some((one, [1003, 8])), Some((other, [5, 0]))), 9);
        assert_eq!(look(None, Some((other, [6, 0]))), 10);
        assert_eq!(look(Some((other, [2, 0])), Some((one, [0, 1]))), 13);
    }

    #[test]
    fn who_asks_no_more_watches_no_more() {
        let now = Instant::now();
        let mut sampler = Sampler::new(now);
        sampler.watch(Duration::from_secs(1), 2, now);
        assert!(sampler.pause == Duration::from_millis(50) && sampler.next == now);
        sampler.watch(Duration::from_secs(10), 1000, now);
        assert!(sampler.pause == Duration::from_millis(2500));
        assert!(sampler.until == now + Duration::from_secs(30));
    }
}
