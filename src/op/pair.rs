//! MPI_MAXLOC and MPI_MINLOC: the extreme value and, of equal values, the lowest index.
//!
//! Elements are packed, value and index without a hole, or laid out as in a C program's struct.
#![allow(unsafe_code)]

use super::Operation;
use super::extended::Extended80;
use super::lane::{Combine, Lane, Number};
use super::wide::{Loop, Loops, Width};
use crate::datatype::Scalar;

/// The loops over elements without holes.
pub(super) fn packed_loops(operation: Operation, scalars: &[Scalar]) -> &'static Loops {
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => loops::<Pair<i16, i32>>(operation),
        (Scalar::I64, Scalar::I32) => loops::<Pair<i64, i32>>(operation),
        (Scalar::F64, Scalar::I32) => loops::<Pair<f64, i32>>(operation),
        (Scalar::LongDouble, Scalar::I32) => loops::<Pair<Extended80, i32>>(operation),
        (Scalar::F32, Scalar::F32) => loops::<Pair<f32, f32>>(operation),
        (Scalar::F64, Scalar::F64) => loops::<Pair<f64, f64>>(operation),
        _ => laid_loops(operation, scalars),
    }
}

/// The loops over elements as they lie in a program's memory.
pub(super) fn laid_loops(operation: Operation, scalars: &[Scalar]) -> &'static Loops {
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => loops::<Laid<i16>>(operation),
        (Scalar::I32, Scalar::I32) => loops::<Laid<i32>>(operation),
        (Scalar::I64, Scalar::I32) => loops::<Laid<i64>>(operation),
        (Scalar::F32, Scalar::I32) => loops::<Laid<f32>>(operation),
        (Scalar::F64, Scalar::I32) => loops::<Laid<f64>>(operation),
        (Scalar::LongDouble, Scalar::I32) => loops::<Laid<Extended80>>(operation),
        // Without holes either way.
        (Scalar::F32 | Scalar::F64, index) if index == scalars[0] => {
            packed_loops(operation, scalars)
        }
        (value, index) => unreachable!("there is no pair type of {value:?} and {index:?}"),
    }
}

fn loops<T: Lane>(operation: Operation) -> &'static Loops
where
    Greatest: Combine<T>,
    Least: Combine<T>,
{
    match operation {
        Operation::MaxLoc => &Loop::<T, Greatest>::ALL,
        _ => &Loop::<T, Least>::ALL,
    }
}

/// A value and its index.
#[derive(Clone, Copy)]
struct Pair<V, I> {
    value: V,
    index: I,
}

impl<V: Number, I: Number> Lane for Pair<V, I> {
    const SIZE: usize = V::SIZE + I::SIZE;
    const VECTOR: bool = V::SIZE == I::SIZE;
    const IN_BLOCKS: bool = false;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Pair {
            value: V::load(&bytes[..V::SIZE]),
            index: I::load(&bytes[V::SIZE..]),
        }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.value.store(&mut bytes[..V::SIZE]);
        self.index.store(&mut bytes[V::SIZE..]);
    }
}

struct Greatest;
struct Least;

impl<V: Number, I: Number> Combine<Pair<V, I>> for Greatest {
    const GREATEST: bool = true;

    #[inline(always)]
    fn combine(a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
        choose(a.value.less(b.value), b.value.less(a.value), a, b)
    }
}

impl<V: Number, I: Number> Combine<Pair<V, I>> for Least {
    #[inline(always)]
    fn combine(a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
        choose(b.value.less(a.value), a.value.less(b.value), a, b)
    }
}

/// Without branches: what wins is not predictable.
#[inline(always)]
fn choose<V, I: Number>(stays: bool, wins: bool, a: Pair<V, I>, b: Pair<V, I>) -> Pair<V, I> {
    let stays = stays | (!wins & !a.index.less(b.index));
    Pair {
        value: if stays { b.value } else { a.value },
        index: if stays { b.index } else { a.index },
    }
}

/// A value that lies in a struct with an `int` behind it.
trait Value: Number {
    /// Size of the struct.
    const STEP: usize = Self::INDEX + Self::INDEX;
    /// Where the index lies.
    const INDEX: usize = Self::SIZE;
    /// How vector registers compare it; `None`: they do not.
    const KIND: Option<Kind> = None;
}

#[derive(Clone, Copy)]
enum Kind {
    Short,
    Int,
    Float,
    Long,
    Double,
}

impl Value for i16 {
    const INDEX: usize = 4;
    const KIND: Option<Kind> = Some(Kind::Short);
}

impl Value for i32 {
    const KIND: Option<Kind> = Some(Kind::Int);
}

impl Value for i64 {
    const KIND: Option<Kind> = Some(Kind::Long);
}

impl Value for f32 {
    const KIND: Option<Kind> = Some(Kind::Float);
}

impl Value for f64 {
    const KIND: Option<Kind> = Some(Kind::Double);
}

impl Value for Extended80 {}

/// A pair as it lies in a program's memory. Holes are not touched, and the last element may end before its padding.
#[derive(Clone, Copy)]
struct Laid<V>(Pair<V, i32>);

impl<V: Value> Lane for Laid<V> {
    const SIZE: usize = V::STEP;
    const VECTOR: bool = V::KIND.is_some();
    const IN_BLOCKS: bool = false;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Laid(Pair {
            value: V::load(&bytes[..V::SIZE]),
            index: i32::load(&bytes[V::INDEX..][..4]),
        })
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.0.value.store(&mut bytes[..V::SIZE]);
        self.0.index.store(&mut bytes[V::INDEX..][..4]);
    }

    #[inline(always)]
    fn blend<F: Combine<Self>>(_width: Width, source: &[u8], target: &mut [u8]) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: inlined into functions of the width only.
        let done = unsafe {
            match _width {
                Width::Plain => sse2::blend::<V, F>(source, target),
                Width::Avx2 | Width::Avx512 => avx2::blend::<V, F>(source, target),
            }
        };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let done = 0;
        let (source, target) = (&source[done..], &mut target[done..]);
        for (source, target) in source.chunks(V::STEP).zip(target.chunks_mut(V::STEP)) {
            F::combine(Self::load(source), Self::load(target)).store(target);
        }
    }
}

impl<V, F: Combine<Pair<V, i32>>> Combine<Laid<V>> for F {
    const GREATEST: bool = F::GREATEST;

    #[inline(always)]
    fn combine(a: Laid<V>, b: Laid<V>) -> Laid<V> {
        Laid(F::combine(a.0, b.0))
    }
}

/// The loop over elements in pairs of registers of one width. Two pairs are looked at together and, where everything stays, not stored:
/// the more operands an extreme comes from, the fewer elements one of them replaces.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! in_registers {
    ($module:ident, $feature:literal, $less_singles:expr, $less_doubles:expr, $($intrinsic:ident as $name:ident)*) => {
        mod $module {
            use super::{Combine, Kind, Laid, Value};
            use std::arch::x86_64::*;
            use std::arch::x86_64::{$($intrinsic as $name),*};

            /// Bytes of a pair of registers.
            const STEP: usize = 2 * size_of::<Register>();

            /// Returns the bytes that are done.
            #[inline]
            #[target_feature(enable = $feature)]
            pub(super) fn blend<V: Value, F: Combine<Laid<V>>>(source: &[u8], target: &mut [u8]) -> usize {
                if V::KIND.is_none() {
                    return 0;
                }
                let whole = source.len().min(target.len()) / V::STEP * V::STEP;
                let (from, to) = (source.as_ptr(), target.as_mut_ptr());
                let mut at = 0;
                // SAFETY: all pairs lie in the whole elements of both.
                unsafe {
                    while at + 2 * STEP <= whole {
                        pairs::<V, F, 2>(from.add(at), to.add(at));
                        at += 2 * STEP;
                    }
                    while at + STEP <= whole {
                        pairs::<V, F, 1>(from.add(at), to.add(at));
                        at += STEP;
                    }
                    if at < whole && whole >= STEP {
                        // Overlaps with the one before: what was replaced once stays.
                        let last = whole - STEP;
                        pairs::<V, F, 1>(from.add(last), to.add(last));
                        at = whole;
                    }
                }
                at
            }

            /// # Safety
            /// Both places are valid for so many pairs of registers, and do not overlap.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn pairs<V: Value, F: Combine<Laid<V>>, const COUNT: usize>(source: *const u8, target: *mut u8) {
                let mut any = zero();
                for pair in 0..COUNT {
                    // SAFETY: by the caller.
                    let (a, b) = unsafe { (load_pair(source.add(pair * STEP)), load_pair(target.add(pair * STEP))) };
                    any = or(any, goes::<V, F, false>(a, b));
                }
                let known = match V::KIND {
                    Some(Kind::Double) => 0x0f0f_0f0f,
                    Some(Kind::Long) => 0x8080_8080,
                    _ => u32::MAX,
                };
                if bits(any) as u32 & known == 0 {
                    return;
                }
                // SAFETY: by the caller.
                unsafe { replace::<V, F, COUNT>(source, target) };
            }

            /// # Safety
            /// The place is valid for a pair of registers.
            #[inline]
            #[target_feature(enable = $feature)]
            unsafe fn load_pair(from: *const u8) -> [Register; 2] {
                let from = from.cast::<Register>();
                // SAFETY: by the caller.
                unsafe { [load(from), load(from.add(1))] }
            }

            /// A function of its own, which compares again: the loop, which seldom calls it, keeps nothing in registers for it.
            ///
            /// # Safety
            /// As for `pairs`.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            unsafe fn replace<V: Value, F: Combine<Laid<V>>, const COUNT: usize>(source: *const u8, target: *mut u8) {
                // An element but for its holes.
                let data = match V::KIND {
                    Some(Kind::Short) => [0xffff_ffff_0000_ffff; 4],
                    Some(Kind::Long | Kind::Double) => [u64::MAX, 0xffff_ffff, u64::MAX, 0xffff_ffff],
                    _ => [u64::MAX; 4],
                };
                // SAFETY: the mask has 32 bytes.
                let data = unsafe { load(data.as_ptr().cast()) };
                for pair in 0..COUNT {
                    let (source, target) = (source.wrapping_add(pair * STEP), target.wrapping_add(pair * STEP));
                    // SAFETY: by the caller.
                    let (a, b) = unsafe { (load_pair(source), load_pair(target)) };
                    let goes = goes::<V, F, true>(a, b);
                    let longs = |goes| [lower_longs(goes, goes), upper_longs(goes, goes)];
                    let goes = match V::KIND {
                        Some(Kind::Long) => longs(copied::<0b11_11_01_01>(goes)),
                        Some(Kind::Double) => longs(copied::<0b10_10_00_00>(goes)),
                        _ => [lower_words(goes, goes), upper_words(goes, goes)],
                    };
                    for (half, goes) in goes.into_iter().enumerate() {
                        let goes = and(goes, data);
                        let chosen = or(and(goes, a[half]), and_not(goes, b[half]));
                        // SAFETY: by the caller.
                        unsafe { store(target.cast::<Register>().add(half), chosen) };
                    }
                }
            }

            /// The elements of `b` that do not stay; of doubles the lower half tells it, of 64-bit integers the upper one. If not `EXACT`, the
            /// sign of 64-bit integers alone tells it, also where values that stay are 2^63 apart.
            #[inline]
            #[target_feature(enable = $feature)]
            fn goes<V: Value, F: Combine<Laid<V>>, const EXACT: bool>(a: [Register; 2], b: [Register; 2]) -> Register {
                let apart = |[low, high]: [Register; 2]| match V::KIND {
                    Some(Kind::Long | Kind::Double) => (lower_longs(low, high), upper_longs(low, high)),
                    _ => {
                        let (low, high) = (singles(low), singles(high));
                        (of_singles(shuffle::<0b10_00_10_00>(low, high)), of_singles(shuffle::<0b11_01_11_01>(low, high)))
                    }
                };
                let ((a, a_index), (b, b_index)) = (apart(a), apart(b));
                let lower = more(b_index, a_index);
                let (x, y) = if F::GREATEST { (a, b) } else { (b, a) };
                let (wins, stays) = match V::KIND {
                    Some(Kind::Short) => {
                        let (x, y) = (shifted::<16>(x), shifted::<16>(y));
                        (more(x, y), more(y, x))
                    }
                    Some(Kind::Float) => {
                        let (x, y) = (singles(x), singles(y));
                        (of_singles($less_singles(y, x)), of_singles($less_singles(x, y)))
                    }
                    Some(Kind::Double) => {
                        let (x, y) = (doubles(x), doubles(y));
                        (of_doubles($less_doubles(y, x)), of_doubles($less_doubles(x, y)))
                    }
                    Some(Kind::Long) => {
                        // Without a comparison of 64 bits, which AVX2 has: y - x is below zero, or at zero if the index is lower. The
                        // upper halves tell where it overflows.
                        let below = minus(minus(y, x), and(lower, each_long(1)));
                        return match EXACT {
                            true => or(more(x, y), and(equal(x, y), below)),
                            false => or(and_not(x, y), below),
                        };
                    }
                    _ => (more(x, y), more(y, x)),
                };
                and_not(stays, or(wins, lower))
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
in_registers! {
    sse2, "sse2", _mm_cmplt_ps, _mm_cmplt_pd,
    __m128i as Register _mm_setzero_si128 as zero _mm_set1_epi64x as each_long _mm_loadu_si128 as load _mm_storeu_si128 as store
    _mm_and_si128 as and _mm_or_si128 as or _mm_andnot_si128 as and_not _mm_movemask_epi8 as bits
    _mm_cmpgt_epi32 as more _mm_cmpeq_epi32 as equal _mm_sub_epi64 as minus _mm_slli_epi32 as shifted
    _mm_unpacklo_epi64 as lower_longs _mm_unpackhi_epi64 as upper_longs _mm_unpacklo_epi32 as lower_words
    _mm_unpackhi_epi32 as upper_words _mm_shuffle_epi32 as copied _mm_shuffle_ps as shuffle
    _mm_castsi128_ps as singles _mm_castps_si128 as of_singles _mm_castsi128_pd as doubles _mm_castpd_si128 as of_doubles
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
in_registers! {
    avx2, "avx2", _mm256_cmp_ps::<_CMP_LT_OQ>, _mm256_cmp_pd::<_CMP_LT_OQ>,
    __m256i as Register _mm256_setzero_si256 as zero _mm256_set1_epi64x as each_long _mm256_loadu_si256 as load _mm256_storeu_si256 as store
    _mm256_and_si256 as and _mm256_or_si256 as or _mm256_andnot_si256 as and_not _mm256_movemask_epi8 as bits
    _mm256_cmpgt_epi32 as more _mm256_cmpeq_epi32 as equal _mm256_sub_epi64 as minus _mm256_slli_epi32 as shifted
    _mm256_unpacklo_epi64 as lower_longs _mm256_unpackhi_epi64 as upper_longs _mm256_unpacklo_epi32 as lower_words
    _mm256_unpackhi_epi32 as upper_words _mm256_shuffle_epi32 as copied _mm256_shuffle_ps as shuffle
    _mm256_castsi256_ps as singles _mm256_castps_si256 as of_singles _mm256_castsi256_pd as doubles _mm256_castpd_si256 as of_doubles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pairs: &[(f64, i32)]) -> Vec<u8> {
        let each = pairs.iter().map(|(value, index)| {
            let mut bytes = value.to_ne_bytes().to_vec();
            bytes.extend(index.to_ne_bytes());
            bytes
        });
        each.flatten().collect()
    }

    #[test]
    fn the_lowest_index_of_equal_values() {
        let a = [(1.0, 7), (2.0, 1), (3.0, 5), (3.0, 2)];
        let b = [(2.0, 3), (1.0, 4), (3.0, 2), (3.0, 5)];
        let locate = |operation, input: &[u8], inout: &mut [u8]| {
            packed_loops(operation, &[Scalar::F64, Scalar::I32]).run_one(input, inout);
        };
        let mut inout = bytes(&b);
        locate(Operation::MaxLoc, &bytes(&a), &mut inout);
        assert_eq!(inout, bytes(&[(2.0, 3), (2.0, 1), (3.0, 2), (3.0, 2)]));
        let mut inout = bytes(&b);
        locate(Operation::MinLoc, &bytes(&a), &mut inout);
        assert_eq!(inout, bytes(&[(1.0, 7), (1.0, 4), (3.0, 2), (3.0, 2)]));
    }
}
