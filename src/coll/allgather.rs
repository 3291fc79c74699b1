//! MPI_Allgather and MPI_Allgatherv: one body for equal parts and others.
//!
//! `parts` is where the parts of all go; this rank's is there when an algorithm begins. b is what all have together.

use super::team::Team;
use super::{bcast, gather, ring};
use crate::datatype::{Buffer, Parts, Scratch};

/// Dissemination of packed copies: ceil(log2 n) α + (n - 1) / n bβ.
/// Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems, 1997.
pub async fn bruck(team: &Team<'_>, parts: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    if size == 2 {
        // The one exchange needs no copy.
        return ring::allgather(team, parts).await;
    }
    // Where the part of rank + i begins in the copy.
    let mut begins = vec![0; size + 1];
    for i in 0..size {
        begins[i + 1] = begins[i] + parts.len((rank + i) % size);
    }
    let copy = Scratch::new(begins[size]);
    let all = copy.buffer();
    parts.of(rank).copy_to(&all.slice(0, begins[1]), begins[1]);
    let mut known = 1;
    while known < size {
        let more = known.min(size - known);
        let out = all.slice(0, begins[more]);
        let into = all.slice(begins[known], begins[known + more] - begins[known]);
        team.exchange_data(out, team.before(known), into, team.after(known))
            .await;
        known += more;
    }
    for i in 1..size {
        let bytes = begins[i + 1] - begins[i];
        let part = all.slice(begins[i], bytes);
        part.copy_to(&parts.of((rank + i) % size), bytes);
    }
}

/// Recursive doubling, of equal parts among 2^k ranks: log2 n α + (n - 1) / n bβ, no copies.
/// Thakur, Rabenseifner, Gropp, 2005.
pub async fn recursive_doubling(team: &Team<'_>, parts: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    let mut known = 1;
    while known < size {
        let (mine, theirs) = (rank & !(known - 1), (rank ^ known) & !(known - 1));
        let range = |first| parts.range(first, known).unwrap_or(Buffer::empty());
        let peer = rank ^ known;
        team.exchange(range(mine), peer, range(theirs), peer).await;
        known *= 2;
    }
}

/// All to rank 0, and from there to all: 2 (n - 1) messages, but few wake-ups where ranks share cores.
pub async fn gather_broadcast(team: &Team<'_>, parts: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    let collected = (rank == 0).then_some(parts);
    let own = (rank > 0).then(|| parts.of(rank));
    gather::linear(team, own, collected, 0).await;
    match parts.range(0, size) {
        Some(all) => bcast::linear(team, all, 0).await,
        None => {
            let copy = Scratch::new((0..size).map(|rank| parts.len(rank)).sum());
            let slots = slots(&copy, parts, size);
            for (slot, from) in slots.iter().zip(0..size).filter(|_| rank == 0) {
                parts.of(from).copy_to(slot, slot.len());
            }
            bcast::linear(team, copy.buffer(), 0).await;
            for (slot, from) in slots.iter().zip(0..size).filter(|_| rank != 0) {
                if from != rank {
                    slot.copy_to(&parts.of(from), slot.len());
                }
            }
        }
    }
}

/// Where the parts of all ranks are in a copy.
fn slots(copy: &Scratch, parts: &Parts, size: usize) -> Vec<Buffer> {
    let mut begin = 0;
    let slots = (0..size).map(|rank| {
        begin += parts.len(rank);
        copy.buffer()
            .slice(begin - parts.len(rank), parts.len(rank))
    });
    slots.collect()
}

/// All send to all at once: one wake-up a rank, (n - 1) (α + b / n β).
pub async fn linear(team: &Team<'_>, parts: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    let others = || (1..size).map(|distance| (rank + distance) % size);
    let mut pending: Vec<_> = others()
        .filter(|from| parts.len(*from) > 0)
        .map(|from| team.begin_recv(parts.of(from), from))
        .collect();
    if parts.len(rank) > 0 {
        let own = parts.of(rank);
        pending.extend(others().map(|to| team.begin_send(own, to)));
    }
    team.finish_all(pending).await;
}
