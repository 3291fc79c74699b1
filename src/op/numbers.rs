//! The number types that reductions compute in: C's own, those of the files beside this one, and complex numbers of them.

use super::extended::Extended80;
use super::half::{self, Brain, Half};
use super::lane::{Bits, Combine, Lane, Number, blend_each};
use super::softfloat::Binary128;
use super::wide::Width;

macro_rules! lane {
    ($($type:ty)*) => {
        $(
            impl Lane for $type {
                const SIZE: usize = size_of::<$type>();
                const VECTOR: bool = Self::SIZE < 16;
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

lane!(i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64 Brain Extended80 Binary128);

impl Lane for Half {
    const SIZE: usize = 2;
    const VECTOR: bool = true;
    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Self::from_ne_bytes(bytes.try_into().expect("a whole lane"))
    }
    #[inline(always)]
    fn store(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_ne_bytes());
    }
    /// Where the processor converts them, it does.
    #[inline(always)]
    fn blend<F: Combine<Self>>(width: Width, source: &[u8], target: &mut [u8]) {
        let done = half::blend_converted::<F>(width, source, target);
        blend_each::<Self, F>(&source[done..], &mut target[done..]);
    }
}

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
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0
                }
                #[inline(always)]
                fn from_truth(truth: bool) -> Self {
                    truth.into()
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
                #[inline(always)]
                fn is_true(self) -> bool {
                    self != 0.0
                }
                #[inline(always)]
                fn from_truth(truth: bool) -> Self {
                    f32::from(u8::from(truth)).into()
                }
            }
        )*
    };
}

floating!(f32 f64);

/// Two numbers that are one complex number.
#[derive(Clone, Copy)]
pub(super) struct Complex<T> {
    real: T,
    imaginary: T,
}

impl<T: Number> Lane for Complex<T> {
    const SIZE: usize = 2 * T::SIZE;
    const VECTOR: bool = T::VECTOR;
    const IN_BLOCKS: bool = false;

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
