//! One contiguous piece: the copy that all kernels fall back to.

use std::ptr;

/// Copies bytes between the user's memory and the packed stream.
///
/// # Safety
/// Both are valid and do not overlap.
#[inline(always)]
pub unsafe fn copy<const PACK: bool>(user: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: by the caller.
    unsafe {
        if PACK {
            ptr::copy_nonoverlapping(user, packed, bytes);
        } else {
            ptr::copy_nonoverlapping(packed, user, bytes);
        }
    }
}
