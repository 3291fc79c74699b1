//! The basic types that all data consists of, as the machine sees them, and the families in which the
//! standard's rules for reductions put the datatypes.

/// How the bytes of a basic type are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    /// C's long double: on x86-64 ten bytes of an x87 number in 16.
    LongDouble,
    /// IEEE quadruple precision.
    F128,
}

impl Scalar {
    /// Bytes.
    pub const fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
            Scalar::I128 | Scalar::LongDouble | Scalar::F128 => 16,
        }
    }
}

/// The families of the standard's table of reductions (MPI 5.0, section 6.9.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    Integer,
    FortranInteger,
    /// MPI_AINT, MPI_OFFSET, MPI_COUNT.
    Address,
    Floating,
    Complex,
    Logical,
    Byte,
    /// A value and an index, for MPI_MAXLOC and MPI_MINLOC.
    Pair,
    /// Text: never reduced.
    Character,
    Packed,
    /// MPI_LB and MPI_UB, removed from the standard, without data.
    Marker,
    /// Made by the program.
    Derived,
}
