//! MPI_Allreduce.
//!
//! `data` is this rank's packed contribution and then the result. b is its size, γ the time to reduce a byte.

use super::packed::scratch;
use super::team::{Reduction, Team};
use super::{allgather, bcast, reduce, reduce_scatter};
use crate::datatype::{Buffer, Parts};
use std::mem::swap;

/// Recursive doubling: ceil(log2 n) (α + bβ + bγ), two rounds more unless n is a power of two; in rank order.
/// Thakur, Rabenseifner, Gropp, 2005.
pub async fn recursive_doubling(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>) {
    let mut other = scratch(data.len());
    let Some(fold) = Fold::begin(team, data, &mut other, how).await else {
        return;
    };
    let mut mask = 1;
    while mask < fold.size {
        let peer = fold.rank_of(fold.position ^ mask);
        let (out, into) = (Buffer::of_copy(data), Buffer::of_copy(&mut other));
        team.exchange(out, peer, into, peer).await;
        if fold.position & mask == 0 {
            how.combine(team, data, &mut other);
            swap(data, &mut other);
        } else {
            how.combine(team, &mut other, data);
        }
        mask *= 2;
    }
    fold.end(team, data).await;
}

/// Recursive halving, then doubling: 2 log2 n α + 2 (n - 1) / n bβ + (n - 1) / n bγ, in rank order.
/// Rabenseifner: Optimization of collective reduction operations, 2004.
pub async fn halving_doubling(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>) {
    let mut other = scratch(data.len());
    let Some(fold) = Fold::begin(team, data, &mut other, how).await else {
        return;
    };
    let mut mine = 0..data.len();
    let mut halved = Vec::new();
    let mut mask = 1;
    while mask < fold.size {
        let peer = fold.rank_of(fold.position ^ mask);
        let middle = mine.start + how.half(mine.len());
        let (lower, upper) = (mine.start..middle, middle..mine.end);
        let low = fold.position & mask == 0;
        let (keep, give) = if low { (lower, upper) } else { (upper, lower) };
        let out = Buffer::of_copy(data).slice(give.start, give.len());
        let into = Buffer::of_copy(&mut other).slice(keep.start, keep.len());
        team.exchange(out, peer, into, peer).await;
        if low {
            how.combine(team, &mut data[keep.clone()], &mut other[keep.clone()]);
            data[keep.clone()].copy_from_slice(&other[keep.clone()]);
        } else {
            how.combine(team, &mut other[keep.clone()], &mut data[keep.clone()]);
        }
        halved.push((peer, give));
        mine = keep;
        mask *= 2;
    }
    for (peer, give) in halved.into_iter().rev() {
        let whole = Buffer::of_copy(data);
        let out = whole.slice(mine.start, mine.len());
        let into = whole.slice(give.start, give.len());
        team.exchange(out, peer, into, peer).await;
        mine = mine.start.min(give.start)..mine.end.max(give.end);
    }
    fold.end(team, data).await;
}

/// A ring that reduces blocks and one that hands them round: 2 (n - 1) α + 2 (n - 1) / n bβ + (n - 1) / n bγ; for operations
/// that commute.
/// Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.
pub async fn ring(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>) {
    let blocks = how.blocks(data.len(), team.size());
    reduce_scatter::ring(team, data, how, &blocks).await;
    let whole = Buffer::of_copy(data);
    let parts = blocks.windows(2);
    let parts = parts.map(|pair| whole.slice(pair[0], pair[1] - pair[0]));
    allgather::ring(team, &Parts::Each(parts.collect())).await;
}

/// A binomial reduction in rank order and a broadcast: 2 ceil(log2 n) (α + bβ) + ceil(log2 n) bγ; one association for every
/// size of the data.
pub async fn tree(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>) {
    reduce::binomial(team, data, how, 0, true).await;
    bcast::binomial(team, Buffer::of_copy(data), 0).await;
}

/// All to rank 0, in rank order, and from there to all: 2 (n - 1) messages, but few wake-ups where ranks share cores.
pub async fn linear(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>) {
    reduce::linear(team, data, how, 0).await;
    bcast::linear(team, Buffer::of_copy(data), 0).await;
}

/// A power of two of positions, in rank order: where there are more ranks, the first of them work in pairs.
struct Fold {
    size: usize,
    position: usize,
    pairs: usize,
}

impl Fold {
    /// `None`: this rank has handed its data to its neighbour and got the result from it.
    async fn begin(
        team: &Team<'_>,
        data: &mut Box<[u8]>,
        other: &mut Box<[u8]>,
        how: &Reduction<'_>,
    ) -> Option<Fold> {
        let (rank, ranks) = (team.rank(), team.size());
        let size = 1 << ranks.ilog2();
        let pairs = ranks - size;
        if rank >= 2 * pairs {
            let position = rank - pairs;
            return Some(Fold {
                size,
                position,
                pairs,
            });
        }
        if rank.is_multiple_of(2) {
            team.send(Buffer::of_copy(data), rank + 1).await;
            team.recv(Buffer::of_copy(data), rank + 1).await;
            return None;
        }
        team.recv(Buffer::of_copy(other), rank - 1).await;
        how.combine(team, other, data);
        Some(Fold {
            size,
            position: rank / 2,
            pairs,
        })
    }

    fn rank_of(&self, position: usize) -> usize {
        match position < self.pairs {
            true => 2 * position + 1,
            false => position + self.pairs,
        }
    }

    /// Gives the result to the neighbour that stood aside.
    async fn end(&self, team: &Team<'_>, data: &mut Box<[u8]>) {
        if self.position < self.pairs {
            team.send(Buffer::of_copy(data), team.rank() - 1).await;
        }
    }
}
