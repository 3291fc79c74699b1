//! Reduction operations, and MPI_Reduce_local, which applies one without communication.

use crate::addresses::IN_PLACE;
use crate::callback::{ReductionFunction, StatefulFunction};
use crate::decode::{self, BUF, Names};
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::{Buffer, Datatype as DatatypeObject, pack};
use oxmpi::error::{Class, Result, memory};
use oxmpi::{fail, op as core};

const INBUF: Names = Names {
    buffer: "inbuf",
    ..BUF
};
const INOUTBUF: Names = Names {
    buffer: "inoutbuf",
    ..BUF
};

/// Makes the operation; the pointer for its handle has been checked.
fn create(function: Option<ReductionFunction>, commute: Logical, op: Out<Op>) -> Result<()> {
    match function {
        Some(function) => op.set(Op(core::create(Box::new(function), commute.0 != 0)?)),
        None => fail!(Class::Arg, "user_fn is NULL; a function is needed"),
    }
}

entry! {
    AccessOnly fn MPI_Op_commutative(op: Op, commute: Out<Logical>) {
        commute.put_bool(core::get(op.0)?.is_commutative())
    }
}

entry! {
    Allocate fn MPI_Op_create[_c](user_fn: UserFunction, commute: Logical, op: Out<Op>) {
        op.not_null()?;
        let function = match user_fn {
            UserFunction::Small(function) => {
                function.map(|function| ReductionFunction::Small(function, Default::default()))
            }
            UserFunction::Large(function) => function.map(ReductionFunction::Large),
        };
        create(function, commute, op)
    }
}

#[cfg(not(standard_abi))]
entry! {
    /// MPICH's form: the function gets a state, which the destructor gives back.
    Allocate fn MPIX_Op_create_x(
        user_fn_x: UserFunctionX, destructor_fn: DestructorFunction, commute: Logical,
        extra_state: ExtraState, op: Out<Op>,
    ) {
        op.not_null()?;
        let stateful = |function| StatefulFunction {
            function,
            destructor: destructor_fn.0,
            state: extra_state.0 as usize,
        };
        let function = user_fn_x.0.map(stateful);
        create(function.map(ReductionFunction::Stateful), commute, op)
    }
}

entry! {
    UpdateRef fn MPI_Op_free(op: InOut<Op>) {
        core::free(op.read()?.0)?;
        op.set(Op(core::NULL))
    }
}

entry! {
    Own fn MPI_Reduce_local[_c](
        inbuf: SendBuffer, inoutbuf: RecvBuffer, count: Count, datatype: Datatype, op: Op,
    ) {
        decode::running()?;
        let Some(operation) = core::predefined(op.0) else {
            return reduce(inbuf, inoutbuf, count, datatype, op);
        };
        let number = decode::count("count", count)?;
        let kind = decode::committed_datatype("datatype", datatype)?;
        let (input, inout) = (inbuf.0.cast::<u8>(), inoutbuf.0.cast::<u8>());
        let nowhere = |address: *const u8| address.is_null() || address as usize == IN_PLACE;
        if number == 0 || nowhere(input) || nowhere(inout) {
            return reduce(inbuf, inoutbuf, count, datatype, op);
        }
        match in_memory((input, inout), number, kind) {
            Some(elements) => operation.apply_laid(elements),
            None => reduce(inbuf, inoutbuf, count, datatype, op),
        }
    }
}

/// MPI_Reduce_local, whatever the arguments are.
#[cold]
#[inline(never)]
fn reduce(
    inbuf: SendBuffer,
    inoutbuf: RecvBuffer,
    count: Count,
    datatype: Datatype,
    op: Op,
) -> Result<()> {
    let op = core::get(op.0)?;
    let number = decode::count("count", count)?;
    let kind = decode::committed_datatype("datatype", datatype)?;
    let input = decode::buffer_of(INBUF, inbuf.0.cast_mut(), number, kind)?;
    let inout = decode::buffer_of(INOUTBUF, inoutbuf.0, number, kind)?;
    if input.is_empty() {
        return op.check(kind);
    }
    let addresses = (inbuf.0.cast(), inoutbuf.0.cast());
    match in_memory(addresses, number, kind) {
        Some(elements) => op.apply_laid(elements),
        None => through_copies(&op, input, inout, number, kind),
    }
}

/// The elements where they lie, unless the two ranges of memory overlap. There are some, with data.
#[inline]
fn in_memory<'a>(
    (input, inout): (*const u8, *mut u8),
    count: u64,
    datatype: &'static DatatypeObject,
) -> Option<core::Elements<'a>> {
    let (from, length) = if datatype.is_contiguous() {
        (0, count as usize * datatype.size as usize)
    } else if datatype.is_predefined() {
        // A value and its index: the last one ends before its padding.
        let last = (count as usize - 1).checked_mul(datatype.extent as usize)?;
        (0, last.checked_add(datatype.true_extent as usize)?)
    } else {
        let (from, to) = pack::reach(count, datatype);
        (from as isize, usize::try_from(to - from).ok()?)
    };
    let (first, second) = (input.wrapping_offset(from), inout.wrapping_offset(from));
    if (first as usize).abs_diff(second as usize) < length {
        return None;
    }
    // SAFETY: the caller of the C function owns the memory from the first to the last byte of the elements' data, and
    // leaves it to this call; the two ranges do not overlap.
    let (input, inout) = unsafe {
        (
            std::slice::from_raw_parts(first, length),
            std::slice::from_raw_parts_mut(second, length),
        )
    };
    Some(core::Elements {
        input,
        inout,
        origin: -from,
        count,
        datatype,
    })
}

/// For elements that lie between each other: the holes of one buffer may be the data of the other.
#[cold]
fn through_copies(
    op: &core::Op,
    input: Buffer,
    inout: Buffer,
    count: u64,
    datatype: &'static DatatypeObject,
) -> Result<()> {
    if input.contiguous().is_some() {
        return fail!(Class::Buffer, "inbuf and inoutbuf overlap");
    }
    let mut from = memory::filled(input.len(), 0u8, "a copy")?;
    let mut into = memory::filled(inout.len(), 0u8, "a copy")?;
    input.read(0, &mut from);
    inout.read(0, &mut into);
    op.apply(&from, &mut into, count, datatype)?;
    inout.write(0, &into);
    Ok(())
}
