//! Anonymous shared memory: a memfd, its mapping, and allocation of its pages before they are touched.
//!
//! Invariant: a [`Mapping`] stays mapped until it is dropped, and the library never drops the one of the job.

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Gives free memory of the allocator back to the system.
pub fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no arguments that could be wrong.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Makes an anonymous file in memory of `bytes` (sparse: nothing is allocated yet), inherited over exec if asked.
pub fn create(name: &str, bytes: u64, inherited: bool) -> Result<OwnedFd> {
    let name = std::ffi::CString::new(name)?;
    let flags = if inherited { 0 } else { libc::MFD_CLOEXEC };
    // SAFETY: `name` is a terminated string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and nobody else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    check_limit(bytes)?;
    // SAFETY: a plain call on a descriptor that is open.
    if unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(fd)
}

/// Whether a file may become so large. The limit counts for files in memory too, and who reaches it is killed (SIGXFSZ).
pub fn check_limit(bytes: u64) -> Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } != 0;
    if failed || bytes <= limit.rlim_cur {
        return Ok(());
    }
    Err(Error::other(format!(
        "the limit of file sizes (ulimit -f) is below its {bytes} bytes"
    )))
}

/// Allocates the pages of a range, so that touching them later cannot fail: out of memory is an error here.
///
/// Without the C library's function, which is a point where a cancelled thread ends: this is called with locks held.
pub fn allocate(fd: BorrowedFd<'_>, offset: u64, bytes: u64) -> Result<()> {
    loop {
        // SAFETY: a plain call on a descriptor that is open.
        let failed = unsafe {
            libc::syscall(
                libc::SYS_fallocate,
                fd.as_raw_fd(),
                0,
                offset as libc::off_t,
                bytes as libc::off_t,
            )
        } != 0;
        if !failed {
            return Ok(());
        }
        let error = Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// A shared mapping of a whole file.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping is plain memory; what is done with it is the business of its users, who use atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the whole of `fd` for reading and writing; sparse, without reserving memory.
    pub fn of(fd: BorrowedFd<'_>) -> Result<Self> {
        // SAFETY: an all-zero stat is a valid value for the call to fill.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `stat` is a valid place.
        if unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) } != 0 {
            return Err(Error::last_os_error());
        }
        let bytes = stat.st_size as usize;
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                fd.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Self {
            base: base.cast(),
            bytes,
        })
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address of `offset` if `bytes` from there lie inside: offsets come from other processes and are checked.
    #[inline]
    pub fn at(&self, offset: usize, bytes: usize) -> Option<*mut u8> {
        let end = offset.checked_add(bytes)?;
        // SAFETY: the range was checked to lie inside the mapping.
        (end <= self.bytes).then(|| unsafe { self.base.add(offset) })
    }

    /// Leaves it mapped for ever: the job's segment is reachable from statics.
    pub fn leak(self) -> &'static Self {
        #[cfg(not(test))]
        return Box::leak(Box::new(self));
        #[cfg(test)]
        crate::sync::keep::keep(self)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is what mmap returned, and it is unmapped once.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn two_mappings_show_the_same_memory() {
        let fd = create("test", 1 << 20, false).unwrap();
        allocate(fd.as_fd(), 4096, 4096).unwrap();
        let (a, b) = (
            Mapping::of(fd.as_fd()).unwrap(),
            Mapping::of(fd.as_fd()).unwrap(),
        );
        assert_eq!(a.bytes(), 1 << 20);
        // SAFETY: both addresses are inside their mappings, and this thread is alone.
        unsafe {
            *a.at(5000, 1).unwrap() = 7;
            assert_eq!(*b.at(5000, 1).unwrap(), 7);
        }
        assert!(a.at(1 << 20, 1).is_none());
        assert!(a.at(usize::MAX, 2).is_none());
    }
}
