//! The helper thread of a process whose private memory some peer cannot reach: it copies between that memory and a mailbox in the
//! node's heap, so that operations need no call of its process (which must not be stopped, though).
//!
//! ```text
//! creation     every rank marks the targets that it cannot reach; barrier; who is marked starts its thread and says where the mailbox is
//! operation    origin: lock the mailbox, list the pieces, POSTED, sleep        helper: copy, DONE        origin: take the result, unlock
//! ```
//!
//! A process has one mailbox and one thread for all windows. Creation calls [`ensure`] once the window is made. Invariant: an address
//! that is not mapped is an error, because the kernel copies ([`CheckedCopy`]).

use super::access::Pieces;
use super::room::LINE;
use super::window::{Way, Window};
use super::{locks, ways};
use crate::engine;
use crate::engine::losses::{self, Cause};
use crate::error::{Class, Result, fail};
use crate::os::backoff::Backoff;
use crate::os::checked_copy::CheckedCopy;
use crate::os::peer_memory::{PIECES, Piece};
use crate::os::turns::LOOKS_AT_HELPER;
use crate::os::{schedule, threads};
use crate::queue::named_lock::give_back;
use crate::queue::shape::{self, shape};
use crate::sync::{AtomicU32, Ordering};
use crate::transport;
use std::io::Error;
use std::sync::OnceLock;
use std::time::Duration;

/// Bytes of one request, at most; what [`super::private`] and [`super::accumulate`] hand over at once.
pub const MOST: usize = 128 << 10;

// `TargetLine::helper`; any other value is where the mailbox is in the heap.
const NOT_WANTED: u64 = 0;
const WANTED: u64 = 1;
const FAILED: u64 = 2;

// `Mailbox::state`.
const IDLE: u32 = 0;
const POSTED: u32 = 1;
const DONE: u32 = 2;

// Sleepers on the state, by bit.
const HELPER: u32 = 1;
const ORIGIN: u32 = 2;

const STACK_BYTES: usize = 64 << 10;
/// How long it sleeps before it looks whether the helper still lives.
const BOUNDED_SLEEP: Duration = Duration::from_millis(50);

/// What lies in the heap; all zeros are an idle one. All but `state` and `lock` belongs to whom the state names.
#[repr(C)]
struct Mailbox {
    state: AtomicU32,
    /// The origin that uses it: its process number and 1.
    lock: AtomicU32,
    /// Whether the target's memory is written.
    writes: AtomicU32,
    pieces: AtomicU32,
    /// An error number, and the position of the piece that had it.
    error: AtomicU32,
    failed: AtomicU32,
    _pad: [u32; 10],
    list: [Piece; PIECES],
    data: [u8; MOST],
}

/// The layout of what lies in the heap, and what is said there.
pub(super) const SHAPE: u64 = shape::combine(&[
    shape!(Mailbox {
        state,
        lock,
        writes,
        pieces,
        error,
        failed,
        _pad,
        list,
        data
    }),
    shape!(Piece { address, bytes }),
    NOT_WANTED,
    WANTED,
    FAILED,
    IDLE as u64,
    POSTED as u64,
    DONE as u64,
    HELPER as u64,
    ORIGIN as u64,
]);

/// Lets peers that cannot reach this process's memory ask its helper thread. Collective over the window; cheap where all memory is the
/// heap's.
///
/// `has_private`: some rank has private memory, or it is not known. `meet` returns when all ranks have come to it.
///
/// Errors: a rank is lost.
pub fn ensure(window: &Window, has_private: bool, meet: impl FnOnce() -> Result<()>) -> Result<()> {
    if window.size() == 1 || !(window.is_dynamic() || has_private) {
        return Ok(());
    }
    for (rank, target) in window.targets.iter().enumerate() {
        let way = match window.is_dynamic() {
            true => ways::to(target.process),
            false => target.way,
        };
        if rank != window.rank && way == Way::Helper {
            let word = &window.block.target(rank).helper;
            let _ = word.compare_exchange(NOT_WANTED, WANTED, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
    meet()?;
    let own = &window.block.target(window.rank).helper;
    if own.load(Ordering::Relaxed) == WANTED {
        own.store(mailbox().unwrap_or(FAILED), Ordering::Release);
    }
    Ok(())
}

/// Where this process's mailbox is, with a thread that serves it. `None`: there is no memory, no descriptor or no thread.
fn mailbox() -> Option<u64> {
    static OWN: OnceLock<Option<u64>> = OnceLock::new();
    *OWN.get_or_init(|| start().ok())
}

fn start() -> std::io::Result<u64> {
    let none = || Error::from_raw_os_error(libc::ENOMEM);
    let heap = transport::heap().ok_or_else(none)?;
    let bytes = size_of::<Mailbox>() as u64;
    let offset = heap.obtain(bytes, LINE)?;
    let place = heap.at(offset, bytes).ok_or_else(none)? as usize;
    let copier = CheckedCopy::new()?;
    // SAFETY: memory of the heap that this process keeps as long as it runs, zeros at first.
    let serve = move || unsafe { serve(place as *mut Mailbox, copier) };
    threads::start("oxmpi-windows", STACK_BYTES, serve)?;
    Ok(offset)
}

/// What the thread does as long as the process runs.
///
/// # Safety
/// A mailbox is there, and stays.
unsafe fn serve(mailbox: *mut Mailbox, mut copier: CheckedCopy) {
    // SAFETY: by the caller; atomics only.
    let state = unsafe { &(*mailbox).state };
    loop {
        let now = state.load(Ordering::Acquire);
        if now != POSTED {
            schedule::futex_wait(state, now, None, HELPER);
            continue;
        }
        // SAFETY: posted, so all of it is this thread's until it is done.
        unsafe { answer(mailbox, &mut copier) };
        state.store(DONE, Ordering::Release);
        schedule::futex_wake(state, ORIGIN);
    }
}

/// # Safety
/// The mailbox holds a request and is the caller's.
unsafe fn answer(mailbox: *mut Mailbox, copier: &mut CheckedCopy) {
    // SAFETY: by the caller; the lists are as long as they say, for they are cut to that.
    unsafe {
        let count = (*mailbox).pieces.load(Ordering::Relaxed) as usize;
        let writes = (*mailbox).writes.load(Ordering::Relaxed) != 0;
        let data = (&raw mut (*mailbox).data) as usize;
        let mut at = 0;
        for index in 0..count.min(PIECES) {
            let piece = (&raw const (*mailbox).list)
                .cast::<Piece>()
                .add(index)
                .read();
            let bytes = piece.bytes.min(MOST - at);
            let (from, to) = match writes {
                true => (data + at, piece.address),
                false => (piece.address, data + at),
            };
            if let Err(why) = copier.copy(from, to, bytes) {
                let number = why.raw_os_error().unwrap_or(libc::EFAULT);
                (*mailbox).error.store(number as u32, Ordering::Relaxed);
                (*mailbox).failed.store(index as u32, Ordering::Relaxed);
                return;
            }
            at += bytes;
        }
        (*mailbox).error.store(0, Ordering::Relaxed);
    }
}

/// Copies packed bytes, at most [`MOST`], to pieces of a target's memory.
///
/// Errors: [`Window::unreachable`]; MPIX_ERR_PROC_FAILED if the target has ended.
pub fn write(window: &Window, rank: usize, remote: &Pieces, data: &[u8]) -> Result<()> {
    let request = Request::begin(window, rank)?;
    // SAFETY: the mailbox is locked, and nothing is posted.
    unsafe {
        let place = (&raw mut (*request.mailbox).data).cast::<u8>();
        std::ptr::copy_nonoverlapping(data.as_ptr(), place, data.len().min(MOST));
    }
    request.end(remote, true)
}

/// Copies pieces of a target's memory to packed bytes.
///
/// Errors: as for [`write()`].
pub fn read(window: &Window, rank: usize, remote: &Pieces, out: &mut [u8]) -> Result<()> {
    let request = Request::begin(window, rank)?;
    request.end(remote, false)?;
    // SAFETY: the mailbox is locked, and the request is done.
    unsafe {
        let place = (&raw const (*request.mailbox).data).cast::<u8>();
        std::ptr::copy_nonoverlapping(place, out.as_mut_ptr(), out.len().min(MOST));
    }
    Ok(())
}

/// A mailbox that this origin has locked.
struct Request<'a> {
    window: &'a Window,
    rank: usize,
    mailbox: *mut Mailbox,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        // SAFETY: a mailbox of the heap; atomics only.
        unsafe {
            (*self.mailbox).state.store(IDLE, Ordering::Relaxed);
            give_back(&(*self.mailbox).lock);
        }
    }
}

#[cold]
fn died<R>(window: &Window, rank: usize) -> Result<R> {
    let text = format!("target rank {rank} of {} has ended", window.title());
    Err(losses::error_of(Cause::Holder, text))
}

impl<'a> Request<'a> {
    fn begin(window: &'a Window, rank: usize) -> Result<Request<'a>> {
        let target = window.block.target(rank);
        let process = window.targets[rank].process;
        let mut backoff = Backoff::default();
        let offset = loop {
            match target.helper.load(Ordering::Acquire) {
                // The target is still in the call that makes the window.
                WANTED if backoff.pause() && engine::has_died(process) => {
                    return died(window, rank);
                }
                WANTED => {}
                NOT_WANTED | FAILED => {
                    return fail!(
                        Class::RmaShared,
                        "memory of target rank {rank} of {} can be reached neither by the kernel nor by a helper thread of its process",
                        window.title()
                    );
                }
                offset => break offset,
            }
        };
        let heap = transport::heap();
        let place = heap.and_then(|heap| heap.at(offset, size_of::<Mailbox>() as u64));
        let Some(place) = place else {
            return fail!(Class::Intern, "no mailbox at {offset} of the heap");
        };
        let mailbox = place.cast::<Mailbox>();
        // SAFETY: a mailbox of the heap; atomics only.
        let lock = unsafe { &(*mailbox).lock };
        locks::wait(lock, window)?;
        Ok(Request {
            window,
            rank,
            mailbox,
        })
    }

    /// Posts the request and waits for its end.
    fn end(&self, remote: &Pieces, writes: bool) -> Result<()> {
        let mailbox = self.mailbox;
        let owner = self.window.targets[self.rank].process;
        // SAFETY: locked; the list has room for what a request may have.
        let state = unsafe {
            let list = (&raw mut (*mailbox).list).cast::<Piece>();
            let count = remote.len().min(PIECES);
            std::ptr::copy_nonoverlapping(remote.as_ptr(), list, count);
            (*mailbox).pieces.store(count as u32, Ordering::Relaxed);
            (*mailbox).writes.store(writes.into(), Ordering::Relaxed);
            &(*mailbox).state
        };
        state.store(POSTED, Ordering::Release);
        schedule::futex_wake(state, HELPER);
        let mut looks = 0;
        while state.load(Ordering::Acquire) != DONE {
            looks += 1;
            if looks < LOOKS_AT_HELPER {
                std::hint::spin_loop();
                continue;
            }
            schedule::futex_wait(state, POSTED, Some(BOUNDED_SLEEP), ORIGIN);
            if engine::has_died(owner) {
                return died(self.window, self.rank);
            }
        }
        // SAFETY: done, and locked.
        let (error, failed) = unsafe {
            (
                (*mailbox).error.load(Ordering::Relaxed),
                (*mailbox).failed.load(Ordering::Relaxed),
            )
        };
        if error == 0 {
            return Ok(());
        }
        let address = remote.get(failed as usize).map_or(0, |piece| piece.address);
        let why = Error::from_raw_os_error(error as i32);
        Err(self.window.unreachable(self.rank, address, &why))
    }
}
