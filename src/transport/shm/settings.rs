//! Settings that must be equal on all ranks, compared when a rank joins.
//!
//! A rank publishes its values in its own page and then tries to become the reference of the node; every later rank compares with
//! the reference. Invariant: no rank waits for another, and of two ranks that differ the one that joins later finds out.

use super::layout::Segment;
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

/// Publishes the settings of rank `me`, and compares them with those of the rank that joined first. `hash` covers names and values.
pub fn compare(segment: Segment<'_>, me: usize, hash: u64, values: &[u64]) -> Result<(), Other> {
    segment.rank(me).settings.publish(hash, values);
    // Release: a rank that finds this one here sees its values. Acquire: the other way round.
    let own = me as u32 + 1;
    let reference = &segment.header().settings.0;
    let found = reference.compare_exchange(0, own, Ordering::Release, Ordering::Acquire);
    let rank = match found {
        Err(found) if found != own => found as usize - 1,
        _ => return Ok(()),
    };
    if rank >= segment.ranks() {
        return Ok(()); // not a rank: a peer has written nonsense
    }
    let theirs = &segment.rank(rank).settings;
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
    use super::super::layout;
    use super::*;
    use crate::os::memory::{self, Mapping};
    use std::os::fd::AsFd;

    #[test]
    fn later_ranks_compare_with_the_first() {
        let fd = memory::create("test", layout::segment_bytes(3), false).unwrap();
        layout::initialise(fd.as_fd(), 3).unwrap();
        let map = Mapping::of(fd.as_fd()).unwrap();
        let segment = Segment::open(&map, 3).unwrap();
        assert_eq!(compare(segment, 1, 77, &[5, 6]), Ok(()));
        assert_eq!(compare(segment, 0, 77, &[5, 6]), Ok(()));
        let other = Other {
            rank: 1,
            values: vec![5, 6],
        };
        assert_eq!(compare(segment, 2, 78, &[5, 7]), Err(other));
        assert_eq!(compare(segment, 1, 77, &[5, 6]), Ok(()), "with itself");
    }
}
