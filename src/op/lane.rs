//! What reductions compute with: a number that is read from and written to plain bytes.
//!
//! Invariant: a lane of `SIZE` bytes is loaded and stored without regard to alignment, and computing with it has no
//! branches (but in software arithmetic), so that the compiler turns the loops over lanes into vector instructions.

use super::wide::Width;

/// A value in a buffer.
pub(super) trait Lane: Copy {
    const SIZE: usize;
    /// Whether vector registers can compute with it.
    const VECTOR: bool;
    /// Whether long vectors are reduced in blocks that stay in registers also where there is one source: a second cache's lines come
    /// faster so.
    const IN_BLOCKS: bool = true;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);

    /// `target = function(source, target)` for each value, compiled for registers of this width.
    #[inline(always)]
    fn blend<F: Combine<Self>>(_width: Width, source: &[u8], target: &mut [u8]) {
        blend_each::<Self, F>(source, target);
    }
}

/// As [`Lane::blend`], in any width.
#[inline(always)]
pub(super) fn blend_each<T: Lane, F: Combine<T>>(source: &[u8], target: &mut [u8]) {
    let targets = target.chunks_exact_mut(T::SIZE);
    for (target, source) in targets.zip(source.chunks_exact(T::SIZE)) {
        F::combine(T::load(source), T::load(target)).store(target);
    }
}

/// An operation on values.
pub(super) trait Combine<T> {
    /// Whether the greater value is the result; of MPI_MAXLOC and MPI_MINLOC only.
    #[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
    const GREATEST: bool = false;

    fn combine(a: T, b: T) -> T;

    /// As `combine`, of numbers that were widened to single precision; of those with fractions only.
    #[cfg_attr(not(all(target_arch = "x86_64", not(miri))), allow(dead_code))]
    fn single(_a: f32, _b: f32) -> f32 {
        unreachable!("an operation on bits")
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
