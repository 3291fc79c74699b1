//! A part of a file, cut at multiples of some bytes, and which bytes of each piece are one rank's.

use super::plan::Together;
use crate::io::view::View;
use std::sync::Arc;

/// A rank's bytes of a piece: a part of its buffer.
#[derive(Clone, Copy, Default)]
pub struct Portion {
    pub offset: usize,
    pub length: usize,
}

/// See the module; the rank's access is `length` bytes of the view from `skip` on.
pub struct Pieces {
    pub part: Together,
    /// Of each piece.
    pub bytes: u64,
    pub view: Arc<View>,
    pub skip: u64,
    pub length: usize,
}

impl Pieces {
    pub fn number(&self) -> u64 {
        (self.part.high - 1) / self.bytes + 1 - self.part.low / self.bytes
    }

    /// From where to where a piece is in the file.
    pub fn range(&self, piece: u64) -> (u64, u64) {
        let start = (self.part.low / self.bytes + piece) * self.bytes;
        (
            start.max(self.part.low),
            (start + self.bytes).min(self.part.high),
        )
    }

    /// This rank's bytes of a piece, of which the first is `offset` of its buffer.
    pub fn portion(&self, piece: u64, offset: usize) -> Portion {
        let left = self.length - offset;
        let (low, high) = self.range(piece);
        let from = self.skip + offset as u64;
        let most = (left as u64).min(high - low);
        let end = self.view.first_from(high, from, from + most);
        Portion {
            offset,
            length: (end - from) as usize,
        }
    }

    /// What of a portion is in front of a position.
    pub fn in_front(&self, portion: Portion, position: u64) -> Portion {
        let from = self.skip + portion.offset as u64;
        let to = from + portion.length as u64;
        Portion {
            length: (self.view.first_from(position, from, to) - from) as usize,
            ..portion
        }
    }

    /// How many bytes of this rank's are in front of the first position that was not moved; u64::MAX: all are.
    pub fn moved(&self, stop: u64) -> usize {
        let all = Portion {
            offset: 0,
            length: self.length,
        };
        if self.length == 0 || stop == u64::MAX {
            return self.length;
        }
        self.in_front(all, stop).length
    }
}
