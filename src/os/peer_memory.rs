//! Reading and writing another process's memory: one copy where the kernel allows it.

use std::io::{Error, Result};

/// A piece of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Piece {
    pub address: usize,
    pub bytes: usize,
}

// What the kernel takes.
const _: () = assert!(size_of::<Piece>() == size_of::<libc::iovec>());
const _: () = assert!(std::mem::offset_of!(libc::iovec, iov_len) == 8);

/// The most pieces of either side in one call.
pub const PIECES: usize = 1024;

/// Copies from the pieces of process `pid` to the pieces of this one, as far as it gets. Both sides have at most [`PIECES`].
/// Returns the bytes copied, in the order of the pieces: less than asked for if a page is not mapped, but at least one.
///
/// Errors: as for [`read`].
///
/// # Safety
/// Nobody else uses the local pieces, which belong to the caller.
pub unsafe fn read_pieces(pid: i32, local: &[Piece], remote: &[Piece]) -> Result<usize> {
    copied(|| {
        // SAFETY: both lists are as the kernel takes them; the caller owns the local memory, and the kernel checks the addresses.
        unsafe {
            libc::process_vm_readv(
                pid,
                local.as_ptr().cast(),
                local.len() as libc::c_ulong,
                remote.as_ptr().cast(),
                remote.len() as libc::c_ulong,
                0,
            )
        }
    })
}

/// As [`read_pieces`], in the other direction.
///
/// # Safety
/// Nobody writes the local pieces, which belong to the caller.
pub unsafe fn write_pieces(pid: i32, local: &[Piece], remote: &[Piece]) -> Result<usize> {
    copied(|| {
        // SAFETY: as in `read_pieces`.
        unsafe {
            libc::process_vm_writev(
                pid,
                local.as_ptr().cast(),
                local.len() as libc::c_ulong,
                remote.as_ptr().cast(),
                remote.len() as libc::c_ulong,
                0,
            )
        }
    })
}

/// Calls until it is not interrupted. Nothing copied is as good as an address that is not mapped.
#[inline(always)]
pub(super) fn copied(call: impl Fn() -> libc::ssize_t) -> Result<usize> {
    loop {
        match call() {
            0 => return Err(Error::from_raw_os_error(libc::EFAULT)),
            copied if copied > 0 => return Ok(copied as usize),
            _ => {}
        }
        let error = Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// Calls `step(local, remote)` for what is left until `bytes` bytes are copied.
fn copy_all(
    local: usize,
    remote: u64,
    bytes: usize,
    mut step: impl FnMut(&[Piece], &[Piece]) -> Result<usize>,
) -> Result<()> {
    let mut done = 0;
    while done < bytes {
        let rest = |address| Piece {
            address: address + done,
            bytes: bytes - done,
        };
        done += step(&[rest(local)], &[rest(remote as usize)])?;
    }
    Ok(())
}

/// Copies `data` to `address` of process `pid`.
///
/// Errors: as for [`read`].
pub fn write(pid: i32, address: u64, data: &[u8]) -> Result<()> {
    let local = data.as_ptr() as usize;
    copy_all(local, address, data.len(), |local, remote| {
        // SAFETY: the rest of `data`, which is only read.
        unsafe { write_pieces(pid, local, remote) }
    })
}

/// Copies `out.len()` bytes from `address` of process `pid`.
///
/// Errors: EPERM where ptrace scope, another user or seccomp forbid it, EFAULT for addresses that are not mapped,
/// ESRCH when the process is gone.
pub fn read(pid: i32, address: u64, out: &mut [u8]) -> Result<()> {
    let local = out.as_mut_ptr() as usize;
    copy_all(local, address, out.len(), |local, remote| {
        // SAFETY: the rest of `out`, which is borrowed mutably.
        unsafe { read_pieces(pid, local, remote) }
    })
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

    #[test]
    fn writes_its_own_process_in_pieces_or_says_why_not() {
        use super::Piece;
        let piece = |bytes: &mut [u8]| Piece {
            address: bytes.as_mut_ptr() as usize,
            bytes: bytes.len(),
        };
        let (mut source, mut target) = ([1u8, 2, 3, 4], [0u8; 6]);
        let local = [piece(&mut source)];
        let remote = [piece(&mut target[..1]), piece(&mut target[3..])];
        let me = std::process::id() as i32;
        // SAFETY: both are this function's own.
        match unsafe { super::write_pieces(me, &local, &remote) } {
            Ok(copied) => assert_eq!((copied, target), (4, [1, 0, 0, 2, 3, 4])),
            Err(error) => assert!(matches!(
                error.raw_os_error(),
                Some(libc::EPERM | libc::ENOSYS)
            )),
        }
        assert!(super::write(me, 8, &source).is_err());
    }
}
