//! Ordinary memory of a process whose pages are those of a range of the heap: all ranks of the node address it.

use super::{Heap, PAGE};
use crate::os::in_place;
use std::io::{Error, Result};
use std::ops::Range;
use std::os::fd::AsFd;

impl Heap {
    /// Gives whole pages of this process's memory those of a new range, with their content. Returns its offset.
    ///
    /// Errors: no memory; what the kernel says.
    ///
    /// # Safety
    /// [`in_place::check`] has nothing against it, and no other process writes to the memory.
    pub unsafe fn share_in_place(&self, range: &Range<usize>) -> Result<u64> {
        let bytes = range.len() as u64;
        if !self.has_file() {
            return Err(Error::from_raw_os_error(libc::EBADF));
        }
        let offset = self.obtain(bytes, PAGE)?;
        let view = self.at(offset, bytes);
        let replaced = match view {
            // SAFETY: by the caller; the range of the heap is new.
            Some(view) => unsafe {
                in_place::replace(range, self.fd.as_fd(), self.start() + offset, view)
            },
            None => Err(Error::from_raw_os_error(libc::ENOMEM)),
        };
        match replaced {
            Ok(()) => Ok(offset),
            Err(error) => {
                // SAFETY: by the caller. If that fails, too, some pages stay those of the heap.
                if view.is_none() || unsafe { in_place::give_back(range) }.is_ok() {
                    self.release(offset);
                }
                Err(error)
            }
        }
    }

    /// Whether the pages of some memory still are those of [`Heap::share_in_place`]: the program may have unmapped them.
    pub fn is_shared_in_place(&self, range: &Range<usize>, offset: u64) -> bool {
        in_place::has_pages_of(range, self.inode, self.start() + offset)
    }

    /// Ends [`Heap::share_in_place`]: the memory has private pages with its content, if it still is there. `memory` is the offset that it was given;
    /// the range may have lost its first pages and begins at `offset` now.
    ///
    /// Errors: what the kernel says; then it stays as it was.
    ///
    /// # Safety
    /// Nobody else writes to the memory.
    pub unsafe fn unshare_in_place(
        &self,
        range: &Range<usize>,
        offset: u64,
        memory: u64,
    ) -> Result<()> {
        if self.is_shared_in_place(range, offset) {
            // SAFETY: by the caller.
            unsafe { in_place::give_back(range) }?;
        }
        self.release(memory);
        Ok(())
    }

    /// Gives pages of [`Heap::share_in_place`] back at once, while other threads of this process may write to them: what is at an offset of the
    /// heap now is the process's own there. That range of the heap is to be kept
    /// until the memory has private pages again.
    ///
    /// Errors: what the kernel says; then they stay as they were.
    ///
    /// # Safety
    /// They still are there, and no other process writes to them.
    pub unsafe fn detach_in_place(&self, range: &Range<usize>, offset: u64) -> Result<()> {
        // SAFETY: by the caller.
        unsafe { in_place::detach(range, self.fd.as_fd(), self.start() + offset) }
    }
}
