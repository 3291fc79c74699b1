//! MPI_MAXLOC and MPI_MINLOC: the extreme value and, of equal values, the lowest index.
//!
//! Elements are packed, value and index without a hole, or laid out as in a C program's struct.

use super::extended::Extended80;
use super::lane::Number;
use super::{Form, Operation};
use crate::datatype::Scalar;

pub(super) fn apply(
    operation: Operation,
    input: &[u8],
    inout: &mut [u8],
    scalars: &[Scalar],
    form: Form,
) {
    let to = (operation == Operation::MaxLoc, form);
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => each::<i16, i32>(to, input, inout),
        (Scalar::I32, Scalar::I32) => each::<i32, i32>(to, input, inout),
        (Scalar::I64, Scalar::I32) => each::<i64, i32>(to, input, inout),
        (Scalar::F32, Scalar::I32) => each::<f32, i32>(to, input, inout),
        (Scalar::F64, Scalar::I32) => each::<f64, i32>(to, input, inout),
        (Scalar::LongDouble, Scalar::I32) => each::<Extended80, i32>(to, input, inout),
        (Scalar::F32, Scalar::F32) => each::<f32, f32>(to, input, inout),
        (Scalar::F64, Scalar::F64) => each::<f64, f64>(to, input, inout),
        (value, index) => unreachable!("there is no pair type of {value:?} and {index:?}"),
    }
}

/// `to`: whether to the greatest value, and how the elements lie. Each of the four cases is a loop of its own.
fn each<V: Number, I: Number>(to: (bool, Form), input: &[u8], inout: &mut [u8]) {
    match to {
        (true, Form::Packed) => locate::<V, I, true, true>(input, inout),
        (true, Form::Laid) => locate::<V, I, true, false>(input, inout),
        (false, Form::Packed) => locate::<V, I, false, true>(input, inout),
        (false, Form::Laid) => locate::<V, I, false, false>(input, inout),
    }
}

#[inline(always)]
fn locate<V: Number, I: Number, const GREATEST: bool, const PACKED: bool>(
    input: &[u8],
    inout: &mut [u8],
) {
    let (index_at, step) = if PACKED {
        (V::SIZE, V::SIZE + I::SIZE)
    } else {
        let index_at = V::SIZE.next_multiple_of(I::SIZE);
        let step = (index_at + I::SIZE).next_multiple_of(V::SIZE.max(I::SIZE));
        (index_at, step)
    };
    // The last element may end before its padding.
    for (target, source) in inout.chunks_mut(step).zip(input.chunks(step)) {
        let (target_value, target_index) = target[..index_at + I::SIZE].split_at_mut(index_at);
        let (source_value, source_index) = source[..index_at + I::SIZE].split_at(index_at);
        let (a, b) = (
            V::load(&source_value[..V::SIZE]),
            V::load(&target_value[..V::SIZE]),
        );
        let (i, j) = (I::load(source_index), I::load(target_index));
        let (low, high) = if GREATEST { (b, a) } else { (a, b) };
        // Without branches: what wins is not predictable.
        let keeps = high.less(low) | (!low.less(high) & j.less(i));
        if keeps { b } else { a }.store(&mut target_value[..V::SIZE]);
        if keeps { j } else { i }.store(target_index);
    }
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
        let scalars = [Scalar::F64, Scalar::I32];
        let mut inout = bytes(&b);
        apply(
            Operation::MaxLoc,
            &bytes(&a),
            &mut inout,
            &scalars,
            Form::Packed,
        );
        assert_eq!(inout, bytes(&[(2.0, 3), (2.0, 1), (3.0, 2), (3.0, 2)]));
        let mut inout = bytes(&b);
        apply(
            Operation::MinLoc,
            &bytes(&a),
            &mut inout,
            &scalars,
            Form::Packed,
        );
        assert_eq!(inout, bytes(&[(1.0, 7), (1.0, 4), (3.0, 2), (3.0, 2)]));
    }
}
