//! Settings that must be equal on all ranks, compared when a rank joins.
//!
//! A rank publishes its values in its own page and then tries to become the reference of the node; every later rank compares with
//! the reference. Invariant: no rank waits for another, and of two ranks that differ the one that joins later finds out.

use crate::queue::shape::shape;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// The most settings that are compared.
pub const MOST: usize = 32;

/// The settings of one rank, in its page.
#[repr(C)]
pub struct Settings {
    hash: AtomicU64,
    values: [AtomicU64; MOST],
}

/// The layout of what lies in the segment.
pub const SHAPE: u64 = shape!(Settings { hash, values });

/// The rank that settings are compared with, in the segment's header; zero: none, else the rank and 1.
#[repr(transparent)]
pub struct Reference(AtomicU32);

/// What the reference has instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Other {
    pub rank: usize,
    pub values: Vec<u64>,
}

impl Settings {
    fn publish(&self, hash: u64, values: &[u64]) {
        assert!(
            values.len() <= MOST,
            "more settings than a page has room for"
        );
        for (shared, value) in self.values.iter().zip(values) {
            shared.store(*value, Ordering::Relaxed);
        }
        self.hash.store(hash, Ordering::Relaxed);
    }
}

/// Publishes the settings of rank `me`, and compares them with those of the rank that joined first. `hash` covers names and values;
/// `of` gives the settings of a rank.
pub fn compare<'s>(
    reference: &Reference,
    of: impl Fn(usize) -> Option<&'s Settings>,
    me: usize,
    hash: u64,
    values: &[u64],
) -> Result<(), Other> {
    if let Some(own) = of(me) {
        own.publish(hash, values);
    }
    // Release: a rank that finds this one here sees its values. Acquire: the other way round.
    let own = me as u32 + 1;
    let found = reference
        .0
        .compare_exchange(0, own, Ordering::Release, Ordering::Acquire);
    let rank = match found {
        Err(found) if found != own => found as usize - 1,
        _ => return Ok(()),
    };
    let Some(theirs) = of(rank) else {
        return Ok(()); // not a rank: a peer has written nonsense
    };
    if theirs.hash.load(Ordering::Relaxed) == hash {
        return Ok(());
    }
    let values = theirs.values.iter().take(values.len());
    Err(Other {
        rank,
        values: values.map(|value| value.load(Ordering::Relaxed)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ranks_compare_with_the_first() {
        let ranks: [Settings; 3] = std::array::from_fn(|_| Settings {
            hash: AtomicU64::new(0),
            values: std::array::from_fn(|_| AtomicU64::new(0)),
        });
        let reference = Reference(AtomicU32::new(0));
        let compare = |me, hash, values: &[u64]| {
            super::compare(&reference, |rank| ranks.get(rank), me, hash, values)
        };
        assert_eq!(compare(1, 77, &[5, 6]), Ok(()));
        assert_eq!(compare(0, 77, &[5, 6]), Ok(()));
        let other = Other {
            rank: 1,
            values: vec![5, 6],
        };
        assert_eq!(compare(2, 78, &[5, 7]), Err(other));
        assert_eq!(compare(1, 77, &[5, 6]), Ok(()), "with itself");
        reference.0.store(9, Ordering::Relaxed);
        assert_eq!(compare(2, 78, &[5, 7]), Ok(()), "no rank");
    }
}
