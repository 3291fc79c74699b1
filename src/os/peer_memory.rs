//! Reading another process's memory: one copy for large messages where the kernel allows it.

use std::io::{Error, Result};

/// Copies `out.len()` bytes from `address` of process `pid`.
///
/// Errors: EPERM where ptrace scope, another user or seccomp forbid it, EFAULT for addresses that are not mapped,
/// ESRCH when the process is gone.
pub fn read(pid: i32, address: u64, out: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < out.len() {
        let local = libc::iovec {
            iov_base: out[done..].as_mut_ptr().cast(),
            iov_len: out.len() - done,
        };
        let remote = libc::iovec {
            iov_base: (address as usize + done) as *mut _,
            iov_len: out.len() - done,
        };
        // SAFETY: `local` describes the rest of `out`, which is borrowed mutably; the kernel checks the remote side.
        let got = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
        if got < 0 {
            let error = Error::last_os_error();
            if error.raw_os_error() == Some(libc::EINTR) {
                continue;
            }
            return Err(error);
        }
        if got == 0 {
            return Err(Error::from_raw_os_error(libc::EFAULT));
        }
        done += got as usize;
    }
    Ok(())
}

/// Copies `data` to `address` of process `pid`. Errors as for [`read`].
pub fn write(pid: i32, address: u64, data: &[u8]) -> Result<()> {
    let local = libc::iovec {
        iov_base: data.as_ptr().cast_mut().cast(),
        iov_len: data.len(),
    };
    let remote = libc::iovec {
        iov_base: address as usize as *mut _,
        iov_len: data.len(),
    };
    // SAFETY: `local` describes `data`, which is only read; the kernel checks the remote side.
    match unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) } {
        done if done < 0 => Err(Error::last_os_error()),
        done if done as usize == data.len() => Ok(()),
        _ => Err(Error::from_raw_os_error(libc::EFAULT)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_its_own_process_or_says_why_not() {
        let source = [1u8, 2, 3, 4];
        let mut copy = [0u8; 4];
        match super::read(std::process::id() as i32, source.as_ptr() as u64, &mut copy) {
            Ok(()) => assert_eq!(copy, source),
            Err(error) => assert!(matches!(
                error.raw_os_error(),
                Some(libc::EPERM | libc::ENOSYS)
            )),
        }
        let error = super::read(std::process::id() as i32, 8, &mut copy).unwrap_err();
        assert!(error.raw_os_error().is_some());
    }
}
