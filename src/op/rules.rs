//! Which operation the standard defines on which types (MPI 5.0, section 6.9.2), with two allowances
//! that MPICH makes and programs use: MPI_CHAR counts as an integer, and the logical operations take
//! all integers and numbers with fractions.

use super::Operation;
use crate::datatype::{Category, Datatype};
use crate::error::{Class, Result, fail};

/// The categories of types that each operation is defined on, a bit for each, by the operation's number.
static DEFINED: [u16; 15] = {
    use Category::*;
    let ordered = of(&[Integer, FortranInteger, Address, Floating]);
    let summed = ordered | of(&[Complex]);
    let logical = ordered | of(&[Logical]);
    let bits = of(&[Integer, FortranInteger, Address, Byte]);
    let located = of(&[Pair]);
    let mut defined = [0; 15];
    defined[Operation::Max as usize] = ordered;
    defined[Operation::Min as usize] = ordered;
    defined[Operation::Sum as usize] = summed;
    defined[Operation::Prod as usize] = summed;
    defined[Operation::LogicalAnd as usize] = logical;
    defined[Operation::LogicalOr as usize] = logical;
    defined[Operation::LogicalXor as usize] = logical;
    defined[Operation::BitAnd as usize] = bits;
    defined[Operation::BitOr as usize] = bits;
    defined[Operation::BitXor as usize] = bits;
    defined[Operation::MinLoc as usize] = located;
    defined[Operation::MaxLoc as usize] = located;
    defined
};

const fn of(categories: &[Category]) -> u16 {
    let (mut bits, mut index) = (0, 0);
    while index < categories.len() {
        bits |= 1 << categories[index] as u16;
        index += 1;
    }
    bits
}

#[inline]
pub(super) fn check(operation: Operation, datatype: &Datatype) -> Result<()> {
    if DEFINED[operation as usize] >> datatype.category as u16 & 1 != 0 {
        return Ok(());
    }
    match operation {
        Operation::Replace | Operation::NoOp => for_windows(operation),
        _ => refuse(operation, datatype),
    }
}

#[cold]
fn for_windows(operation: Operation) -> Result<()> {
    fail!(
        Class::Op,
        "op is {}, which is for windows only",
        operation.name()
    )
}

#[cold]
fn refuse(operation: Operation, datatype: &Datatype) -> Result<()> {
    let which = match datatype.category {
        Category::Derived => format!(
            "the derived datatype {}; predefined operations take predefined datatypes",
            datatype.title()
        ),
        _ => datatype.title(),
    };
    fail!(
        Class::Op,
        "op is {}, which is not defined for {which}",
        operation.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::get;

    #[test]
    fn what_is_defined() {
        let (int, byte, double) = (0x4c00_0405, 0x4c00_010d, 0x4c00_080b);
        let (complex, bool, two_int) = (0x4c00_1041, 0x4c00_013f, 0x4c00_0816);
        let packed = 0x4c00_010f;
        for (operation, datatype, defined) in [
            (Operation::Sum, int, true),
            (Operation::Sum, byte, false),
            (Operation::Sum, complex, true),
            (Operation::Max, complex, false),
            (Operation::BitAnd, byte, true),
            (Operation::BitAnd, double, false),
            (Operation::LogicalAnd, bool, true),
            (Operation::LogicalAnd, double, true),
            (Operation::LogicalAnd, complex, false),
            (Operation::MaxLoc, two_int, true),
            (Operation::MaxLoc, int, false),
            (Operation::Sum, two_int, false),
            (Operation::Sum, packed, false),
            (Operation::Replace, int, false),
        ] {
            let result = check(operation, get(datatype).unwrap());
            assert_eq!(result.is_ok(), defined, "{operation:?} {datatype:#x}");
        }
        let error = check(Operation::BitAnd, get(double).unwrap()).unwrap_err();
        assert_eq!(error.class(), Class::Op);
        assert!(error.text().contains("MPI_BAND"), "{error}");
        assert!(error.text().contains("MPI_DOUBLE"), "{error}");
    }
}
