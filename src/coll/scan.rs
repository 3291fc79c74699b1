//! MPI_Scan and MPI_Exscan, in rank order.
//!
//! `own` is this rank's contribution, `into` where the reduction of the ranks up to this one goes, or before it if `exclusive`: of
//! rank 0 that is nothing, and `into` stays as it is. They may be the same.

use super::reduction::Vectors;
use super::team::{Team, copy_own};
use crate::datatype::Scratch;

/// Each rank waits for the one before it: (n - 1) (α + bβ + bγ); one message a rank.
pub async fn linear(team: &Team<'_>, (own, into, how): Vectors<'_>, exclusive: bool) {
    let (rank, is_last) = (team.rank(), team.rank() + 1 == team.size());
    if rank == 0 {
        if !is_last {
            team.send(*own, 1).await;
        }
        if !exclusive && !own.is_at(into) {
            copy_own(team, own, into);
        }
        return;
    }
    let scratch = Scratch::new(own.len());
    // Of what comes and what leaves, one has the result's place.
    let (left, all) = match exclusive && !own.is_at(into) {
        true => (*into, scratch.buffer()),
        false => (scratch.buffer(), *into),
    };
    team.recv(left, rank - 1).await;
    if !exclusive || !is_last {
        how.combine(team, &left, own, &all);
    }
    if !is_last {
        team.send(all, rank + 1).await;
    }
    if exclusive && !left.is_at(into) {
        left.copy_to(into, into.len());
    }
}

/// Doubling: ceil(log2 n) (α + bβ + bγ), when exclusive ceil(log2 n) bγ more.
/// Hillis, Steele: Data parallel algorithms, 1986.
pub async fn doubling(team: &Team<'_>, (own, into, how): Vectors<'_>, exclusive: bool) {
    let (rank, size, bytes) = (team.rank(), team.size(), own.len());
    let scratch = Scratch::new(2 * bytes);
    let [left, other] = scratch.parts(bytes);
    // What was before this rank, and all up to it: one of them has the result's place.
    let (before, all) = match exclusive && !own.is_at(into) {
        true => (*into, other),
        false => (other, *into),
    };
    let (mut now, mut distance) = (*own, 1);
    while distance < size {
        let comes_first = exclusive && distance == 1;
        let come = if comes_first { before } else { left };
        let receive = (rank >= distance).then(|| team.begin_recv(come, rank - distance));
        if rank + distance < size {
            team.send(now, rank + distance).await;
        }
        if let Some(receive) = receive {
            team.finish(receive).await;
            if exclusive && !comes_first {
                how.combine(team, &come, &before, &before);
            }
            if !exclusive || rank + 2 * distance < size {
                how.combine(team, &come, &now, &all);
                now = all;
            }
        }
        distance *= 2;
    }
    if exclusive && rank > 0 && !before.is_at(into) {
        before.copy_to(into, bytes);
    } else if !exclusive && !now.is_at(into) {
        now.copy_to(into, bytes);
    }
}
