//! MPI_Reduce.
//!
//! `own` is this rank's contribution, `into` where the root wants the result; they may be the same. At other ranks `into` is
//! memory to work in, or empty. b is the size, γ the time to reduce a byte.

use super::packed::cut;
use super::reduction::{Accumulator, Side, Vectors, places};
use super::team::Team;
use super::{gather, ring};
use crate::datatype::{Buffer, Scratch};

/// Binomial tree: ceil(log2 n) (α + bβ + bγ). In rank order, and with one association for every root, if `ordered`: then
/// rank 0 reduces and sends the result to the root.
pub async fn binomial(team: &Team<'_>, (own, into, how): Vectors<'_>, root: usize, ordered: bool) {
    let top = if ordered { 0 } else { root };
    let (size, relative, bytes) = (team.size(), team.before(top), own.len());
    let at = |relative: usize| (relative + top) % size;
    let bits = match relative {
        0 => size.next_power_of_two().ilog2(),
        _ => relative.trailing_zeros(),
    };
    let children = (0..bits).map(|bit| relative + (1 << bit));
    let children: Vec<usize> = children.filter(|child| *child < size).collect();
    // What comes in is reduced into what is in the result's place already, if the order does not matter.
    let (side, rights) = match !ordered && own.is_at(into) {
        true => (Side::Left, 0),
        false => (Side::Right, children.len().saturating_sub(1)),
    };
    let (_scratch, [place, other]) = places(into, if children.is_empty() { 0 } else { bytes });
    let mut sum = Accumulator::new(own, &place, &other, rights);
    for child in children {
        team.recv(sum.landing(side), at(child)).await;
        sum.take(team, how, 0..bytes, side);
    }
    if relative > 0 {
        let parent = relative & (relative - 1);
        team.send(sum.now(), at(parent)).await;
    } else if top == root {
        sum.settle(into, 0..bytes);
    }
    move_to_root(team, sum.now(), into, top, root).await;
}

/// The root takes one after the other: (n - 1) (α + bβ + bγ), in rank order; nobody else waits.
pub async fn linear(team: &Team<'_>, (own, into, how): Vectors<'_>, root: usize) {
    if team.rank() != root {
        return team.send(*own, root).await;
    }
    let in_place = own.is_at(into);
    let last = team.size() - 1;
    let bytes = own.len();
    let scratch = Scratch::new(if in_place { 2 * bytes } else { bytes });
    let left = scratch.buffer().slice(0, bytes);
    // In place the reduction goes on beside the result's place until this rank's operand has had its turn.
    let first = match in_place {
        true => scratch.buffer().slice(bytes, bytes),
        false => *into,
    };
    let mut right = None;
    for rank in (0..=last).rev() {
        let operand = match rank {
            rank if rank == root => *own,
            rank if rank == last => first,
            _ => left,
        };
        if rank != root {
            team.recv(operand, rank).await;
        }
        right = Some(match right {
            None => operand,
            Some(right) => {
                let stays = in_place && rank >= root && rank > 0;
                let target = if stays { right } else { *into };
                how.combine(team, &operand, &right, &target);
                target
            }
        });
    }
    if let Some(result) = right.filter(|result| !result.is_at(into)) {
        result.copy_to(into, bytes);
    }
}

/// A chain that hands on pieces of s bytes: (n - 2 + b / s) (α + sβ + sγ). In rank order if `ordered`: then it ends at rank 0,
/// which sends the result to the root.
pub async fn chain(
    team: &Team<'_>,
    (own, into, how): Vectors<'_>,
    root: usize,
    ordered: bool,
    piece: usize,
) {
    let top = if ordered { 0 } else { root };
    let (relative, bytes) = (team.before(top), own.len());
    let (is_top, is_last) = (relative == 0, relative + 1 == team.size());
    let piece = how.whole_units(piece).min(bytes);
    let memory = Scratch::new(if is_top && top != root { bytes } else { 0 });
    let result = if top == root { *into } else { memory.buffer() };
    // The top reduces where the result belongs. Three pieces: one comes, one is reduced, one leaves.
    let directly = is_top && !own.is_at(&result);
    let scratch = Scratch::new(if directly { 0 } else { 3 * piece });
    let turns = scratch.buffer();
    let pieces = bytes.div_ceil(piece.max(1));
    let length = |at: usize| piece.min(bytes - at * piece);
    let landing = |at: usize| match directly {
        true => result.slice(at * piece, length(at)),
        false => turns.slice(at % 3 * piece, length(at)),
    };
    let begin = |at: usize| {
        let comes = !is_last && at < pieces;
        comes.then(|| team.begin_recv(landing(at), team.after(1)))
    };
    let (mut receiving, mut sending) = (begin(0), None);
    for at in 0..pieces {
        let mut part = own.slice(at * piece, length(at));
        if let Some(receive) = receiving.take() {
            receiving = begin(at + 1);
            team.finish(receive).await;
            let (mine, came) = (part, landing(at));
            part = match is_top {
                true => result.slice(at * piece, length(at)),
                false => came,
            };
            how.combine(team, &mine, &came, &part);
        }
        if !is_top {
            let send = team.begin_send(part, team.before(1));
            if let Some(before) = sending.replace(send) {
                team.finish(before).await;
            }
        }
    }
    if let Some(last) = sending {
        team.finish(last).await;
    }
    if is_last && directly {
        own.copy_to(&result, bytes);
    }
    move_to_root(team, result, into, top, root).await;
}

/// The result is at rank `top`, and should be at the root.
async fn move_to_root(team: &Team<'_>, result: Buffer, into: &Buffer, top: usize, root: usize) {
    if root == top {
        return;
    }
    if team.rank() == top {
        team.send(result, root).await;
    } else if team.rank() == root {
        team.recv(*into, top).await;
    }
}

/// Each rank reduces a block, the root gathers them: 2 (n - 1) / n bβ + (n - 1) / n bγ; for operations that commute.
/// Rabenseifner: Optimization of collective reduction operations, 2004.
pub async fn scatter_gather(team: &Team<'_>, (own, into, how): Vectors<'_>, root: usize) {
    let blocks = how.blocks(own.len(), team.size());
    let rank = team.rank();
    if rank != root {
        let scratch = Scratch::new(blocks[rank + 1] - blocks[rank]);
        let block = scratch.buffer();
        ring::reduce_scatter(team, (own, &block, how), &blocks).await;
        return gather::linear(team, Some(block), None, root).await;
    }
    let parts = cut(into, &blocks);
    ring::reduce_scatter(team, (own, &parts.of(rank), how), &blocks).await;
    gather::linear(team, None, Some(&parts), root).await;
}
