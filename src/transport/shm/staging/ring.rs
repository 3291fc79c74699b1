//! Where a publisher's data goes: a ring of bytes, of which each piece is free again when all have acknowledged its round.

use super::area::{Place, SMALL_DEPTH, UNIT};
use std::collections::VecDeque;

/// A piece that may still be read.
#[derive(Clone, Copy)]
struct Piece {
    /// From the beginning of all.
    begin: u64,
    round: u64,
}

/// A small or large ring, as its only writer sees it.
pub struct Ring {
    large: bool,
    bytes: u64,
    /// Where the next piece begins, from the beginning of all.
    next: u64,
    pieces: VecDeque<Piece>,
}

/// Data that takes no more than this part of a small ring may go to its begin again.
const SHORT: u64 = 8;

/// How pieces of an operation lie in a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spacing {
    /// Bytes that are left free behind a piece, or its reader's prefetcher takes lines that are to be written next.
    pub gap: usize,
    /// Bytes of the ring that are used: what ranks are to keep in their caches is not spread over all of it.
    pub extent: usize,
}

impl Spacing {
    /// Of a ring for little data of so many bytes.
    #[inline]
    pub fn small(bytes: usize) -> Spacing {
        Spacing {
            gap: UNIT,
            extent: bytes,
        }
    }
}

impl Ring {
    pub fn new(large: bool, bytes: usize) -> Ring {
        Ring {
            large,
            bytes: bytes as u64,
            next: 0,
            pieces: VecDeque::with_capacity(64),
        }
    }

    #[inline]
    fn first(&self) -> Option<Piece> {
        self.pieces.front().copied()
    }

    /// The next piece goes to the start of the ring.
    #[inline]
    pub fn rewind(&mut self) {
        self.next = self.next.next_multiple_of(self.bytes);
    }

    /// Where the data of a round goes, and the round that all must have acknowledged before it is written there. All have
    /// acknowledged the rounds up to `over`.
    #[inline]
    pub fn place(&mut self, round: u64, bytes: usize, how: Spacing, over: u64) -> (Place, u64) {
        let extent = how.extent.min(self.bytes as usize);
        // Several pieces of the greatest length are to fit, so these have no gap.
        let spaced = (bytes + how.gap).next_multiple_of(UNIT);
        let length = match spaced * SMALL_DEPTH > extent {
            true => bytes.next_multiple_of(UNIT) as u64,
            false => spaced as u64,
        };
        while self.first().is_some_and(|piece| piece.round <= over) {
            self.pieces.pop_front();
        }
        let (at, lap) = (
            self.next % self.bytes,
            self.next.next_multiple_of(self.bytes),
        );
        let is_free = |end: u64| {
            let first = self.pieces.front();
            first.is_none_or(|piece| piece.begin + self.bytes >= end)
        };
        // The first units of a small ring are the likeliest to be in a cache.
        let again = !self.large && length * SHORT <= self.bytes && is_free(lap + length);
        if again || at + length > (extent as u64).max(length) {
            self.next = lap;
        }
        let begin = self.next;
        self.next += length;
        let mut last = 0;
        let end = self.next;
        while let Some(piece) = self.first().filter(|piece| piece.begin + self.bytes < end) {
            last = last.max(piece.round);
            self.pieces.pop_front();
        }
        self.pieces.push_back(Piece { begin, round });
        (
            Place::in_ring(self.large, (begin % self.bytes) as usize),
            last,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies in a ring, byte by byte in units: the last round that was written there.
    fn write(held: &mut [u64], at: usize, bytes: usize, round: u64) -> u64 {
        let units = &mut held[at / UNIT..(at + bytes).div_ceil(UNIT)];
        let last = units.iter().copied().max().unwrap_or(0);
        units.fill(round);
        last
    }

    #[test]
    fn a_piece_is_overwritten_only_after_its_round() {
        for (seed, large) in (0..40u64).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mut word = seed * 2 + u64::from(large) + 1;
            let mut random = |below: u64| {
                word = word
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (word >> 33) % below
            };
            let bytes = 64 << 10;
            let mut ring = Ring::new(large, bytes);
            let mut held = vec![0; bytes / UNIT];
            let mut over = 0;
            for round in 1..2000 {
                if random(7) == 0 {
                    ring.rewind();
                }
                let longest = [100, 3000, 16 << 10][random(3) as usize];
                let piece = 1 + random(longest) as usize;
                let how = Spacing {
                    gap: [0, UNIT][random(2) as usize],
                    extent: [bytes, bytes / 2, 1][random(3) as usize],
                };
                let (place, needed) = ring.place(round, piece, how, over);
                let at = place.offset();
                assert!(at + piece <= bytes);
                let last = write(&mut held, at, piece, round);
                assert!(last <= needed.max(over), "{last} {needed} {over}");
                assert!(needed < round);
                // What others have acknowledged is learned late, or at once.
                over = over.max(needed);
                if random(3) == 0 {
                    over = over.max(round.saturating_sub(random(8)));
                }
            }
        }
    }

    #[test]
    fn pieces_of_a_quarter_can_be_published_two_ahead() {
        let bytes = 64 << 10;
        let mut ring = Ring::new(false, bytes);
        let how = Spacing {
            gap: UNIT,
            extent: bytes,
        };
        for round in 1..100 {
            let (_, needed) = ring.place(round, bytes / 4, how, 0);
            assert!(needed == 0 || needed + 3 <= round, "{needed} of {round}");
        }
    }

    /// Operands and results of a reduction in parts, in the order in which ranks publish them (`coll/staged`, `reduce_parts`): no room
    /// waits for a round that its own rank has not acknowledged then.
    #[test]
    fn operands_and_results_of_parts_find_room_from_any_place_on() {
        for (ranks, bytes) in [
            (4, 2 << 20),
            (16, 1 << 20),
            (64, 512 << 10),
            (128, 256 << 10),
            (1024, 256 << 10),
        ] {
            let part = bytes / 4 / ranks;
            let how = Spacing {
                gap: 0,
                extent: bytes,
            };
            for before in 1..bytes / UNIT {
                let mut ring = Ring::new(true, bytes);
                ring.place(1, before * UNIT, how, 0);
                let (mut over, first) = (1, 2);
                for step in 0..6 {
                    let operands = first + 2 * step;
                    let (_, needed) = ring.place(operands, part * (ranks - 1), how, over);
                    assert!(needed <= over, "{ranks} {before} {step}: {needed} {over}");
                    if step > 0 {
                        let (_, needed) = ring.place(operands - 1, part, how, over);
                        assert!(needed <= over, "{ranks} {before} {step}: {needed} {over}");
                        over = operands - 2;
                    }
                }
            }
        }
    }
}
