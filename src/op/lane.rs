//! What reductions compute with: a number that is read from and written to plain bytes.
//!
//! Invariant: a lane of `SIZE` bytes is loaded and stored without regard to alignment, and computing with it has no
//! branches (but in software arithmetic), so that the compiler turns the loops over lanes into vector instructions.

use super::wide::{self, Sources};

/// A value in a buffer.
pub(super) trait Lane: Copy {
    const SIZE: usize;
    /// Whether vector registers can compute with it.
    const VECTOR: bool;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);

    /// `inout = function(..., inout)` for each value, with the widest registers if they hold several.
    #[inline(always)]
    fn each(sources: Sources, inout: &mut [u8], function: impl Fn(Self, Self) -> Self) {
        if Self::VECTOR {
            wide::each(sources, inout, function);
        } else {
            wide::each_in_turn(sources, 0, inout, function);
        }
    }
}

/// A lane that can be computed with. Integers wrap around.
pub(super) trait Number: Lane {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn less(self, other: Self) -> bool;
    fn is_true(self) -> bool;
    fn from_truth(truth: bool) -> Self;
}

/// A lane with bits.
pub(super) trait Bits: Number {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}
