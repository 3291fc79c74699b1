//! Collective operations (MPI 5.0, chapter 6); `docs/collectives.md`.
//!
//! Each algorithm is one `async fn` over a [`Team`], in the file of its operation; [`choose`] says which one runs. Blocking
//! calls run it to its end at once, nonblocking and persistent ones as a task, tests on simulated ranks. Invariant: blocking
//! operations of a communicator follow each other in the same order on all ranks, so one tag is enough for all of them;
//! every other one has a tag of its own.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod board;
mod call;
mod check;
pub mod choose;
mod gather;
mod inter;
mod lane;
mod packed;
mod pair;
mod reduce;
mod reduce_scatter;
mod run;
mod scan;
mod scatter;
#[cfg(test)]
mod simulation;
mod team;
#[cfg(test)]
mod tests;

use crate::datatype::Buffer;
use crate::error::Result;
pub use call::{Call, NOBODY, Operands, ROOT};
pub use lane::{Lane, now};
pub use run::{begin, block, keep};
pub use team::{Combine, Team};

/// A barrier of those on a lane.
pub async fn barrier_on(lane: &Lane<'_>) -> Result<()> {
    let team = Team::on(*lane);
    call::run_barrier(&team).await;
    team.result()
}

/// A broadcast among the constructors' steps.
pub async fn bcast_on(lane: &Lane<'_>, buffer: Buffer, root: i32) -> Result<()> {
    let team = Team::on(*lane);
    bcast::binomial(&team, buffer, root as usize).await;
    team.result()
}

/// Allgather of a few bytes. `all` has a part of `bytes` bytes for each rank; this rank's is filled.
pub async fn allgather_on(lane: &Lane<'_>, all: &mut Box<[u8]>, bytes: usize) -> Result<()> {
    let team = Team::on(*lane);
    let parts = crate::datatype::Parts::of_copy(all, bytes);
    allgather::bruck(&team, &parts).await;
    team.result()
}

/// Allreduce over packed bytes: `data` holds this rank's contribution and then the result, the same on all ranks. Who misses
/// somebody's contribution hands on zeros, which everybody that is not told of the error gets as the result.
pub async fn allreduce_on(
    lane: &Lane<'_>,
    data: &mut Box<[u8]>,
    combine: Combine<'_>,
) -> Result<()> {
    let team = Team::on(*lane);
    let combine_if_there = |left: &mut [u8], right: &mut [u8]| {
        if team.has_failed() {
            right.fill(0);
            return Ok(());
        }
        combine(left, right)
    };
    let how = team::Reduction {
        unit: data.len(),
        commutes: false,
        combine: &combine_if_there,
    };
    reduce::binomial(&team, data, &how, 0, true).await;
    if team.rank() != 0 {
        data.fill(0);
    }
    bcast::binomial(&team, Buffer::of_copy(data), 0).await;
    team.result()
}
