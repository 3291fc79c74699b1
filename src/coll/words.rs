//! A few words of each rank, for all: how objects other than communicators are agreed on.

use super::run::block_any;
use super::{CollArgs, CollContext, allgather_on};
use crate::comm::Comm;
use crate::datatype::Parts;
use crate::error::Result;

/// What all ranks of a communicator bring, by rank: an allgather in the name of the MPI function.
///
/// Errors: a rank is lost.
pub fn exchange_words<const N: usize>(
    comm: &Comm,
    function: &'static str,
    own: [u64; N],
) -> Result<Vec<[u64; N]>> {
    let mut all = packed(comm.rank(), comm.size(), own);
    let parts = Parts::of_copy(&mut all, N * size_of::<u64>());
    block_any(comm, function, &CollArgs::Allgather { own: None, parts })?;
    Ok(unpacked(&all))
}

/// As [`exchange_words`], for steps of a task or such that block.
pub async fn exchange_words_on<const N: usize>(
    coll: &CollContext<'_>,
    own: [u64; N],
) -> Result<Vec<[u64; N]>> {
    let mut all = packed(coll.rank(), coll.size(), own);
    allgather_on(coll, &mut all, N * size_of::<u64>()).await?;
    Ok(unpacked(&all))
}

/// Room for the words of all ranks, with those of this one.
fn packed<const N: usize>(rank: i32, ranks: i32, own: [u64; N]) -> Box<[u8]> {
    let each = N * size_of::<u64>();
    let mut all = vec![0u8; ranks as usize * each].into_boxed_slice();
    for (place, word) in all[rank as usize * each..].chunks_exact_mut(8).zip(own) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    all
}

fn unpacked<const N: usize>(all: &[u8]) -> Vec<[u64; N]> {
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    let of_rank = |part: &[u8]| std::array::from_fn(|at| word(&part[at * 8..at * 8 + 8]));
    all.chunks_exact(N * size_of::<u64>())
        .map(of_rank)
        .collect()
}
