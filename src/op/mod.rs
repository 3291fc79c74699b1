//! Reduction operations: the predefined ones and those that programs make (MPI 5.0, section 6.9).
//!
//! Invariant: data is reduced in packed form (the same as in memory for types without holes), and
//! always as `inout = input op inout`, so that an operation that does not commute keeps its order.

mod kernel;
mod lane;
mod pair;
mod rules;
mod softfloat;

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
    pub fn name(self) -> &'static str {
        OPERATIONS[self as usize - 1].1
    }
}

/// The program's function, in whatever language.
pub trait Function: Send + Sync {
    /// Both slices hold `count` elements laid out as the datatype says, counted from `origin`; an error is passed on.
    fn call(
        &self,
        input: &[u8],
        inout: &mut [u8],
        origin: usize,
        count: u64,
        datatype: i32,
    ) -> Result<()>;

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

fn predefined(handle: i32) -> Option<Operation> {
    let position = handle.checked_sub(MAX)?;
    let entry = OPERATIONS.get(usize::try_from(position).ok()?)?;
    Some(entry.0)
}

/// The operation of a handle. MPI_ERR_OP for MPI_OP_NULL and what is no operation.
pub fn get(handle: i32) -> Result<Op> {
    if let Some(operation) = predefined(handle) {
        return Ok(Op::Predefined(operation));
    }
    match OPS.get(handle) {
        Some(operation) => Ok(Op::User(operation)),
        None if handle == NULL => fail!(Class::Op, "op is MPI_OP_NULL"),
        None => fail!(Class::Op, "op is {handle:#x}, which is no operation"),
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

impl Op {
    pub fn is_commutative(&self) -> bool {
        match self {
            Op::Predefined(operation) => !matches!(operation, Operation::Replace | Operation::NoOp),
            Op::User(operation) => operation.commutative,
        }
    }

    /// MPI_ERR_OP when the standard does not define the operation on this type.
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
                kernel::apply(*operation, input, inout, datatype);
                Ok(())
            }
            Op::User(operation) if datatype.is_contiguous() => {
                let function = &operation.function;
                function.call(input, inout, 0, count, datatype.handle)
            }
            Op::User(operation) => {
                let function = &operation.function;
                let input = unpacked(input, count, datatype);
                let mut result = unpacked(inout, count, datatype);
                let origin = input.origin;
                let (from, into) = (&input.memory, &mut result.memory);
                function.call(from, into, origin, count, datatype.handle)?;
                result.buffer().read(0, inout);
                Ok(())
            }
        }
    }
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

    const SHORT_INT: i32 = 0x8c00_0003_u32 as i32;

    /// Keeps the input's elements and adds one to the count it has seen.
    struct First(Arc<std::sync::atomic::AtomicU64>);

    impl Function for First {
        fn call(
            &self,
            input: &[u8],
            inout: &mut [u8],
            origin: usize,
            count: u64,
            datatype: i32,
        ) -> Result<()> {
            let extent = datatype::get(datatype).unwrap().extent as u64;
            assert_eq!(inout[origin..].len() as u64, count * extent);
            inout.copy_from_slice(input);
            self.0
                .fetch_add(count, std::sync::atomic::Ordering::Relaxed);
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
        assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 6);
        free(handle).unwrap();
        assert!(get(handle).is_err());
        let mut inout = [0; 4];
        op.apply(&[1; 4], &mut inout, 1, datatype::get(INT).unwrap())
            .unwrap();
        assert_eq!(inout, [1; 4]);
    }
}
