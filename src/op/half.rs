//! Numbers of 16 bits, computed in single precision and rounded after each operation. Single precision has more than
//! twice their bits, so the result is that of the exact one rounded once.
//!
//! Invariant: the conversions have no branches, so that the compiler makes vector instructions of them.

#![allow(unsafe_code)]

use super::lane::{Combine, Number};
use super::wide::Width;

/// IEEE half precision.
#[derive(Clone, Copy)]
pub(super) struct Half(pub(super) u16);

/// The upper half of single precision ("bfloat16").
#[derive(Clone, Copy)]
pub(super) struct Brain(pub(super) u16);

macro_rules! through_single {
    ($($type:ident)*) => {
        $(
            impl $type {
                #[inline(always)]
                pub(super) fn to_ne_bytes(self) -> [u8; 2] {
                    self.0.to_ne_bytes()
                }

                #[inline(always)]
                pub(super) fn from_ne_bytes(bytes: [u8; 2]) -> Self {
                    $type(u16::from_ne_bytes(bytes))
                }
            }

            impl Number for $type {
                #[inline(always)]
                fn add(self, other: Self) -> Self {
                    Self::from_single(self.to_single() + other.to_single())
                }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self {
                    Self::from_single(self.to_single() - other.to_single())
                }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self {
                    Self::from_single(self.to_single() * other.to_single())
                }
                #[inline(always)]
                fn less(self, other: Self) -> bool {
                    self.to_single() < other.to_single()
                }
                #[inline(always)]
                fn is_true(self) -> bool {
                    self.0 << 1 != 0
                }
                #[inline(always)]
                fn from_truth(truth: bool) -> Self {
                    Self::from_single(f32::from(u8::from(truth)))
                }
            }
        )*
    };
}

through_single!(Half Brain);

impl Brain {
    #[inline(always)]
    pub(super) fn to_single(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    #[inline(always)]
    pub(super) fn from_single(value: f32) -> Brain {
        let bits = value.to_bits();
        // To the nearest, ties to even; a carry out of the fraction moves on to the exponent.
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let nan = bits >> 16 | 0x40;
        Brain(if value.is_nan() { nan } else { rounded } as u16)
    }
}

impl Half {
    #[inline(always)]
    pub(super) fn to_single(self) -> f32 {
        // 2^112: what the bias of the exponents differs by. Right also below the normal numbers.
        const SCALE: f32 = f32::from_bits((127 + 112) << 23);
        let sign = (self.0 as u32 & 0x8000) << 16;
        let magnitude = (self.0 as u32 & 0x7fff) << 13;
        let finite = (f32::from_bits(magnitude) * SCALE).to_bits();
        let special = magnitude | 0x7f80_0000;
        let is_special = magnitude >= 0x1f << 23;
        f32::from_bits(sign | if is_special { special } else { finite })
    }

    #[inline(always)]
    pub(super) fn from_single(value: f32) -> Half {
        const NORMAL: u32 = (127 - 14) << 23; // 2^-14
        const OVERFLOW: u32 = 0x477f_f000; // 65520: the largest number and half a step
        const INFINITY: u32 = 0x7f80_0000;
        let sign = value.to_bits() >> 16 & 0x8000;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        let normal = rounded.wrapping_sub((127 - 15) << 23) >> 13;
        // Below the normal numbers: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits, because that is the
        // step of single precision there.
        let shifted = (f32::from_bits(magnitude) + 0.5).to_bits();
        let small = shifted.wrapping_sub(0.5_f32.to_bits());
        let nan = 0x7e00 | magnitude >> 13 & 0x3ff;
        let mut bits = if magnitude < NORMAL { small } else { normal };
        bits = if magnitude >= OVERFLOW { 0x7c00 } else { bits };
        bits = if magnitude > INFINITY { nan } else { bits };
        Half((sign | bits) as u16)
    }
}

/// Reduces as many as the processor converts at once, in single precision; returns how many bytes those are.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) fn blend_converted<F: Combine<Half>>(
    width: Width,
    source: &[u8],
    target: &mut [u8],
) -> usize {
    use std::arch::x86_64::*;
    macro_rules! blend {
        ($from:expr, $lanes:literal, $wide:ty, $load:ident, $widen:ident, $narrow:ident, $store:ident) => {{
            let targets = target[$from..].chunks_exact_mut(2 * $lanes);
            let sources = source[$from..].chunks_exact(2 * $lanes);
            let blocks = targets.len();
            for (target, source) in targets.zip(sources) {
                // SAFETY: inlined into functions of the width only, which has the instructions; so many bytes are there; vectors and
                // arrays of numbers are of one size.
                unsafe {
                    let single = |bytes: *const u8| {
                        let wide = $widen($load(bytes.cast()));
                        std::mem::transmute::<$wide, [f32; $lanes]>(wide)
                    };
                    let (a, mut b) = (single(source.as_ptr()), single(target.as_ptr()));
                    for (a, b) in a.into_iter().zip(&mut b) {
                        *b = F::single(a, *b);
                    }
                    let half = $narrow::<_MM_FROUND_TO_NEAREST_INT>(std::mem::transmute::<[f32; $lanes], $wide>(b));
                    $store(target.as_mut_ptr().cast(), half);
                }
            }
            $from + blocks * 2 * $lanes
        }};
    }
    let done = match width {
        Width::Plain => return 0,
        Width::Avx2 => 0,
        Width::Avx512 => blend!(
            0,
            16,
            __m512,
            _mm256_loadu_si256,
            _mm512_cvtph_ps,
            _mm512_cvtps_ph,
            _mm256_storeu_si256
        ),
    };
    blend!(
        done,
        8,
        __m256,
        _mm_loadu_si128,
        _mm256_cvtph_ps,
        _mm256_cvtps_ph,
        _mm_storeu_si128
    )
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(super) fn blend_converted<F: Combine<Half>>(_: Width, _: &[u8], _: &mut [u8]) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_single() {
        for bits in 0..=u16::MAX {
            let half = Half(bits);
            if half.to_single().is_nan() {
                assert!(Half::from_single(half.to_single()).to_single().is_nan());
            } else {
                assert_eq!(Half::from_single(half.to_single()).0, bits);
            }
            let brain = Brain(bits);
            if brain.to_single().is_nan() {
                assert!(Brain::from_single(brain.to_single()).to_single().is_nan());
            } else {
                assert_eq!(Brain::from_single(brain.to_single()).0, bits);
            }
        }
    }

    #[test]
    fn halves_have_the_value_of_the_standard() {
        for bits in 0..0x7c00_u16 {
            let (exponent, fraction) = (bits as i32 >> 10, (bits & 0x3ff) as f32);
            let value = match exponent {
                0 => fraction * 2_f32.powi(-24),
                _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
            };
            assert_eq!(Half(bits).to_single(), value, "{bits:#x}");
            assert_eq!(Half(bits | 0x8000).to_single(), -value);
        }
        assert_eq!(Half(0x7c00).to_single(), f32::INFINITY);
        assert_eq!(Half(0xfc00).to_single(), f32::NEG_INFINITY);
    }

    #[test]
    fn rounding_is_to_the_nearest_and_to_even() {
        for (value, bits) in [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (f32::INFINITY, 0x7c00),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2_f32.powi(-24), 1),
            (2_f32.powi(-25), 0),
            (-3.0 * 2_f32.powi(-25), 0x8002),
            (2_f32.powi(-14), 0x400),
        ] {
            assert_eq!(Half::from_single(value).0, bits, "{value}");
        }
        // Between any two neighbours: to the nearer, and in the middle to the even one.
        for bits in 0..0x7bff_u16 {
            let (low, high) = (Half(bits).to_single(), Half(bits + 1).to_single());
            let middle = (low + high) / 2.0;
            assert_eq!(Half::from_single(middle).0, bits + (bits & 1), "{bits:#x}");
            assert_eq!(Half::from_single(middle.next_down()).0, bits);
            assert_eq!(Half::from_single(middle.next_up()).0, bits + 1);
        }
        assert_eq!(Brain::from_single(1.0 + 1.0 / 256.0).0, 0x3f80);
        assert_eq!(Brain::from_single(1.0 + 3.0 / 256.0).0, 0x3f82);
    }
}
