//! Addition, multiplication and order of the number format that no machine here has: IEEE quadruple precision
//! (`Binary128`, 113 bits of significand); for tests and other machines also of x86's long double (`Extended80`, 64 bits).
//! Rounded to the nearest, ties to even, as a machine does.
//!
//! Reductions on this type are rare; this is a few dozen cycles a number and needs no assembler.

#[cfg(any(test, not(all(target_arch = "x86_64", not(miri)))))]
use super::extended::Extended80;
use super::lane::Number;

/// A number taken apart: value = significand × 2^(exponent - 127), the top bit of the significand
/// set unless the number is zero.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    negative: bool,
    exponent: i32,
    significand: u128,
    special: Special,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Finite,
    Infinite,
    Nan,
}

impl Parts {
    fn special(negative: bool, special: Special) -> Parts {
        Parts {
            negative,
            exponent: 0,
            significand: 0,
            special,
        }
    }

    /// A finite number whose significand need not be normalised.
    fn finite(negative: bool, exponent: i32, significand: u128) -> Parts {
        let shift = significand.leading_zeros();
        Parts {
            negative,
            exponent: if shift == 128 {
                0
            } else {
                exponent - shift as i32
            },
            significand: if shift == 128 {
                0
            } else {
                significand << shift
            },
            special: Special::Finite,
        }
    }

    /// Fraction to the left of the binary point is bit 127; bits below the format's precision are
    /// kept as long as there is room, and any lost ones are or-ed into the last.
    pub(super) fn add(self, other: Parts) -> Parts {
        if self.special != Special::Finite || other.special != Special::Finite {
            return self.add_special(other);
        }
        let (large, small) = if self.magnitude() >= other.magnitude() {
            (self, other)
        } else {
            (other, self)
        };
        if small.significand == 0 {
            let negative = large.negative && (large.significand != 0 || small.negative);
            return Parts { negative, ..large };
        }
        // Two bits of room: one for the carry, one that keeps rounding exact after a subtraction.
        let first = large.significand >> 2 | (large.significand & 3 != 0) as u128;
        let distance = (large.exponent - small.exponent) as u32;
        let second = shift_right_sticky(small.significand, distance.saturating_add(2));
        if large.negative == small.negative {
            Parts::finite(large.negative, large.exponent + 2, first + second)
        } else {
            let difference = first - second;
            let negative = large.negative && difference != 0;
            Parts::finite(negative, large.exponent + 2, difference)
        }
    }

    pub(super) fn subtract(self, other: Parts) -> Parts {
        let negative = !other.negative;
        self.add(Parts { negative, ..other })
    }

    fn add_special(self, other: Parts) -> Parts {
        match (self.special, other.special) {
            (Special::Infinite, Special::Infinite) if self.negative != other.negative => {
                Parts::special(false, Special::Nan)
            }
            (Special::Nan, _) | (Special::Infinite, Special::Finite) => self,
            (_, Special::Finite) => self,
            (Special::Infinite, Special::Infinite) => self,
            _ => other,
        }
    }

    pub(super) fn multiply(self, other: Parts) -> Parts {
        let negative = self.negative != other.negative;
        match (self.special, other.special) {
            (Special::Nan, _) | (_, Special::Nan) => Parts::special(false, Special::Nan),
            (Special::Infinite, _) | (_, Special::Infinite) => {
                let zero =
                    |parts: Parts| parts.special == Special::Finite && parts.significand == 0;
                if zero(self) || zero(other) {
                    Parts::special(false, Special::Nan)
                } else {
                    Parts::special(negative, Special::Infinite)
                }
            }
            _ => {
                let product = multiply_high_sticky(self.significand, other.significand);
                Parts::finite(negative, self.exponent + other.exponent + 1, product)
            }
        }
    }

    /// For comparing sizes of finite numbers.
    fn magnitude(self) -> (i32, u128) {
        match self.significand {
            0 => (i32::MIN, 0),
            significand => (self.exponent, significand),
        }
    }

    pub(super) fn less(self, other: Parts) -> bool {
        if self.special == Special::Nan || other.special == Special::Nan {
            return false;
        }
        let size = |parts: Parts| match parts.special {
            Special::Finite => parts.magnitude(),
            _ => (i32::MAX, 0),
        };
        let (first, second) = (size(self), size(other));
        let zero = (i32::MIN, 0);
        match (
            self.negative && first != zero,
            other.negative && second != zero,
        ) {
            (false, false) => first < second,
            (true, true) => second < first,
            (first_negative, _) => first_negative,
        }
    }

    /// The biased exponent and the significand of `precision` bits, leading bit included, for a
    /// format with this bias; infinity is the exponent `2 * bias + 1` with significand 0.
    fn round(self, precision: u32, bias: i32) -> (u32, u128) {
        if self.significand == 0 {
            return (0, 0);
        }
        let exponent = self.exponent + bias;
        let drop = 128 - precision;
        // Numbers below the normal ones keep fewer bits.
        let deficit = if exponent < 1 { 1 - exponent } else { 0 };
        let kept = shift_right_sticky(self.significand, (deficit as u32).min(130));
        let mut result = kept >> drop;
        let rest = kept & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        if rest > half || rest == half && result & 1 == 1 {
            result += 1;
        }
        let mut exponent = exponent.max(1);
        if precision < 128 && result >> precision != 0 {
            result >>= 1;
            exponent += 1;
        }
        if exponent > 2 * bias {
            return (2 * bias as u32 + 1, 0);
        }
        if result >> (precision - 1) == 0 {
            return (0, result);
        }
        (exponent as u32, result)
    }
}

/// Shifts right; bits that fall out are or-ed into the lowest one.
fn shift_right_sticky(value: u128, distance: u32) -> u128 {
    match distance {
        0 => value,
        1..128 => value >> distance | (value << (128 - distance) != 0) as u128,
        _ => (value != 0) as u128,
    }
}

/// The upper half of the product; the lower half is or-ed into the lowest bit.
fn multiply_high_sticky(first: u128, second: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a, b) = (first >> 64, first & LOW);
    let (c, d) = (second >> 64, second & LOW);
    let (ac, ad, bc, bd) = (a * c, a * d, b * c, b * d);
    let middle = (bd >> 64) + (ad & LOW) + (bc & LOW);
    let high = ac + (ad >> 64) + (bc >> 64) + (middle >> 64);
    let low = middle << 64 | bd & LOW;
    high | (low != 0) as u128
}

#[cfg(any(test, not(all(target_arch = "x86_64", not(miri)))))]
impl Extended80 {
    const BIAS: i32 = 0x3fff;

    pub(super) fn parts(self) -> Parts {
        let negative = self.0 >> 79 & 1 != 0;
        let exponent = (self.0 >> 64) as i32 & 0x7fff;
        let significand = self.0 as u64;
        if exponent == 0x7fff {
            let special = match significand << 1 {
                0 => Special::Infinite,
                _ => Special::Nan,
            };
            return Parts::special(negative, special);
        }
        let exponent = exponent.max(1) - Self::BIAS;
        Parts::finite(negative, exponent, (significand as u128) << 64)
    }

    pub(super) fn from_parts(parts: Parts) -> Extended80 {
        let (exponent, significand) = match parts.special {
            Special::Finite => parts.round(64, Self::BIAS),
            Special::Infinite => (0x7fff, 0),
            Special::Nan => (0x7fff, 0xc000_0000_0000_0000),
        };
        // The leading bit is written out, for infinity as well.
        let significand = if exponent == 0x7fff {
            significand | 1 << 63
        } else {
            significand
        };
        let sign = parts.negative as u128;
        Extended80(sign << 79 | (exponent as u128) << 64 | significand)
    }
}

/// IEEE quadruple precision.
#[derive(Clone, Copy)]
pub(super) struct Binary128(u128);

impl Binary128 {
    const BIAS: i32 = 0x3fff;
    const FRACTION: u128 = (1 << 112) - 1;

    pub(super) fn from_ne_bytes(bytes: [u8; 16]) -> Binary128 {
        Binary128(u128::from_ne_bytes(bytes))
    }

    pub(super) fn to_ne_bytes(self) -> [u8; 16] {
        self.0.to_ne_bytes()
    }

    fn parts(self) -> Parts {
        let negative = self.0 >> 127 != 0;
        let exponent = (self.0 >> 112) as i32 & 0x7fff;
        let fraction = self.0 & Self::FRACTION;
        if exponent == 0x7fff {
            let special = match fraction {
                0 => Special::Infinite,
                _ => Special::Nan,
            };
            return Parts::special(negative, special);
        }
        let leading = if exponent == 0 { 0 } else { 1 << 112 };
        let exponent = exponent.max(1) - Self::BIAS;
        Parts::finite(negative, exponent, (leading | fraction) << 15)
    }

    fn from_parts(parts: Parts) -> Binary128 {
        let (exponent, significand) = match parts.special {
            Special::Finite => parts.round(113, Self::BIAS),
            Special::Infinite => (0x7fff, 0),
            Special::Nan => (0x7fff, 1 << 111),
        };
        let sign = parts.negative as u128;
        Binary128(sign << 127 | (exponent as u128) << 112 | significand & Self::FRACTION)
    }
}

impl Number for Binary128 {
    fn add(self, other: Self) -> Self {
        Binary128::from_parts(self.parts().add(other.parts()))
    }

    fn subtract(self, other: Self) -> Self {
        Binary128::from_parts(self.parts().subtract(other.parts()))
    }

    fn multiply(self, other: Self) -> Self {
        Binary128::from_parts(self.parts().multiply(other.parts()))
    }

    fn less(self, other: Self) -> bool {
        self.parts().less(other.parts())
    }

    fn is_true(self) -> bool {
        self.0 << 1 != 0
    }

    fn from_truth(truth: bool) -> Self {
        Binary128((Self::BIAS as u128) << 112 & (truth as u128).wrapping_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This arithmetic in the format of f32, which the machine can check.
    fn from_single(value: f32) -> Parts {
        let bits = value.to_bits();
        let negative = bits >> 31 != 0;
        let exponent = (bits >> 23) as i32 & 0xff;
        let fraction = bits as u128 & 0x7f_ffff;
        if exponent == 0xff {
            let special = if fraction == 0 {
                Special::Infinite
            } else {
                Special::Nan
            };
            return Parts::special(negative, special);
        }
        let leading = if exponent == 0 { 0 } else { 1 << 23 };
        Parts::finite(negative, exponent.max(1) - 127, (leading | fraction) << 104)
    }

    fn to_single(parts: Parts) -> f32 {
        let (exponent, significand) = match parts.special {
            Special::Finite => parts.round(24, 127),
            Special::Infinite => (0xff, 0),
            Special::Nan => return f32::NAN,
        };
        let fraction = significand as u32 & 0x7f_ffff;
        f32::from_bits((parts.negative as u32) << 31 | exponent << 23 | fraction)
    }

    fn same(first: f32, second: f32) -> bool {
        first.to_bits() == second.to_bits() || first.is_nan() && second.is_nan()
    }

    /// A simple sequence of numbers that look random (splitmix64).
    fn numbers() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut value = state;
            value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            value ^ value >> 31
        }
    }

    #[test]
    fn single_precision_agrees_with_the_machine() {
        let special = [
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x3f80_0000,
            0xbf80_0000,
        ];
        let mut next = numbers();
        let mut operands: Vec<(u32, u32)> = Vec::new();
        for first in special {
            operands.extend(special.map(|second| (first, second)));
            operands.push((first, next() as u32));
        }
        for round in 0..if cfg!(miri) { 100 } else { 200_000 } {
            let bits = next();
            let (first, second) = (bits as u32, (bits >> 32) as u32);
            // Every other pair close in size, where the rounding is delicate.
            let near = first & 0x7f80_0000 | second & 0x807f_ffff;
            operands.push((first, if round % 2 == 0 { second } else { near }));
        }
        for (first, second) in operands {
            let (a, b) = (f32::from_bits(first), f32::from_bits(second));
            let (x, y) = (from_single(a), from_single(b));
            assert!(same(to_single(x.add(y)), a + b), "{a:e} + {b:e}");
            assert!(same(to_single(x.multiply(y)), a * b), "{a:e} * {b:e}");
            assert_eq!(x.less(y), a < b, "{a:e} < {b:e}");
        }
    }

    /// An integer rounded to `precision` bits, ties to even.
    fn rounded(value: u128, precision: u32) -> u128 {
        let bits = 128 - value.leading_zeros();
        if bits <= precision {
            return value;
        }
        let drop = bits - precision;
        let (kept, rest, half) = (value >> drop, value & ((1 << drop) - 1), 1 << (drop - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        (kept + up as u128) << drop
    }

    fn integer(value: u128) -> Parts {
        Parts::finite(false, 127, value)
    }

    #[test]
    fn both_formats_agree_with_integers() {
        let mut next = numbers();
        for _ in 0..10_000 {
            let (a, b) = (next() as u128, next() as u128);
            let long = |value| Extended80::from_parts(integer(value));
            assert_eq!(long(a).multiply(long(b)).0, long(rounded(a * b, 64)).0);
            assert_eq!(long(a).add(long(b)).0, long(rounded(a + b, 64)).0);
            let (wide, shift) = (a << 48 | b >> 16, next() % 60);
            let quad = |value| Binary128::from_parts(integer(value));
            let small = b >> shift;
            assert_eq!(
                quad(wide).add(quad(small)).0,
                quad(rounded(wide + small, 113)).0
            );
            let (c, d) = (a >> 3, b >> 2);
            assert_eq!(quad(c).multiply(quad(d)).0, quad(rounded(c * d, 113)).0);
            let difference = quad(wide).subtract(quad(small)).0;
            assert_eq!(difference, quad(wide - small).0);
            assert_eq!(quad(a).less(quad(b)), a < b);
        }
    }

    #[test]
    fn known_bits() {
        let half = Binary128(0x3ffe << 112);
        assert_eq!(half.add(half).0, 0x3fff << 112);
        let smallest = Binary128(1);
        assert_eq!(smallest.add(smallest).0, 2);
        assert_eq!(smallest.multiply(half).0, 0, "a tie goes to even");
        let largest = Binary128(0x7fff << 112).0 - 1;
        assert_eq!(Binary128(largest).add(Binary128(largest)).0, 0x7fff << 112);
    }
}
