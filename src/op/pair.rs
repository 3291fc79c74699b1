//! MPI_MAXLOC and MPI_MINLOC: the extreme value and, of equal values, the lowest index.
//!
//! The elements are packed: value and index follow each other without a hole.

use super::Operation;
use super::lane::{Lane, Number};
use super::softfloat::Extended80;
use crate::datatype::Scalar;

pub(super) fn apply(operation: Operation, input: &[u8], inout: &mut [u8], scalars: &[Scalar]) {
    let greatest = operation == Operation::MaxLoc;
    match (scalars[0], scalars[1]) {
        (Scalar::I16, Scalar::I32) => locate::<i16, i32>(greatest, input, inout),
        (Scalar::I32, Scalar::I32) => locate::<i32, i32>(greatest, input, inout),
        (Scalar::I64, Scalar::I32) => locate::<i64, i32>(greatest, input, inout),
        (Scalar::F32, Scalar::I32) => locate::<f32, i32>(greatest, input, inout),
        (Scalar::F64, Scalar::I32) => locate::<f64, i32>(greatest, input, inout),
        (Scalar::LongDouble, Scalar::I32) => locate::<Extended80, i32>(greatest, input, inout),
        (Scalar::F32, Scalar::F32) => locate::<f32, f32>(greatest, input, inout),
        (Scalar::F64, Scalar::F64) => locate::<f64, f64>(greatest, input, inout),
        (value, index) => unreachable!("there is no pair type of {value:?} and {index:?}"),
    }
}

#[derive(Clone, Copy)]
struct Located<V, I> {
    value: V,
    index: I,
}

impl<V: Number, I: Number> Lane for Located<V, I> {
    const SIZE: usize = V::SIZE + I::SIZE;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        Located {
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

fn locate<V: Number, I: Number>(greatest: bool, input: &[u8], inout: &mut [u8]) {
    Located::<V, I>::each(input, inout, |a, b| {
        let (low, high) = if greatest { (b, a) } else { (a, b) };
        if low.value.less(high.value) {
            a
        } else if high.value.less(low.value) || b.index.less(a.index) {
            b
        } else {
            a
        }
    });
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
        apply(Operation::MaxLoc, &bytes(&a), &mut inout, &scalars);
        assert_eq!(inout, bytes(&[(2.0, 3), (2.0, 1), (3.0, 2), (3.0, 2)]));
        let mut inout = bytes(&b);
        apply(Operation::MinLoc, &bytes(&a), &mut inout, &scalars);
        assert_eq!(inout, bytes(&[(1.0, 7), (1.0, 4), (3.0, 2), (3.0, 2)]));
    }
}
