//! Times of algorithms in the model of [`super::clock`], for any number of ranks. The tests of `coll/tests/borders.rs` compare each
//! with simulated ranks.
//!
//! A hop of b bytes takes 2 o + L + bG. What is said to be exact needs g <= 2 o + L.

use super::clock::Costs;
use std::collections::HashMap;

impl Costs {
    /// From one rank to another that waits.
    pub fn hop(&self, bytes: usize) -> u64 {
        2 * self.overhead + self.latency + bytes as u64 * self.byte
    }

    /// From the begin of a send to that of the next.
    fn step(&self, bytes: usize) -> u64 {
        self.overhead.max(self.link(bytes))
    }
}

fn rounds(ranks: usize) -> u64 {
    u64::from(ranks.next_power_of_two().ilog2())
}

/// Two rounds more than a power of two of ranks need.
fn beside(ranks: usize, hop: u64) -> u64 {
    if ranks.is_power_of_two() { 0 } else { 2 * hop }
}

/// A barrier by dissemination. Exact.
pub fn dissemination(costs: &Costs, ranks: usize) -> u64 {
    rounds(ranks) * costs.hop(0)
}

/// Down a binomial tree in which a subtree of so many ranks gets `bytes` of that number, and all its own time `after` it has come.
fn down(costs: &Costs, ranks: usize, bytes: &dyn Fn(usize) -> usize) -> u64 {
    fn of(
        costs: &Costs,
        ranks: usize,
        bytes: &dyn Fn(usize) -> usize,
        known: &mut HashMap<usize, u64>,
    ) -> u64 {
        if ranks <= 1 {
            return 0;
        }
        if let Some(time) = known.get(&ranks) {
            return *time;
        }
        let (mut last, mut begin) = (0, costs.overhead);
        let mut distance = ranks.next_power_of_two() / 2;
        while distance > 0 {
            let theirs = distance.min(ranks - distance);
            let there = begin - costs.overhead + costs.hop(bytes(theirs));
            last = last.max(there + of(costs, theirs, bytes, known)).max(begin);
            begin += costs.step(bytes(theirs));
            distance /= 2;
        }
        known.insert(ranks, last);
        last
    }
    of(costs, ranks, bytes, &mut HashMap::new())
}

/// MPI_Bcast by a binomial tree. Exact.
pub fn binomial(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    down(costs, ranks, &|_| bytes)
}

/// MPI_Bcast by the root. Exact.
pub fn linear(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    match ranks {
        1 => 0,
        _ => (ranks as u64 - 2) * costs.step(bytes) + costs.hop(bytes),
    }
}

/// MPI_Bcast by a chain of pieces. Exact where the pieces have one size.
pub fn chain(costs: &Costs, ranks: usize, bytes: usize, piece: usize) -> u64 {
    let pieces = bytes.div_ceil(piece).max(1) as u64;
    let piece = piece.min(bytes);
    // Ranks between take a piece and send one.
    let work = if ranks > 2 { 2 } else { 1 };
    let interval = costs.step(piece).max(work * costs.overhead);
    (ranks as u64 - 1) * costs.hop(piece) + (pieces - 1) * interval
}

/// MPI_Bcast by a scatter and an allgather. Exact where all blocks have one size.
pub fn scatter_allgather(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    let each = bytes.div_ceil(ranks);
    down(costs, ranks, &|ranks| ranks * each) + (ranks as u64 - 1) * costs.hop(each)
}

/// MPI_Allgather in a ring, of so many bytes in all. Exact where all parts have one size, as those below.
pub fn ring(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    (ranks as u64 - 1) * costs.hop(bytes.div_ceil(ranks))
}

/// MPI_Allgather by dissemination, or by doubling.
pub fn doubling(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    let others = bytes.div_ceil(ranks) * (ranks - 1);
    rounds(ranks) * costs.hop(0) + others as u64 * costs.byte
}

/// MPI_Allreduce by recursive doubling. Exact for a power of two of ranks, else a bound from above.
pub fn recursive_doubling(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    u64::from(ranks.ilog2()) * costs.hop(bytes) + beside(ranks, costs.hop(bytes))
}

/// MPI_Allreduce by halving and doubling.
pub fn halving_doubling(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    let power = 1 << ranks.ilog2();
    2 * doubling(costs, power, bytes) + beside(ranks, costs.hop(bytes))
}

/// MPI_Allreduce in two rings.
pub fn two_rings(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    2 * ring(costs, ranks, bytes)
}

/// MPI_Alltoall with all messages at once, of so many bytes each. Exact.
pub fn at_once(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    let others = ranks as u64 - 1;
    let last_begin = costs.overhead + others.saturating_sub(1) * costs.step(bytes);
    let last_there = costs.hop(bytes) - costs.overhead;
    match others {
        0 => 0,
        _ => last_begin + last_there.max(others * costs.overhead),
    }
}

/// MPI_Alltoall in pairs. Exact.
pub fn pairwise(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    (ranks as u64 - 1) * costs.hop(bytes)
}

/// MPI_Alltoall by store and forward. Exact.
pub fn bruck(costs: &Costs, ranks: usize, bytes: usize) -> u64 {
    let hops = (0..rounds(ranks)).map(|bit| {
        let moving = (0..ranks).filter(|slot| slot >> bit & 1 == 1).count();
        costs.hop(moving * bytes)
    });
    hops.sum()
}
