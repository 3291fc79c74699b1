//! Operations on one element: fetch-and-op and compare-and-swap.
//!
//! They obey the same rules as [`super::accumulate`], with which they are atomic.

use super::access::{Operand, Pieces, Remote, Spot};
use super::accumulate;
use super::apply;
use super::element;
use super::locks::Locks;
use super::private::PrivateMemory;
use super::put_get;
use super::waiting::{Kind, Small};
use super::window::{Way, Window};
use crate::datatype::{Buffer, Category, Datatype};
use crate::error::{Class, Result, fail};
use crate::op::Op;
use crate::os::peer_memory::Piece;

/// The most bytes of an element that MPI_Compare_and_swap takes.
pub(super) const LARGEST: usize = 16;

/// MPI_Fetch_and_op on one element of a predefined type; `origin` may be null for MPI_NO_OP.
///
/// Errors: as for [`accumulate::accumulate`].
///
/// # Safety
/// Both addresses have an element of the type of `remote`, whose count is 1.
#[inline]
pub unsafe fn fetch_and_op(
    window: &Window,
    op: &Op,
    origin: *mut u8,
    result: *mut u8,
    remote: &Remote,
) -> Result<()> {
    let datatype = remote.datatype;
    if !is_basic(datatype) {
        return not_basic(datatype);
    }
    // SAFETY: by the caller.
    let operand = |address| unsafe {
        Operand {
            buffer: Buffer::new(address, 1, datatype),
            datatype,
        }
    };
    let origin = accumulate::reads_origin(op).then(|| operand(origin));
    let result = operand(result);
    accumulate::get_accumulate(window, op, origin.as_ref(), &result, remote, None)
}

#[inline(always)]
fn is_basic(datatype: &Datatype) -> bool {
    !matches!(datatype.category, Category::Derived | Category::Marker)
}

#[cold]
fn not_basic(datatype: &Datatype) -> Result<()> {
    fail!(
        Class::Type,
        "datatype is {}; a predefined datatype is needed",
        datatype.title()
    )
}

/// MPI_Compare_and_swap: stores the origin's element if the target's is the same as `compare`; the result is what was there.
///
/// Errors: MPI_ERR_TYPE for what is no integer, logical, address or byte; those of [`Window::locate`] and [`Locks::hold`].
///
/// # Safety
/// The addresses have an element of the type of `remote`, whose count is 1.
#[inline]
pub unsafe fn compare_and_swap(
    window: &Window,
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
    remote: &Remote,
) -> Result<()> {
    use Category::{Address, Byte, FortranInteger, Integer, Logical};
    let datatype = remote.datatype;
    if !matches!(
        datatype.category,
        Integer | FortranInteger | Address | Logical | Byte
    ) {
        return fail!(
            Class::Type,
            "datatype is {}; allowed are predefined datatypes of integers, logical values, addresses and bytes",
            datatype.title()
        );
    }
    if let Some(spot) = window.locate_quickly(remote.rank, remote.disp, datatype.size) {
        // SAFETY: by the caller, and found by `locate_quickly`.
        return unsafe { swap_at(window, &spot, datatype, origin, compare, result) };
    }
    // SAFETY: by the caller.
    unsafe { compare_and_swap_elsewhere(window, origin, compare, result, remote) }
}

/// As [`compare_and_swap`], with errors and ways that take longer.
///
/// # Safety
/// As for [`compare_and_swap`].
#[cold]
#[inline(never)]
unsafe fn compare_and_swap_elsewhere(
    window: &Window,
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
    remote: &Remote,
) -> Result<()> {
    let datatype = remote.datatype;
    let size = datatype.size as usize;
    if let Some((spot, _counted)) = window.locate_counted(remote.rank, remote.disp, datatype.size) {
        // SAFETY: by the caller, and found in the window, where it stays as long as it is counted.
        return unsafe { swap_at(window, &spot, datatype, origin, compare, result) };
    }
    let Some(spot) = window.locate(remote, datatype.size)? else {
        return Ok(());
    };
    if spot.way == Way::Remote {
        // SAFETY: by the caller.
        let (compare, new, old) = unsafe {
            (
                std::slice::from_raw_parts(compare, size),
                std::slice::from_raw_parts(origin, size),
                Buffer::bytes(result, size),
            )
        };
        return window.far(spot.rank, "MPI_Compare_and_swap").swap(
            datatype,
            spot.address as u64,
            compare,
            new,
            &old,
        );
    }
    let is_private = matches!(spot.way, Way::Kernel | Way::Helper);
    if is_private
        && window
            .shared_address(spot.rank, spot.address, datatype.size)
            .is_none()
    {
        // SAFETY: by the caller; both are only read.
        let data =
            unsafe { [compare, origin].map(|address| Buffer::bytes(address.cast_mut(), size)) };
        let small = Small {
            kind: Kind::CompareAndSwap,
            address: spot.address,
            bytes: size,
            data: &data,
            result,
        };
        if window.do_later(spot.rank, &small)? {
            return Ok(());
        }
    }
    // SAFETY: by the caller, and found by `locate`.
    unsafe { swap_at(window, &spot, datatype, origin, compare, result) }
}

/// As [`compare_and_swap`], of an element that was found.
///
/// # Safety
/// The element is at the spot, and the addresses have one each.
#[inline(always)]
pub(super) unsafe fn swap_at(
    window: &Window,
    spot: &Spot,
    datatype: &'static Datatype,
    origin: *const u8,
    compare: *const u8,
    result: *mut u8,
) -> Result<()> {
    let size = datatype.size as usize;
    let target = spot.address as *mut u8;
    let direct = spot.way == Way::Direct;
    // SAFETY: by the caller.
    unsafe {
        if direct && apply::is_atomic(window) && element::is_atomic(spot.address, datatype.size) {
            let (compare, new) = (element::load(compare, size), element::load(origin, size));
            let old = element::compare_and_swap(target, size, compare, new);
            element::store(result, size, old);
            return Ok(());
        }
        let locks = Locks::of(window)?;
        if direct && size <= 8 {
            let (compare, new) = (element::load(compare, size), element::load(origin, size));
            let _held = locks.hold(spot.key)?;
            let old = element::load(target, size);
            if old == compare {
                element::store(target, size, new);
            }
            element::store(result, size, old);
            return Ok(());
        }
        if !direct {
            let new = std::slice::from_raw_parts(origin, size);
            let compare = std::slice::from_raw_parts(compare, size);
            let old = swap_private(window, spot, new, compare)?;
            std::ptr::copy(old.as_ptr(), result, size);
            return Ok(());
        }
        let _held = locks.hold(spot.key)?;
        let mut old = [0; LARGEST];
        let old = &mut old[..size];
        std::ptr::copy(target, old.as_mut_ptr(), size);
        if old == std::slice::from_raw_parts(compare, size) {
            std::ptr::copy(origin, target, size);
        }
        std::ptr::copy(old.as_ptr(), result, size);
        Ok(())
    }
}

/// Of an element in private memory of another process. Returns what was there.
#[cold]
#[inline(never)]
fn swap_private(window: &Window, spot: &Spot, new: &[u8], compare: &[u8]) -> Result<[u8; LARGEST]> {
    window.catch_up(spot.rank)?;
    let bytes = new.len() as u64;
    let mut old = [0; LARGEST];
    let found = &mut old[..new.len()];
    let mut private = None;
    let mut here = window.shared_address(spot.rank, spot.address, bytes);
    if here.is_none() {
        let memory = private.insert(PrivateMemory::begin(window, spot)?);
        here = memory.shared_address(spot, bytes);
    }
    let _held = Locks::of(window)?.hold(spot.key)?;
    match (here, &private) {
        (None, Some(memory)) => {
            let pieces = Pieces::from_slice(&[Piece {
                address: spot.address,
                bytes: new.len(),
            }]);
            memory.read(&pieces, found)?;
            if found == compare {
                memory.write(&pieces, new)?;
            }
        }
        (here, _) => {
            let target = here.unwrap_or_default() as *mut u8;
            // SAFETY: found in the window, and held; if it is on an edge, counted.
            unsafe {
                std::ptr::copy_nonoverlapping(target, found.as_mut_ptr(), found.len());
                if found == compare {
                    put_get::copy::<true>(new.as_ptr().cast_mut(), target, new.len());
                }
            }
        }
    }
    Ok(old)
}
