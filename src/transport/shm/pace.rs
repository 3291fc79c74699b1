//! Which stores to fill a bulk ring with, and in what pieces.
//!
//! Between cores that share a cache ordinary stores are best, between others those that bypass the caches, by factors of
//! three to ten either way (Zen 3). On Intel's model 207 they differ by a quarter: messages of 4 to 64 KB are faster past the caches, staged data of
//! 64 KB and longer messages are not (in streams 9.3 beside 7.6 GB/s, whatever the ring's size). Invariant: nothing is learned here; the node says
//! how far apart the cores are.

use crate::datatype::nontemporal;
use crate::node::distance::CacheDistance;
use crate::os::hardware;
use crate::queue::bulk_ring::{HEAD_PAYLOAD, LONGEST_PAYLOAD, SLOT_BYTES};

/// How a packet's payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    Ordinary = 0,
    /// Non-temporal: they bypass the caches. String moves where these are better ([`nontemporal::copy_for_reader`]).
    NonTemporal = 1,
}

impl Stores {
    /// The best ones for data that another core reads next.
    #[inline]
    pub fn for_reader(distance: CacheDistance) -> Stores {
        match distance {
            CacheDistance::Far => Stores::NonTemporal,
            CacheDistance::SameCore | CacheDistance::Shared => Stores::Ordinary,
        }
    }

    /// The best ones for a message in many pieces, and for data in a staging area that two ranks with a core each use.
    pub fn for_much(distance: CacheDistance) -> Stores {
        match hardware::loads_from_far_caches_are_fast() {
            true => Stores::Ordinary,
            false => Stores::for_reader(distance),
        }
    }

    /// Said for each piece of a packet before it is filled: finishes before the head, which is filled last. A fence
    /// between two stores to that line, which the reader watches, would let it take the line away and cost two transfers.
    #[inline]
    pub fn finish_before_head(self, offset: usize, piece: usize) {
        if offset == 0 && piece <= HEAD_PAYLOAD {
            self.finish();
        }
    }

    /// After the last of these stores, before it is told that they are done.
    #[inline]
    pub fn finish(self) {
        if self == Stores::NonTemporal {
            nontemporal::fence();
        }
    }
}

/// Smaller messages go whole, without a gap behind them.
const SMALL_BYTES: usize = 1024;
/// Below this ordinary stores are best wherever the cores are.
const NONTEMPORAL_BYTES: usize = 400;
/// A message's pieces with ordinary stores leave most of a kilobyte in their slots, which keeps the reader's prefetcher
/// from the next one.
const ORDINARY_CHUNK: usize = 3 * SLOT_BYTES - 1024;
/// Pieces with non-temporal stores fill their slots: a gap would end the reader's prefetch stream.
const NONTEMPORAL_CHUNK: usize = 2 * SLOT_BYTES - 128;
const NONTEMPORAL_LARGE: usize = 4 * SLOT_BYTES - 128;
/// With string moves, whose beginning costs more.
const STRING_CHUNK: usize = 3 * SLOT_BYTES - 128;
/// Up to here they have the smaller pieces.
const FEW_STRINGS: usize = 32 << 10;
/// Up to here a message with non-temporal stores has the smaller pieces.
pub const FEW_PIECES: usize = 64 << 10;
/// Up to here a message travels in one packet: splitting it costs more than is won where writing and reading overlap.
pub const LONGEST_WHOLE: usize = 16384;

const _: () = assert!(LONGEST_WHOLE <= LONGEST_PAYLOAD);

/// What to do with the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub stores: Stores,
    /// The reader is to ask how far it is from the sender, which measures that.
    pub asks: bool,
    /// Bytes of the message it may carry.
    pub chunk: usize,
    /// Where heads lie in the bulk ring: at multiples of so many slots.
    pub align: usize,
}

impl Plan {
    /// For the next packet of a message of `total` bytes, if these stores are best.
    #[inline]
    pub fn new(stores: Stores, total: usize) -> Plan {
        let stores = match total < NONTEMPORAL_BYTES {
            true => Stores::Ordinary,
            false => stores,
        };
        let chunk = match stores {
            _ if total <= LONGEST_WHOLE => total,
            Stores::Ordinary => ORDINARY_CHUNK,
            Stores::NonTemporal if total > FEW_PIECES => NONTEMPORAL_LARGE,
            Stores::NonTemporal
                if total > FEW_STRINGS && hardware::string_moves_are_best_between_cores() =>
            {
                STRING_CHUNK
            }
            Stores::NonTemporal => NONTEMPORAL_CHUNK,
        };
        let align = match total < SMALL_BYTES {
            true => 1,
            false => (chunk + 128).div_ceil(SLOT_BYTES),
        };
        Plan {
            stores,
            asks: false,
            chunk,
            align,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_message_goes_whole_in_ordinary_stores() {
        for stores in [Stores::Ordinary, Stores::NonTemporal] {
            let plan = Plan::new(stores, NONTEMPORAL_BYTES - 1);
            assert_eq!(plan.stores, Stores::Ordinary);
            assert_eq!((plan.chunk, plan.align), (NONTEMPORAL_BYTES - 1, 1));
            for total in [NONTEMPORAL_BYTES, LONGEST_WHOLE, LONGEST_WHOLE + 1, 1 << 20] {
                let plan = Plan::new(stores, total);
                assert_eq!(plan.stores, stores);
                assert_eq!(plan.chunk >= total, total <= LONGEST_WHOLE);
                assert!(plan.chunk + 128 <= plan.align * SLOT_BYTES || total < SMALL_BYTES);
            }
        }
    }
}
