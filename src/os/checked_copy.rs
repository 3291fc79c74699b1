//! Copies between addresses that need not be mapped: through a pipe, so that the kernel looks at them and the answer is an error
//! and no signal. It needs no permission that a process could lack for its own memory.

use super::peer_memory::copied;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};

/// What an empty pipe takes at once.
const MOST: usize = 4096;

/// See the module. Invariant: the pipe is empty between two copies.
pub struct CheckedCopy {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl CheckedCopy {
    /// Errors: no descriptor is to be had.
    pub fn new() -> Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { reader, writer })
    }

    /// Copies from one range of addresses of this process to another; they do not overlap.
    ///
    /// Errors: EFAULT if a page is not mapped or must not be used so; what is before it may have been copied.
    ///
    /// # Safety
    /// Nothing that is mapped there is a Rust object that others use, or it is used as the program's own memory is.
    pub unsafe fn copy(&mut self, from: usize, to: usize, bytes: usize) -> Result<()> {
        let mut done = 0;
        while done < bytes {
            let part = MOST.min(bytes - done);
            let (reader, writer) = (self.reader.as_raw_fd(), self.writer.as_raw_fd());
            // SAFETY: the kernel checks the address, which the caller vouches for.
            let sent = copied(|| unsafe { libc::write(writer, (from + done) as *const _, part) })?;
            let mut taken = 0;
            while taken < sent {
                let target = to + done + taken;
                // SAFETY: as above.
                let result =
                    copied(|| unsafe { libc::read(reader, target as *mut _, sent - taken) });
                match result {
                    Ok(bytes) => taken += bytes,
                    Err(error) => {
                        self.drain();
                        return Err(error);
                    }
                }
            }
            done += sent;
        }
        Ok(())
    }

    fn drain(&mut self) {
        let mut rest = [0u8; MOST];
        while matches!(rustix::io::read(&self.reader, &mut rest), Ok(1..)) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_finds_what_is_not_mapped() {
        let mut copy = CheckedCopy::new().unwrap();
        let source: Vec<u8> = (0..10_000).map(|byte| byte as u8).collect();
        let mut target = vec![0u8; source.len()];
        let (from, to) = (source.as_ptr() as usize, target.as_mut_ptr() as usize);
        // SAFETY: both are this function's own, or not mapped.
        unsafe {
            copy.copy(from, to, source.len()).unwrap();
            assert_eq!(
                copy.copy(8, to, 8).unwrap_err().raw_os_error(),
                Some(libc::EFAULT)
            );
            assert_eq!(
                copy.copy(from, 8, 8).unwrap_err().raw_os_error(),
                Some(libc::EFAULT)
            );
            copy.copy(from + 1, to, 5).unwrap();
        }
        assert_eq!(target[..6], [1, 2, 3, 4, 5, 5]);
        assert_eq!(target[6..], source[6..]);
    }
}
