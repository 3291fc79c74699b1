//! What becomes of a collective access: the same on all ranks, who decide it from what each of them has told all.

use crate::io::agree::{NOTHING, Values};
use crate::io::direction::Direction;
use crate::io::view::View;

/// Mean run from which on each rank moves its own, bytes: calls of the kernel cost less than copying twice.
pub const LONG: u64 = 64 << 10;
/// Mean run from which each rank reads its own, bytes. Ranks read side by side; a call's half microsecond is less than one more copy of that size.
const LONG_TO_READ: u64 = 8 << 10;
/// As many runs of a rank are looked at to know how long they are.
const SAMPLE: u64 = 32;
/// Runs of a rank that are not worth meeting for.
const FEW: u64 = 2;

/// The access of one rank, in bytes of the file.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Line {
    /// The first one.
    pub low: u64,
    /// Behind the last one.
    pub high: u64,
    /// How many are moved.
    pub bytes: u64,
    /// About how many runs they are.
    pub runs: u64,
    /// Whether frames cannot have them.
    pub is_alone: bool,
    /// Where the view's bytes next to them are, see [`View::around`].
    pub before: i64,
    pub behind: i64,
}

impl Line {
    /// Of `length` bytes of a view from `skip` on.
    pub fn of(view: &View, skip: u64, length: u64) -> Line {
        if length == 0 {
            return Line::default();
        }
        let (mut seen, mut bytes) = (0, 0);
        view.runs(skip, length, |_, run| {
            seen += 1;
            bytes += run as u64;
            seen < SAMPLE
        });
        // Data is converted in whole elements, which frames cut.
        let is_alone = view.conversion.is_some() || !view.can_be_cut();
        let (before, behind) = match is_alone {
            true => (0, 0),
            false => view.around(skip, length),
        };
        let runs = (length as u128 * seen as u128).div_ceil(bytes.max(1) as u128);
        Line {
            low: view.place(skip) as u64,
            high: view.place(skip + length - 1) as u64 + 1,
            bytes: length,
            runs: runs as u64,
            is_alone,
            before,
            behind,
        }
    }

    pub fn values(&self) -> Values {
        let mut values = NOTHING;
        values[..7].copy_from_slice(&[
            self.low,
            self.high,
            self.bytes,
            self.runs,
            self.is_alone.into(),
            self.before as u64,
            self.behind as u64,
        ]);
        values
    }

    pub fn from(values: &Values) -> Line {
        Line {
            low: values[0],
            high: values[1],
            bytes: values[2],
            runs: values[3],
            is_alone: values[4] != 0,
            before: values[5] as i64,
            behind: values[6] as i64,
        }
    }
}

/// The part of the file that ranks access together, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    pub low: u64,
    pub high: u64,
}

/// Whether the ranks move their bytes through frames, or on several nodes through owners, and of which part of the file; `None`: each its own.
pub fn decide(direction: Direction, lines: &[Line], spans_nodes: bool) -> Option<Together> {
    let mut active: Vec<Line> = lines
        .iter()
        .copied()
        .filter(|line| line.bytes > 0)
        .collect();
    if active.len() < 2 || active.iter().any(|line| line.is_alone) {
        return None;
    }
    let sum = |of: fn(&Line) -> u64| active.iter().map(|line| u128::from(of(line))).sum::<u128>();
    let (bytes, runs) = (sum(|line| line.bytes), sum(|line| line.runs));
    let long = match direction {
        Direction::Write => LONG,
        Direction::Read => LONG_TO_READ,
    };
    if bytes >= u128::from(long) * runs || runs <= u128::from(FEW) * active.len() as u128 {
        return None;
    }
    active.sort_by_key(|line| (line.low, line.high));
    let low = active[0].low;
    let high = active.iter().map(|line| line.high).max()?;
    let are_disjoint = active.is_sorted_by(|one, next| one.high <= next.low);
    let range = u128::from(high - low);
    let is_worth_it = match direction {
        // More bytes than there are overlap, and where they do no frame is sure to be whole; a few missing ones are in few frames.
        Direction::Write if !spans_nodes => bytes <= range && bytes >= range - range / 16,
        // An owner knows the pieces, and writes these.
        Direction::Write => bytes >= range / 4,
        Direction::Read => bytes >= range / 4,
    };
    (is_worth_it && !are_disjoint).then_some(Together { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(low: u64, high: u64, bytes: u64, runs: u64) -> Line {
        Line {
            low,
            high,
            bytes,
            runs,
            ..Line::default()
        }
    }

    #[test]
    fn small_pieces_in_turn_go_together() {
        let (low, high) = (100, 100 + 4096);
        let one = line(low, high - 16, 2048, 128);
        let other = line(low + 16, high, 2048, 128);
        let nothing = Line::default();
        for direction in [Direction::Read, Direction::Write] {
            let together = Some(Together { low, high });
            assert_eq!(decide(direction, &[one, other], false), together);
            assert_eq!(decide(direction, &[other, nothing, one], false), together);
            assert_eq!(decide(direction, &[one, nothing], false), None);
            assert_eq!(decide(direction, &[nothing, nothing], false), None);
            let alone = Line {
                is_alone: true,
                ..other
            };
            assert_eq!(decide(direction, &[one, alone], false), None);
            // Few runs, and long ones.
            let few = |line: Line| Line { runs: 2, ..line };
            assert_eq!(decide(direction, &[few(one), few(other)], false), None);
            let long = |low| line(low, low + 100 * LONG, 50 * LONG, 50);
            assert_eq!(decide(direction, &[long(0), long(LONG)], false), None);
            // One behind the other.
            let behind = line(high, high + 8192, 4096, 64);
            assert_eq!(decide(direction, &[one, behind], false), None);
        }
    }

    #[test]
    fn runs_are_long_sooner_to_read() {
        let lines = [0, 1].map(|rank| {
            line(
                rank * LONG_TO_READ,
                (99 + rank) * LONG_TO_READ,
                50 * LONG_TO_READ,
                50,
            )
        });
        assert!(decide(Direction::Write, &lines, false).is_some());
        assert_eq!(decide(Direction::Read, &lines, false), None);
    }

    #[test]
    fn holes_and_overlaps_are_no_frames_to_write() {
        let one = line(0, 1 << 20, 1 << 18, 1000);
        let other = line(64, (1 << 20) + 64, 1 << 18, 1000);
        assert_eq!(decide(Direction::Write, &[one, other], false), None);
        assert!(decide(Direction::Read, &[one, other], false).is_some());
        let all = line(0, 1 << 20, 1 << 20, 1000);
        assert_eq!(decide(Direction::Write, &[all, all], false), None);
        assert!(decide(Direction::Read, &[all, all], false).is_some());
        assert!(decide(Direction::Write, &[all, all], true).is_some());
        let far = line(1 << 40, 1 << 41, 1 << 18, 1000);
        assert_eq!(decide(Direction::Read, &[one, other, far], false), None);
    }
}
