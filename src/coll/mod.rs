//! Collective operations (MPI 5.0, chapter 6); `docs/collectives.md`.
//!
//! Each algorithm is one `async fn` over a [`Team`], in the file of its operation; [`choose`] says which one runs. Blocking
//! calls run it to its end at once, nonblocking and persistent ones as a task, tests on simulated ranks. Invariant: blocking
//! operations of a communicator follow each other in the same order on all ranks, so one tag is enough for all of them;
//! every other one has a tag of its own.

mod allgather;
mod allreduce;
mod alltoall;
mod amounts;
mod args;
mod barrier;
mod bcast;
pub mod check;
pub mod choose;
mod context;
mod differing;
mod dispatch;
mod gather;
mod hierarchy;
mod inter;
mod packed;
mod pair;
mod reduce;
mod reduce_scatter;
mod reduction;
mod ring;
mod run;
mod scan;
mod scatter;
#[cfg(test)]
mod simulation;
mod staged;
mod team;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use crate::datatype::{Buffer, Parts};
use crate::error::Result;
pub use args::{CollArgs, Counts, Operands, PROC_NULL, ROOT};
pub use context::{CollContext, block_on};
pub use differing::kind_of;
pub use run::{begin, block, keep};
pub use team::Team;
pub use texts::gather_texts_on;
pub use words::{exchange_words, exchange_words_on};

/// A barrier of those on a collective context.
pub async fn barrier_on(coll: &CollContext<'_>) -> Result<()> {
    let team = Team::on(*coll);
    dispatch::run_barrier(&team).await;
    team.result()
}

/// A broadcast among the constructors' steps.
pub async fn bcast_on(coll: &CollContext<'_>, buffer: Buffer, root: i32) -> Result<()> {
    let team = Team::on(*coll);
    bcast::binomial(&team, buffer, root as usize).await;
    team.result()
}

/// Allgather of a few bytes. `all` has a part of `bytes` bytes for each rank; this rank's is filled.
pub async fn allgather_on(coll: &CollContext<'_>, all: &mut Box<[u8]>, bytes: usize) -> Result<()> {
    let team = Team::on(*coll);
    let parts = Parts::of_copy(all, bytes);
    allgather::bruck(&team, &parts).await;
    team.result()
}

/// Alltoall of a few bytes: `out` has `bytes` bytes for each rank, what is returned those of each.
pub async fn alltoall_on(
    coll: &CollContext<'_>,
    out: &mut Box<[u8]>,
    bytes: usize,
) -> Result<Box<[u8]>> {
    let team = Team::on(*coll);
    let mut into = packed::scratch(out.len());
    let (out, parts) = (Parts::of_copy(out, bytes), Parts::of_copy(&mut into, bytes));
    alltoall::bruck(&team, &out, &parts).await;
    team.result().map(|()| into)
}

/// A message to each of some ranks and one from each of some, maybe oneself.
pub async fn exchange_on(
    coll: &CollContext<'_>,
    out: &mut [(usize, Box<[u8]>)],
    into: &mut [(usize, Box<[u8]>)],
) -> Result<()> {
    let team = Team::on(*coll);
    let receives = into.iter_mut();
    let receives = receives.map(|(from, data)| team.begin_recv(Buffer::of_copy(data), *from));
    let mut pending: Vec<_> = receives.collect();
    let sends = out.iter_mut();
    pending.extend(sends.map(|(to, data)| team.begin_send(Buffer::of_copy(data), *to)));
    team.finish_all(pending).await;
    team.result()
}

/// Combines `left op right` into `right`; both hold the same number of bytes.
pub type Combine<'a> = &'a (dyn Fn(&[u8], &mut [u8]) -> Result<()> + Sync);

/// Allreduce over packed bytes: `data` holds this rank's contribution and then the result, the same on all ranks. A rank that
/// misses a contribution hands on zeros, which all that are not told of the error get as the result.
pub async fn allreduce_on(
    coll: &CollContext<'_>,
    data: &mut Box<[u8]>,
    combine: Combine<'_>,
) -> Result<()> {
    let team = Team::on(*coll);
    let how = reduction::Reduction {
        unit: data.len(),
        commutes: false,
        with: None,
        fold: &|(left, last), into| {
            if let Some(last) = last {
                into.copy_from_slice(last);
            }
            let mut left = left.iter().rev();
            left.try_for_each(|left| combine(left, into))
        },
    };
    let whole = Buffer::of_copy(data);
    reduce::binomial(&team, (&whole, &whole, &how), 0, true).await;
    if team.rank() != 0 {
        data.fill(0);
    }
    bcast::binomial(&team, Buffer::of_copy(data), 0).await;
    team.result()
}
