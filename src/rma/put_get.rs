//! Put and get: copies between the origin's elements and the target's.
//!
//! Invariant: an aligned word of 1, 2, 4 or 8 bytes is written and read in one piece, so that a target that polls its memory never
//! sees half of a value.

use super::access::{Remote, Spot};
use super::hosts::Track;
use super::private;
use super::window::{Way, Window};
use crate::datatype::{Buffer, copying};
use crate::engine::requests;
use crate::error::Result;

/// The request of an operation on a window that is complete when its call returns, as most are: one for all, that nobody has to give back.
/// Its status is that of a send, since the standard defines nothing of it but the error.
pub const COMPLETE: i32 = requests::SENT;

/// MPI_Put. Complete at the target when this returns, but on another host; `track`: of MPI_Rput.
///
/// Errors: those of [`Window::locate`]; MPI_ERR_RMA_ATTACH or MPI_ERR_RMA_RANGE for memory that the target has unmapped.
#[inline]
pub fn put(window: &Window, origin: Buffer, remote: &Remote, track: Option<&Track>) -> Result<()> {
    let Some(spot) = window.locate(remote, origin.len() as u64)? else {
        return Ok(());
    };
    if let (Way::Direct, Some(from), true) = (
        spot.way,
        origin.contiguous(),
        remote.datatype.is_contiguous(),
    ) {
        // SAFETY: found by `locate` for as many bytes as the origin has.
        unsafe { copy::<true>(from, spot.address as *mut u8, origin.len()) };
        return Ok(());
    }
    put_elements(window, &origin, remote, &spot, track)
}

#[inline(never)]
fn put_elements(
    window: &Window,
    origin: &Buffer,
    remote: &Remote,
    spot: &Spot,
    track: Option<&Track>,
) -> Result<()> {
    // SAFETY: found by `locate` for these elements.
    let target = unsafe { spot.elements(remote) };
    match spot.way {
        Way::Direct => {
            origin.copy_to(&target, origin.len());
            Ok(())
        }
        Way::Remote => window.far(spot.rank, "MPI_Put").put(origin, &target, track),
        _ => private::PrivateMemory::of(window, spot).put(origin, &target),
    }
}

/// MPI_Get. Complete when this returns, but from another host; `track`: of MPI_Rget.
///
/// Errors: as for [`put`].
#[inline]
pub fn get(window: &Window, origin: Buffer, remote: &Remote, track: Option<&Track>) -> Result<()> {
    let Some(spot) = window.locate(remote, origin.len() as u64)? else {
        return Ok(());
    };
    if let (Way::Direct, Some(to), true) = (
        spot.way,
        origin.contiguous(),
        remote.datatype.is_contiguous(),
    ) {
        // SAFETY: found by `locate` for as many bytes as the origin has.
        unsafe { copy::<false>(spot.address as *const u8, to, origin.len()) };
        return Ok(());
    }
    get_elements(window, &origin, remote, &spot, track)
}

#[inline(never)]
fn get_elements(
    window: &Window,
    origin: &Buffer,
    remote: &Remote,
    spot: &Spot,
    track: Option<&Track>,
) -> Result<()> {
    // SAFETY: found by `locate` for these elements.
    let target = unsafe { spot.elements(remote) };
    match spot.way {
        Way::Direct => {
            target.copy_to(origin, origin.len());
            Ok(())
        }
        Way::Remote => window.far(spot.rank, "MPI_Get").get(origin, &target, track),
        _ => private::PrivateMemory::of(window, spot).get(origin, &target),
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
        return false;
    };
    let (target, bytes) = (spot.address as *mut u8, bytes as usize);
    // SAFETY: the origin's by the caller, the target's found in the window.
    unsafe {
        match PUT {
            true => copy::<true>(origin, target, bytes),
            false => copy::<false>(target, origin, bytes),
        }
    }
    true
}

/// `PUT`: the second is the target's, else the first.
///
/// # Safety
/// Both have `length` bytes.
#[inline(always)]
pub(super) unsafe fn copy<const PUT: bool>(from: *const u8, to: *mut u8, length: usize) {
    let target = if PUT { to.addr() } else { from.addr() };
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
