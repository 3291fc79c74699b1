//! Anonymous shared memory: a memfd, its mapping, and allocation of its pages before they are touched.
//!
//! Invariant: a [`Mapping`] stays mapped until it is dropped, and the library never drops the one of the job.

pub use super::quota::memory_left as left;
use crate::sync::AtomicU64;
use rustix::fs::MemfdFlags;
use std::io::{Error, Result};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

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
    let flags = if inherited {
        MemfdFlags::empty()
    } else {
        MemfdFlags::CLOEXEC
    };
    // The system call itself: the function of the C library would ask for a glibc of 2018.
    let fd = rustix::fs::memfd_create(name, flags)?;
    check_limit(bytes)?;
    // SAFETY: a plain call on a descriptor that is open.
    if unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(fd)
}

/// Whether a file may become so large. The limit counts for files in memory too, and who reaches it is killed (SIGXFSZ).
pub fn check_limit(bytes: u64) -> Result<()> {
    if file_limit().is_none_or(|limit| bytes <= limit) {
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

fn status(fd: BorrowedFd<'_>) -> Result<libc::stat> {
    // SAFETY: an all-zero stat is a valid value for the call to fill.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place.
    if unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(stat)
}

/// The size of a file, bytes.
pub fn size(fd: BorrowedFd<'_>) -> Result<u64> {
    Ok(status(fd)?.st_size as u64)
}

/// The bytes of a file that have memory.
pub fn allocated(fd: BorrowedFd<'_>) -> Result<u64> {
    Ok(status(fd)?.st_blocks as u64 * 512)
}

/// The parts of a range of a file that have memory: offsets in the file.
///
/// Errors: what the kernel says; it is the last that comes.
pub fn parts_with_memory(
    fd: BorrowedFd<'_>,
    range: Range<u64>,
) -> impl Iterator<Item = Result<Range<u64>>> {
    let seek = move |from: u64, what| {
        // SAFETY: a plain call on a descriptor that is open.
        let found = unsafe { libc::lseek(fd.as_raw_fd(), from as libc::off_t, what) };
        u64::try_from(found).map_err(|_| Error::last_os_error())
    };
    let mut at = range.start;
    std::iter::from_fn(move || {
        let first = match seek(at, libc::SEEK_DATA) {
            Ok(first) if first < range.end => first,
            Ok(_) => return None,
            // None behind.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return None,
            Err(error) => {
                at = range.end;
                return Some(Err(error));
            }
        };
        let end = seek(first, libc::SEEK_HOLE).map(|end| end.min(range.end));
        at = *end.as_ref().unwrap_or(&range.end);
        Some(end.map(|end| first..end))
    })
}

/// Makes a file at least so long; sparse.
///
/// Errors: a limit, see [`check_limit`]; what the kernel says.
pub fn extend(fd: BorrowedFd<'_>, bytes: u64) -> Result<()> {
    if size(fd)? >= bytes {
        return Ok(());
    }
    check_limit(bytes)?;
    // SAFETY: a plain call on a descriptor that is open.
    if unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}

/// The largest file that this process may make, bytes; `None` without a limit.
pub fn file_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } != 0;
    (!failed && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Whether the kernel uses huge pages for shared memory where it is told to, and nowhere else.
pub fn takes_advice_of_huge_pages() -> bool {
    static TAKES: OnceLock<bool> = OnceLock::new();
    *TAKES.get_or_init(|| {
        let setting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
        std::fs::read_to_string(setting).is_ok_and(|text| text.contains("[advise]"))
    })
}

/// The kernel's page, bytes.
pub fn page_bytes() -> usize {
    // SAFETY: a plain call, which may be made in a handler of signals, too.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize }
}

/// The machine's memory, bytes.
pub fn physical() -> u64 {
    // SAFETY: a plain call.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    pages.max(0) as u64 * page_bytes() as u64
}

/// A shared mapping of a file or of a part of it.
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
        Self::of_part(fd, 0, size(fd)? as usize)
    }

    /// As [`Mapping::of`], of `bytes` from `offset` on, a multiple of the page size.
    pub fn of_part(fd: BorrowedFd<'_>, offset: u64, bytes: usize) -> Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let base = map_shared(std::ptr::null_mut(), fd, offset, bytes, 0, access)?;
        Ok(Self { base, bytes })
    }

    /// As [`Mapping::of_part`], at an address that is a multiple of `align`, a power of two. Children of a fork share it. Nothing of it may
    /// be accessed before [`Mapping::open`]: who reads a sparse file allocates its memory, as core dumps and the leak checks of valgrind do.
    pub fn aligned_closed(
        fd: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        align: usize,
    ) -> Result<Self> {
        let room = bytes + align;
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody.
        let room_base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                room,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if room_base == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let before = room_base.align_offset(align);
        // SAFETY: inside the room, which has `align` bytes more than are mapped.
        let (base, after) = unsafe { (room_base.add(before), room_base.add(before + bytes)) };
        let mapped = map_shared(base, fd, offset, bytes, libc::MAP_FIXED, libc::PROT_NONE);
        // SAFETY: what is left of the room on both sides, which nobody has seen; all of it if nothing was mapped.
        unsafe {
            if mapped.is_err() {
                libc::munmap(room_base, room);
            } else {
                if before > 0 {
                    libc::munmap(room_base, before);
                }
                if before < align {
                    libc::munmap(after, align - before);
                }
            }
        }
        let mapping = Self {
            base: mapped?,
            bytes,
        };
        mapping.leave_out_of_core_dumps()?;
        Ok(mapping)
    }

    /// Makes a range accessible, and a part of core dumps; page-aligned.
    ///
    /// Errors: ENOMEM, the process has too many mappings.
    pub fn open(&self, offset: usize, bytes: usize) -> Result<()> {
        let address = self
            .at(offset, bytes)
            .ok_or_else(|| Error::from_raw_os_error(libc::EINVAL))?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: inside the mapping, to which more is allowed than before.
        if unsafe { libc::mprotect(address.cast(), bytes, access) } != 0 {
            return Err(Error::last_os_error());
        }
        self.advise(offset, bytes, libc::MADV_DODUMP)
    }

    /// A core dump would allocate and contain all of a sparse mapping.
    pub fn leave_out_of_core_dumps(&self) -> Result<()> {
        self.advise(0, self.bytes, libc::MADV_DONTDUMP)
    }

    /// Allocates the pages of a range, page-aligned, as [`allocate`] does, without a descriptor.
    pub fn populate(&self, offset: usize, bytes: usize) -> Result<()> {
        self.advise(offset, bytes, libc::MADV_POPULATE_WRITE)
    }

    /// Gives the pages of a range back, page-aligned; it reads as zeros afterwards.
    pub fn punch(&self, offset: usize, bytes: usize) -> Result<()> {
        self.advise(offset, bytes, libc::MADV_REMOVE)
    }

    /// Lets the kernel use huge pages in a range, where it does so if it is told.
    pub fn use_huge_pages(&self, offset: usize, bytes: usize) -> Result<()> {
        self.advise(offset, bytes, libc::MADV_HUGEPAGE)
    }

    fn advise(&self, offset: usize, bytes: usize, advice: i32) -> Result<()> {
        let address = self
            .at(offset, bytes)
            .ok_or_else(|| Error::from_raw_os_error(libc::EINVAL))?;
        loop {
            // SAFETY: inside the mapping; what the advice does to its contents is the caller's wish.
            if unsafe { libc::madvise(address.cast(), bytes, advice) } == 0 {
                return Ok(());
            }
            let error = Error::last_os_error();
            if error.raw_os_error() != Some(libc::EINTR) {
                return Err(error);
            }
        }
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

    /// All of it, in words.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped and page-aligned as long as `self` is there; others that map it use atomics too.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.bytes / 8) }
    }

    /// Leaves it mapped for ever: the job's segment is reachable from statics.
    pub fn leak(self) -> &'static Self {
        #[cfg(not(test))]
        return Box::leak(Box::new(self));
        #[cfg(test)]
        crate::sync::keep::keep(self)
    }
}

fn map_shared(
    at: *mut libc::c_void,
    fd: BorrowedFd<'_>,
    offset: u64,
    bytes: usize,
    flags: i32,
    access: i32,
) -> Result<*mut u8> {
    // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody, nor does one over room that the caller has.
    let base = unsafe {
        libc::mmap(
            at,
            bytes,
            access,
            libc::MAP_SHARED | libc::MAP_NORESERVE | flags,
            fd.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    Ok(base.cast())
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
        let parts = parts_with_memory(fd.as_fd(), 4096..1 << 20);
        let parts: Vec<_> = parts.map(Result::unwrap).collect();
        assert_eq!((parts.len(), parts[0].clone()), (1, 4096..8192));
        assert_eq!(allocated(fd.as_fd()).unwrap(), 4096);
        assert!(a.at(1 << 20, 1).is_none());
        assert!(a.at(usize::MAX, 2).is_none());
    }
}
