//! Reading the program's memory where it may be gone: the kernel looks at the addresses, so that the answer is no signal.

use super::peer_memory;

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
    fn what_is_not_mapped_is_told() {
        let source = [1u8, 2, 3, 4];
        let mut copy = [0u8; 4];
        // SAFETY: this function's own.
        assert!(unsafe { super::read(source.as_ptr() as usize, &mut copy) });
        assert_eq!(copy, source);
    }
}
