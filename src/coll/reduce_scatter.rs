//! MPI_Reduce_scatter and MPI_Reduce_scatter_block.
//!
//! `data` is this rank's packed contribution, in which block r begins at byte `blocks[r]`; afterwards this rank's block is
//! the result, and the others are of no meaning.

use super::packed::scratch;
use super::team::{Reduction, Team};
use super::{reduce, scatter};
use crate::datatype::{Buffer, Parts};

/// Ring: (n - 1) α + (n - 1) / n b (β + γ); for operations that commute.
pub async fn ring(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>, blocks: &[usize]) {
    let (rank, size) = (team.rank(), team.size());
    let longest = blocks.windows(2).map(|pair| pair[1] - pair[0]).max();
    let mut other = scratch(longest.unwrap_or(0));
    for step in 0..size - 1 {
        let block = |behind: usize| {
            let block = (rank + 2 * size - behind - step) % size;
            blocks[block]..blocks[block + 1]
        };
        let (out, into) = (block(1), block(2));
        let come = Buffer::of_copy(&mut other).slice(0, into.len());
        let receive = (!come.is_empty()).then(|| team.begin_recv(come, team.before(1)));
        if !out.is_empty() {
            let leave = Buffer::of_copy(data).slice(out.start, out.len());
            team.send(leave, team.after(1)).await;
        }
        if let Some(receive) = receive {
            team.finish(receive).await;
            how.combine(team, &mut other[..into.len()], &mut data[into]);
        }
    }
}

/// Each sends to each its block at once: (n - 1) (α + b / n β) + (n - 1) / n bγ, in rank order; one wake-up a rank.
pub async fn linear(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>, blocks: &[usize]) {
    let (rank, size) = (team.rank(), team.size());
    let (own, each) = (
        blocks[rank]..blocks[rank + 1],
        blocks[rank + 1] - blocks[rank],
    );
    let mut all = scratch(size * each);
    let mut pending = Vec::with_capacity(2 * size);
    for distance in 1..size {
        let from = (rank + size - distance) % size;
        if each > 0 {
            let come = Buffer::of_copy(&mut all).slice(from * each, each);
            pending.push(team.begin_recv(come, from));
        }
    }
    for distance in 1..size {
        let to = (rank + distance) % size;
        let block = blocks[to]..blocks[to + 1];
        if !block.is_empty() {
            let leave = Buffer::of_copy(data).slice(block.start, block.len());
            pending.push(team.begin_send(leave, to));
        }
    }
    team.finish_all(pending).await;
    all[rank * each..][..each].copy_from_slice(&data[own.clone()]);
    for left in (0..size - 1).rev() {
        let (before, right) = all.split_at_mut((left + 1) * each);
        how.combine(team, &mut before[left * each..], &mut right[..each]);
        before[left * each..].copy_from_slice(&right[..each]);
    }
    data[own].copy_from_slice(&all[..each]);
}

/// A reduction in rank order to rank 0, which scatters: 2 ceil(log2 n) α + (log2 n + 1) bβ + log2 n bγ.
pub async fn reduce_then_scatter(
    team: &Team<'_>,
    data: &mut Box<[u8]>,
    how: &Reduction<'_>,
    blocks: &[usize],
) {
    reduce::binomial(team, data, how, 0, true).await;
    let whole = Buffer::of_copy(data);
    let block = |rank: usize| whole.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
    let parts = Parts::Each((0..team.size()).map(block).collect());
    let (parts, into) = match team.rank() {
        0 => (Some(&parts), None),
        rank => (None, Some(block(rank))),
    };
    scatter::linear(team, parts, into, 0).await;
}
