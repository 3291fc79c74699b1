//! The loops of the predefined reductions: from operation and type to one simple loop.
//!
//! Cost: one pass over all buffers, which the compiler vectorises. `oracle.rs` compares each kernel with its definition.

use super::extended::Extended80;
use super::half::{Brain, Half};
use super::lane::{Bits, Lane, Number};
use super::numbers::Complex;
use super::softfloat::Binary128;
use super::wide::Sources;
use super::{Form, Operation, pair};
use crate::datatype::{Category, Datatype, Scalar};

/// The operation has been checked to be defined on the datatype. Only pair types have holes.
pub(super) fn apply(
    operation: Operation,
    sources: Sources,
    inout: &mut [u8],
    datatype: &Datatype,
    form: Form,
) {
    match datatype.category {
        Category::Pair => {
            if let Some(last) = sources.last {
                super::copy(last, inout);
            }
            for input in sources.left.iter().rev() {
                pair::apply(operation, input, inout, datatype.scalars, form);
            }
            if let Some(second) = sources.second {
                second.put::<false>(0, inout);
            }
        }
        Category::Complex => match datatype.scalars[0] {
            Scalar::F16 => complex::<Half>(operation, sources, inout),
            Scalar::F32 => complex::<f32>(operation, sources, inout),
            Scalar::F64 => complex::<f64>(operation, sources, inout),
            Scalar::LongDouble => complex::<Extended80>(operation, sources, inout),
            Scalar::F128 => complex::<Binary128>(operation, sources, inout),
            scalar => unreachable!("{scalar:?} is no part of a complex type"),
        },
        _ => match datatype.scalars[0] {
            Scalar::I8 => integer::<i8>(operation, sources, inout),
            Scalar::I16 => integer::<i16>(operation, sources, inout),
            Scalar::I32 => integer::<i32>(operation, sources, inout),
            Scalar::I64 => integer::<i64>(operation, sources, inout),
            Scalar::I128 => integer::<i128>(operation, sources, inout),
            Scalar::U8 => integer::<u8>(operation, sources, inout),
            Scalar::U16 => integer::<u16>(operation, sources, inout),
            Scalar::U32 => integer::<u32>(operation, sources, inout),
            Scalar::U64 => integer::<u64>(operation, sources, inout),
            Scalar::F16 => number::<Half>(operation, sources, inout),
            Scalar::BF16 => number::<Brain>(operation, sources, inout),
            Scalar::F32 => number::<f32>(operation, sources, inout),
            Scalar::F64 => number::<f64>(operation, sources, inout),
            Scalar::LongDouble => number::<Extended80>(operation, sources, inout),
            Scalar::F128 => number::<Binary128>(operation, sources, inout),
        },
    }
}

fn number<T: Number>(operation: Operation, sources: Sources, inout: &mut [u8]) {
    match operation {
        Operation::Max => T::each(sources, inout, |a, b| if b.less(a) { a } else { b }),
        Operation::Min => T::each(sources, inout, |a, b| if a.less(b) { a } else { b }),
        Operation::Sum => T::each(sources, inout, T::add),
        Operation::Prod => T::each(sources, inout, T::multiply),
        Operation::LogicalAnd => T::each(sources, inout, |a, b| {
            T::from_truth(a.is_true() & b.is_true())
        }),
        Operation::LogicalOr => T::each(sources, inout, |a, b| {
            T::from_truth(a.is_true() | b.is_true())
        }),
        Operation::LogicalXor => T::each(sources, inout, |a, b| {
            T::from_truth(a.is_true() ^ b.is_true())
        }),
        _ => unreachable!("{} on numbers was refused", operation.name()),
    }
}

fn integer<T: Bits>(operation: Operation, sources: Sources, inout: &mut [u8]) {
    // Each closure is a type, and so a loop, of its own; one with a function inside would be a loop of calls.
    let truth = |value: T| T::from_truth(value.is_true());
    match operation {
        Operation::LogicalAnd => T::each(sources, inout, |a, b| truth(a).and(truth(b))),
        Operation::LogicalOr => T::each(sources, inout, |a, b| truth(a).or(truth(b))),
        Operation::LogicalXor => T::each(sources, inout, |a, b| truth(a).xor(truth(b))),
        Operation::BitAnd => T::each(sources, inout, T::and),
        Operation::BitOr => T::each(sources, inout, T::or),
        Operation::BitXor => T::each(sources, inout, T::xor),
        _ => number::<T>(operation, sources, inout),
    }
}

fn complex<T: Number>(operation: Operation, sources: Sources, inout: &mut [u8]) {
    match operation {
        Operation::Sum => Complex::<T>::each(sources, inout, Complex::add),
        Operation::Prod => Complex::<T>::each(sources, inout, Complex::multiply),
        _ => unreachable!("{} on complex numbers was refused", operation.name()),
    }
}
