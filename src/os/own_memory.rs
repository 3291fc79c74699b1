//! The program's memory where it may be gone: the kernel looks at the addresses, so that the answer is no signal.

use super::peer_memory;

const PAGE: usize = 4096;

/// Has the pages of a range of addresses ready to be read, or, where it `writes`, to be written. False: they cannot be; or the kernel is older
/// than 5.14.
pub fn provide(address: usize, bytes: usize, writes: bool) -> bool {
    let first = address & !(PAGE - 1);
    let Some(end) = address.checked_add(bytes) else {
        return false;
    };
    let advice = match writes {
        true => libc::MADV_POPULATE_WRITE,
        false => libc::MADV_POPULATE_READ,
    };
    // SAFETY: it changes no content, and the kernel checks the addresses.
    unsafe { libc::madvise(first as *mut libc::c_void, end - first, advice) == 0 }
}

/// Copies from an address of this process. False: it is not mapped. Where the kernel refuses to copy for a process itself (seccomp), it is
/// read directly.
///
/// # Safety
/// Nothing there is a Rust object that others write: it is the program's own memory.
pub unsafe fn read(address: usize, out: &mut [u8]) -> bool {
    match peer_memory::read(std::process::id() as i32, address as u64, out) {
        Ok(()) => true,
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => false,
        Err(_) => {
            // SAFETY: the caller vouches for the memory, which the program has given to an operation.
            unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, out.as_mut_ptr(), out.len());
            }
            true
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_cannot_be_used_is_not_provided() {
        let own = [1u8; 3 * super::PAGE];
        let address = own.as_ptr() as usize;
        // Older kernels have no answer.
        if super::provide(address, own.len(), false) {
            assert!(super::provide(address + 1, own.len() - 1, true));
            assert!(!super::provide(8, 8, false));
            // The code is read only.
            let code = super::provide as *const () as usize;
            assert!(super::provide(code, 1, false));
            assert!(!super::provide(code, 1, true));
            assert!(!super::provide(usize::MAX - 4, 8, false));
        }
    }

    #[test]
    fn what_is_not_mapped_is_told() {
        let source = [1u8, 2, 3, 4];
        let mut copy = [0u8; 4];
        // SAFETY: this function's own.
        assert!(unsafe { super::read(source.as_ptr() as usize, &mut copy) });
        assert_eq!(copy, source);
    }
}
