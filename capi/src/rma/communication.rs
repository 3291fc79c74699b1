//! One-sided communication.

use crate::addresses::IN_PLACE;
use crate::decode::{self, Names};
use crate::param::*;
use crate::pointers::*;
use oxmpi::datatype::{self, Datatype as DatatypeObject};
use oxmpi::error::Result;
use oxmpi::op::{self, Op as Operation};
use oxmpi::rma::access::{Operand, Remote};
use oxmpi::rma::hosts::Track;
use oxmpi::rma::{Window, accumulate, atomic, put_get};
use std::ffi::c_void;

const ORIGIN: Names = Names {
    buffer: "origin_addr",
    count: "origin_count",
    datatype: "origin_datatype",
    null_type: true,
};
const RESULT: Names = Names {
    buffer: "result_addr",
    count: "result_count",
    datatype: "result_datatype",
    null_type: true,
};
/// Of one element; the count is not an argument.
const ELEMENT: Names = Names {
    buffer: "origin_addr",
    count: "count",
    datatype: "datatype",
    null_type: false,
};
const COMPARE: Names = Names {
    buffer: "compare_addr",
    ..ELEMENT
};
const ELEMENT_RESULT: Names = Names {
    buffer: "result_addr",
    ..ELEMENT
};
const TARGET: Names = Names {
    buffer: "target_disp",
    count: "target_count",
    datatype: "target_datatype",
    null_type: true,
};

/// A count and a datatype.
type Elements = (Count, Datatype);

/// As [`decode::datatype_of`], with the usual case in the caller.
#[inline(always)]
fn datatype_of(names: Names, kind: Datatype, count: u64) -> Result<&'static DatatypeObject> {
    match datatype::get(kind.0) {
        Some(datatype) if datatype.is_committed() => Ok(datatype),
        _ => unusual_datatype(names, kind, count),
    }
}

#[cold]
#[inline(never)]
fn unusual_datatype(names: Names, kind: Datatype, count: u64) -> Result<&'static DatatypeObject> {
    decode::datatype_of(names, kind, count)
}

#[inline(always)]
fn remote((rank, disp): (Rank, Aint), (count, kind): Elements) -> Result<Remote> {
    let count = decode::count(TARGET.count, count)?;
    let datatype = datatype_of(TARGET, kind, count)?;
    Ok(Remote {
        rank: rank.0,
        disp: disp.0,
        count,
        datatype,
    })
}

/// The bytes of a type without holes, which both sides have the same elements of; more than none. `None`: they do not, or an argument
/// is wrong.
#[inline(always)]
fn plain(
    address: *const c_void,
    origin: Elements,
    target: Elements,
) -> Option<(u64, &'static DatatypeObject)> {
    let usable = address as isize > decode::NO_MEMORY && origin.0.0 > 0;
    if !usable || origin.0 != target.0 || origin.1 != target.1 {
        return None;
    }
    let datatype = datatype::get(origin.1.0)?;
    let bytes = (origin.0.0 as u64).checked_mul(datatype.size)?;
    let plain = bytes > 0 && datatype.is_contiguous() && datatype.is_committed();
    plain.then_some((bytes, datatype))
}

/// Copies where that takes a few instructions; false: it does not, and nothing was done.
#[inline(always)]
fn move_quickly<const PUT: bool>(
    address: *mut c_void,
    origin: Elements,
    (rank, disp): (Rank, Aint),
    target: Elements,
    win: Win,
) -> bool {
    let Some(window) = oxmpi::rma::get(win.0) else {
        return false;
    };
    let Some((bytes, _)) = plain(address, origin, target) else {
        return false;
    };
    // SAFETY: the caller of the C function has so many bytes there.
    unsafe { put_get::move_quickly::<PUT>(window, address.cast(), bytes, rank.0, disp.0) }
}

/// Operates on elements without holes in direct memory; `None`: it is not that, or an argument is wrong, and nothing was done. The result
/// may be NULL.
#[inline(always)]
fn operate_quickly(
    window: &Window,
    op: &Operation,
    (from, result): (SendBuffer, RecvBuffer),
    origin: Elements,
    target: Elements,
    (rank, disp): (Rank, Aint),
) -> Option<Result<()>> {
    if result.0 as usize == IN_PLACE {
        return None;
    }
    let (bytes, datatype) = plain(from.0, origin, target)?;
    let (from, result) = (from.0.cast(), result.0.cast());
    let place = (rank.0, disp.0);
    // SAFETY: the caller of the C function has so many elements at each of the addresses.
    unsafe {
        match target.0 {
            Count(1) => accumulate::accumulate_one(window, op, from, result, datatype, place),
            _ => accumulate::accumulate_plain(window, op, from, result, (datatype, bytes), place),
        }
    }
}

/// One element of the target's.
#[inline(always)]
fn element(rank: Rank, disp: Aint, kind: Datatype) -> Result<Remote> {
    Ok(Remote {
        rank: rank.0,
        disp: disp.0,
        count: 1,
        datatype: decode::committed_datatype(ELEMENT.datatype, kind)?,
    })
}

#[inline(always)]
fn operand(names: Names, address: *mut c_void, (count, kind): Elements) -> Result<Operand> {
    let count = decode::count(names.count, count)?;
    let datatype = datatype_of(names, kind, count)?;
    let buffer = decode::buffer_of(names, address, count, datatype)?;
    Ok(Operand { buffer, datatype })
}

/// The address of one element.
#[inline(always)]
fn address_of(
    names: Names,
    address: *mut c_void,
    kind: &'static DatatypeObject,
) -> Result<*mut u8> {
    decode::buffer_of(names, address, 1, kind).map(|_| address.cast())
}

/// MPI_Put and MPI_Rput if `PUT`, else MPI_Get and MPI_Rget.
#[inline(always)]
fn transfer<const PUT: bool>(
    address: *mut c_void,
    origin: Elements,
    place: (Rank, Aint),
    target: Elements,
    win: Win,
    track: Option<&Track>,
) -> Result<()> {
    match move_quickly::<PUT>(address, origin, place, target, win) {
        true => Ok(()),
        false => transfer_checked::<PUT>(address, origin, place, target, win, track),
    }
}

#[inline(never)]
fn transfer_checked<const PUT: bool>(
    address: *mut c_void,
    origin: Elements,
    place: (Rank, Aint),
    target: Elements,
    win: Win,
    track: Option<&Track>,
) -> Result<()> {
    let window = decode::win(win)?;
    let remote = remote(place, target)?;
    let buffer = match PUT {
        true => decode::send_buffer(ORIGIN, SendBuffer(address), origin.0, origin.1)?,
        false => decode::recv_buffer(ORIGIN, RecvBuffer(address), origin.0, origin.1)?,
    };
    put_get::transfer::<PUT>(window, buffer, &remote, track)
}

#[inline(always)]
fn accumulate(
    from: SendBuffer,
    origin: Elements,
    place: (Rank, Aint),
    target: Elements,
    op: Op,
    win: Win,
) -> Result<()> {
    let window = decode::win(win)?;
    let op = op::get(op.0)?;
    let none = RecvBuffer(std::ptr::null_mut());
    if let Some(done) = operate_quickly(window, &op, (from, none), origin, target, place) {
        return done;
    }
    let remote = remote(place, target)?;
    let origin = operand(ORIGIN, from.0.cast_mut(), origin)?;
    accumulate::accumulate(window, &op, &origin, &remote)
}

#[inline(always)]
fn get_accumulate(
    (from, origin): (SendBuffer, Elements),
    (into, result): (RecvBuffer, Elements),
    place: (Rank, Aint),
    target: Elements,
    op: Op,
    win: Win,
    track: Option<&Track>,
) -> Result<()> {
    let window = decode::win(win)?;
    let op = op::get(op.0)?;
    if !into.0.is_null()
        && result == target
        && let Some(done) = operate_quickly(window, &op, (from, into), origin, target, place)
    {
        return done;
    }
    let remote = remote(place, target)?;
    let origin = match accumulate::reads_origin(&op) {
        true => Some(operand(ORIGIN, from.0.cast_mut(), origin)?),
        false => None,
    };
    let result = operand(RESULT, into.0, result)?;
    accumulate::get_accumulate(window, &op, origin.as_ref(), &result, &remote, track)
}

entries! {
    (
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
    ) on win;
    access(track) = transfer::<true>(
        origin_addr.0.cast_mut(), (origin_count, origin_datatype), (target_rank, target_disp),
        (target_count, target_datatype), win, track,
    );

    CommIo fn MPI_Put[_c]() { access(None) }
    CommIo fn MPI_Rput[_c](request: Out<Request>) {
        request.not_null()?;
        let track = Track::new()?;
        access(Some(&track))?;
        request.set(Request(track.request()))
    }
}

entries! {
    (
        origin_addr: RecvBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, win: Win,
    ) on win;
    access(track) = transfer::<false>(
        origin_addr.0, (origin_count, origin_datatype), (target_rank, target_disp),
        (target_count, target_datatype), win, track,
    );

    CommIo fn MPI_Get[_c]() { access(None) }
    CommIo fn MPI_Rget[_c](request: Out<Request>) {
        request.not_null()?;
        let track = Track::new()?;
        access(Some(&track))?;
        request.set(Request(track.request()))
    }
}

entries! {
    (
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
    ) on win;
    access() = accumulate(
        origin_addr, (origin_count, origin_datatype), (target_rank, target_disp),
        (target_count, target_datatype), op, win,
    );

    CommIo fn MPI_Accumulate[_c]() { access() }
    CommIo fn MPI_Raccumulate[_c](request: Out<Request>) {
        request.not_null()?;
        access()?;
        request.set(Request(put_get::COMPLETE))
    }
}

entries! {
    (
        origin_addr: SendBuffer, origin_count: Count, origin_datatype: Datatype,
        result_addr: RecvBuffer, result_count: Count, result_datatype: Datatype, target_rank: Rank,
        target_disp: Aint, target_count: Count, target_datatype: Datatype, op: Op, win: Win,
    ) on win;
    access(track) = get_accumulate(
        (origin_addr, (origin_count, origin_datatype)), (result_addr, (result_count, result_datatype)),
        (target_rank, target_disp), (target_count, target_datatype), op, win, track,
    );

    CommIo fn MPI_Get_accumulate[_c]() { access(None) }
    CommIo fn MPI_Rget_accumulate[_c](request: Out<Request>) {
        request.not_null()?;
        let track = Track::new()?;
        access(Some(&track))?;
        request.set(Request(track.request()))
    }
}

entry! {
    CommIo fn MPI_Fetch_and_op(
        origin_addr: SendBuffer, result_addr: RecvBuffer, datatype: Datatype, target_rank: Rank,
        target_disp: Aint, op: Op, win: Win,
    ) on win {
        let window = decode::win(win)?;
        let op = op::get(op.0)?;
        let kind = (Count(1), datatype);
        if !result_addr.0.is_null()
            && let Some(done) =
                operate_quickly(window, &op, (origin_addr, result_addr), kind, kind, (target_rank, target_disp))
        {
            return done;
        }
        let remote = element(target_rank, target_disp, datatype)?;
        let origin = match accumulate::reads_origin(&op) {
            true => address_of(ELEMENT, origin_addr.0.cast_mut(), remote.datatype)?,
            false => std::ptr::null_mut(),
        };
        let result = address_of(ELEMENT_RESULT, result_addr.0, remote.datatype)?;
        // SAFETY: the caller of the C function has an element at each of the addresses.
        unsafe { atomic::fetch_and_op(window, &op, origin, result, &remote) }
    }
}

entry! {
    CommIo fn MPI_Compare_and_swap(
        origin_addr: SendBuffer, compare_addr: SendBuffer, result_addr: RecvBuffer,
        datatype: Datatype, target_rank: Rank, target_disp: Aint, win: Win,
    ) on win {
        let window = decode::win(win)?;
        let remote = element(target_rank, target_disp, datatype)?;
        let origin = address_of(ELEMENT, origin_addr.0.cast_mut(), remote.datatype)?;
        let compare = address_of(COMPARE, compare_addr.0.cast_mut(), remote.datatype)?;
        let result = address_of(ELEMENT_RESULT, result_addr.0, remote.datatype)?;
        // SAFETY: the caller of the C function has an element at each of the addresses.
        unsafe { atomic::compare_and_swap(window, origin, compare, result, &remote) }
    }
}
