//! What the ranks of a constructor tell each other.

use crate::coll::{self, CollContext};
use crate::context_id::offer::words;
use crate::datatype::Buffer;
use crate::error::Result;

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
