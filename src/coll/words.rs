//! A few words of each rank, for all: how objects other than communicators are agreed on.

use super::{CollArgs, block};
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
    let (ranks, rank) = (comm.size() as usize, comm.rank() as usize);
    let each = N * size_of::<u64>();
    let mut all = vec![0u8; ranks * each].into_boxed_slice();
    for (place, word) in all[rank * each..].chunks_exact_mut(8).zip(own) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    let parts = Parts::of_copy(&mut all, each);
    block(comm, function, &CollArgs::Allgather { own: None, parts })?;
    let word = |at: usize| {
        let bytes = all[at * 8..at * 8 + 8].try_into();
        u64::from_ne_bytes(bytes.unwrap_or_default())
    };
    Ok((0..ranks)
        .map(|rank| std::array::from_fn(|at| word(rank * N + at)))
        .collect())
}
