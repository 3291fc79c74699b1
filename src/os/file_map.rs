//! Writing into a mapped part of a file without a fault that ends the process: the kernel copies, and says EFAULT where a store would get
//! SIGBUS, as when another process has made the file shorter, or the disk is full.
//!
//! The data to be copied lies in a memfd of the process ([`Source`]). One `preadv` of it fills up to 1,024 pieces of the mapping.

use super::file::{File, Piece};
use super::memory::{Mapping, create};
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that are copied at once.
pub const SOURCE: usize = 256 << 10;

/// Memory that the kernel copies out of.
pub struct Source {
    fd: OwnedFd,
    memory: Mapping,
}

impl Source {
    pub fn new() -> Result<Source> {
        let fd = create("oxmpi-source", SOURCE as u64, false)?;
        let memory = Mapping::of(std::os::fd::AsFd::as_fd(&fd))?;
        Ok(Source { fd, memory })
    }

    /// Its [`SOURCE`] bytes.
    pub fn memory(&mut self) -> &mut [u8] {
        // SAFETY: a mapping of that size, whose file nobody else has; the borrow is of all of it.
        unsafe { std::slice::from_raw_parts_mut(self.memory.base(), SOURCE) }
    }

    /// Copies its bytes from `offset` on into pieces of memory. Returns how many were copied.
    ///
    /// Errors: EFAULT, a piece cannot be written.
    ///
    /// # Safety
    /// The pieces are the caller's to write, or not mapped.
    pub unsafe fn copy_to(&self, pieces: &[Piece], offset: usize) -> Result<usize> {
        loop {
            // Not through the C library: it is no access to a file that tools look for.
            // SAFETY: the kernel checks the addresses, which the caller vouches for.
            let copied = unsafe {
                libc::syscall(
                    libc::SYS_preadv,
                    self.fd.as_raw_fd(),
                    pieces.as_ptr(),
                    pieces.len() as libc::c_long,
                    offset as libc::c_long,
                    0,
                )
            };
            if copied >= 0 {
                return Ok(copied as usize);
            }
            let error = Error::last_os_error();
            if error.raw_os_error() != Some(libc::EINTR) {
                return Err(error);
            }
        }
    }
}

/// File systems whose mappings show what is written and read at once, by number (statfs(2)).
const MAPPED: [u32; 4] = [
    0x0102_1994, // tmpfs
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
];

impl File {
    /// Whether parts of it can be written by mappings, as far as the file system goes.
    pub fn is_on_mapped_file_system(&self) -> bool {
        // SAFETY: all zeros are a valid statfs, which the call fills.
        let mut found: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: `found` is a valid place.
        let failed = unsafe { libc::fstatfs(self.fd(), &mut found) } != 0;
        !failed && MAPPED.contains(&(found.f_type as u32))
    }

    /// Maps `bytes` from a position on, a multiple of the page size, to be written.
    ///
    /// Errors: EACCES where the file is not open for reading, too; ENODEV, ENOMEM.
    pub fn map(&self, at: u64, bytes: usize) -> Result<Mapping> {
        // SAFETY: the descriptor is open as long as this file is borrowed.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(self.fd()) };
        Mapping::of_part(fd, at, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::file::{How, unlink};

    #[test]
    fn what_is_behind_the_end_is_an_error() {
        let name = format!("oxmpi-map-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let how = How {
            reads: true,
            writes: true,
            creates: true,
            exclusive: false,
            permissions: 0o600,
        };
        let file = File::open(&path, &how).unwrap();
        file.set_size(5000).unwrap();
        let map = file.map(0, 3 * 4096).unwrap();
        let mut source = Source::new().unwrap();
        source.memory()[..6].copy_from_slice(b"abcdef");
        let piece = |at: usize, bytes| Piece {
            iov_base: map.base().wrapping_add(at).cast(),
            iov_len: bytes,
        };
        // SAFETY: parts of the mapping, which nobody else uses.
        unsafe {
            let pieces = [piece(10, 2), piece(4095, 3)];
            assert_eq!(source.copy_to(&pieces, 1).unwrap(), 5);
            let behind = source.copy_to(&[piece(9000, 3)], 0);
            assert_eq!(behind.unwrap_err().raw_os_error(), Some(libc::EFAULT));
            // As if another process had made it shorter.
            file.set_size(0).unwrap();
            let gone = source.copy_to(&[piece(10, 3)], 0);
            assert_eq!(gone.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        }
        file.set_size(5000).unwrap();
        // SAFETY: as above.
        unsafe { source.copy_to(&[piece(0, 1), piece(4095, 3)], 0).unwrap() };
        let mut found = [0u8; 4];
        // SAFETY: memory of this function's.
        let (done, result) = unsafe { file.read_at(found.as_mut_ptr(), 4, 4094) };
        result.unwrap();
        assert_eq!((done, &found), (4, b"\0bcd"));
        unlink(&path).unwrap();
    }
}
