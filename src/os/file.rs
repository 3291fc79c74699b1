//! Files of the program's, by the functions of the C library: tools and file systems in user space interpose on those.
//!
//! Transfers go on after signals and after short ones, to the end or the first error, and tell how far they came.

use super::file_map::{Window, Windows};
use crate::sync::{AtomicI32, AtomicU64, Ordering};
use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

/// What a call of the kernel moves at most, bytes.
const MOST: usize = 0x7fff_f000;
/// Pieces that one call takes.
pub const PIECES: usize = 1024;

/// A part of memory.
pub type Piece = libc::iovec;

/// How a file is opened. The descriptor is closed on exec, and opening never waits for a peer of a FIFO.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct How {
    pub reads: bool,
    pub writes: bool,
    pub creates: bool,
    /// Fails for a file that is there, with `creates`.
    pub exclusive: bool,
    /// Permissions of a new file, before the umask.
    pub permissions: u32,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    Regular,
    Device,
    Directory,
    /// FIFO or socket: it has no positions.
    Stream,
}

/// What fstat says.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Bytes.
    pub size: u64,
    pub device: u64,
    pub inode: u64,
    pub nature: Nature,
}

/// A file that is open until it is closed or dropped.
pub struct File {
    descriptor: AtomicI32,
    windows: Windows,
    /// Whether it can be written by windows; looked at once.
    is_mapped: OnceLock<bool>,
    /// The number of its file system, statfs(2).
    system: OnceLock<u32>,
}

/// NFS's number.
const NFS: u32 = 0x6969;

/// File systems whose mappings show what is written and read at once, by number (statfs(2)).
const MAPPED: [u32; 4] = [
    0x0102_1994, // tmpfs
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
];

/// What a closed file has for a descriptor.
const CLOSED: libc::c_int = -1;

fn c_name(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::from_raw_os_error(libc::EINVAL))
}

/// Repeats a call that a signal has interrupted.
fn repeated(mut call: impl FnMut() -> libc::c_int) -> Result<libc::c_int> {
    loop {
        let result = call();
        if result >= 0 {
            return Ok(result);
        }
        let error = Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

/// What RLIMIT_FSIZE was when a file was opened last, bytes.
static LARGEST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Reads the limit of this process; writes beyond it are not tried, because the kernel would send SIGXFSZ, which ends a program.
fn note_limit() {
    // SAFETY: all zeros are a valid rlimit, which the call fills.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: `limit` is a valid place.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0 {
        LARGEST.store(limit.rlim_cur, Ordering::Relaxed);
    }
}

/// Whether a file may be so long.
///
/// Errors: EFBIG.
fn check_length(bytes: u64) -> Result<()> {
    if bytes <= LARGEST.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(Error::from_raw_os_error(libc::EFBIG))
}

/// Has the kernel look into a folder again, where a client of NFS may remember that a name is not there.
pub fn look_into_folder_of(path: &Path) {
    if let Some(Ok(mut entries)) = path.parent().map(std::fs::read_dir) {
        let _ = entries.next();
    }
}

/// Removes a file's name.
pub fn unlink(path: &Path) -> Result<()> {
    let name = c_name(path)?;
    // SAFETY: a zero-terminated string that lives as long as the call.
    repeated(|| unsafe { libc::unlink(name.as_ptr()) }).map(|_| ())
}

/// Repeats a transfer of at most [`MOST`] bytes until `length` are moved, none is moved, or there is an error.
fn whole(length: usize, mut call: impl FnMut(usize, usize) -> isize) -> (usize, Result<()>) {
    let mut done = 0;
    while done < length {
        let moved = call(done, (length - done).min(MOST));
        match moved {
            0 => break,
            1.. => done += moved as usize,
            _ => {
                let error = Error::last_os_error();
                if error.raw_os_error() != Some(libc::EINTR) {
                    return (done, Err(error));
                }
            }
        }
    }
    (done, Ok(()))
}

/// Drops the first `bytes` of the pieces from `first` on; the number of the first that is left.
fn advance(pieces: &mut [Piece], mut first: usize, mut bytes: usize) -> usize {
    while first < pieces.len() && bytes >= pieces[first].iov_len {
        bytes -= pieces[first].iov_len;
        first += 1;
    }
    if let Some(piece) = pieces.get_mut(first) {
        piece.iov_base = piece.iov_base.wrapping_byte_add(bytes);
        piece.iov_len -= bytes;
    }
    first
}

/// As [`whole`] for a write from a position on, which must move something: a device that takes nothing is full.
///
/// Errors: ENOSPC; EFBIG at the process's limit.
fn written(length: usize, at: u64, call: impl FnMut(usize, usize) -> isize) -> (usize, Result<()>) {
    let room = LARGEST.load(Ordering::Relaxed).saturating_sub(at);
    let allowed = room.min(length as u64) as usize;
    let (done, result) = whole(allowed, call);
    let error = match result {
        Ok(()) if done < allowed => libc::ENOSPC,
        Ok(()) if done < length => libc::EFBIG,
        result => return (done, result),
    };
    (done, Err(Error::from_raw_os_error(error)))
}

fn kind_of_lock(exclusive: bool) -> libc::c_int {
    match exclusive {
        true => libc::F_WRLCK,
        false => libc::F_RDLCK,
    }
}

impl File {
    pub fn open(path: &Path, how: &How) -> Result<File> {
        let name = c_name(path)?;
        let mut flags = match (how.reads, how.writes) {
            (true, true) => libc::O_RDWR,
            (false, true) => libc::O_WRONLY,
            _ => libc::O_RDONLY,
        };
        flags |= libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        if how.creates {
            flags |= libc::O_CREAT;
        }
        if how.creates && how.exclusive {
            flags |= libc::O_EXCL;
        }
        // SAFETY: a zero-terminated string that lives as long as the call.
        let fd = repeated(|| unsafe { libc::open(name.as_ptr(), flags, how.permissions) })?;
        if how.writes {
            note_limit();
        }
        Ok(File {
            descriptor: AtomicI32::new(fd),
            windows: Windows::default(),
            is_mapped: OnceLock::new(),
            system: OnceLock::new(),
        })
    }

    fn fd(&self) -> libc::c_int {
        self.descriptor.load(Ordering::Relaxed)
    }

    /// Makes transfers wait for a device, which [`File::open`] did not.
    pub fn wait_for_device(&self) -> Result<()> {
        // SAFETY: only numbers are passed.
        let flags = repeated(|| unsafe { libc::fcntl(self.fd(), libc::F_GETFL) })?;
        // SAFETY: as above.
        repeated(|| unsafe { libc::fcntl(self.fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) })
            .map(|_| ())
    }

    pub fn facts(&self) -> Result<Facts> {
        // SAFETY: all zeros are a valid stat, which the call fills.
        let mut found: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: `found` is a valid place.
        repeated(|| unsafe { libc::fstat(self.fd(), &mut found) })?;
        Ok(Facts {
            size: found.st_size as u64,
            device: found.st_dev,
            inode: found.st_ino,
            nature: match found.st_mode & libc::S_IFMT {
                libc::S_IFREG => Nature::Regular,
                libc::S_IFDIR => Nature::Directory,
                libc::S_IFIFO | libc::S_IFSOCK => Nature::Stream,
                _ => Nature::Device,
            },
        })
    }

    /// Reads `length` bytes from a position on; less at the end of the file. Returns how many were read.
    ///
    /// # Safety
    /// `memory` has `length` bytes that the caller may write; memory that is not mapped is EFAULT.
    pub unsafe fn read_at(&self, memory: *mut u8, length: usize, at: u64) -> (usize, Result<()>) {
        whole(length, |done, bytes| {
            let memory = memory.wrapping_add(done).cast();
            // SAFETY: by the caller.
            unsafe { libc::pread(self.fd(), memory, bytes, (at + done as u64) as i64) }
        })
    }

    /// Writes `length` bytes from a position on. Returns how many were written.
    ///
    /// # Safety
    /// `memory` has `length` bytes that may be read; memory that is not mapped is EFAULT.
    pub unsafe fn write_at(
        &self,
        memory: *const u8,
        length: usize,
        at: u64,
    ) -> (usize, Result<()>) {
        written(length, at, |done, bytes| {
            let memory = memory.wrapping_add(done).cast();
            // SAFETY: by the caller.
            unsafe { libc::pwrite(self.fd(), memory, bytes, (at + done as u64) as i64) }
        })
    }

    /// As [`File::read_at`], into up to [`PIECES`] pieces.
    ///
    /// # Safety
    /// The pieces are the caller's to write.
    pub unsafe fn read_pieces(&self, pieces: &mut [Piece], at: u64) -> (usize, Result<()>) {
        let all = |length, call: &mut dyn FnMut(usize, usize) -> isize| whole(length, call);
        // SAFETY: by the caller; the pieces live as long as the call.
        Self::pieces(pieces, all, |first, done| unsafe {
            libc::preadv(
                self.fd(),
                first.as_ptr(),
                first.len() as libc::c_int,
                (at + done as u64) as i64,
            )
        })
    }

    /// As [`File::write_at`], out of up to [`PIECES`] pieces.
    ///
    /// # Safety
    /// The pieces may be read.
    pub unsafe fn write_pieces(&self, pieces: &mut [Piece], at: u64) -> (usize, Result<()>) {
        let all = |length, call: &mut dyn FnMut(usize, usize) -> isize| written(length, at, call);
        // SAFETY: as above.
        Self::pieces(pieces, all, |first, done| unsafe {
            libc::pwritev(
                self.fd(),
                first.as_ptr(),
                first.len() as libc::c_int,
                (at + done as u64) as i64,
            )
        })
    }

    fn pieces(
        pieces: &mut [Piece],
        all: impl FnOnce(usize, &mut dyn FnMut(usize, usize) -> isize) -> (usize, Result<()>),
        mut call: impl FnMut(&[Piece], usize) -> isize,
    ) -> (usize, Result<()>) {
        assert!(pieces.len() <= PIECES);
        let length = pieces.iter().map(|piece| piece.iov_len).sum();
        let (mut first, mut before) = (0, 0);
        all(length, &mut |done, _| {
            first = advance(pieces, first, done - before);
            before = done;
            call(&pieces[first..], done)
        })
    }

    pub fn sync(&self) -> Result<()> {
        // SAFETY: only numbers are passed.
        repeated(|| unsafe { libc::fsync(self.fd()) }).map(|_| ())
    }

    /// Errors: EFBIG.
    pub fn set_size(&self, bytes: u64) -> Result<()> {
        check_length(bytes)?;
        // SAFETY: as above.
        repeated(|| unsafe { libc::ftruncate(self.fd(), bytes as i64) }).map(|_| ())
    }

    /// Allocates the file's first `bytes`; it becomes that long if it was shorter. What is there stays as it is.
    ///
    /// Errors: EOPNOTSUPP or ENOSYS where the file system cannot; EFBIG.
    pub fn allocate(&self, bytes: u64) -> Result<()> {
        check_length(bytes)?;
        // SAFETY: as above.
        repeated(|| unsafe { libc::fallocate(self.fd(), 0, 0, bytes as i64) }).map(|_| ())
    }

    /// Bytes that the file system has left for this user; as many as can be where it does not say.
    pub fn space(&self) -> u64 {
        // SAFETY: all zeros are a valid statvfs, which the call fills.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: `found` is a valid place.
        let result = repeated(|| unsafe { libc::fstatvfs(self.fd(), &mut found) });
        match result {
            Ok(_) if found.f_blocks > 0 => found.f_bavail.saturating_mul(found.f_frsize),
            _ => u64::MAX,
        }
    }

    /// Waits for and takes the lock of `bytes` bytes from a position on, which belongs to this opening of the file.
    ///
    /// Errors: ENOLCK or ENOSYS where the file system has no locks.
    pub fn lock(&self, at: u64, bytes: u64, exclusive: bool) -> Result<()> {
        self.locks(libc::F_OFD_SETLKW, kind_of_lock(exclusive), at, bytes)
    }

    /// As [`File::lock`], if it is free. Returns whether it was taken.
    pub fn try_lock(&self, at: u64, bytes: u64, exclusive: bool) -> Result<bool> {
        match self.locks(libc::F_OFD_SETLK, kind_of_lock(exclusive), at, bytes) {
            Ok(()) => Ok(true),
            Err(why) if matches!(why.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
                Ok(false)
            }
            Err(why) => Err(why),
        }
    }

    pub fn unlock(&self, at: u64, bytes: u64) -> Result<()> {
        self.locks(libc::F_OFD_SETLK, libc::F_UNLCK, at, bytes)
    }

    fn locks(&self, command: libc::c_int, kind: libc::c_int, at: u64, bytes: u64) -> Result<()> {
        // SAFETY: all zeros are a valid flock.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = at as i64;
        lock.l_len = bytes as i64;
        // SAFETY: `lock` lives as long as the call.
        repeated(|| unsafe { libc::fcntl(self.fd(), command, &lock) }).map(|_| ())
    }

    /// Whether it is a plain file of which windows can be written, as far as its file system goes.
    pub fn is_mapped(&self) -> bool {
        *self.is_mapped.get_or_init(|| {
            let nature = self.facts().map(|facts| facts.nature);
            self.is_on_a_local_disk() && nature.is_ok_and(|it| it == Nature::Regular)
        })
    }

    /// The number of its file system; 0 where that is not told.
    fn system(&self) -> u32 {
        *self.system.get_or_init(|| {
            // SAFETY: all zeros are a valid statfs, which the call fills.
            let mut found: libc::statfs = unsafe { std::mem::zeroed() };
            // SAFETY: `found` is a valid place.
            match unsafe { libc::fstatfs(self.fd(), &mut found) } {
                0 => found.f_type as u32,
                _ => 0,
            }
        })
    }

    fn is_on_a_local_disk(&self) -> bool {
        MAPPED.contains(&self.system())
    }

    /// Whether it is on NFS, of which each host has a cache of its own.
    pub fn is_on_nfs(&self) -> bool {
        self.system() == NFS
    }

    /// Never writes by windows; to be said before the first access. Other hosts would not learn of what is stored into one.
    pub fn refuse_windows(&self) {
        let _ = self.is_mapped.set(false);
    }

    /// Has the kernel ask the file system for the file's data and size again where it may know old ones: clients of NFS do with a lock. One
    /// that cannot be had is no error, for then there is no such cache, or nothing to be done.
    pub fn forget_cached(&self, writes: bool) {
        // A byte that no access has.
        const BEYOND: u64 = i64::MAX as u64 - 1;
        if self.is_on_a_local_disk() {
            return;
        }
        let taken = self.try_lock(BEYOND, 1, false);
        // Not open for reading.
        let taken = taken.or_else(|why| match writes {
            true => self.try_lock(BEYOND, 1, true),
            false => Err(why),
        });
        if matches!(taken, Ok(true)) {
            let _ = self.unlock(BEYOND, 1);
        }
    }

    /// A window of the file, as [`Windows::take`].
    pub fn take_window(&self, number: u64) -> Result<Window> {
        // SAFETY: the descriptor is open as long as this file is borrowed.
        let fd = unsafe { BorrowedFd::borrow_raw(self.fd()) };
        self.windows.take(fd, number)
    }

    pub fn keep_window(&self, window: Window) {
        self.windows.keep(window);
    }

    /// Closes it, and says what that says; the descriptor is gone anyway. No other call is to be in progress.
    pub fn close(&self) -> Result<()> {
        let fd = self.descriptor.swap(CLOSED, Ordering::Relaxed);
        self.windows.drop_all();
        if fd == CLOSED {
            return Ok(());
        }
        // SAFETY: the descriptor was this file's, which closes it once.
        let result = unsafe { libc::close(fd) };
        match result {
            0 => Ok(()),
            _ => match Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::EINTR) => Ok(()),
                error => Err(error),
            },
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Errors are for those who close it themselves.
        let _ = self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> (std::path::PathBuf, File) {
        let path = std::env::temp_dir().join(format!("oxmpi-file-{name}-{}", std::process::id()));
        let how = How {
            reads: true,
            writes: true,
            creates: true,
            exclusive: false,
            permissions: 0o600,
        };
        let file = File::open(&path, &how).unwrap();
        (path, file)
    }

    #[test]
    fn pieces_are_advanced() {
        let mut memory = [0u8; 10];
        let base = memory.as_mut_ptr();
        let piece = |at: usize, bytes| Piece {
            iov_base: base.wrapping_add(at).cast(),
            iov_len: bytes,
        };
        let mut pieces = [piece(0, 3), piece(3, 2), piece(5, 5)];
        assert_eq!(advance(&mut pieces, 0, 4), 1);
        assert_eq!(pieces[1].iov_len, 1);
        assert_eq!(pieces[1].iov_base, base.wrapping_add(4).cast());
        assert_eq!(advance(&mut pieces, 1, 1), 2);
        assert_eq!(pieces[2].iov_len, 5);
        assert_eq!(advance(&mut pieces, 2, 5), 3);
    }

    /// A call that is interrupted, and then moves a few bytes each.
    #[test]
    fn transfers_go_on() {
        let mut calls = 0;
        let (done, result) = whole(10, |done, bytes| {
            calls += 1;
            if calls == 1 {
                // SAFETY: the place of this thread's errno.
                unsafe { *libc::__errno_location() = libc::EINTR };
                return -1;
            }
            assert_eq!(done + bytes, 10);
            bytes.min(3) as isize
        });
        assert!(result.is_ok());
        assert_eq!((done, calls), (10, 5));
        let (done, result) = written(10, 0, |done, _| if done < 4 { 4 } else { 0 });
        assert_eq!(done, 4);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn what_is_written_is_read() {
        let (path, file) = scratch("pieces");
        let text = b"abcdefgh";
        let piece = |at: usize, bytes| Piece {
            iov_base: text.as_ptr().wrapping_add(at).cast_mut().cast(),
            iov_len: bytes,
        };
        // SAFETY: parts of `text`, which are read, and of `found`.
        unsafe {
            let (done, result) = file.write_pieces(&mut [piece(4, 4), piece(0, 4)], 100);
            assert!(result.is_ok() && done == 8);
            let mut found = [0u8; 20];
            let (done, result) = file.read_at(found.as_mut_ptr(), 20, 102);
            assert!(result.is_ok());
            assert_eq!(&found[..done], b"ghabcd");
            let (done, result) = file.read_at(std::ptr::dangling_mut(), 4, 100);
            assert_eq!(done, 0);
            assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        }
        assert_eq!(file.facts().unwrap().size, 108);
        file.set_size(10).unwrap();
        assert_eq!(file.facts().unwrap().size, 10);
        file.lock(0, 5, true).unwrap();
        let other = File::open(
            &path,
            &How {
                writes: true,
                ..How::default()
            },
        )
        .unwrap();
        assert!(!other.try_lock(4, 1, true).unwrap());
        assert!(other.try_lock(5, 1, true).unwrap());
        file.unlock(0, 5).unwrap();
        file.close().unwrap();
        unlink(&path).unwrap();
        assert_eq!(
            unlink(&path).unwrap_err().raw_os_error(),
            Some(libc::ENOENT)
        );
    }
}
