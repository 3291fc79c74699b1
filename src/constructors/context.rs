//! The space of 16-bit context ids: 9 bits word, 5 bits bit, 2 bits type; a mask of the free ones.
//!
//! Invariant: a set bit is an id no communicator of this process uses. Taken: lowest word, highest bit in it first, so
//! the first id made is 124. Source: MPICH's design notes (paper 004) and the mask algorithm of paper 001.

use parking_lot::{Mutex, MutexGuard};

const WORDS: usize = 512;
const BYTES: usize = WORDS * 4;
/// An extra word, reduced with the mask: all bits set only if every member offered its real mask.
const OWNED: usize = BYTES;

/// One bit an id; the ids of MPI_COMM_WORLD, MPI_COMM_SELF and the library are taken.
static MASK: Mutex<[u32; WORDS]> = Mutex::new({
    let mut mask = [u32::MAX; WORDS];
    mask[0] = u32::MAX << 3;
    mask
});

/// What a reduction of masks led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Agreed(u32),
    /// No id is free on all members.
    Exhausted,
    /// Some member's mask was in use by another thread.
    Retry,
}

/// A thread's turn with the mask, or its absence.
pub struct Claim(Option<MutexGuard<'static, [u32; WORDS]>>);

/// Ids given back and not yet in the mask: who frees never waits for a thread that is agreeing on an id.
static RELEASED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Takes the mask if no other thread has it.
pub fn claim() -> Claim {
    let mut mask = MASK.try_lock();
    if let Some(mask) = &mut mask {
        for context in RELEASED.lock().drain(..) {
            let prefix = (context >> 2) as usize;
            mask[prefix / 32] |= 1 << (prefix % 32);
        }
    }
    Claim(mask)
}

impl Claim {
    /// The bytes to be reduced by bitwise AND.
    pub fn offer(&self) -> Box<[u8]> {
        let mut bytes = vec![0u8; BYTES + 1].into_boxed_slice();
        if let Some(mask) = &self.0 {
            for (word, chunk) in mask.iter().zip(bytes.chunks_exact_mut(4)) {
                chunk.copy_from_slice(&word.to_le_bytes());
            }
            bytes[OWNED] = u8::MAX;
        }
        bytes
    }

    /// Takes the id that the reduced bytes name.
    pub fn settle(self, reduced: &[u8]) -> Outcome {
        let Some(prefix) = first(reduced) else {
            return if reduced[OWNED] == u8::MAX {
                Outcome::Exhausted
            } else {
                Outcome::Retry
            };
        };
        if let Some(mut mask) = self.0 {
            mask[prefix / 32] &= !(1 << (prefix % 32));
        }
        Outcome::Agreed((prefix as u32) << 2)
    }
}

/// The lowest word with a bit, and the highest bit in it.
fn first(mask: &[u8]) -> Option<usize> {
    mask[..BYTES]
        .chunks_exact(4)
        .enumerate()
        .find_map(|(word, chunk)| {
            let bits = u32::from_le_bytes(chunk.try_into().unwrap_or_default());
            (bits != 0).then(|| word * 32 + 31 - bits.leading_zeros() as usize)
        })
}

/// Gives an id back.
pub fn release(context: u32) {
    RELEASED.lock().push(context);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_in_the_order_of_the_design_notes_and_are_reused() {
        let take = || {
            let claim = claim();
            let offer = claim.offer();
            claim.settle(&offer)
        };
        assert_eq!(take(), Outcome::Agreed(124));
        assert_eq!(take(), Outcome::Agreed(120));
        release(124);
        assert_eq!(take(), Outcome::Agreed(124));
        let held = claim();
        let other = claim();
        assert_eq!(other.settle(&vec![0; BYTES + 1]), Outcome::Retry);
        let mut nothing = vec![0; BYTES + 1];
        nothing[OWNED] = u8::MAX;
        assert_eq!(held.settle(&nothing), Outcome::Exhausted);
        release(124);
        release(120);
    }
}
