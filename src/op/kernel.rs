//! The loops of the predefined reductions: from operation and type to one simple loop.
//!
//! Cost: one pass over both buffers, which the compiler vectorises.

use super::lane::{Bits, Brain, Complex, Half, Lane, Number};
use super::softfloat::{Binary128, Extended80};
use super::{Operation, pair};
use crate::datatype::{Category, Datatype, Scalar};

/// The operation has been checked to be defined on the datatype.
pub(super) fn apply(operation: Operation, input: &[u8], inout: &mut [u8], datatype: &Datatype) {
    match datatype.category {
        Category::Pair => pair::apply(operation, input, inout, datatype.scalars),
        Category::Complex => match datatype.scalars[0] {
            Scalar::F16 => complex::<Half>(operation, input, inout),
            Scalar::F32 => complex::<f32>(operation, input, inout),
            Scalar::F64 => complex::<f64>(operation, input, inout),
            Scalar::LongDouble => complex::<Extended80>(operation, input, inout),
            Scalar::F128 => complex::<Binary128>(operation, input, inout),
            scalar => unreachable!("{scalar:?} is no part of a complex type"),
        },
        _ => match datatype.scalars[0] {
            Scalar::I8 => integer::<i8>(operation, input, inout),
            Scalar::I16 => integer::<i16>(operation, input, inout),
            Scalar::I32 => integer::<i32>(operation, input, inout),
            Scalar::I64 => integer::<i64>(operation, input, inout),
            Scalar::I128 => integer::<i128>(operation, input, inout),
            Scalar::U8 => integer::<u8>(operation, input, inout),
            Scalar::U16 => integer::<u16>(operation, input, inout),
            Scalar::U32 => integer::<u32>(operation, input, inout),
            Scalar::U64 => integer::<u64>(operation, input, inout),
            Scalar::F16 => number::<Half>(operation, input, inout),
            Scalar::BF16 => number::<Brain>(operation, input, inout),
            Scalar::F32 => number::<f32>(operation, input, inout),
            Scalar::F64 => number::<f64>(operation, input, inout),
            Scalar::LongDouble => number::<Extended80>(operation, input, inout),
            Scalar::F128 => number::<Binary128>(operation, input, inout),
        },
    }
}

fn number<T: Number>(operation: Operation, input: &[u8], inout: &mut [u8]) {
    match operation {
        Operation::Max => T::each(input, inout, |a, b| if b.less(a) { a } else { b }),
        Operation::Min => T::each(input, inout, |a, b| if a.less(b) { a } else { b }),
        Operation::Sum => T::each(input, inout, T::add),
        Operation::Prod => T::each(input, inout, T::multiply),
        _ => unreachable!("{} on numbers was refused", operation.name()),
    }
}

fn integer<T: Bits>(operation: Operation, input: &[u8], inout: &mut [u8]) {
    let logical = |truth: fn(bool, bool) -> bool| {
        move |a: T, b: T| T::from_truth(truth(a.is_true(), b.is_true()))
    };
    match operation {
        Operation::LogicalAnd => T::each(input, inout, logical(|a, b| a & b)),
        Operation::LogicalOr => T::each(input, inout, logical(|a, b| a | b)),
        Operation::LogicalXor => T::each(input, inout, logical(|a, b| a ^ b)),
        Operation::BitAnd => T::each(input, inout, T::and),
        Operation::BitOr => T::each(input, inout, T::or),
        Operation::BitXor => T::each(input, inout, T::xor),
        _ => number::<T>(operation, input, inout),
    }
}

fn complex<T: Number>(operation: Operation, input: &[u8], inout: &mut [u8]) {
    match operation {
        Operation::Sum => Complex::<T>::each(input, inout, Complex::add),
        Operation::Prod => Complex::<T>::each(input, inout, Complex::multiply),
        _ => unreachable!("{} on complex numbers was refused", operation.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::get;

    fn reduce<const N: usize, T: Copy>(
        operation: Operation,
        handle: i32,
        input: &[T],
        inout: &[T],
        to: fn(T) -> [u8; N],
        from: fn([u8; N]) -> T,
    ) -> Vec<T> {
        let bytes = |values: &[T]| values.iter().flat_map(|value| to(*value)).collect();
        let input: Vec<u8> = bytes(input);
        let mut inout: Vec<u8> = bytes(inout);
        apply(operation, &input, &mut inout, get(handle).unwrap());
        let (lanes, _) = inout.as_chunks::<N>();
        lanes.iter().map(|lane| from(*lane)).collect()
    }

    fn ints(operation: Operation, input: &[i32], inout: &[i32]) -> Vec<i32> {
        let (to, from) = (i32::to_ne_bytes, i32::from_ne_bytes);
        reduce(operation, crate::datatype::INT, input, inout, to, from)
    }

    #[test]
    fn integers() {
        let (a, b) = ([1, -5, 0, i32::MAX], [2, 3, 0, 1]);
        assert_eq!(ints(Operation::Sum, &a, &b), [3, -2, 0, i32::MIN]);
        assert_eq!(ints(Operation::Prod, &a, &b), [2, -15, 0, i32::MAX]);
        assert_eq!(ints(Operation::Max, &a, &b), [2, 3, 0, i32::MAX]);
        assert_eq!(ints(Operation::Min, &a, &b), [1, -5, 0, 1]);
        assert_eq!(ints(Operation::LogicalAnd, &a, &b), [1, 1, 0, 1]);
        assert_eq!(ints(Operation::LogicalXor, &a, &[0; 4]), [1, 1, 0, 1]);
        assert_eq!(ints(Operation::LogicalOr, &[0; 4], &b), [1, 1, 0, 1]);
        assert_eq!(ints(Operation::BitAnd, &a, &b), [0, 3, 0, 1]);
        assert_eq!(ints(Operation::BitOr, &a, &b), [3, -5, 0, i32::MAX]);
        assert_eq!(ints(Operation::BitXor, &a, &b), [3, -8, 0, i32::MAX - 1]);
    }

    #[test]
    fn unsigned_numbers_are_not_negative() {
        let (to, from) = (u16::to_ne_bytes, u16::from_ne_bytes);
        let result = reduce(Operation::Max, 0x4c00_0204, &[0xffff], &[1], to, from);
        assert_eq!(result, [0xffff]);
    }

    #[test]
    fn floating_point_numbers() {
        let (to, from) = (f64::to_ne_bytes, f64::from_ne_bytes);
        let double = |operation| {
            let (a, b) = ([1.5, -2.0, 7.0], [2.0, 4.0, 0.5]);
            reduce(operation, 0x4c00_080b, &a, &b, to, from)
        };
        assert_eq!(double(Operation::Sum), [3.5, 2.0, 7.5]);
        assert_eq!(double(Operation::Prod), [3.0, -8.0, 3.5]);
        assert_eq!(double(Operation::Max), [2.0, 4.0, 7.0]);
        assert_eq!(double(Operation::Min), [1.5, -2.0, 0.5]);
    }

    #[test]
    fn complex_numbers() {
        let (to, from) = (f32::to_ne_bytes, f32::from_ne_bytes);
        let handle = 0x4c00_0840;
        let (a, b) = ([1.0, 2.0], [3.0, -1.0]);
        let sum = reduce(Operation::Sum, handle, &a, &b, to, from);
        assert_eq!(sum, [4.0, 1.0]);
        let product = reduce(Operation::Prod, handle, &a, &b, to, from);
        assert_eq!(product, [5.0, 5.0]);
    }

    #[test]
    fn every_defined_pair_of_operation_and_type_has_a_kernel() {
        let mut kernels = 0;
        for handle in crate::datatype::predefined_handles() {
            let datatype = get(handle).unwrap();
            for (operation, _) in super::super::OPERATIONS {
                if super::super::rules::check(operation, datatype).is_ok() {
                    let input = vec![0; 3 * datatype.size as usize];
                    let mut inout = input.clone();
                    apply(operation, &input, &mut inout, datatype);
                    assert_eq!(inout, input, "{operation:?} of zeros, {}", datatype.name());
                    kernels += 1;
                }
            }
        }
        assert!(kernels > 300, "{kernels}");
    }
}
