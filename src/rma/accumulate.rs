//! MPI_Accumulate and MPI_Get_accumulate: operation, types and sizes are checked here; [`super::apply`] changes the elements.

use super::access::{Operand, Remote};
use super::apply::{Sides, Work};
use super::element::Arithmetic;
use super::hosts::{Track, origin};
use super::private::PrivateMemory;
use super::waiting::{Kind, Small};
use super::window::{Way, Window};
use crate::datatype::{Category, Datatype, Scalar};
use crate::error::{Class, Result, fail};
use crate::op::{Op, Operation};

/// MPI_Accumulate.
///
/// Errors: MPI_ERR_OP, MPI_ERR_TYPE, those of [`Window::locate`] and [`super::locks::Locks::hold`].
#[inline]
pub fn accumulate(window: &Window, op: &Op, origin: &Operand, remote: &Remote) -> Result<()> {
    if !reads_origin(op) {
        return fail!(
            Class::Op,
            "op is MPI_NO_OP, which only operations with a result take"
        );
    }
    run(window, op, Some(origin), None, remote, None)
}

/// One element that is computed in a register, of direct memory: most calls, in a few instructions. `result` may be null. `None`: it is
/// not that, or there is an error of the arguments; nothing was done.
///
/// # Safety
/// There is an element of the type at `origin`, and at `result` if it is not null.
#[inline(always)]
pub unsafe fn accumulate_one(
    window: &Window,
    op: &Op,
    origin: *const u8,
    result: *mut u8,
    datatype: &'static Datatype,
    (rank, disp): (i32, i64),
) -> Option<Result<()>> {
    let (Op::Predefined(operation), Arithmetic::Register(scalar)) = (op, Arithmetic::of(datatype))
    else {
        return None;
    };
    if *operation == Operation::NoOp && result.is_null() || check(op, *operation, datatype).is_err()
    {
        return None;
    }
    let Some(spot) = window.locate_quickly(rank, disp, datatype.size) else {
        let all = (datatype, datatype.size);
        // SAFETY: by the caller.
        return unsafe { accumulate_plain(window, op, origin, result, all, (rank, disp)) };
    };
    let work = Work::new(window, *operation, datatype);
    let target = spot.address as *mut u8;
    // What counters and sums are made of has code of its own, without the jumps by operation and type.
    // SAFETY: the caller's, and found in the window.
    Some(unsafe {
        match (operation, scalar) {
            (Operation::Sum, Scalar::F64) => {
                let kind = (Operation::Sum, Scalar::F64, 8);
                work.one(target, spot.key, origin, result, kind)
            }
            (Operation::Sum, Scalar::I64) => {
                let kind = (Operation::Sum, Scalar::I64, 8);
                work.one(target, spot.key, origin, result, kind)
            }
            _ => work.one_of_others(target, spot.key, origin, result, scalar),
        }
    })
}

/// As [`accumulate_one`], of several elements of a predefined type, so many bytes in all, and more than none.
///
/// # Safety
/// There are so many bytes at `origin`, and at `result` if it is not null.
#[inline(never)]
pub unsafe fn accumulate_plain(
    window: &Window,
    op: &Op,
    origin: *const u8,
    result: *mut u8,
    (datatype, bytes): (&'static Datatype, u64),
    (rank, disp): (i32, i64),
) -> Option<Result<()>> {
    let Op::Predefined(operation) = op else {
        return None;
    };
    // Pairs may have holes, and a derived type elements of several types.
    let is_of_one_kind = !matches!(
        datatype.category,
        Category::Pair | Category::Derived | Category::Marker
    );
    let is_useful = *operation != Operation::NoOp || !result.is_null();
    if !is_of_one_kind || !is_useful || check(op, *operation, datatype).is_err() {
        return None;
    }
    let Some(spot) = window.locate_quickly(rank, disp, bytes) else {
        // SAFETY: by the caller.
        return unsafe {
            accumulate_counted(
                window,
                *operation,
                origin,
                result,
                (datatype, bytes),
                (rank, disp),
            )
        };
    };
    let work = Work::new(window, *operation, datatype);
    let elements = (bytes / datatype.size) as usize;
    // SAFETY: the caller's, and found in the window.
    Some(unsafe { work.span(spot.address as *mut u8, spot.key, origin, result, elements) })
}

/// As [`accumulate_plain`], on edges that are shared in place.
///
/// # Safety
/// As for it.
#[cold]
#[inline(never)]
unsafe fn accumulate_counted(
    window: &Window,
    operation: Operation,
    origin: *const u8,
    result: *mut u8,
    (datatype, bytes): (&'static Datatype, u64),
    (rank, disp): (i32, i64),
) -> Option<Result<()>> {
    let (spot, _counted) = window.locate_counted(rank, disp, bytes)?;
    let work = Work::new(window, operation, datatype);
    let elements = (bytes / datatype.size) as usize;
    // SAFETY: the caller's, and found in the window, where it stays as long as it is counted.
    Some(unsafe { work.span(spot.address as *mut u8, spot.key, origin, result, elements) })
}

/// MPI_Get_accumulate: the result is what was there before. The origin is `None` for MPI_NO_OP, which does not look at it.
/// `track`: of MPI_Rget_accumulate.
///
/// Errors: as for [`accumulate`].
#[inline]
pub fn get_accumulate(
    window: &Window,
    op: &Op,
    origin: Option<&Operand>,
    result: &Operand,
    remote: &Remote,
    track: Option<&Track>,
) -> Result<()> {
    run(window, op, origin, Some(result), remote, track)
}

/// Whether an operation looks at the origin's elements.
#[inline(always)]
pub fn reads_origin(op: &Op) -> bool {
    !matches!(op, Op::Predefined(Operation::NoOp))
}

/// The operation, if windows have it.
#[inline(always)]
fn predefined(op: &Op) -> Result<Operation> {
    match op {
        Op::Predefined(operation) => Ok(*operation),
        Op::User(_) => fail!(
            Class::Op,
            "op was made by MPI_Op_create; operations on windows must be predefined"
        ),
    }
}

/// Fails unless the operation is defined on the type.
#[inline(always)]
fn check(op: &Op, operation: Operation, basic: &Datatype) -> Result<()> {
    match operation {
        Operation::Replace | Operation::NoOp => Ok(()),
        _ => op.check(basic),
    }
}

/// The predefined type that a type consists of.
///
/// Errors: MPI_ERR_TYPE if it consists of several, or of none.
#[inline(always)]
fn basic(name: &'static str, datatype: &'static Datatype) -> Result<&'static Datatype> {
    match datatype.category {
        Category::Derived | Category::Marker => basic_of_derived(name, datatype),
        _ => Ok(datatype),
    }
}

#[cold]
fn basic_of_derived(name: &'static str, datatype: &'static Datatype) -> Result<&'static Datatype> {
    match datatype.basic() {
        Some(basic) => Ok(basic),
        None => fail!(
            Class::Type,
            "{name} is {}, which does not consist of elements of one predefined datatype ({})",
            datatype.title(),
            datatype.layout().signature.text(1)
        ),
    }
}

/// Fails unless the elements of another side are those of the target.
#[inline(always)]
fn alike(name: &'static str, datatype: &'static Datatype, of_target: &Datatype) -> Result<()> {
    let own = basic(name, datatype)?;
    if own.is_like(of_target) {
        return Ok(());
    }
    fail!(
        Class::Type,
        "{name} consists of {}, but target_datatype of {}",
        own.title(),
        of_target.title()
    )
}

#[inline(never)]
fn run(
    window: &Window,
    op: &Op,
    origin: Option<&Operand>,
    result: Option<&Operand>,
    remote: &Remote,
    track: Option<&Track>,
) -> Result<()> {
    let operation = predefined(op)?;
    if remote.bytes() == 0 {
        let bytes = origin.map_or(0, |origin| origin.buffer.len());
        return window.locate(remote, bytes as u64).map(|_| ());
    }
    let basic = basic("target_datatype", remote.datatype)?;
    check(op, operation, basic)?;
    let mut bytes = remote.bytes();
    if let Some(origin) = origin {
        if !std::ptr::eq(origin.datatype, remote.datatype) {
            alike("origin_datatype", origin.datatype, basic)?;
        }
        bytes = origin.buffer.len() as u64;
    }
    if let Some(result) = result
        && !std::ptr::eq(result.datatype, remote.datatype)
    {
        alike("result_datatype", result.datatype, basic)?;
    }
    let Some(mut spot) = window.locate(remote, bytes)? else {
        return Ok(());
    };
    if let Some(result) = result
        && result.buffer.len() as u64 != bytes
    {
        return fail!(
            Class::Type,
            "the result has {} bytes, but the target {bytes}",
            result.buffer.len()
        );
    }
    let mut private = None;
    if matches!(spot.way, Way::Kernel | Way::Helper) {
        if let Some(shared) = window.shared_spot(&spot, remote) {
            window.catch_up(spot.rank)?;
            spot = shared;
        } else {
            let old = result.map_or(Some(std::ptr::null_mut()), |it| it.buffer.contiguous());
            if let (Some(result), None) = (old, track)
                && basic.category != Category::Pair
                && remote.datatype.is_contiguous()
            {
                let small = Small {
                    kind: Kind::Accumulate(operation, basic),
                    address: spot.address,
                    bytes: bytes as usize,
                    data: origin.map_or(&[], |origin| std::slice::from_ref(&origin.buffer)),
                    result,
                };
                if window.do_later(spot.rank, &small)? {
                    return Ok(());
                }
            }
            window.catch_up(spot.rank)?;
            let memory = PrivateMemory::begin(window, &spot)?;
            spot = memory.shared_spot(&spot, remote).unwrap_or(spot);
            private = Some(memory);
        }
    }
    let work = Work::new(window, operation, basic);
    let sides = Sides {
        origin: origin.map(|origin| origin.buffer),
        result: result.map(|result| result.buffer),
        // SAFETY: found by `locate` for these elements.
        target: unsafe { spot.elements(remote) },
        spot,
    };
    if spot.way == Way::Remote {
        let function = match result {
            Some(_) => "MPI_Get_accumulate",
            None => "MPI_Accumulate",
        };
        let sides = origin::Buffers {
            origin: sides.origin.as_ref().filter(|_| reads_origin(op)),
            result: sides.result.as_ref(),
            target: &sides.target,
        };
        return window
            .far(spot.rank, function)
            .accumulate(operation, basic, &sides, track);
    }
    // A run of the target's memory consists of whole elements unless these may have holes.
    let whole = basic.category != Category::Pair
        || basic.is_contiguous() && sides.target.contiguous().is_some();
    match (spot.way, whole, &private) {
        (Way::Kernel | Way::Helper, _, Some(memory)) => work.private(&sides, memory),
        (_, true, _) => work.runs(&sides),
        (_, false, _) => work.pairs(&sides),
    }
}
