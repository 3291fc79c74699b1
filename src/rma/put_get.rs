//! Put and get: copies between the origin's elements and the target's.
//!
//! Invariant: an aligned word of 1, 2, 4 or 8 bytes is written and read in one piece, so that a target that polls its memory never
//! sees half of a value.

use super::access::{Remote, Spot};
use super::hosts::Track;
use super::private::PrivateMemory;
use super::waiting::{Kind, Small};
use super::window::{Way, Window};
use crate::datatype::{Buffer, copying};
use crate::engine::requests;
use crate::error::Result;

/// The request of an operation on a window that is complete when its call returns, as most are: one for all, that nobody has to give back.
/// Its status is that of a send, since the standard defines nothing of it but the error.
pub const COMPLETE: i32 = requests::SENT;

/// MPI_Put if `PUT`, else MPI_Get. Complete, at the target, too, when this returns, but with another host; `track`: of MPI_Rput and
/// MPI_Rget.
///
/// A small one of private memory may wait at this process for a flush or the end of the epoch ([`super::batch`]).
///
/// Errors: those of [`Window::locate`]; MPI_ERR_RMA_ATTACH or MPI_ERR_RMA_RANGE for memory that the target has unmapped; those of operations that
/// have waited.
#[inline]
pub fn transfer<const PUT: bool>(
    window: &Window,
    origin: Buffer,
    remote: &Remote,
    track: Option<&Track>,
) -> Result<()> {
    let Some(spot) = window.locate(remote, origin.len() as u64)? else {
        return Ok(());
    };
    if let (Way::Direct, Some(own), true) = (
        spot.way,
        origin.contiguous(),
        remote.datatype.is_contiguous(),
    ) {
        let (target, bytes) = (spot.address as *mut u8, origin.len());
        // SAFETY: found by `locate` for as many bytes as the origin has.
        unsafe { copy::<PUT>(own, target, bytes) };
        return Ok(());
    }
    transfer_elements::<PUT>(window, &origin, remote, &spot, track)
}

#[inline(never)]
fn transfer_elements<const PUT: bool>(
    window: &Window,
    origin: &Buffer,
    remote: &Remote,
    spot: &Spot,
    track: Option<&Track>,
) -> Result<()> {
    if let Way::Kernel | Way::Helper = spot.way {
        return transfer_private::<PUT>(window, origin, remote, spot, track.is_some());
    }
    // SAFETY: found by `locate` for these elements.
    let target = unsafe { spot.elements(remote) };
    if spot.way == Way::Remote {
        let far = window.far(spot.rank, if PUT { "MPI_Put" } else { "MPI_Get" });
        return match PUT {
            true => far.put(origin, &target, track),
            false => far.get(origin, &target, track),
        };
    }
    copy_elements::<PUT>(origin, &target);
    Ok(())
}

/// As [`transfer`], of memory that only its process can address, unless it is shared in place. `has_request`: of MPI_Rput or MPI_Rget.
fn transfer_private<const PUT: bool>(
    window: &Window,
    origin: &Buffer,
    remote: &Remote,
    spot: &Spot,
    has_request: bool,
) -> Result<()> {
    if let Some(shared) = window.shared_spot(spot, remote) {
        window.catch_up(spot.rank)?;
        // SAFETY: as many bytes as `locate` has found.
        copy_elements::<PUT>(origin, &unsafe { shared.elements(remote) });
        return Ok(());
    }
    let small = Small {
        kind: if PUT { Kind::Put } else { Kind::Get },
        address: spot.address,
        bytes: origin.len(),
        data: if PUT {
            std::slice::from_ref(origin)
        } else {
            &[]
        },
        result: match PUT {
            true => std::ptr::null_mut(),
            false => origin.contiguous().unwrap_or(std::ptr::null_mut()),
        },
    };
    // The request of a get is complete when the call returns.
    let waits = PUT || !has_request && !small.result.is_null();
    if waits && remote.datatype.is_contiguous() && window.do_later(spot.rank, &small)? {
        return Ok(());
    }
    window.catch_up(spot.rank)?;
    let memory = PrivateMemory::begin(window, spot)?;
    if let Some(shared) = memory.shared_spot(spot, remote) {
        // SAFETY: as above, and counted.
        copy_elements::<PUT>(origin, &unsafe { shared.elements(remote) });
        return Ok(());
    }
    // SAFETY: found by `locate` for these elements.
    let target = unsafe { spot.elements(remote) };
    match PUT {
        true => memory.put(origin, &target),
        false => memory.get(origin, &target),
    }
}

/// Copies to the target if `PUT`, else from it; both are addresses of this process, and have as many bytes.
fn copy_elements<const PUT: bool>(origin: &Buffer, target: &Buffer) {
    match (origin.contiguous(), target.contiguous(), PUT) {
        // SAFETY: as many bytes on both sides.
        (Some(own), Some(target), _) => unsafe { copy::<PUT>(own, target, origin.len()) },
        (_, _, true) => origin.copy_to(target, origin.len()),
        (_, _, false) => target.copy_to(origin, origin.len()),
    }
}

/// Copies to the target if `PUT`, else from it: `bytes` bytes without holes on both sides, where that takes a few instructions. False:
/// it does not, or there is an error; nothing was done.
///
/// # Safety
/// The origin has so many bytes, more than none.
#[inline(always)]
pub unsafe fn move_quickly<const PUT: bool>(
    window: &Window,
    origin: *mut u8,
    bytes: u64,
    rank: i32,
    disp: i64,
) -> bool {
    let Some(spot) = window.locate_quickly(rank, disp, bytes) else {
        // SAFETY: by the caller.
        return unsafe { move_counted::<PUT>(window, origin, bytes, rank, disp) };
    };
    // SAFETY: the origin's by the caller, the target's found in the window.
    unsafe { copy::<PUT>(origin, spot.address as *mut u8, bytes as usize) };
    true
}

/// As [`move_quickly`], to and from edges that are shared in place.
///
/// # Safety
/// As for [`move_quickly`].
#[cold]
#[inline(never)]
unsafe fn move_counted<const PUT: bool>(
    window: &Window,
    origin: *mut u8,
    bytes: u64,
    rank: i32,
    disp: i64,
) -> bool {
    let Some((spot, _counted)) = window.locate_counted(rank, disp, bytes) else {
        return false;
    };
    // SAFETY: the origin's by the caller, the target's found in the window, where it stays as long as it is counted.
    unsafe { copy::<PUT>(origin, spot.address as *mut u8, bytes as usize) };
    true
}

/// Copies to the target if `PUT`, else from it.
///
/// # Safety
/// Both have `length` bytes.
#[inline(always)]
pub(super) unsafe fn copy<const PUT: bool>(origin: *mut u8, target: *mut u8, length: usize) {
    let (from, to) = match PUT {
        true => (origin.cast_const(), target),
        false => (target.cast_const(), origin),
    };
    let target = target.addr();
    // SAFETY: by the caller; the target's side is aligned, the origin's need not be.
    unsafe {
        match length {
            8 if target.is_multiple_of(8) => copy_word::<u64, PUT>(from, to),
            4 if target.is_multiple_of(4) => copy_word::<u32, PUT>(from, to),
            2 if target.is_multiple_of(2) => copy_word::<u16, PUT>(from, to),
            1 => copy_word::<u8, PUT>(from, to),
            _ => copying::copy(from, to, length),
        }
    }
}

/// # Safety
/// Both have the bytes of a `T`; the target's side is aligned for it.
#[inline(always)]
unsafe fn copy_word<T, const PUT: bool>(from: *const u8, to: *mut u8) {
    let (from, to) = (from.cast::<T>(), to.cast::<T>());
    // SAFETY: by the caller.
    unsafe {
        if PUT {
            to.write_volatile(from.read_unaligned());
        } else {
            to.write_unaligned(from.read_volatile());
        }
    }
}
