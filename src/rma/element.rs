//! One element of up to 8 bytes: the operation on its bits, and the same by an atomic instruction.
//!
//! Invariant: [`combine`] gives the bits that the kernels of [`crate::op`] give; the tests compare them.

use crate::datatype::{Category, Datatype, Scalar};
use crate::op::Operation;
use crate::sync::{AtomicU8, AtomicU16, AtomicU32, Ordering, ProgramU64};

/// What elements are computed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// In registers, by [`combine`].
    Register(Scalar),
    /// By the kernels.
    Kernel,
}

impl Arithmetic {
    #[inline(always)]
    pub fn of(basic: &Datatype) -> Arithmetic {
        use Category::{Address, Byte, Floating, FortranInteger, Integer, Logical};
        let plain = matches!(
            basic.category,
            Integer | FortranInteger | Address | Floating | Logical | Byte
        );
        match basic.scalars.first() {
            Some(Scalar::I128 | Scalar::F16 | Scalar::BF16 | Scalar::LongDouble | Scalar::F128) => {
                Arithmetic::Kernel
            }
            Some(scalar) if plain => Arithmetic::Register(*scalar),
            _ => Arithmetic::Kernel,
        }
    }
}

macro_rules! integer {
    ($type:ty, $operation:expr, $old:expr, $input:expr) => {{
        let (a, b) = ($input as $type, $old as $type);
        let result: $type = match $operation {
            Operation::Max => b.max(a),
            Operation::Min => b.min(a),
            Operation::Sum => b.wrapping_add(a),
            Operation::Prod => b.wrapping_mul(a),
            Operation::LogicalAnd => (a != 0 && b != 0).into(),
            Operation::LogicalOr => (a != 0 || b != 0).into(),
            Operation::LogicalXor => ((a != 0) != (b != 0)).into(),
            Operation::BitAnd => a & b,
            Operation::BitOr => a | b,
            Operation::BitXor => a ^ b,
            Operation::Replace => a,
            _ => b,
        };
        result as u64
    }};
}

macro_rules! floating {
    ($type:ty, $bits:ty, $operation:expr, $old:expr, $input:expr) => {{
        let (a, b) = (
            <$type>::from_bits($input as $bits),
            <$type>::from_bits($old as $bits),
        );
        let truth = |truth: bool| if truth { 1.0 as $type } else { 0.0 };
        let result: $type = match $operation {
            Operation::Max => {
                if b < a {
                    a
                } else {
                    b
                }
            }
            Operation::Min => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Operation::Sum => a + b,
            Operation::Prod => a * b,
            Operation::LogicalAnd => truth(a != 0.0 && b != 0.0),
            Operation::LogicalOr => truth(a != 0.0 || b != 0.0),
            Operation::LogicalXor => truth((a != 0.0) != (b != 0.0)),
            Operation::Replace => a,
            _ => b,
        };
        result.to_bits() as u64
    }};
}

/// `old op input`: the bits of an element in the low bytes. The operation is defined on the type.
#[inline(always)]
pub fn combine(operation: Operation, scalar: Scalar, old: u64, input: u64) -> u64 {
    match scalar {
        Scalar::I8 => integer!(i8, operation, old, input),
        Scalar::I16 => integer!(i16, operation, old, input),
        Scalar::I32 => integer!(i32, operation, old, input),
        Scalar::I64 => integer!(i64, operation, old, input),
        Scalar::U8 => integer!(u8, operation, old, input),
        Scalar::U16 => integer!(u16, operation, old, input),
        Scalar::U32 => integer!(u32, operation, old, input),
        Scalar::U64 => integer!(u64, operation, old, input),
        Scalar::F32 => floating!(f32, u32, operation, old, input),
        Scalar::F64 => floating!(f64, u64, operation, old, input),
        other => unreachable!("{other:?} is computed by kernels"),
    }
}

/// The bytes of an element, at any address.
///
/// # Safety
/// `size` (1, 2, 4 or 8) bytes are valid there.
#[inline(always)]
pub unsafe fn load(address: *const u8, size: usize) -> u64 {
    // SAFETY: by the caller.
    unsafe {
        match size {
            8 => address.cast::<u64>().read_unaligned(),
            4 => address.cast::<u32>().read_unaligned().into(),
            2 => address.cast::<u16>().read_unaligned().into(),
            _ => address.read().into(),
        }
    }
}

/// As [`load`]. An aligned element is stored in one piece.
///
/// # Safety
/// `size` (1, 2, 4 or 8) bytes are valid there.
#[inline(always)]
pub unsafe fn store(address: *mut u8, size: usize, value: u64) {
    // SAFETY: by the caller.
    unsafe {
        match size {
            8 => address.cast::<u64>().write_unaligned(value),
            4 => address.cast::<u32>().write_unaligned(value as u32),
            2 => address.cast::<u16>().write_unaligned(value as u16),
            _ => address.write(value as u8),
        }
    }
}

/// Whether elements of this size at this address are reached by atomic instructions in element mode. Nothing but address and type
/// decides.
#[inline(always)]
pub fn is_atomic(address: usize, size: u64) -> bool {
    size <= 8 && size.is_power_of_two() && (address as u64).is_multiple_of(size)
}

macro_rules! with_atomic {
    ($address:expr, $size:expr, |$word:ident: $type:ident| $body:expr) => {
        // SAFETY: aligned and valid, by the caller of the function that this is in.
        unsafe {
            match $size {
                8 => {
                    type $type = u64;
                    let $word = ProgramU64::from_ptr($address.cast());
                    let value: $type = $body;
                    value.into()
                }
                4 => {
                    type $type = u32;
                    let $word = AtomicU32::from_ptr($address.cast());
                    let value: $type = $body;
                    value.into()
                }
                2 => {
                    type $type = u16;
                    let $word = AtomicU16::from_ptr($address.cast());
                    let value: $type = $body;
                    value.into()
                }
                _ => {
                    type $type = u8;
                    let $word = AtomicU8::from_ptr($address);
                    let value: $type = $body;
                    value.into()
                }
            }
        }
    };
}

/// Changes an element to `new(old)` atomically. Returns the old one.
///
/// # Safety
/// `size` bytes are valid at `address`, which [is fit](is_atomic) for them.
#[inline(always)]
pub unsafe fn update(address: *mut u8, size: usize, mut new: impl FnMut(u64) -> u64) -> u64 {
    with_atomic!(address, size, |word: Word| {
        let mut old = word.load(Ordering::Relaxed);
        loop {
            #[allow(clippy::unnecessary_cast)] // the macro gives words of four sizes
            let wanted = new(old as u64) as Word;
            match word.compare_exchange_weak(old, wanted, Ordering::AcqRel, Ordering::Acquire) {
                Ok(old) => break old,
                Err(found) => old = found,
            }
        }
    })
}

/// As [`update`] with `old op input`, by one instruction where there is one.
///
/// # Safety
/// As for [`update`].
#[inline(always)]
pub unsafe fn fetch_and_combine(
    address: *mut u8,
    size: usize,
    operation: Operation,
    scalar: Scalar,
    input: u64,
) -> u64 {
    let integer = !matches!(scalar, Scalar::F32 | Scalar::F64);
    match operation {
        Operation::NoOp => {
            with_atomic!(address, size, |word: Word| word.load(Ordering::Acquire))
        }
        Operation::Replace => with_atomic!(address, size, |word: Word| word
            .swap(input as Word, Ordering::AcqRel)),
        Operation::Sum if integer => with_atomic!(address, size, |word: Word| word
            .fetch_add(input as Word, Ordering::AcqRel)),
        // SAFETY: by the caller.
        _ => unsafe { update(address, size, |old| combine(operation, scalar, old, input)) },
    }
}

/// Stores `new` if the element is `compare`. Returns what it was.
///
/// # Safety
/// As for [`update`].
#[inline(always)]
pub unsafe fn compare_and_swap(address: *mut u8, size: usize, compare: u64, new: u64) -> u64 {
    with_atomic!(address, size, |word: Word| {
        let done = word.compare_exchange(
            compare as Word,
            new as Word,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        done.unwrap_or_else(|found| found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype;
    use crate::op::Op;

    const OPERATIONS: [Operation; 10] = [
        Operation::Max,
        Operation::Min,
        Operation::Sum,
        Operation::Prod,
        Operation::LogicalAnd,
        Operation::BitAnd,
        Operation::LogicalOr,
        Operation::BitOr,
        Operation::LogicalXor,
        Operation::BitXor,
    ];

    /// Small, large and negative values of a type, and not-a-number.
    fn values(scalar: Scalar) -> Vec<u64> {
        match scalar {
            Scalar::F32 => [0.0, -0.0, 1.5, -2.25, f32::MAX, f32::INFINITY, f32::NAN]
                .map(|value| value.to_bits().into())
                .to_vec(),
            Scalar::F64 => [0.0, -0.0, 1.5, -2.25, f64::MAX, f64::INFINITY, f64::NAN]
                .map(f64::to_bits)
                .to_vec(),
            _ => {
                let mask = u64::MAX >> (64 - 8 * scalar.size());
                let all = [
                    0,
                    1,
                    2,
                    3,
                    0x7f,
                    0x80,
                    u64::MAX,
                    u64::MAX >> 1,
                    1 << 63,
                    0x5555_aaaa,
                ];
                all.map(|value: u64| value & mask).to_vec()
            }
        }
    }

    #[test]
    fn registers_and_kernels_compute_alike() {
        let mut compared = 0;
        for handle in datatype::predefined_handles() {
            let basic = datatype::get(handle).unwrap();
            let Arithmetic::Register(scalar) = Arithmetic::of(basic) else {
                continue;
            };
            let size = basic.size as usize;
            for operation in OPERATIONS {
                let op = Op::Predefined(operation);
                if op.check(basic).is_err() {
                    continue;
                }
                for old in values(scalar) {
                    for input in values(scalar) {
                        let mut kernel = old.to_ne_bytes();
                        op.apply(&input.to_ne_bytes(), &mut kernel, 1, basic)
                            .unwrap();
                        let kernel = u64::from_ne_bytes(kernel);
                        let mask = u64::MAX >> (64 - 8 * size);
                        let register = combine(operation, scalar, old, input) & mask;
                        let mut memory = old;
                        let place = (&raw mut memory).cast();
                        // SAFETY: a local variable, aligned.
                        let before =
                            unsafe { fetch_and_combine(place, size, operation, scalar, input) };
                        assert_eq!(before, old);
                        let nan = |bits: u64| match scalar {
                            Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
                            Scalar::F64 => f64::from_bits(bits).is_nan(),
                            _ => false,
                        };
                        assert!(
                            kernel == register || nan(kernel) && nan(register),
                            "{operation:?} {scalar:?} {old:#x} {input:#x}: {kernel:#x} {register:#x}"
                        );
                        assert_eq!(memory, register);
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 10_000);
    }

    #[test]
    fn neighbours_stay() {
        #[repr(align(16))]
        struct Aligned([u8; 16]);
        let mut aligned = Aligned([0; 16]);
        let memory = &mut aligned.0;
        for (at, size) in [(0, 1), (3, 1), (2, 2), (4, 4), (8, 8)] {
            memory.fill(0xff);
            // SAFETY: inside of the array.
            unsafe {
                let place = memory.as_mut_ptr().add(at);
                if is_atomic(place.addr(), size as u64) {
                    fetch_and_combine(place, size, Operation::Replace, Scalar::U64, 0);
                    assert_eq!(compare_and_swap(place, size, 0, 7), 0);
                    assert_eq!(compare_and_swap(place, size, 0, 9), 7);
                }
            }
            for (index, byte) in memory.iter().enumerate() {
                if !(at..at + size).contains(&index) {
                    assert_eq!(*byte, 0xff, "{index}");
                }
            }
        }
        assert!(!is_atomic(4, 8) && !is_atomic(16, 16) && !is_atomic(0, 12));
    }
}
