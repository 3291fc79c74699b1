//! The node's heap: memory that every rank of the node can map, and that is given back.
//!
//! ```text
//! file      | segment | pad to 2 MB | locks | tables of ranges | bitmap of pages with entries | entries of pages | pages that are given out
//! offset                              0
//! ```
//!
//! The heap is a sparse range of the segment's file. The first rank that needs it makes the file longer; each rank maps the range whole,
//! once. Offsets are from the heap's first byte and mean the same to all ranks. Ranges of pages come from a buddy allocator ([`buddy`]);
//! small pieces from pages that a process divides for itself ([`pieces`]).
//!
//! Invariants: the library touches nothing of its own whose pages were not allocated before, by [`Heap::populate`] or the allocator itself, so
//! a lack of memory is an error. Memory of the program ([`lent`]) is allocated by the kernel when it is touched, as malloc's is. A process has
//! access only to the granules of the heap in which it uses something: who reads all of its memory, for a core dump say, would allocate
//! the whole heap.

mod buddy;
mod dead;
mod in_place;
mod lent;
mod look;
mod pieces;
mod state;
mod view;

use super::layout::Segment;
use crate::os::backoff::Backoff;
use crate::os::memory::{self, Mapping};
use crate::os::process::identity;
use crate::queue::named_lock;
use crate::queue::range_lock::{self, Table as RangeTable};
use crate::queue::shape;
use crate::sync::{AtomicU32, Ordering};
use buddy::Buddy;
use dead::Waiting;
pub use dead::{AwaitedBlock, SharedWith};
use lent::Lent;
pub use lent::note_fork;
use look::Look;
use parking_lot::{Mutex, MutexGuard};
use pieces::Pieces;
use state::{BROKEN, NONE, READY};
pub use state::{RankMemory, Shared};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use view::{View, entries_at, first_page};

pub const PAGE: usize = 4096;
/// Locks that operations on memory may use, by a hash of what they change.
pub const LOCKS: usize = 1024;
/// What the heap's first byte is aligned to, in the file and in each process.
const ALIGN: usize = 2 << 20;
/// The smallest heap.
const LEAST: u64 = 16 << 20;
const LOCK_BYTES: usize = LOCKS * size_of::<HeapLock>();
/// Tables of locked ranges, by a hash of the file that they are in.
pub const RANGE_TABLES: usize = 16;
/// Bytes of the locks and tables in front of the bitmap.
const FIXED_BYTES: usize = LOCK_BYTES + RANGE_TABLES * size_of::<RangeTable>();

/// Bytes that are allocated at once.
const STEP: u64 = 8 << 20;
/// Bytes that are left to other programs.
const MARGIN: u64 = 64 << 20;

/// The layout of what lies in the segment's file.
pub const SHAPE: u64 = shape::combine(&[
    state::SHAPE,
    range_lock::SHAPE,
    shape::number(shape::number(shape::START, LOCK_BYTES), FIXED_BYTES),
]);

/// A lock word in a line of its own.
#[repr(C, align(64))]
pub struct HeapLock {
    /// Zero: free; else the number of the process that holds it, and 1.
    pub word: AtomicU32,
}

/// This process's view of its node's heap.
pub struct Heap {
    segment: Segment<'static>,
    fd: Arc<OwnedFd>,
    /// Of the segment's file.
    inode: u64,
    /// Own index in the segment.
    me: usize,
    /// This process: a child of a fork changes nothing.
    pid: u32,
    view: OnceLock<View>,
    /// Threads of this process take the shared lock one after the other.
    turn: Mutex<()>,
    look: Mutex<Look>,
    /// The library's own.
    pieces: Mutex<Pieces>,
    /// The program's.
    lent: Mutex<Lent>,
    /// Blocks of this process's that ranks may still use, see [`Heap::release_when_left`].
    waiting: Mutex<Vec<Waiting>>,
    /// Where it counts with whom it shares memory.
    counts: OnceLock<u64>,
    /// [`deaths::count`] when the memory of all dead was taken.
    deaths: AtomicU32,
}

/// The shared lock; given back when dropped.
struct Locked<'a> {
    heap: &'a Heap,
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        named_lock::give_back(&self.heap.shared().lock);
    }
}

impl Heap {
    /// The heap of a segment's file, for the rank `me`.
    pub fn new(segment: Segment<'static>, fd: Arc<OwnedFd>, me: usize) -> Heap {
        Heap {
            inode: identity(fd.as_raw_fd()).map_or(0, |(inode, _)| inode),
            segment,
            fd,
            me,
            pid: std::process::id(),
            view: OnceLock::new(),
            turn: Mutex::new(()),
            look: Mutex::new(Look::new()),
            pieces: Mutex::new(Pieces::new(1)),
            lent: Mutex::new(Lent::new()),
            waiting: Mutex::new(Vec::new()),
            counts: OnceLock::new(),
            deaths: AtomicU32::new(0),
        }
    }

    /// Where the heap begins in the segment's file.
    fn start(&self) -> u64 {
        (self.segment.bytes() as u64).next_multiple_of(ALIGN as u64)
    }

    fn shared(&self) -> &'static Shared {
        &self.segment.header().heap
    }

    /// Whether the descriptor still is that of the segment's file: a program may have closed it.
    fn has_file(&self) -> bool {
        self.inode != 0 && identity(self.fd.as_raw_fd()).is_some_and(|it| it.0 == self.inode)
    }

    fn lock(&self) -> Result<Locked<'_>> {
        if std::process::id() != self.pid {
            return Err(Error::other(
                "the shared memory belongs to the parent of this process",
            ));
        }
        let turn = self.turn.lock();
        let (shared, me) = (self.shared(), self.me as u32);
        let mut backoff = Backoff::default();
        // One whose exit handlers run may still have a thread that changes the lists.
        let is_over = |index: u32| {
            let index = index as usize;
            index < self.segment.ranks() && self.has_ended(index)
        };
        while let Err(holder) = named_lock::take(&shared.lock, me, || backoff.pause(), is_over) {
            if named_lock::take_over(&shared.lock, holder, me) {
                // What it was changing is half changed.
                let (ready, order) = (READY, Ordering::Relaxed);
                let _ = shared.state.compare_exchange(ready, BROKEN, order, order);
                break;
            }
        }
        let locked = Locked {
            heap: self,
            _turn: turn,
        };
        if let Some(view) = self.view.get() {
            self.mend(view);
        }
        Ok(locked)
    }

    /// Makes the allocator's lists anew, if a rank has died that was changing them. The caller has the lock.
    fn mend(&self, view: &View) {
        let shared = self.shared();
        if shared.state.load(Ordering::Relaxed) == BROKEN {
            let used = self.buddy(view).rebuild() * PAGE as u64;
            shared.reserved.store(used, Ordering::Relaxed);
            shared.state.store(READY, Ordering::Relaxed);
        }
    }

    /// The mapped heap, made by the first rank that asks.
    ///
    /// Errors: no memory, a limit.
    fn view(&self) -> Result<&View> {
        match self.view.get() {
            Some(view) => Ok(view),
            None => self.open(),
        }
    }

    #[cold]
    fn open(&self) -> Result<&View> {
        let locked = self.lock()?;
        if let Some(view) = self.view.get() {
            return Ok(view);
        }
        if !self.has_file() {
            return Err(Error::new(
                ErrorKind::NotFound,
                "the program has closed the descriptor of the memory that the ranks share",
            ));
        }
        let (shared, start) = (self.shared(), self.start());
        let map =
            |bytes: u64| Mapping::aligned_closed(self.fd.as_fd(), start, bytes as usize, ALIGN);
        let view = match shared.state.load(Ordering::Relaxed) {
            NONE => {
                // A limit of the address space makes it smaller, for all.
                let mut bytes = size_for(memory::physical(), memory::file_limit(), start);
                let map = loop {
                    match map(bytes) {
                        Ok(map) => break map,
                        Err(error) if bytes <= LEAST => return Err(error),
                        Err(_) => bytes = (bytes / 2).next_multiple_of(ALIGN as u64),
                    }
                };
                memory::extend(self.fd.as_fd(), start + bytes)?;
                let view = View::new(map)?;
                view.populate(0, entries_at(view.pages))?;
                self.buddy(&view).fill()?;
                shared.bytes.store(bytes, Ordering::Relaxed);
                shared.state.store(READY, Ordering::Relaxed);
                view
            }
            _ => {
                let view = View::new(map(shared.bytes.load(Ordering::Relaxed))?)?;
                self.mend(&view);
                view
            }
        };
        drop(locked);
        Ok(self.view.get_or_init(|| view))
    }

    fn buddy<'a>(&self, view: &'a View) -> Buddy<'a, View> {
        Buddy {
            lists: &self.shared().lists,
            entries: view,
            first: first_page(view.pages) as u32,
            end: view.pages as u32,
            owner: self.me as u32 + 1,
        }
    }

    /// Reserves a range: whole pages, aligned to `align` bytes, a power of two of up to 2 MB. Its memory is had by [`Heap::populate`].
    ///
    /// Errors: ENOMEM if there is no such range, and what opening the heap says.
    pub fn allocate(&self, bytes: u64, align: u64) -> Result<u64> {
        let view = self.view()?;
        self.take_from_the_dead();
        let too_large = || Error::from_raw_os_error(libc::ENOMEM);
        let pages = bytes.max(1).div_ceil(PAGE as u64);
        let pages = u32::try_from(pages).map_err(|_| too_large())?;
        let align = align.max(PAGE as u64);
        if !align.is_power_of_two() || align > ALIGN as u64 {
            return Err(Error::from_raw_os_error(libc::EINVAL));
        }
        let locked = self.lock()?;
        let page = self
            .buddy(view)
            .allocate(pages, (align / PAGE as u64).ilog2())?;
        self.shared()
            .reserved
            .fetch_add(u64::from(pages) * PAGE as u64, Ordering::Relaxed);
        drop(locked);
        Ok(u64::from(page) * PAGE as u64)
    }

    /// Allocates the memory of a reserved range, or of a part of it; the pages belong to the NUMA node of the caller. New pages are zeros.
    ///
    /// Errors: ENOMEM if the system or a control group has not so much left. Then all that was given is given back.
    pub fn populate(&self, offset: u64, bytes: u64) -> Result<()> {
        let view = self.view()?;
        let first = offset / PAGE as u64 * PAGE as u64;
        let end = (offset + bytes).next_multiple_of(PAGE as u64);
        if bytes == 0 {
            return Ok(());
        }
        if self.at(first, end - first).is_none() {
            return Err(Error::from_raw_os_error(libc::EINVAL));
        }
        self.ask_for(end - first, look::For::Now)?;
        let (start, has_file) = (self.start(), self.has_file());
        let mut at = first;
        while at < end {
            let step = STEP.min(end - at);
            let asked = match at == first {
                true => Ok(()),
                false => self.ask_for(step, look::For::Now),
            };
            let done = asked.and_then(|()| match has_file {
                true => memory::allocate(self.fd.as_fd(), start + at, step),
                false => view.populate(at as usize, step as usize),
            });
            if let Err(error) = done {
                let _ = view.punch(first as usize, (at + step - first) as usize);
                return Err(match error.raw_os_error() {
                    // A file system that is full.
                    Some(libc::ENOSPC | libc::EFAULT) => Error::from_raw_os_error(libc::ENOMEM),
                    _ => error,
                });
            }
            at += step;
        }
        Ok(())
    }

    /// Gives a range back that [`Heap::allocate`] has reserved, with its memory. False: nothing was reserved there.
    pub fn free(&self, offset: u64) -> bool {
        let Ok(view) = self.view() else {
            return false;
        };
        let page = (offset / PAGE as u64) as u32;
        if !offset.is_multiple_of(PAGE as u64) || offset >= (view.pages * PAGE) as u64 {
            return false;
        }
        let pages = match self.lock() {
            Ok(_locked) => self.buddy(view).used(page),
            Err(_) => None,
        };
        let Some(pages) = pages else {
            return false;
        };
        // Before somebody else can have the range, and without the lock, for it takes a while.
        let _ = view.punch(offset as usize, pages as usize * PAGE);
        self.give_up(offset);
        true
    }

    /// Takes back a range that has no pages any more.
    fn give_up(&self, offset: u64) {
        let page = (offset / PAGE as u64) as u32;
        let Ok(view) = self.view() else {
            return;
        };
        if let Ok(_locked) = self.lock()
            && let Some(pages) = self.buddy(view).used(page)
        {
            self.buddy(view).free(page);
            self.shared()
                .reserved
                .fetch_sub(u64::from(pages) * PAGE as u64, Ordering::Relaxed);
        }
    }

    /// The bytes that were reserved for the range at an offset, in whole pages; `None` if there is none.
    pub fn reserved(&self, offset: u64) -> Option<u64> {
        let view = self.view.get()?;
        let page = u32::try_from(offset / PAGE as u64).ok()?;
        let _locked = self.lock().ok()?;
        let pages = self.buddy(view).used(page)?;
        offset
            .is_multiple_of(PAGE as u64)
            .then_some(u64::from(pages) * PAGE as u64)
    }

    /// Memory of zeros with an alignment: a range, or where a line is enough and it is small a piece of a page. Another process can give
    /// back ranges only, so what it gives back is aligned to a page.
    ///
    /// Errors: as [`Heap::allocate`] and [`Heap::populate`].
    pub fn obtain(&self, bytes: u64, align: usize) -> Result<u64> {
        if bytes <= pieces::LONGEST as u64 && align <= pieces::SHORTEST {
            return self.pieces.lock().obtain(self, bytes as usize, true);
        }
        let offset = self.allocate(bytes, align as u64)?;
        match self.populate(offset, bytes) {
            Ok(()) => Ok(offset),
            Err(error) => {
                self.free(offset);
                Err(error)
            }
        }
    }

    /// Gives back what this process has got from [`Heap::obtain`]. False: it has not.
    pub fn release(&self, offset: u64) -> bool {
        let piece = self.pieces.lock().release(self, offset);
        piece.unwrap_or_else(|| self.free(offset))
    }

    /// The address of a range here; `None` if it is not inside the heap, or the heap cannot be had.
    #[inline]
    pub fn at(&self, offset: u64, bytes: u64) -> Option<*mut u8> {
        let view = self.view().ok()?;
        view.at(offset as usize, bytes as usize)
    }

    /// Where an address is in the heap; `None` if it is not there.
    #[inline]
    pub fn offset_of(&self, address: usize) -> Option<u64> {
        let map = &self.view.get()?.map;
        let offset = address.wrapping_sub(map.base() as usize);
        (offset < map.bytes()).then_some(offset as u64)
    }

    /// Whether the heap can be had.
    ///
    /// Errors: why not.
    pub fn open_now(&self) -> Result<()> {
        self.view().map(|_| ())
    }

    /// The locks. The heap must have been opened, as it is for whoever has something of it.
    #[inline]
    pub fn locks(&self) -> &'static [HeapLock; LOCKS] {
        let view = self.view.get().expect("a heap that is in use");
        // SAFETY: at the heap's begin, accessible and allocated before it is ready, and never unmapped: the view is that of a static, and
        // the tests' are leaked. Atomics are valid for any content.
        unsafe { &*view.map.base().cast() }
    }

    /// The tables of locked ranges. As for [`Heap::locks`].
    #[inline]
    pub fn ranges(&self) -> &'static [RangeTable; RANGE_TABLES] {
        let view = self.view.get().expect("a heap that is in use");
        // SAFETY: behind the locks, and as those.
        unsafe { &*view.map.base().add(LOCK_BYTES).cast() }
    }
}

/// How large the heap becomes: sparse, so more than there can be of memory.
fn size_for(physical: u64, limit: Option<u64>, start: u64) -> u64 {
    let most = (u64::from(u32::MAX) / 2) * PAGE as u64;
    let bytes = physical.saturating_mul(4).clamp(LEAST, most);
    let bytes = limit.map_or(bytes, |limit| bytes.min(limit.saturating_sub(start)));
    (bytes / ALIGN as u64 * ALIGN as u64).max(LEAST)
}

#[cfg(test)]
mod tests;
