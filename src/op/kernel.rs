//! The loops of the predefined reductions: from operation and type to one simple loop.
//!
//! Cost: a look-up in a table and one pass over all buffers, which the compiler vectorises. `oracle.rs` compares each kernel with its
//! definition.
#![allow(unsafe_code)]

use super::extended::Extended80;
use super::half::{Brain, Half};
use super::lane::{Bits, Combine, Number};
use super::numbers::Complex;
use super::softfloat::Binary128;
use super::wide::{Loop, Loops};
use super::{Operation, pair};
use crate::datatype::{Category, Datatype, Scalar};

/// The loops of an operation that was checked to be defined on the datatype; for elements without holes.
#[inline(always)]
pub(super) fn packed(operation: Operation, datatype: &Datatype) -> &'static Loops {
    let table = match datatype.category {
        Category::Pair => return pair::packed_loops(operation, datatype.scalars),
        Category::Complex => &COMPLEX,
        _ => &NUMBERS,
    };
    match table[datatype.scalars[0] as usize][operation as usize] {
        Some(loops) => loops,
        None => unreachable!("{} on {:?} was refused", operation.name(), datatype.scalars),
    }
}

/// As [`packed`], for elements as they lie in a program's memory: only pair types have holes.
#[inline(always)]
pub(super) fn laid(operation: Operation, datatype: &Datatype) -> &'static Loops {
    match datatype.category {
        Category::Pair => pair::laid_loops(operation, datatype.scalars),
        _ => packed(operation, datatype),
    }
}

/// The operations, each a type, and so a loop, of its own.
macro_rules! combine {
    ($($name:ident: $bound:ident = |$a:ident, $b:ident| $result:expr;)*) => {
        $(
            struct $name;
            impl<T: $bound> Combine<T> for $name {
                #[inline(always)]
                fn combine($a: T, $b: T) -> T {
                    $result
                }
                combine!(@single $bound $name);
            }
        )*
    };
    (@single Number $name:ident) => {
        #[inline(always)]
        fn single(a: f32, b: f32) -> f32 {
            <$name as Combine<f32>>::combine(a, b)
        }
    };
    (@single Bits $name:ident) => {};
}

combine! {
    Max: Number = |a, b| if b.less(a) { a } else { b };
    Min: Number = |a, b| if a.less(b) { a } else { b };
    Sum: Number = |a, b| a.add(b);
    Prod: Number = |a, b| a.multiply(b);
    LogicalAnd: Number = |a, b| T::from_truth(a.is_true() & b.is_true());
    LogicalOr: Number = |a, b| T::from_truth(a.is_true() | b.is_true());
    LogicalXor: Number = |a, b| T::from_truth(a.is_true() ^ b.is_true());
    TruthAnd: Bits = |a, b| T::from_truth(a.is_true()).and(T::from_truth(b.is_true()));
    TruthOr: Bits = |a, b| T::from_truth(a.is_true()).or(T::from_truth(b.is_true()));
    TruthXor: Bits = |a, b| T::from_truth(a.is_true()).xor(T::from_truth(b.is_true()));
    BitAnd: Bits = |a, b| a.and(b);
    BitOr: Bits = |a, b| a.or(b);
    BitXor: Bits = |a, b| a.xor(b);
}

impl<T: Number> Combine<Complex<T>> for Sum {
    #[inline(always)]
    fn combine(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a.add(b)
    }
}

impl<T: Number> Combine<Complex<T>> for Prod {
    #[inline(always)]
    fn combine(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a.multiply(b)
    }
}

/// The loops on one type, by the operation's number.
type Row = [Option<&'static Loops>; 15];

macro_rules! row {
    ($type:ty: $($operation:ident by $function:ident)*) => {{
        let mut row: Row = [None; 15];
        $(row[Operation::$operation as usize] = Some(&Loop::<$type, $function>::ALL);)*
        row
    }};
}

macro_rules! fraction {
    ($type:ty) => {
        row!($type: Max by Max Min by Min Sum by Sum Prod by Prod
            LogicalAnd by LogicalAnd LogicalOr by LogicalOr LogicalXor by LogicalXor)
    };
}

macro_rules! integer {
    ($type:ty) => {
        row!($type: Max by Max Min by Min Sum by Sum Prod by Prod
            LogicalAnd by TruthAnd LogicalOr by TruthOr LogicalXor by TruthXor
            BitAnd by BitAnd BitOr by BitOr BitXor by BitXor)
    };
}

macro_rules! complex {
    ($type:ty) => {
        row!(Complex<$type>: Sum by Sum Prod by Prod)
    };
}

/// By the number of the scalar.
type Table = [Row; 15];

macro_rules! table {
    ($($scalar:ident: $row:expr;)*) => {{
        let mut table: Table = [[None; 15]; 15];
        $(table[Scalar::$scalar as usize] = $row;)*
        table
    }};
}

static NUMBERS: Table = table! {
    I8: integer!(i8);
    I16: integer!(i16);
    I32: integer!(i32);
    I64: integer!(i64);
    I128: integer!(i128);
    U8: integer!(u8);
    U16: integer!(u16);
    U32: integer!(u32);
    U64: integer!(u64);
    F16: fraction!(Half);
    BF16: fraction!(Brain);
    F32: fraction!(f32);
    F64: fraction!(f64);
    LongDouble: fraction!(Extended80);
    F128: fraction!(Binary128);
};

static COMPLEX: Table = table! {
    F16: complex!(Half);
    F32: complex!(f32);
    F64: complex!(f64);
    LongDouble: complex!(Extended80);
    F128: complex!(Binary128);
};
