//! MPI_Reduce_scatter and MPI_Reduce_scatter_block.
//!
//! `own` is this rank's contribution, in which block r begins at byte `blocks[r]`; `into` is where this rank's block of the
//! result goes. In place it is the beginning of `own`, and `own` is of no meaning afterwards.

use super::packed::cut;
use super::reduction::Vectors;
use super::team::{Team, copy_own};
use super::{reduce, scatter};
use crate::datatype::{Buffer, Scratch};

/// Each sends to each its block at once: (n - 1) (α + b / n β) + (n - 1) / n bγ, in rank order; one wake-up a rank.
pub async fn linear(team: &Team<'_>, (own, into, how): Vectors<'_>, blocks: &[usize]) {
    let (rank, size) = (team.rank(), team.size());
    let block = |rank: usize| own.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
    let (mine, each) = (block(rank), into.len());
    let apart = into.is_apart_from(&mine);
    let scratch = Scratch::new(size * each);
    let all = scratch.buffer();
    // This rank's slot, to which nothing comes, is the last one.
    let slot = |from: usize| all.slice((from - usize::from(from > rank)) * each, each);
    let mut pending = Vec::with_capacity(2 * size);
    for distance in 1..size {
        let from = team.before(distance);
        if each > 0 {
            pending.push(team.begin_recv(slot(from), from));
        }
    }
    for distance in 1..size {
        let to = team.after(distance);
        let leave = block(to);
        if !leave.is_empty() {
            pending.push(team.begin_send(leave, to));
        }
    }
    team.finish_all(pending).await;
    if size == 1 || each == 0 {
        return copy_own(team, &mine, into);
    }
    let last = if rank == size - 1 {
        mine
    } else {
        slot(size - 1)
    };
    let result = match apart {
        true => *into,
        false => all.slice((size - 1) * each, each),
    };
    let come = all.slice(0, (size - 1) * each);
    come.with_bytes(|come| {
        mine.with_bytes(|mine| {
            let mut left: Vec<&[u8]> = come.chunks_exact(each).collect();
            left.insert(rank, mine);
            how.reduce(team, &left[..size - 1], Some(&last), &result);
        });
    });
    if !apart {
        result.copy_to(into, each);
    }
}

/// A reduction in rank order to rank 0, which scatters: 2 ceil(log2 n) α + (log2 n + 1) bβ + log2 n bγ.
pub async fn reduce_then_scatter(team: &Team<'_>, (own, into, how): Vectors<'_>, blocks: &[usize]) {
    if team.rank() > 0 {
        reduce::binomial(team, (own, &Buffer::empty(), how), 0, true).await;
        return scatter::linear(team, None, Some(*into), 0).await;
    }
    let scratch = Scratch::new(own.len());
    let whole = scratch.buffer();
    reduce::binomial(team, (own, &whole, how), 0, true).await;
    scatter::linear(team, Some(&cut(&whole, blocks)), Some(*into), 0).await;
}
