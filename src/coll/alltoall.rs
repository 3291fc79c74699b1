//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: one body for all three.
//!
//! `out`: this rank's part for each rank. `into`: the place for each rank's part. b: bytes of one part.

use super::team::{Team, copy_own};
use crate::datatype::{Parts, Scratch};

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
        team.exchange_data(out.of(to), to, into.of(from), from)
            .await;
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
    let slots = Scratch::new(size * each);
    let slot = |at: usize| slots.buffer().slice(at * each, each);
    for distance in 0..size {
        let part = out.of((rank + distance) % size);
        part.copy_to(&slot(distance), each);
    }
    let half = size.div_ceil(2) * each;
    let moving = Scratch::new(2 * half);
    let [leaving, coming] = moving.parts(half);
    let mut hop = 1;
    while hop < size {
        let moving = || (0..size).filter(|slot| slot & hop != 0).enumerate();
        for (at, number) in moving() {
            slot(number).copy_to(&leaving.slice(at * each, each), each);
        }
        let bytes = moving().count() * each;
        let (leave, come) = (leaving.slice(0, bytes), coming.slice(0, bytes));
        team.exchange(leave, team.after(hop), come, team.before(hop))
            .await;
        for (at, number) in moving() {
            coming.slice(at * each, each).copy_to(&slot(number), each);
        }
        hop *= 2;
    }
    for distance in 0..size {
        let from = (rank + size - distance) % size;
        copy_own(team, &slot(distance), &into.of(from));
    }
}
