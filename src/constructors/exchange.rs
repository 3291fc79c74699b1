//! What the ranks of a constructor tell each other.

use crate::coll::{self, CollContext};
use crate::context_id::offer::words;
use crate::datatype::Buffer;
use crate::error::{Class, Result, fail};
use crate::group::names;

/// What holds on all members, each of which says for itself what does: a few bytes beside the agreement on an id.
pub async fn everywhere<const N: usize>(
    coll: &CollContext<'_>,
    holds: [bool; N],
) -> Result<[bool; N]> {
    let mut all: Box<[u8]> = holds.iter().map(|holds| u8::from(*holds)).collect();
    coll::allreduce_on(coll, &mut all, &|left, right| {
        left.iter()
            .zip(right)
            .for_each(|(left, right)| *right &= *left);
        Ok(())
    })
    .await?;
    Ok(std::array::from_fn(|at| all[at] != 0))
}

/// Gives all members what `root` has, whatever its size.
pub async fn share(coll: &CollContext<'_>, data: &mut Box<[u8]>, root: i32) -> Result<()> {
    let mut length = Vec::from((data.len() as u64).to_le_bytes()).into_boxed_slice();
    coll::bcast_on(coll, Buffer::of_copy(&mut length), root).await?;
    let length = words(&length)[0] as usize | (words(&length)[1] as usize) << 32;
    if data.len() != length {
        *data = vec![0; length].into_boxed_slice();
    }
    coll::bcast_on(coll, Buffer::of_copy(data), root).await
}

/// The numbers here of processes that another one has named in words.
///
/// Errors: MPI_ERR_OTHER, one has none: this process is not connected to it.
pub fn numbers(words: &[u32]) -> Result<Vec<u32>> {
    match names::of_words(words) {
        Ok(numbers) => Ok(numbers),
        Err(name) => fail!(
            Class::Other,
            "this process is not connected to rank {} of another job, which is in the other group",
            name.rank
        ),
    }
}
