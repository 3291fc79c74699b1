//! Whether pieces cover a range, each byte once: by sums of marks of places, to which each rank adds its part.
//!
//! A piece adds the mark of where it begins and takes off the mark of where it ends. The sum over all pieces is that of one piece of the whole
//! range exactly if they cover it, each byte once; any other pieces have that sum by a chance of 2^-64.

use super::frames::Tiling;
use super::plan::Line;
use crate::error::Result;
use crate::io::agree::NOTHING;
use crate::io::file::File;
use crate::io::view::View;

/// Runs of a filetype that are looked at in any case.
const FEW: u64 = 4096;

/// Positions of the file of which this is known for an access: each is a byte of one rank's access.
#[derive(Clone, Copy, Debug)]
pub struct Sure {
    from: i64,
    to: i64,
}

impl Sure {
    pub const NOWHERE: Sure = Sure { from: 0, to: 0 };

    /// Of accesses through views that are complete together.
    pub fn of(lines: &[Line]) -> Sure {
        if lines.iter().any(|line| line.bytes == 0) {
            return Sure::NOWHERE;
        }
        Sure {
            from: lines
                .iter()
                .map(|line| line.before)
                .max()
                .map_or(0, |last| last + 1),
            to: lines.iter().map(|line| line.behind).min().unwrap_or(0),
        }
    }

    pub fn has(self, low: u64, high: u64) -> bool {
        self.from <= low as i64 && high as i64 <= self.to
    }
}

/// The mark of a place.
#[inline]
pub fn mark(position: u64) -> u64 {
    let one = position ^ 0x9e37_79b9_7f4a_7c15;
    let other = position.rotate_left(32) ^ 0xd1b5_4a32_d192_ed03;
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// The sum of marks of one piece.
#[inline]
pub fn of_piece(from: u64, to: u64) -> u64 {
    mark(from).wrapping_sub(mark(to))
}

/// The sum of marks of some bytes of a view.
pub fn of_runs(view: &View, skip: u64, length: u64) -> u64 {
    let mut sum = 0u64;
    view.runs(skip, length, |at, bytes| {
        sum = sum.wrapping_add(of_piece(at, at + bytes as u64));
        true
    });
    sum
}

/// The sum of marks of one filetype of a view, of places modulo its extent: filetypes in a circle. `None`: more runs than `most`.
fn of_circle(view: &View, most: u64) -> Option<u64> {
    let (extent, bytes) = view.tile();
    let (mut sum, mut seen) = (0u64, 0);
    view.runs(0, bytes, |at, bytes| {
        sum = sum.wrapping_add(of_piece(at % extent, (at + bytes as u64) % extent));
        seen += 1;
        seen <= most
    });
    (seen <= most).then_some(sum)
}

impl File {
    /// Finds out whether the views of all ranks are complete together, with all ranks. `runs`: about as many this rank's access has.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED, a rank is lost.
    pub(super) fn tiling(&self, function: &'static str, runs: u64) -> Result<Tiling> {
        let known = *self.tiling.lock();
        if known != Tiling::Unknown {
            return Ok(known);
        }
        let view = self.view();
        let (extent, bytes) = view.tile();
        let mut values = NOTHING;
        if view.can_be_cut() && bytes > 0 && extent > 0 {
            let sum = of_circle(&view, FEW.max(2 * runs));
            values[..3].copy_from_slice(&[
                u64::from(sum.is_some()) * extent,
                sum.unwrap_or(0),
                bytes,
            ]);
        }
        let all = self.agree_on(function, Ok(()), values)?;
        let extent = all[0][0];
        let is_same = extent > 0 && all.iter().all(|values| values[0] == extent);
        let sum = all
            .iter()
            .fold(0u64, |sum, values| sum.wrapping_add(values[1]));
        let bytes: u128 = all.iter().map(|values| u128::from(values[2])).sum();
        let found = match is_same && sum == 0 && bytes == u128::from(extent) {
            true => Tiling::Complete,
            false => Tiling::Other,
        };
        *self.tiling.lock() = found;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_that_cover_a_range_once_have_its_sum() {
        let sum = |pieces: &[(u64, u64)]| {
            let marks = pieces.iter().map(|(from, to)| of_piece(*from, *to));
            marks.fold(0u64, u64::wrapping_add)
        };
        let all = of_piece(100, 200);
        assert_eq!(sum(&[(100, 116), (150, 200), (116, 150)]), all);
        assert_ne!(sum(&[(100, 116), (150, 200), (116, 149)]), all);
        // A hole and an overlap of the same size.
        assert_ne!(sum(&[(100, 120), (116, 150), (154, 200)]), all);
        assert_ne!(
            sum(&[(100, 132), (116, 148), (164, 196), (180, 200), (148, 164)]),
            all
        );
        assert_ne!(sum(&[(100, 200), (100, 200)]), all);
        assert_ne!(sum(&[]), all);
        // On a circle of 100: one piece goes over its end.
        assert_eq!(sum(&[(90, 10), (10, 40), (40, 90)]), 0);
        assert_ne!(sum(&[(90, 10), (10, 40), (40, 89)]), 0);
    }

    #[test]
    fn what_is_between_the_neighbours_is_sure() {
        let line = |before, behind| Line {
            bytes: 1,
            before,
            behind,
            ..Line::default()
        };
        let sure = Sure::of(&[line(-17, 320), line(-1, 336)]);
        assert!(sure.has(0, 320) && sure.has(16, 100));
        assert!(!sure.has(0, 321));
        assert!(!Sure::of(&[line(0, 320), line(-1, 336)]).has(0, 320));
        assert!(!Sure::of(&[line(-17, 320), Line::default()]).has(16, 100));
        assert!(!Sure::NOWHERE.has(1, 2));
    }
}
