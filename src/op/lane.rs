//! The number types that reductions compute in, read from and written to plain bytes.
//!
//! Invariant: a lane of `SIZE` bytes is loaded and stored without regard to alignment; the compiler
//! turns the loops over lanes into vector instructions.

use super::softfloat::{Binary128, Extended80};

/// A value in a buffer.
pub(super) trait Lane: Copy {
    const SIZE: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);

    /// `inout = function(input, inout)` for each value.
    #[inline(always)]
    fn each(input: &[u8], inout: &mut [u8], function: impl Fn(Self, Self) -> Self) {
        let targets = inout.chunks_exact_mut(Self::SIZE);
        for (target, source) in targets.zip(input.chunks_exact(Self::SIZE)) {
            function(Self::load(source), Self::load(target)).store(target);
        }
    }
}

/// A lane that can be computed with. Integers wrap around.
pub(super) trait Number: Lane {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn less(self, other: Self) -> bool;
}

/// A lane with bits.
pub(super) trait Bits: Number {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn is_true(self) -> bool;
    fn from_truth(truth: bool) -> Self;
}

macro_rules! lane {
    ($($type:ty)*) => {
        $(
            impl Lane for $type {
                const SIZE: usize = size_of::<$type>();
                #[inline(always)]
                fn load(bytes: &[u8]) -> Self {
                    Self::from_ne_bytes(bytes.try_into().expect("a whole lane"))
                }
                #[inline(always)]
                fn store(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_ne_bytes());
                }
            }
        )*
    };
}

lane!(i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64 Half Brain Extended80 Binary128);

macro_rules! integer {
    ($($type:ty)*) => {
        $(
            impl Number for $type {
                #[inline(always)]
                fn add(self, other: Self) -> Self {
                    self.wrapping_add(other)
                }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self {
                    self.wrapping_sub(other)
                }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self {
                    self.wrapping_mul(other)
                }
                #[inline(always)]
                fn less(self, other: Self) -> bool {
                    self < other
                }
            }

            impl Bits for $type {
                #[inline(always)]
                fn and(self, other: Self) -> Self {
                    self & other
                }
                #[inline(always)]
                fn or(self, other: Self) -> Self {
                    self | other
                }
                #[inline(always)]
                fn xor(self, other: Self) -> Self {
                    self ^ other
                }
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0
                }
                #[inline(always)]
                fn from_truth(truth: bool) -> Self {
                    truth.into()
                }
            }
        )*
    };
}

integer!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

macro_rules! floating {
    ($($type:ty)*) => {
        $(
            impl Number for $type {
                #[inline(always)]
                fn add(self, other: Self) -> Self {
                    self + other
                }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self {
                    self - other
                }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self {
                    self * other
                }
                #[inline(always)]
                fn less(self, other: Self) -> bool {
                    self < other
                }
            }
        )*
    };
}

floating!(f32 f64);

/// Numbers that are computed in single precision and rounded after each operation.
macro_rules! through_single {
    ($($type:ident)*) => {
        $(
            impl $type {
                fn to_ne_bytes(self) -> [u8; 2] {
                    self.0.to_ne_bytes()
                }

                fn from_ne_bytes(bytes: [u8; 2]) -> Self {
                    $type(u16::from_ne_bytes(bytes))
                }
            }

            impl Number for $type {
                fn add(self, other: Self) -> Self {
                    Self::from_single(self.to_single() + other.to_single())
                }
                fn subtract(self, other: Self) -> Self {
                    Self::from_single(self.to_single() - other.to_single())
                }
                fn multiply(self, other: Self) -> Self {
                    Self::from_single(self.to_single() * other.to_single())
                }
                fn less(self, other: Self) -> bool {
                    self.to_single() < other.to_single()
                }
            }
        )*
    };
}

/// IEEE half precision.
#[derive(Clone, Copy)]
pub(super) struct Half(u16);

/// The upper half of single precision ("bfloat16").
#[derive(Clone, Copy)]
pub(super) struct Brain(u16);

through_single!(Half Brain);

impl Brain {
    fn to_single(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    fn from_single(value: f32) -> Brain {
        let bits = value.to_bits();
        if value.is_nan() {
            return Brain((bits >> 16) as u16 | 0x40);
        }
        // To the nearest, ties to even; a carry out of the fraction moves on to the exponent.
        let round = 0x7fff + (bits >> 16 & 1);
        Brain((bits.wrapping_add(round) >> 16) as u16)
    }
}

impl Half {
    fn to_single(self) -> f32 {
        let sign = (self.0 as u32 & 0x8000) << 16;
        let exponent = self.0 as u32 >> 10 & 0x1f;
        let fraction = self.0 as u32 & 0x3ff;
        let magnitude = match exponent {
            0 => return f32::from_bits(sign | (fraction as f32 * 2_f32.powi(-24)).to_bits()),
            0x1f => 0x7f80_0000 | fraction << 13,
            _ => (exponent + 127 - 15) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }

    fn from_single(value: f32) -> Half {
        let sign = (value.to_bits() >> 16 & 0x8000) as u16;
        let magnitude = value.to_bits() & 0x7fff_ffff;
        if value.is_nan() {
            return Half(sign | 0x7e00 | (magnitude >> 13) as u16 & 0x3ff);
        }
        if value.abs() >= 65520.0 {
            return Half(sign | 0x7c00); // more than the largest number and half a step
        }
        if value.abs() < 2_f32.powi(-14) {
            // Below the normal numbers: adding 0.5 leaves the rounded multiple of 2^-24 in the
            // low bits, because that is the step of single precision there.
            let shifted = (value.abs() + 0.5).to_bits();
            return Half(sign | (shifted - 0.5_f32.to_bits()) as u16);
        }
        let rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        Half(sign | ((rounded - ((127 - 15) << 23)) >> 13) as u16)
    }
}

/// Two numbers that are one complex number.
#[derive(Clone, Copy)]
pub(super) struct Complex<T> {
    real: T,
    imaginary: T,
}

impl<T: Number> Lane for Complex<T> {
    const SIZE: usize = 2 * T::SIZE;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Complex {
            real: T::load(&bytes[..T::SIZE]),
            imaginary: T::load(&bytes[T::SIZE..]),
        }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        self.real.store(&mut bytes[..T::SIZE]);
        self.imaginary.store(&mut bytes[T::SIZE..]);
    }
}

impl<T: Number> Complex<T> {
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        Complex {
            real: self.real.add(other.real),
            imaginary: self.imaginary.add(other.imaginary),
        }
    }

    #[inline(always)]
    pub(super) fn multiply(self, other: Self) -> Self {
        let real = self.real.multiply(other.real);
        let crossed = self.real.multiply(other.imaginary);
        Complex {
            real: real.subtract(self.imaginary.multiply(other.imaginary)),
            imaginary: crossed.add(self.imaginary.multiply(other.real)),
        }
    }
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
            if !brain.to_single().is_nan() {
                assert_eq!(Brain::from_single(brain.to_single()).0, bits);
            }
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_and_to_even() {
        for (value, bits) in [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2_f32.powi(-24), 1),
            (2_f32.powi(-25), 0),
            (-3.0 * 2_f32.powi(-25), 0x8002),
            (2_f32.powi(-14), 0x400),
        ] {
            assert_eq!(Half::from_single(value).0, bits, "{value}");
        }
        assert_eq!(Brain::from_single(1.0 + 1.0 / 256.0).0, 0x3f80);
        assert_eq!(Brain::from_single(1.0 + 3.0 / 256.0).0, 0x3f82);
    }

    #[test]
    fn complex_numbers_multiply() {
        let first = Complex::<f64> {
            real: 1.0,
            imaginary: 2.0,
        };
        let second = Complex {
            real: 3.0,
            imaginary: -1.0,
        };
        let product = first.multiply(second);
        assert_eq!((product.real, product.imaginary), (5.0, 5.0));
    }
}
