//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: one body for all three.
//!
//! `out` is what this rank has for each, `into` where each one's goes; b is what one rank has for another.

use super::packed::scratch;
use super::team::{Team, copy_own, deposit};
use crate::datatype::{Buffer, Parts};

/// All messages at once: (n - 1) (α + bβ), one wait. Empty ones are left out.
pub async fn linear(team: &Team<'_>, out: &Parts, into: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    let mut pending = Vec::with_capacity(2 * size);
    for distance in 1..size {
        let from = (rank + size - distance) % size;
        if into.len(from) > 0 {
            pending.push(team.begin_recv(into.of(from), from));
        }
    }
    for distance in 1..size {
        let to = (rank + distance) % size;
        if out.len(to) > 0 {
            pending.push(team.begin_send(out.of(to), to));
        }
    }
    copy_own(team, &out.of(rank), &into.of(rank));
    team.finish_all(pending).await;
}

/// n - 1 exchanges one after the other: (n - 1) (α + bβ), one message under way from each rank.
pub async fn pairwise(team: &Team<'_>, out: &Parts, into: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    copy_own(team, &out.of(rank), &into.of(rank));
    for distance in 1..size {
        let (to, from) = (team.after(distance), team.before(distance));
        let receive = (into.len(from) > 0).then(|| team.begin_recv(into.of(from), from));
        if out.len(to) > 0 {
            team.send(out.of(to), to).await;
        }
        if let Some(receive) = receive {
            team.finish(receive).await;
        }
    }
}

/// Store and forward, of equal parts: ceil(log2 n) (α + n / 2 bβ).
/// Bruck et al., 1997.
pub async fn bruck(team: &Team<'_>, out: &Parts, into: &Parts) {
    let (rank, size, each) = (team.rank(), team.size(), out.len(0));
    if each == 0 {
        return;
    }
    // Slot i holds what still has to go i ranks on.
    let mut slots = scratch(size * each);
    for distance in 0..size {
        let part = out.of((rank + distance) % size);
        part.read(0, &mut slots[distance * each..][..each]);
    }
    let (mut leaving, mut coming) = (
        scratch(size.div_ceil(2) * each),
        scratch(size.div_ceil(2) * each),
    );
    let mut hop = 1;
    while hop < size {
        let moving = || (0..size).filter(|slot| slot & hop != 0);
        for (at, slot) in moving().enumerate() {
            leaving[at * each..][..each].copy_from_slice(&slots[slot * each..][..each]);
        }
        let bytes = moving().count() * each;
        let leave = Buffer::of_copy(&mut leaving).slice(0, bytes);
        let come = Buffer::of_copy(&mut coming).slice(0, bytes);
        team.exchange(leave, team.after(hop), come, team.before(hop))
            .await;
        for (at, slot) in moving().enumerate() {
            slots[slot * each..][..each].copy_from_slice(&coming[at * each..][..each]);
        }
        hop *= 2;
    }
    for distance in 0..size {
        let from = (rank + size - distance) % size;
        deposit(team, &slots[distance * each..][..each], &into.of(from));
    }
}
