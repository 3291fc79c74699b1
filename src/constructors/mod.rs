//! Constructors of communicators, and their end.
//!
//! Invariant: what can go wrong on one rank is agreed on before anything is made, so that a constructor fails on all of
//! its ranks or on none, and no rank waits for one that has left with an error.

mod allocate;
pub mod collector;
pub mod context;
pub mod create;
pub mod datatypes;
pub mod dup;
pub mod hints;
pub mod inter;
pub mod lifetime;
#[cfg(test)]
mod models;
mod report;
mod sides;
pub mod space;
pub mod split;
pub mod split_type;
pub mod store;
pub mod strategy;
pub mod topology;

pub use create::{create, create_from_group, create_group};
pub use dup::{dup, idup};
pub use inter::{Peer, intercomm_create, intercomm_create_from_groups, intercomm_merge};
pub use lifetime::{disconnect, free};
pub use split::split;
pub use split_type::split_type;

use crate::coll::{self, Lane};
use crate::datatype::Buffer;
use crate::error::Result;

/// What holds on all members, each of which says for itself what does: a few bytes beside the agreement on an id.
async fn everywhere<const N: usize>(lane: &Lane<'_>, holds: [bool; N]) -> Result<[bool; N]> {
    let mut all: Box<[u8]> = holds.iter().map(|holds| u8::from(*holds)).collect();
    coll::allreduce_on(lane, &mut all, &|left, right| {
        left.iter()
            .zip(right)
            .for_each(|(left, right)| *right &= *left);
        Ok(())
    })
    .await?;
    Ok(std::array::from_fn(|at| all[at] != 0))
}

/// Gives all members what `root` has, whatever its size.
async fn share(lane: &Lane<'_>, data: &mut Box<[u8]>, root: i32) -> Result<()> {
    let mut length = Vec::from((data.len() as u64).to_le_bytes()).into_boxed_slice();
    coll::bcast_on(lane, Buffer::of_copy(&mut length), root).await?;
    let length = words(&length)[0] as usize | (words(&length)[1] as usize) << 32;
    if data.len() != length {
        *data = vec![0; length].into_boxed_slice();
    }
    coll::bcast_on(lane, Buffer::of_copy(data), root).await
}

/// What messages carry: 32-bit words.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

fn bytes(words: impl IntoIterator<Item = u32>) -> Box<[u8]> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
