//! MPI_Scan and MPI_Exscan, in rank order.
//!
//! `data` is this rank's packed contribution. What is returned is the reduction of the ranks up to this one, or before it
//! if `exclusive`; of rank 0 that is nothing.

use super::packed::scratch;
use super::team::{Reduction, Team};
use crate::datatype::Buffer;

/// Each rank waits for the one before it: (n - 1) (α + bβ + bγ); one message a rank.
pub async fn linear(
    team: &Team<'_>,
    mut data: Box<[u8]>,
    how: &Reduction<'_>,
    exclusive: bool,
) -> Option<Box<[u8]>> {
    let (rank, size) = (team.rank(), team.size());
    let mut before = None;
    if rank > 0 {
        let mut left = scratch(data.len());
        team.recv(Buffer::of_copy(&mut left), rank - 1).await;
        if exclusive {
            before = Some(left.clone());
        }
        if !exclusive || rank + 1 < size {
            how.combine(team, &mut left, &mut data);
        }
    }
    if rank + 1 < size {
        team.send(Buffer::of_copy(&mut data), rank + 1).await;
    }
    if exclusive { before } else { Some(data) }
}

/// Doubling: ceil(log2 n) (α + bβ + bγ), when exclusive ceil(log2 n) bγ more.
/// Hillis, Steele: Data parallel algorithms, 1986.
pub async fn doubling(
    team: &Team<'_>,
    mut data: Box<[u8]>,
    how: &Reduction<'_>,
    exclusive: bool,
) -> Option<Box<[u8]>> {
    let (rank, size) = (team.rank(), team.size());
    let (mut left, mut before) = (scratch(data.len()), None::<Box<[u8]>>);
    let mut distance = 1;
    while distance < size {
        let receive = (rank >= distance)
            .then(|| team.begin_recv(Buffer::of_copy(&mut left), rank - distance));
        if rank + distance < size {
            team.send(Buffer::of_copy(&mut data), rank + distance).await;
        }
        if let Some(receive) = receive {
            team.finish(receive).await;
            if exclusive {
                match &mut before {
                    None => before = Some(left.clone()),
                    Some(before) => how.combine(team, &mut left.clone(), before),
                }
            }
            how.combine(team, &mut left, &mut data);
        }
        distance *= 2;
    }
    if exclusive { before } else { Some(data) }
}
