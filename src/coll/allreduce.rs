//! MPI_Allreduce.
//!
//! `own` is this rank's contribution, `into` where the result goes; they may be the same. b is their size, γ the time to
//! reduce a byte.

use super::packed::cut;
use super::reduction::{Accumulator, Reduction, Side, Vectors};
use super::team::Team;
use super::{bcast, reduce, ring};
use crate::datatype::{Buffer, Scratch};

/// Recursive doubling: ceil(log2 n) (α + bβ + bγ), two rounds more unless n is a power of two; in rank order.
/// Thakur, Rabenseifner, Gropp, 2005.
pub async fn recursive_doubling(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    let Some(power) = PowerOfTwo::of(team) else {
        return PowerOfTwo::stand_aside(team, own, into).await;
    };
    let scratch = Scratch::new(own.len());
    let mut sum = power.begin(team, own, into, &scratch.buffer(), how).await;
    for (peer, side) in power.peers() {
        team.exchange(sum.now(), peer, sum.landing(side), peer)
            .await;
        sum.take(team, how, 0..own.len(), side);
    }
    sum.settle(into, 0..own.len());
    power.end(team, into).await;
}

/// Recursive halving, then doubling: 2 log2 n α + 2 (n - 1) / n bβ + (n - 1) / n bγ, in rank order.
/// Rabenseifner: Optimization of collective reduction operations, 2004.
pub async fn halving_doubling(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    let Some(power) = PowerOfTwo::of(team) else {
        return PowerOfTwo::stand_aside(team, own, into).await;
    };
    let scratch = Scratch::new(own.len());
    let mut sum = power.begin(team, own, into, &scratch.buffer(), how).await;
    let mut mine = 0..own.len();
    let mut halved = Vec::new();
    for (peer, side) in power.peers() {
        let middle = mine.start + how.half(mine.len());
        let (lower, upper) = (mine.start..middle, middle..mine.end);
        let (keep, give) = match side {
            Side::Right => (lower, upper),
            Side::Left => (upper, lower),
        };
        let out = sum.now().slice(give.start, give.len());
        let come = sum.landing(side).slice(keep.start, keep.len());
        team.exchange(out, peer, come, peer).await;
        sum.take(team, how, keep.clone(), side);
        halved.push((peer, give));
        mine = keep;
    }
    sum.settle(into, mine.clone());
    for (peer, give) in halved.into_iter().rev() {
        let out = into.slice(mine.start, mine.len());
        let come = into.slice(give.start, give.len());
        team.exchange(out, peer, come, peer).await;
        mine = mine.start.min(give.start)..mine.end.max(give.end);
    }
    power.end(team, into).await;
}

/// A ring that reduces blocks and one that hands them round: 2 (n - 1) α + 2 (n - 1) / n bβ + (n - 1) / n bγ; for operations
/// that commute.
/// Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.
pub async fn ring(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    let blocks = how.blocks(own.len(), team.size());
    let parts = cut(into, &blocks);
    ring::reduce_scatter(team, (own, &parts.of(team.rank()), how), &blocks).await;
    ring::allgather(team, &parts).await;
}

/// A binomial reduction in rank order and a broadcast: 2 ceil(log2 n) (α + bβ) + ceil(log2 n) bγ; one association for every
/// size of the data.
pub async fn tree(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    reduce::binomial(team, (own, into, how), 0, true).await;
    bcast::binomial(team, *into, 0).await;
}

/// All to rank 0, in rank order, and from there to all: 2 (n - 1) messages, but few wake-ups where ranks share cores.
pub async fn linear(team: &Team<'_>, (own, into, how): Vectors<'_>) {
    reduce::linear(team, (own, into, how), 0).await;
    bcast::linear(team, *into, 0).await;
}

/// A power of two of positions, in rank order: where there are more ranks, the first of them work in pairs.
struct PowerOfTwo {
    size: usize,
    position: usize,
    pairs: usize,
}

impl PowerOfTwo {
    /// `None`: this rank stands aside.
    fn of(team: &Team<'_>) -> Option<PowerOfTwo> {
        let (rank, ranks) = (team.rank(), team.size());
        let size = 1 << ranks.ilog2();
        let pairs = ranks - size;
        let position = match rank < 2 * pairs {
            true if rank.is_multiple_of(2) => return None,
            true => rank / 2,
            false => rank - pairs,
        };
        Some(PowerOfTwo {
            size,
            position,
            pairs,
        })
    }

    /// Hands its data to its neighbour and gets the result from it.
    async fn stand_aside(team: &Team<'_>, own: &Buffer, into: &Buffer) {
        team.send(*own, team.rank() + 1).await;
        team.recv(*into, team.rank() + 1).await;
    }

    /// Takes the data of the neighbour that stands aside.
    async fn begin(
        &self,
        team: &Team<'_>,
        own: &Buffer,
        into: &Buffer,
        scratch: &Buffer,
        how: &Reduction<'_>,
    ) -> Accumulator {
        let has_neighbour = self.position < self.pairs;
        let rights = self.peers().filter(|(_, side)| *side == Side::Right);
        let first = self.peers().next().map(|(_, side)| side);
        let first_is_right = !has_neighbour && first == Some(Side::Right);
        let rights = rights.count() - usize::from(first_is_right);
        let mut sum = Accumulator::new(own, into, scratch, rights);
        if has_neighbour {
            team.recv(sum.landing(Side::Left), team.rank() - 1).await;
            sum.take(team, how, 0..own.len(), Side::Left);
        }
        sum
    }

    /// The ranks that this one exchanges with, and on which side of it they are.
    fn peers(&self) -> impl Iterator<Item = (usize, Side)> {
        (0..self.size.ilog2()).map(|bit| match self.position >> bit & 1 {
            0 => (self.rank_of(self.position ^ 1 << bit), Side::Right),
            _ => (self.rank_of(self.position ^ 1 << bit), Side::Left),
        })
    }

    fn rank_of(&self, position: usize) -> usize {
        match position < self.pairs {
            true => 2 * position + 1,
            false => position + self.pairs,
        }
    }

    /// Gives the result to the neighbour that stood aside.
    async fn end(&self, team: &Team<'_>, into: &Buffer) {
        if self.position < self.pairs {
            team.send(*into, team.rank() - 1).await;
        }
    }
}
