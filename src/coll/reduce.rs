//! MPI_Reduce.
//!
//! `data` is this rank's packed contribution, at the root then the result. b is its size, γ the time to reduce a byte.

use super::packed::scratch;
use super::team::{Reduction, Team};
use super::{gather, reduce_scatter};
use crate::datatype::{Buffer, Parts};
use std::mem::swap;

/// Binomial tree: ceil(log2 n) (α + bβ + bγ). In rank order, and with one association for every root, if `ordered`: then
/// rank 0 reduces and sends the result to the root.
pub async fn binomial(
    team: &Team<'_>,
    data: &mut Box<[u8]>,
    how: &Reduction<'_>,
    root: usize,
    ordered: bool,
) {
    let top = if ordered { 0 } else { root };
    let (size, relative) = (team.size(), team.before(top));
    let mut other: Box<[u8]> = Box::default();
    let mut mask = 1;
    while mask < size {
        if relative & mask != 0 {
            let parent = (relative - mask + top) % size;
            team.send(Buffer::of_copy(data), parent).await;
            break;
        }
        if relative + mask < size {
            if other.len() != data.len() {
                other = scratch(data.len());
            }
            let child = (relative + mask + top) % size;
            team.recv(Buffer::of_copy(&mut other), child).await;
            how.combine(team, data, &mut other);
            swap(data, &mut other);
        }
        mask <<= 1;
    }
    move_to_root(team, data, top, root).await;
}

/// The root takes one after the other: (n - 1) (α + bβ + bγ), in rank order; nobody else waits.
pub async fn linear(team: &Team<'_>, data: &mut Box<[u8]>, how: &Reduction<'_>, root: usize) {
    if team.rank() != root {
        return team.send(Buffer::of_copy(data), root).await;
    }
    let (mut left, mut all) = (scratch(data.len()), None);
    for rank in (0..team.size()).rev() {
        if rank == root {
            left.copy_from_slice(data);
        } else {
            team.recv(Buffer::of_copy(&mut left), rank).await;
        }
        match &mut all {
            None => all = Some(left.clone()),
            Some(right) => how.combine(team, &mut left, right),
        }
    }
    if let Some(all) = all {
        *data = all;
    }
}

/// A chain that hands on pieces of s bytes: (n - 2 + b / s) (α + sβ + sγ). In rank order if `ordered`: then it ends at rank 0,
/// which sends the result to the root.
pub async fn chain(
    team: &Team<'_>,
    data: &mut Box<[u8]>,
    how: &Reduction<'_>,
    root: usize,
    ordered: bool,
    piece: usize,
) {
    let top = if ordered { 0 } else { root };
    let (size, relative) = (team.size(), team.before(top));
    let piece = how.whole_units(piece);
    let (mut begin, mut right) = (0, scratch(piece.min(data.len())));
    let mut sending = None;
    while begin < data.len() {
        let bytes = piece.min(data.len() - begin);
        if relative + 1 < size {
            let come = Buffer::of_copy(&mut right).slice(0, bytes);
            team.recv(come, team.after(1)).await;
            let right = &mut right[..bytes];
            how.combine(team, &mut data[begin..begin + bytes], right);
            data[begin..begin + bytes].copy_from_slice(right);
        }
        if relative > 0 {
            let leave = Buffer::of_copy(data).slice(begin, bytes);
            let send = team.begin_send(leave, team.before(1));
            if let Some(before) = sending.replace(send) {
                team.finish(before).await;
            }
        }
        begin += bytes;
    }
    if let Some(last) = sending {
        team.finish(last).await;
    }
    move_to_root(team, data, top, root).await;
}

/// The result is at rank `top`, and should be at the root.
async fn move_to_root(team: &Team<'_>, data: &mut Box<[u8]>, top: usize, root: usize) {
    if root == top || data.is_empty() {
        return;
    }
    if team.rank() == top {
        team.send(Buffer::of_copy(data), root).await;
    } else if team.rank() == root {
        team.recv(Buffer::of_copy(data), top).await;
    }
}

/// Each rank reduces a block, the root gathers them: 2 (n - 1) / n bβ + (n - 1) / n bγ; for operations that commute.
/// Rabenseifner: Optimization of collective reduction operations, 2004.
pub async fn scatter_gather(
    team: &Team<'_>,
    data: &mut Box<[u8]>,
    how: &Reduction<'_>,
    root: usize,
) {
    let blocks = how.blocks(data.len(), team.size());
    reduce_scatter::ring(team, data, how, &blocks).await;
    let whole = Buffer::of_copy(data);
    let block = |rank: usize| whole.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
    let own = (team.rank() != root).then(|| block(team.rank()));
    let parts = Parts::Each((0..team.size()).map(block).collect());
    let parts = (team.rank() == root).then_some(&parts);
    gather::linear(team, own, parts, root).await;
}
