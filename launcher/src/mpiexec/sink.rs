//! Where forwarded output goes: mpiexec's own standard output or error, written without ever blocking, whatever it is.
//!
//! Invariant: the file status flags of the inherited descriptor are never changed: it is shared with the shell.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much a pipe or terminal that is ready takes for certain.
const CERTAIN: usize = 4096;

enum Way {
    /// A file: never blocks for long.
    Plain,
    /// A pipe or terminal, opened once more for ourselves so that it can be non-blocking.
    NonBlocking,
    Socket,
    /// A pipe or terminal that cannot be opened again: ask first, and write no more than certainly fits.
    Careful,
}

pub struct Sink {
    fd: OwnedFd,
    way: Way,
    /// (device, inode): standard output and standard error may be one file.
    identity: (u64, u64),
}

impl Sink {
    /// A sink that ends where `original` (1 or 2) does.
    pub fn of(original: BorrowedFd<'_>, number: i32) -> std::io::Result<Sink> {
        let stat = fstat(original)?;
        let identity = (stat.st_dev, stat.st_ino);
        let (fd, way) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Socket => (original.try_clone_to_owned()?, Way::Socket),
            FileType::Fifo | FileType::CharacterDevice => {
                let path = format!("/proc/self/fd/{number}");
                let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
                match open(path, flags, Mode::empty()) {
                    Ok(fd) => (fd, Way::NonBlocking),
                    Err(_) => (original.try_clone_to_owned()?, Way::Careful),
                }
            }
            _ => (original.try_clone_to_owned()?, Way::Plain),
        };
        Ok(Sink { fd, way, identity })
    }

    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Writes what fits now; 0 if nothing does. Errors: nobody reads any more, or the disk is full.
    pub fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let written = match self.way {
            Way::Plain | Way::NonBlocking => rustix::io::write(&self.fd, bytes),
            Way::Socket => send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
            Way::Careful => {
                let mut ready = [PollFd::new(&self.fd, PollFlags::OUT)];
                let now = Timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                match poll(&mut ready, Some(&now)) {
                    Ok(1) => rustix::io::write(&self.fd, &bytes[..bytes.len().min(CERTAIN)]),
                    _ => Ok(0),
                }
            }
        };
        match written {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            other => other,
        }
    }
}

impl AsFd for Sink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_full_pipe_takes_nothing_and_a_closed_one_says_so() {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let sink = Sink::of(writer.as_fd(), writer.as_raw_fd()).unwrap();
        let chunk = [b'x'; 1 << 16];
        let mut total = 0;
        loop {
            match sink.write(&chunk).unwrap() {
                0 => break,
                count => total += count,
            }
        }
        assert!(total >= CERTAIN);
        drop(reader);
        // Under the test runner SIGPIPE is ignored, as it is in mpiexec.
        assert_eq!(sink.write(&chunk), Err(Errno::PIPE));
    }
}
