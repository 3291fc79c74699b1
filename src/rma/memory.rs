//! MPI_Alloc_mem: memory that windows and messages reach directly, from the node's heap; from the allocator where the heap has none.

use super::info;
use super::room::{LINE, MOST_ALIGNMENT};
use crate::error::{Class, Result, fail};
use crate::info::Info;
use crate::transport::heap;

/// Memory of `bytes` bytes, aligned to a cache line or as the hint says. Returns the address. Its pages are allocated when it is touched,
/// and it may have the content of what was given back before.
///
/// Errors: MPI_ERR_NO_MEM.
pub fn allocate(bytes: usize, hints: &Info) -> Result<usize> {
    let alignment = info::alignment(hints).map_or(LINE, |wish| wish.max(LINE));
    let no_memory = || fail!(Class::NoMem, "there is no memory for {bytes} bytes");
    if let Some(heap) = heap().filter(|_| alignment <= MOST_ALIGNMENT) {
        match heap.lend(bytes.max(1) as u64, alignment) {
            Ok(Some(address)) => return Ok(address as usize),
            Ok(None) => {}
            Err(_) => return no_memory(),
        }
    }
    let mut address = std::ptr::null_mut();
    // SAFETY: the place is ours, the alignment a power of two and a multiple of a pointer's size.
    let code = unsafe { libc::posix_memalign(&mut address, alignment, bytes.max(1)) };
    if code != 0 {
        return no_memory();
    }
    Ok(address as usize)
}

/// Frees memory of [`allocate`].
///
/// Errors: MPI_ERR_BASE for other memory of the heap.
///
/// # Safety
/// It is from [`allocate`] or in the heap, or zero.
pub unsafe fn free(address: usize) -> Result<()> {
    let Some((heap, offset)) = heap().and_then(|heap| Some((heap, heap.offset_of(address)?)))
    else {
        // SAFETY: by the caller, from `posix_memalign`.
        unsafe { libc::free(address as *mut _) };
        return Ok(());
    };
    if !heap.take_back(offset) {
        return fail!(
            Class::Base,
            "base is {address:#x}, which is no memory of MPI_Alloc_mem, or was given back"
        );
    }
    Ok(())
}
