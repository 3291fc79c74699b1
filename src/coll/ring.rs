//! The rings: one that reduces and scatters, one that gathers for all. Steps of several operations.

use super::reduction::Vectors;
use super::team::{Team, copy_own};
use crate::datatype::{Buffer, Parts, Scratch};

/// Ring: (n - 1) α + (n - 1) / n b (β + γ); for operations that commute.
pub async fn reduce_scatter(team: &Team<'_>, (own, into, how): Vectors<'_>, blocks: &[usize]) {
    let (rank, size) = (team.rank(), team.size());
    let block = |rank: usize| own.slice(blocks[rank], blocks[rank + 1] - blocks[rank]);
    let (mine, apart) = (block(rank), into.is_apart_from(own));
    if size == 1 {
        return copy_own(team, &mine, into);
    }
    let longest = blocks.windows(2).map(|pair| pair[1] - pair[0]).max();
    let longest = longest.unwrap_or(0);
    let scratch = Scratch::new(2 * longest);
    let places: [Buffer; 2] = scratch.parts(longest);
    let mut leaving = block(team.before(1));
    for step in 0..size - 1 {
        let mine = block(team.before(2 + step));
        let is_last = step == size - 2;
        let come = match is_last && apart {
            true => *into,
            false => places[step % 2].slice(0, mine.len()),
        };
        team.exchange_data(leaving, team.after(1), come, team.before(1))
            .await;
        if is_last && mine.is_at(into) {
            how.combine(team, &come, &mine, into);
        } else {
            how.combine(team, &mine, &come, &come);
        }
        leaving = come;
    }
    if !apart && !mine.is_at(into) {
        leaving.copy_to(into, into.len());
    }
}

/// MPI_Allgather: (n - 1) α + (n - 1) / n bβ, where b is what all have together. Each rank's part is in its place.
pub async fn allgather(team: &Team<'_>, parts: &Parts) {
    let (rank, size) = (team.rank(), team.size());
    for step in 0..size - 1 {
        let out = parts.of((rank + size - step) % size);
        let into = parts.of((rank + size - step - 1) % size);
        team.exchange_data(out, team.after(1), into, team.before(1))
            .await;
    }
}
