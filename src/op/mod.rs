//! Reduction operations: the predefined ones and those that programs make (MPI 5.0, section 6.9).
//!
//! Invariant: it is always `inout = input op inout`, so that an operation that does not commute keeps its order. Data is
//! packed, or lies as in a program's memory; both are the same for types without holes.

mod extended;
mod half;
mod kernel;
mod lane;
mod numbers;
#[cfg(test)]
mod oracle;
mod pair;
mod rules;
mod softfloat;
mod wide;

pub use wide::Second;
use wide::Sources;

use crate::datatype::{Datatype, pack::Laid};
use crate::error::{Class, Result, fail};
use crate::handle::{ObjectType, SharedTable, builtin, null};
use std::sync::Arc;

/// MPI_OP_NULL.
pub const NULL: i32 = null(ObjectType::Op);
pub const MAX: i32 = builtin(ObjectType::Op, 1);
pub const MIN: i32 = builtin(ObjectType::Op, 2);
pub const SUM: i32 = builtin(ObjectType::Op, 3);

/// The predefined operations; the numbers are the index of the handle.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Max = 1,
    Min = 2,
    Sum = 3,
    Prod = 4,
    LogicalAnd = 5,
    BitAnd = 6,
    LogicalOr = 7,
    BitOr = 8,
    LogicalXor = 9,
    BitXor = 10,
    MinLoc = 11,
    MaxLoc = 12,
    /// For accumulating into windows only.
    Replace = 13,
    /// For accumulating into windows only.
    NoOp = 14,
}

/// MPICH's operation of its own: it compares data in a form that only MPICH's internal code makes.
const MPICH_EQUAL: i32 = builtin(ObjectType::Op, 15);

const OPERATIONS: [(Operation, &str); 14] = [
    (Operation::Max, "MPI_MAX"),
    (Operation::Min, "MPI_MIN"),
    (Operation::Sum, "MPI_SUM"),
    (Operation::Prod, "MPI_PROD"),
    (Operation::LogicalAnd, "MPI_LAND"),
    (Operation::BitAnd, "MPI_BAND"),
    (Operation::LogicalOr, "MPI_LOR"),
    (Operation::BitOr, "MPI_BOR"),
    (Operation::LogicalXor, "MPI_LXOR"),
    (Operation::BitXor, "MPI_BXOR"),
    (Operation::MinLoc, "MPI_MINLOC"),
    (Operation::MaxLoc, "MPI_MAXLOC"),
    (Operation::Replace, "MPI_REPLACE"),
    (Operation::NoOp, "MPI_NO_OP"),
];

impl Operation {
    /// The operation of a number.
    pub fn of_number(number: u32) -> Option<Operation> {
        let known = |(operation, _): &&(Operation, _)| *operation as u32 == number;
        OPERATIONS
            .iter()
            .find(known)
            .map(|(operation, _)| *operation)
    }

    pub fn name(self) -> &'static str {
        OPERATIONS[self as usize - 1].1
    }
}

/// What a reduction works on: both slices hold `count` elements laid out as the datatype says. The first counts from
/// `origin` after the beginning, which need not be inside.
pub struct Elements<'a> {
    pub input: &'a [u8],
    pub inout: &'a mut [u8],
    pub origin: isize,
    pub count: u64,
    pub datatype: &'static Datatype,
}

/// The program's function, in whatever language.
pub trait Function: Send + Sync {
    /// An error is passed on.
    fn call(&self, elements: Elements<'_>) -> Result<()>;

    /// From now on the function is called through this function of another language's wrapper (an
    /// address, known to the implementation only).
    fn set_proxy(&self, proxy: usize);
}

pub struct UserOperation {
    function: Box<dyn Function>,
    commutative: bool,
}

/// A reduction operation; cheap to clone.
#[derive(Clone)]
pub enum Op {
    Predefined(Operation),
    User(Arc<UserOperation>),
}

static OPS: SharedTable<UserOperation> = SharedTable::new(ObjectType::Op);

/// The predefined operation of a handle.
#[inline]
pub fn predefined(handle: i32) -> Option<Operation> {
    let position = handle.checked_sub(MAX)?;
    let entry = OPERATIONS.get(usize::try_from(position).ok()?)?;
    Some(entry.0)
}

/// The operation of a handle. MPI_ERR_OP for MPI_OP_NULL and what is no operation.
#[inline]
pub fn get(handle: i32) -> Result<Op> {
    match predefined(handle) {
        Some(operation) => Ok(Op::Predefined(operation)),
        None => get_made(handle),
    }
}

/// An operation that a program made.
fn get_made(handle: i32) -> Result<Op> {
    match OPS.get(handle) {
        Some(operation) => Ok(Op::User(operation)),
        None if handle == NULL => fail!(Class::Op, "op is MPI_OP_NULL; an operation is needed"),
        None if handle == MPICH_EQUAL => fail!(
            Class::Op,
            "op is MPIX_EQUAL, an operation inside MPICH that oxmpi does not have"
        ),
        None => fail!(
            Class::Op,
            "op is {handle:#010x}, which is no operation, or one that was freed"
        ),
    }
}

/// MPI_Op_create.
pub fn create(function: Box<dyn Function>, commutative: bool) -> Result<i32> {
    OPS.insert(Arc::new(UserOperation {
        function,
        commutative,
    }))
}

/// MPI_Op_free. Reductions that are under way keep the operation.
pub fn free(handle: i32) -> Result<()> {
    match get(handle)? {
        Op::Predefined(operation) => fail!(
            Class::Op,
            "op is {}, which is predefined and cannot be freed",
            operation.name()
        ),
        Op::User(_) => {
            OPS.remove(handle);
            Ok(())
        }
    }
}

/// Lets the wrapper of another language call the function; false if there is no such operation.
pub fn set_proxy(handle: i32, proxy: usize) -> bool {
    let operation = OPS.get(handle);
    if let Some(operation) = &operation {
        operation.function.set_proxy(proxy);
    }
    operation.is_some()
}

impl Operation {
    /// `inout = input op inout` for packed elements of a predefined type, on which the operation is [defined](Op::check); both slices
    /// have as many.
    #[inline]
    pub fn apply(self, input: &[u8], inout: &mut [u8], datatype: &Datatype) {
        kernel::packed(self, datatype).run_one(input, inout);
    }

    /// As [`Op::apply_laid`].
    #[inline(always)]
    pub fn apply_laid(self, elements: Elements<'_>) -> Result<()> {
        let datatype = elements.datatype;
        rules::check(self, datatype)?;
        assert_eq!(elements.origin, 0, "predefined types count from their data");
        kernel::laid(self, datatype).run_one(elements.input, elements.inout);
        Ok(())
    }
}

impl Op {
    pub fn is_commutative(&self) -> bool {
        match self {
            Op::Predefined(operation) => !matches!(operation, Operation::Replace | Operation::NoOp),
            Op::User(operation) => operation.commutative,
        }
    }

    /// MPI_ERR_OP when the standard does not define the operation on this type.
    #[inline]
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        match self {
            Op::Predefined(operation) => rules::check(*operation, datatype),
            Op::User(_) => Ok(()),
        }
    }

    /// `inout = input op inout` for `count` packed elements, which both slices hold. They should
    /// start at an address fit for the type, because a program's function will rely on it.
    pub fn apply(
        &self,
        input: &[u8],
        inout: &mut [u8],
        count: u64,
        datatype: &'static Datatype,
    ) -> Result<()> {
        let bytes = count as usize * datatype.size as usize;
        let (input, inout) = (&input[..bytes], &mut inout[..bytes]);
        match self {
            Op::Predefined(operation) => {
                rules::check(*operation, datatype)?;
                operation.apply(input, inout, datatype);
                Ok(())
            }
            Op::User(_) if datatype.is_contiguous() => self.apply_laid(Elements {
                input,
                inout,
                origin: 0,
                count,
                datatype,
            }),
            Op::User(_) => {
                let from = unpacked(input, count, datatype);
                let mut into = unpacked(inout, count, datatype);
                self.apply_laid(Elements {
                    input: &from.memory,
                    origin: into.origin as isize,
                    inout: &mut into.memory,
                    count,
                    datatype,
                })?;
                into.buffer().read(0, inout);
                Ok(())
            }
        }
    }

    /// `inout = left[0] op (left[1] op (... op last))` for packed elements, of which all slices hold `count`; the last operand
    /// is `inout` itself if it is not given. The result goes to a second place, too, if there is one.
    pub fn fold(
        &self,
        (left, last): (&[&[u8]], Option<&[u8]>),
        inout: &mut [u8],
        second: Option<Second>,
        count: u64,
        datatype: &'static Datatype,
    ) -> Result<()> {
        let inout = &mut inout[..count as usize * datatype.size as usize];
        match self {
            Op::Predefined(operation) => {
                rules::check(*operation, datatype)?;
                let sources = Sources { left, last, second };
                kernel::packed(*operation, datatype).run(sources, inout);
                Ok(())
            }
            Op::User(_) => {
                if let Some(last) = last {
                    copy(last, inout);
                }
                for left in left.iter().rev() {
                    self.apply(left, inout, count, datatype)?;
                }
                if let Some(second) = second {
                    second.put::<false>(0, inout);
                }
                Ok(())
            }
        }
    }

    /// As [`Op::apply`], for elements as they lie in a program's memory.
    #[inline]
    pub fn apply_laid(&self, elements: Elements<'_>) -> Result<()> {
        match self {
            Op::Predefined(operation) => operation.apply_laid(elements),
            Op::User(operation) => operation.function.call(elements),
        }
    }
}

/// An operand that the result takes the place of.
fn copy(operand: &[u8], inout: &mut [u8]) {
    #[cfg(test)]
    crate::datatype::copies::count(inout.len());
    inout.copy_from_slice(&operand[..inout.len()]);
}

/// The elements laid out as in a program's memory.
fn unpacked(packed: &[u8], count: u64, datatype: &'static Datatype) -> Laid {
    let mut elements = Laid::new(count, datatype);
    elements.buffer().write(0, packed);
    elements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{self, INT};
    use crate::sync::{AtomicUsize, Ordering};

    const SHORT_INT: i32 = 0x8c00_0003_u32 as i32;

    /// Keeps the input's elements and adds one to the count it has seen.
    struct First(Arc<AtomicUsize>);

    impl Function for First {
        fn call(&self, elements: Elements<'_>) -> Result<()> {
            let extent = elements.datatype.extent as u64;
            let inout = elements.inout;
            assert_eq!(
                inout[elements.origin as usize..].len() as u64,
                elements.count * extent
            );
            inout.copy_from_slice(elements.input);
            self.0.fetch_add(elements.count as usize, Ordering::Relaxed);
            Ok(())
        }

        fn set_proxy(&self, _: usize) {}
    }

    #[test]
    fn handles() {
        let op = get(0x5800_0003).unwrap();
        assert!(matches!(op, Op::Predefined(Operation::Sum)));
        assert!(op.is_commutative());
        for handle in [NULL, 0x5800_0000, 0x5800_000f, 0x4400_0000, -1, i32::MIN] {
            assert_eq!(get(handle).err().unwrap().class(), Class::Op);
        }
        assert_eq!(free(SUM).unwrap_err().class(), Class::Op);
        for (position, (operation, name)) in OPERATIONS.iter().enumerate() {
            assert_eq!(*operation as usize, position + 1);
            assert_eq!(operation.name(), *name);
        }
    }

    #[test]
    fn a_programs_function_sees_the_layout_of_the_type() {
        let seen = Arc::default();
        let handle = create(Box::new(First(Arc::clone(&seen))), false).unwrap();
        let op = get(handle).unwrap();
        assert!(!op.is_commutative());
        for handle in [INT, SHORT_INT] {
            let datatype = datatype::get(handle).unwrap();
            let input: Vec<u8> = (0..3 * datatype.size as u8).collect();
            let mut inout = vec![0xff; input.len()];
            op.apply(&input, &mut inout, 3, datatype).unwrap();
            assert_eq!(inout, input);
        }
        assert_eq!(seen.load(Ordering::Relaxed), 6);
        free(handle).unwrap();
        assert!(get(handle).is_err());
        let mut inout = [0; 4];
        op.apply(&[1; 4], &mut inout, 1, datatype::get(INT).unwrap())
            .unwrap();
        assert_eq!(inout, [1; 4]);
    }
}
