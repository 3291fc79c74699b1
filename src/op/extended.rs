//! C's long double of x86: ten bytes of 16, the rest is padding. Computed by the x87 unit, which is made for it; by
//! `softfloat`, which the tests compare it with, where that cannot be had.
//!
//! Invariant: padding keeps its bytes in arithmetic; a truth has none.
#![allow(unsafe_code)]

use super::lane::Number;

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Extended80(pub(super) u128);

impl Extended80 {
    #[inline(always)]
    pub(super) fn from_ne_bytes(bytes: [u8; 16]) -> Extended80 {
        Extended80(u128::from_ne_bytes(bytes))
    }

    #[inline(always)]
    pub(super) fn to_ne_bytes(self) -> [u8; 16] {
        self.0.to_ne_bytes()
    }

    /// Anything but a zero of either sign.
    #[inline(always)]
    fn differs_from_zero(self) -> bool {
        self.0 << (128 - 79) != 0
    }

    #[inline(always)]
    fn one_or_zero(one: bool) -> Extended80 {
        Extended80((0x3fff << 64 | 1 << 63) & (one as u128).wrapping_neg())
    }
}

/// One instruction with both operands on the stack: `first` below, `second` on top, the result in the place of `first`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! x87 {
    ($instruction:literal, $first:expr, $second:expr) => {{
        let (first, second) = ($first, $second);
        let mut result = second;
        // SAFETY: ten bytes are read of each of two values and written to a third, all of them local; the stack of the
        // unit is left as it was, empty.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{first}]",
                "fld tbyte ptr [{second}]",
                $instruction,
                "fstp tbyte ptr [{result}]",
                first = in(reg) &raw const first,
                second = in(reg) &raw const second,
                result = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }};
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Number for Extended80 {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        x87!("faddp st(1), st", self, other)
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        x87!("fsubp st(1), st", self, other)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        x87!("fmulp st(1), st", self, other)
    }

    #[inline(always)]
    fn less(self, other: Self) -> bool {
        let less: u8;
        // SAFETY: ten bytes are read of each of two local values; the stack of the unit is left empty.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{first}]",
                "fld tbyte ptr [{second}]",
                "fcomip st, st(1)",
                "fstp st(0)",
                "seta {less}", // second above first, and both are numbers
                first = in(reg) &raw const self,
                second = in(reg) &raw const other,
                less = out(reg_byte) less,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        less != 0
    }

    #[inline(always)]
    fn is_true(self) -> bool {
        self.differs_from_zero()
    }

    #[inline(always)]
    fn from_truth(truth: bool) -> Self {
        Self::one_or_zero(truth)
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
impl Number for Extended80 {
    fn add(self, other: Self) -> Self {
        Extended80::from_parts(self.parts().add(other.parts()))
    }

    fn subtract(self, other: Self) -> Self {
        Extended80::from_parts(self.parts().subtract(other.parts()))
    }

    fn multiply(self, other: Self) -> Self {
        Extended80::from_parts(self.parts().multiply(other.parts()))
    }

    fn less(self, other: Self) -> bool {
        self.parts().less(other.parts())
    }

    fn is_true(self) -> bool {
        self.differs_from_zero()
    }

    fn from_truth(truth: bool) -> Self {
        Self::one_or_zero(truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A well-formed number: the leading bit is set unless the exponent is the lowest.
    fn number() -> impl Strategy<Value = Extended80> {
        let exponent = prop_oneof![
            Just(0_u128),
            1..20_u128,
            0x3ff0..0x4010_u128,
            0x7ff0..=0x7fff_u128
        ];
        let significand = prop_oneof![
            any::<u64>(),
            any::<u8>().prop_map(|low| low.into()),
            Just(0)
        ];
        (any::<bool>(), exponent, significand).prop_map(|(negative, exponent, significand)| {
            let leading = (exponent != 0) as u64;
            let significand = significand << 1 >> 1 | leading << 63;
            Extended80((negative as u128) << 79 | exponent << 64 | significand as u128)
        })
    }

    fn same(machine: Extended80, software: Extended80) -> bool {
        let bits = |value: Extended80| value.0 & ((1 << 80) - 1);
        let nan =
            |value: Extended80| bits(value) >> 64 & 0x7fff == 0x7fff && (value.0 as u64) << 1 != 0;
        bits(machine) == bits(software) || nan(machine) && nan(software)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 20_000 }))]

        #[test]
        fn the_machine_and_the_software_agree(a in number(), b in number()) {
            let (x, y) = (a.parts(), b.parts());
            prop_assert!(same(a.add(b), Extended80::from_parts(x.add(y))), "{:x} + {:x}", a.0, b.0);
            prop_assert!(same(a.subtract(b), Extended80::from_parts(x.subtract(y))), "{:x} - {:x}", a.0, b.0);
            prop_assert!(same(a.multiply(b), Extended80::from_parts(x.multiply(y))), "{:x} * {:x}", a.0, b.0);
            prop_assert_eq!(a.less(b), x.less(y), "{:x} < {:x}", a.0, b.0);
        }
    }

    #[test]
    fn known_bits() {
        let one = Extended80(0x3fff << 64 | 1 << 63);
        assert_eq!(one.add(one).0, 0x4000 << 64 | 1 << 63);
        let infinity = Extended80(0x7fff << 64 | 1 << 63);
        assert_eq!(infinity.add(one).0, infinity.0);
        assert_eq!(infinity.subtract(infinity).0 >> 62 & 3, 3);
    }
}
