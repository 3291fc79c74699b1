//! The atomic mode: an access has the bytes from its first to its last one to itself.
//!
//! ```text
//! one node          a table in the node's heap, found by device and inode: all handles and ranks of the job meet there
//! several nodes     the kernel's locks of the file, and a turn of the threads of this process, which those do not keep apart
//! ```
//!
//! On several hosts of NFS writes of the other mode lock their ranges, too: a client may write whole pages, with what it has of other
//! clients' bytes, unless a part of the file is locked.
//!
//! Invariant: a range is held while its access moves data and no longer; in between nobody waits for another rank. So locks of several files
//! or calls cannot wait for each other.

use super::access::Direction;
use super::convert;
use super::file::File;
use super::ranges::{self, Ranges};
use super::view::{View, ViewAt};
use crate::datatype::Buffer;
use crate::engine::losses::{self, Cause};
use crate::engine::published::Published;
use crate::engine::wait::Reason;
use crate::engine::waits::{Kind, Whom};
use crate::engine::{self, aside};
use crate::error::{Error, Result};
use crate::os::backoff::Backoff;
use crate::os::file::File as Descriptor;
use crate::os::monotonic_nanoseconds;
use crate::queue::range_lock::{Held, Locker, Range, Table};
use std::cell::Cell;

/// An access that locks a range.
struct Access<'a> {
    file: &'a File,
    function: &'static str,
    process: u32,
    backoff: Cell<Backoff>,
}

impl Locker for Access<'_> {
    type Failure = Error;

    fn process(&self) -> u32 {
        self.process
    }

    fn pause(&self) -> bool {
        let mut backoff = self.backoff.get();
        let is_time = backoff.pause();
        self.backoff.set(backoff);
        is_time
    }

    fn has_died(&self, process: u32) -> bool {
        engine::stores_no_more(process)
    }

    fn wait(&self, process: u32, holds: &mut dyn FnMut() -> bool) -> Result<()> {
        let missing = || self.has_died(process).then_some(process);
        let assembly = &self.file.board.assembly;
        let reason = Reason {
            function: self.function,
            what: &|named| assembly.wait(Kind::RangeLock, Whom::of([process]), named),
        };
        aside::until_stored(&reason, holds, &missing).map_err(|_| self.failure(process))
    }

    fn wake(&self, process: u32) {
        ranges::wake(process);
    }

    #[cold]
    fn failure(&self, process: u32) -> Error {
        let text = format!(
            "rank {process} of MPI_COMM_WORLD has ended in an atomic access to {}, and its lock is lost",
            self.file.title()
        );
        losses::error_of(Cause::Holder, text)
    }
}

/// A range that is locked; given back when dropped.
struct Locked<'a> {
    table: &'a Table,
    access: Access<'a>,
    held: Option<Held>,
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            self.table.locks().unlock(&self.access, held);
        }
    }
}

/// The first and the last byte of an access, which is not empty.
pub(super) fn ends(view: &View, skip: u64, buffer: &Buffer) -> Result<(u64, u64)> {
    let last = skip + view.length(buffer)? - 1;
    Ok((view.place(skip) as u64, view.place(last) as u64))
}

impl File {
    /// Prepares the atomic mode, on a thread of the program's.
    ///
    /// Errors: MPI_ERR_NO_MEM.
    pub(super) fn prepare_atomic(&self) -> Result<()> {
        if self.ranges.get().is_none() {
            let ranges = match self.board.spans_nodes() {
                true => Ranges::Kernel,
                false => Ranges::of(self.identity)?,
            };
            let _ = self.ranges.set(ranges);
        }
        Ok(())
    }

    /// An access of the atomic mode, not an empty one: how many bytes were moved.
    ///
    /// Errors: MPIX_ERR_PROC_FAILED if a rank that has the range has died; what the kernel says of locks.
    pub(super) fn locked(
        &self,
        function: &'static str,
        direction: Direction,
        at: ViewAt<'_>,
        buffer: &Buffer,
    ) -> Result<(usize, std::io::Result<()>)> {
        let (first, last) = ends(at.view, at.skip, buffer)?;
        let range = Range {
            object: 0,
            first,
            last,
            exclusive: direction == Direction::Write,
        };
        let transfer = || convert::transfer(at, buffer, direction);
        match self.ranges.get() {
            Some(&Ranges::Table { table, object }) => {
                let _locked = self.lock(function, table, &Range { object, ..range })?;
                Ok(transfer())
            }
            _ => {
                let failed =
                    |why: std::io::Error| self.failure("the lock for the atomic mode", &why);
                let _turn = self.turn.lock();
                self.lock_by_kernel(function, at.file, &range)
                    .map_err(failed)?;
                let done = transfer();
                let bytes = range.last - range.first + 1;
                at.file.unlock(range.first, bytes).map_err(failed)?;
                Ok(done)
            }
        }
    }

    /// A write that has its range, which is not empty, to itself where it has to and the file system has locks.
    ///
    /// Errors: what the kernel says of giving back a lock.
    pub(super) fn write_locked<R>(
        &self,
        function: &'static str,
        (first, last): (u64, u64),
        write: impl FnOnce(&Descriptor) -> R,
    ) -> Result<R> {
        let descriptor = self.descriptor()?;
        if !self.locks_writes {
            return Ok(write(descriptor));
        }
        let range = Range {
            object: 0,
            first,
            last,
            exclusive: true,
        };
        let _turn = self.turn.lock();
        let is_locked = self.lock_by_kernel(function, descriptor, &range).is_ok();
        let done = write(descriptor);
        if is_locked {
            let unlocked = descriptor.unlock(first, last - first + 1);
            unlocked.map_err(|why| self.failure("giving back a lock", &why))?;
        }
        Ok(done)
    }

    fn lock<'a>(
        &'a self,
        function: &'static str,
        table: &'a Table,
        range: &Range,
    ) -> Result<Locked<'a>> {
        let access = Access {
            file: self,
            function,
            process: self.board.assembly.process(),
            backoff: Cell::default(),
        };
        let held = Some(table.locks().lock(&access, range)?);
        Ok(Locked {
            table,
            access,
            held,
        })
    }

    fn lock_by_kernel(
        &self,
        function: &'static str,
        descriptor: &Descriptor,
        range: &Range,
    ) -> std::io::Result<()> {
        let (first, bytes) = (range.first, range.last - range.first + 1);
        if descriptor.try_lock(first, bytes, range.exclusive)? {
            return Ok(());
        }
        let assembly = &self.board.assembly;
        let reason = Reason {
            function,
            // Of whatever job and host.
            what: &|_| assembly.wait(Kind::RangeLock, Whom::Outside, true),
        };
        let _published =
            (!aside::is_here()).then(|| Published::begin(&reason, 0, monotonic_nanoseconds()));
        descriptor.lock(first, bytes, range.exclusive)
    }
}
