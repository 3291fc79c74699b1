//! What reductions are made of: an operation on elements of some size, and the places where a rank reduces.
//!
//! Invariant: buffers here have no holes. The data that the program gave is only read, unless it gave the same memory for the
//! result.

use super::args::Operands;
use super::team::Team;
use crate::datatype::{Buffer, Scratch};
use crate::error::Result;
use std::ops::Range;

/// Packed operands: those on the left, and the last one, which is the result's memory itself if it is not given.
pub type Sources<'a> = (&'a [&'a [u8]], Option<&'a [u8]>);

/// `into = left[0] op (left[1] op (... op last))` for [`Sources`]; all slices hold the same number of elements.
pub type Fold<'a> = &'a (dyn Fn(Sources<'_>, &mut [u8]) -> Result<()> + Sync);

/// An operation on elements of some size.
pub struct Reduction<'a> {
    /// Bytes of a packed element; zero if there is no data.
    pub unit: usize,
    pub commutes: bool,
    pub fold: Fold<'a>,
    /// The operation and its type; tests have none.
    pub with: Option<&'a Operands>,
}

/// A rank's vector, where its result goes, and how it is reduced.
pub type Vectors<'a> = (&'a Buffer, &'a Buffer, &'a Reduction<'a>);

impl Operands {
    /// What the algorithms want to know; `fold` is [`Operands::fold`].
    pub fn reduction<'a>(&'a self, fold: Fold<'a>) -> Reduction<'a> {
        Reduction {
            unit: self.datatype.size as usize,
            commutes: self.op.is_commutative(),
            fold,
            with: Some(self),
        }
    }

    /// The loop over packed elements.
    pub fn fold(&self) -> impl Fn(Sources<'_>, &mut [u8]) -> Result<()> + Sync + '_ {
        |operands: Sources<'_>, into: &mut [u8]| {
            let count = into.len() as u64 / self.datatype.size.max(1);
            self.op.fold(operands, into, None, count, self.datatype)
        }
    }
}

/// Operands that are read in one pass: each is a stream for the processor's prefetcher.
const AT_ONCE: usize = 7;

impl Reduction<'_> {
    /// `into = left op right`. `into` may be `right`, or `left`: then `right` is scratch memory and loses its data, and the
    /// order of operands that commute is not kept. Otherwise it is apart from both. After an error, when the operands may not
    /// be there and the result is of no use, it is zeros.
    pub fn combine(&self, team: &Team<'_>, left: &Buffer, right: &Buffer, into: &Buffer) {
        match left.is_at(into) && self.commutes {
            true => self.apply(team, right, left, into),
            false => self.combine_in_order(team, left, right, into),
        }
    }

    /// As [`Self::combine`], and the order of operands that commute is kept, too: the maximum of a number and a NaN, or of two zeros, is
    /// the one on the left or on the right.
    pub fn combine_in_order(&self, team: &Team<'_>, left: &Buffer, right: &Buffer, into: &Buffer) {
        if left.is_at(into) {
            self.apply(team, left, right, right);
            right.copy_to(into, into.len());
        } else {
            self.apply(team, left, right, into);
        }
    }

    fn apply(&self, team: &Team<'_>, left: &Buffer, right: &Buffer, into: &Buffer) {
        let last = (!right.is_at(into)).then_some(right);
        left.with_bytes(|left| self.reduce(team, &[left], last, into));
    }

    /// Reduces many operands, see [`Fold`]; `into` is apart from all, and errors are as in [`Self::combine`].
    pub fn reduce(&self, team: &Team<'_>, left: &[&[u8]], last: Option<&Buffer>, into: &Buffer) {
        let fold = |last: Option<&[u8]>, into: &mut [u8]| {
            let mut last = last;
            for group in left.rchunks(AT_ONCE) {
                (self.fold)((group, last.take()), into)?;
            }
            Ok(())
        };
        let bytes = into.len();
        team.note(match last {
            _ if bytes == 0 => Ok(()),
            _ if team.has_failed() => into.fill_from(bytes, |into| {
                into.fill(0);
                Ok(())
            }),
            Some(last) => {
                last.with_bytes(|last| into.fill_from(bytes, |into| fold(Some(last), into)))
            }
            None => into.fill_from(bytes, |into| fold(None, into)),
        });
    }

    /// At most so many bytes, but one element at least.
    pub fn whole_units(&self, bytes: usize) -> usize {
        (bytes / self.unit.max(1)).max(1) * self.unit.max(1)
    }

    /// Half of so many bytes, in whole elements.
    pub fn half(&self, bytes: usize) -> usize {
        bytes / self.unit.max(1) / 2 * self.unit
    }

    /// Where the blocks of `number` ranks begin, and the end.
    pub fn blocks(&self, bytes: usize, number: usize) -> Vec<usize> {
        let elements = bytes / self.unit.max(1);
        (0..=number)
            .map(|rank| rank * elements / number * self.unit)
            .collect()
    }
}

/// Which operand of the operation has come: the other one is what this rank has reduced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// What a rank has reduced so far. An operand from the right is reduced where it came in, one from the left into what there is:
/// so two places serve by turns, and nothing is copied to keep the order.
pub struct Accumulator {
    now: Buffer,
    /// Where the first result is made, and the other place.
    places: [Buffer; 2],
    /// `now` is the program's operand, which may only be read.
    is_operand: bool,
}

impl Accumulator {
    /// Begins with `own`. The result is in `into` at the end if that is another place, and `rights` operands come from the right
    /// after the first one, whichever side that is on. `scratch` is as long as both.
    pub fn new(own: &Buffer, into: &Buffer, scratch: &Buffer, rights: usize) -> Accumulator {
        let is_operand = !own.is_at(into);
        Accumulator {
            now: *own,
            places: match rights.is_multiple_of(2) {
                true => [*into, *scratch],
                false => [*scratch, *into],
            },
            is_operand,
        }
    }

    pub fn now(&self) -> Buffer {
        self.now
    }

    /// Where the next operand comes in.
    pub fn landing(&self, side: Side) -> Buffer {
        match (self.is_operand, side) {
            (true, Side::Right) => self.places[0],
            (true, Side::Left) => self.places[1],
            (false, _) if self.now.is_at(&self.places[0]) => self.places[1],
            (false, _) => self.places[0],
        }
    }

    /// Reduces a part with the operand that has come in. What else there was is given up.
    pub fn take(&mut self, team: &Team<'_>, how: &Reduction<'_>, part: Range<usize>, side: Side) {
        let landing = self.landing(side);
        let result = match side {
            Side::Right => landing,
            Side::Left if self.is_operand => self.places[0],
            Side::Left => self.now,
        };
        let of = |buffer: &Buffer| buffer.slice(part.start, part.len());
        let (mine, came, into) = (of(&self.now), of(&landing), of(&result));
        match side {
            Side::Right => how.combine(team, &mine, &came, &into),
            Side::Left => how.combine(team, &came, &mine, &into),
        }
        (self.now, self.is_operand) = (result, false);
    }

    /// Copies a part of the result to `into`, if it is elsewhere.
    pub fn settle(&self, into: &Buffer, part: Range<usize>) {
        if !self.now.is_at(into) {
            let of = |buffer: &Buffer| buffer.slice(part.start, part.len());
            of(&self.now).copy_to(&of(into), part.len());
        }
    }
}

/// Scratch memory, and where a rank reduces: `into` if it has one, and otherwise in two places there.
pub fn places(into: &Buffer, bytes: usize) -> (Scratch, [Buffer; 2]) {
    if into.is_empty() {
        let scratch = Scratch::new(2 * bytes);
        let places = scratch.parts(bytes);
        return (scratch, places);
    }
    let scratch = Scratch::new(bytes);
    let places = [*into, scratch.buffer()];
    (scratch, places)
}
