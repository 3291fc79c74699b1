//! A rank's place at a board: how far it and the others are, and where its next data goes.
//!
//! Invariant: a unit of the desk is given out with the last round that it was used in, which all must have passed before
//! anything is written there.

use super::board::{Board, DEPTH, IN_LINE, LINES, MOST_UNITS, SHORT, UNIT};
use super::pipe::Pipes;
use super::trays::{SERVICES, Trays};
use crate::node::distance::Watch;

/// What only those get who would use it: nothing yet, nothing for good, or theirs.
pub enum Earned<T> {
    /// Operations so far.
    Counting(u32),
    Refused,
    /// No more: this rank of MPI_COMM_WORLD, which takes part, is lost.
    Lost(u32),
    Given(Box<T>),
}

/// What a communicator has of a board.
pub type Place = Earned<Seat>;

/// Whether the ranks at a board may read each other's memory.
pub enum Reach {
    Unknown,
    Refused,
    /// Their process ids.
    Granted(Box<[i32]>),
}

/// A rank's place at a board.
pub struct Seat {
    pub board: Board,
    pub me: usize,
    /// The last round that was begun.
    pub round: u64,
    /// Up to which round each rank is known to have passed; and the least of the others'.
    pub seen: Box<[u64]>,
    pub least: u64,
    /// Up to which round this rank has passed: what it has shown ahead of that it may still read itself.
    pub passed: u64,
    /// The last round that each unit of this rank's desk was used in, and where the next data goes.
    used: [u64; MOST_UNITS],
    next_unit: usize,
    /// Rounds so far to which not all ranks come.
    pub others: u64,
    /// The root of the last operation that had one, and its last round.
    pub last_root: (usize, u64),
    /// How many barriers there were; they have numbers of their own.
    pub barriers: u64,
    /// How far the farthest of the ranks is.
    pub distance: Watch,
    pub pipes: Earned<Pipes>,
    /// By what they are for.
    pub trays: [Earned<Trays>; SERVICES.len()],
    pub reach: Reach,
}

impl Seat {
    pub fn new(board: Board, me: usize) -> Seat {
        Seat {
            board,
            me,
            round: 0,
            seen: vec![0; board.ranks()].into(),
            least: 0,
            passed: 0,
            used: [0; MOST_UNITS],
            next_unit: 0,
            others: 0,
            last_root: (0, 0),
            barriers: 0,
            distance: Watch::new(),
            pipes: Earned::Counting(0),
            trays: SERVICES.map(|_| Earned::Counting(0)),
            reach: Reach::Unknown,
        }
    }

    pub fn ranks(&self) -> usize {
        self.board.ranks()
    }

    /// Some ranks have shown a round to which they came after passing those before.
    #[inline]
    pub fn have_passed(&mut self, ranks: impl Iterator<Item = usize>, round: u64) {
        if self.least < round {
            for rank in ranks {
                self.seen[rank] = round.max(self.seen[rank]);
            }
            self.find_least();
        }
    }

    /// Up to which round all others are known to have passed.
    #[inline]
    pub fn find_least(&mut self) {
        let others = (0..self.seen.len()).filter(|rank| *rank != self.me);
        self.least = others.map(|rank| self.seen[rank]).min().unwrap_or(0);
    }

    /// Where this rank's data of a round goes: the unit, and the round that all must have passed before it is written there.
    /// No three rounds of one operation have room in common, because a piece is a quarter of it at most; so whoever shows two
    /// rounds ahead waits for none that others cannot pass before.
    #[inline]
    pub fn room(&mut self, round: u64, bytes: usize) -> (usize, u64) {
        let line = round.saturating_sub(LINES as u64);
        if bytes <= IN_LINE {
            return (0, line);
        }
        let units = self.board.units();
        // A unit is left free behind the data, or its reader's prefetcher takes lines that are to be written next.
        let need = (bytes.div_ceil(UNIT) + 1).min(units / DEPTH);
        let last_use = |units: &[u64]| units.iter().copied().max().unwrap_or(0);
        // The first units are the likeliest to be in a cache. Of an operation that shows more, this would break the promise.
        let over = self.least.min(self.passed);
        let again = need * SHORT <= units && last_use(&self.used[..need]) <= over;
        if again || self.next_unit + need > units {
            self.next_unit = 0;
        }
        let unit = self.next_unit;
        self.next_unit += need;
        let taken = &mut self.used[unit..unit + need];
        let held = last_use(taken);
        taken.fill(round);
        (unit, held.max(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_out_again_only_after_its_round_and_ranks_can_show_two_ahead() {
        let ranks_of_boards = [2, 8, 40];
        for (seed, ranks) in (0..60u64).flat_map(|seed| ranks_of_boards.map(|ranks| (seed, ranks)))
        {
            let board = Board::nowhere(ranks);
            let slot_bytes = board.slot_bytes();
            let mut seat = Seat::new(board, 0);
            // The last rounds that used each byte's unit, counted here.
            let mut holds = vec![0u64; board.units()];
            let mut state = seed;
            let mut random = |below: usize| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) as usize % below
            };
            let mut round = 0u64;
            for _ in 0..400 {
                let (first, pieces) = (round + 1, 1 + random(9) * random(2));
                let whole = slot_bytes / 2 + 1 + random(slot_bytes / 2);
                for piece in 0..pieces {
                    round += 1;
                    let longest = [IN_LINE, UNIT, slot_bytes][random(3)];
                    let end = 1 + random(longest);
                    let bytes = if piece + 1 < pieces { whole } else { end };
                    // Two ahead of what this rank itself has taken.
                    seat.passed = (first - 1).max(round.saturating_sub(3));
                    let (unit, held) = seat.room(round, bytes);
                    assert!(
                        held < first || held + 3 <= round,
                        "{held} in {first}..={round}"
                    );
                    assert!(held + LINES as u64 >= round);
                    if bytes > IN_LINE {
                        let units = &mut holds[unit..unit + bytes.div_ceil(UNIT)];
                        assert!(units.iter().all(|used| *used <= held));
                        units.fill(round);
                    }
                    // What others have passed, perhaps all that is shown, is learned late, or at once.
                    seat.least = seat.least.max(held);
                    if random(3) == 0 {
                        seat.least = seat.least.max(round.saturating_sub(random(8) as u64));
                    }
                }
            }
        }
    }
}
