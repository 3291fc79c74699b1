//! Stores into mapped parts of files. Where another process has made the file shorter, or the disk is full, a store gets SIGBUS; that becomes
//! an error.
//!
//! The handler puts anonymous memory where the store has failed, so that it goes on, and marks the window, whose data then has to go to the file
//! otherwise. A SIGBUS anywhere else goes to the handler that was there before, as does one that a process has sent.
//!
//! Invariants: `SLOTS` names a window before anything is stored into it. Nothing is stored while the handler is another one, or while the
//! thread has the signal blocked.

use super::memory::Mapping;
use super::signals::action;
use crate::sync::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use parking_lot::Mutex;
use std::io::{Error, Result};
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// Bytes of the file that a window shows; its position is a multiple of that.
pub const WINDOW: u64 = 4 << 20;
/// Windows of this process at the same time.
const MOST: usize = 1024;
/// Windows that a file keeps for its next accesses.
const KEPT: usize = 4;

/// What the handler finds a window by.
struct Slot {
    /// 0: free; else the window's first address, or [`CHANGING`].
    base: AtomicUsize,
    /// A store was lost.
    lost: AtomicBool,
}

/// No address of a mapping.
const CHANGING: usize = 1;

static SLOTS: [Slot; MOST] = [const {
    Slot {
        base: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MOST];

/// The handler of before, while ours is there.
static BEFORE: Mutex<Option<libc::sigaction>> = Mutex::new(None);
/// A copy of it for our handler, which can take no lock; written before that is installed.
// SAFETY: all zeros are a valid sigaction.
static mut PASSED_TO: libc::sigaction = unsafe { std::mem::zeroed() };

/// A part of a file that is mapped to be written.
pub struct Window {
    number: u64,
    map: Mapping,
    slot: &'static Slot,
    /// Bytes whose pages were had before the last stores.
    populated: Range<usize>,
}

impl Window {
    /// The part of the file from `number` times [`WINDOW`] on.
    ///
    /// Errors: EACCES where the file is not open for reading, too; ENODEV, ENOMEM; EAGAIN, there are too many windows.
    fn new(fd: BorrowedFd<'_>, number: u64) -> Result<Window> {
        let claims = |slot: &&Slot| {
            if slot.base.load(Ordering::Relaxed) != 0 {
                return false;
            }
            let claimed =
                slot.base
                    .compare_exchange(0, CHANGING, Ordering::Acquire, Ordering::Relaxed);
            claimed.is_ok()
        };
        let Some(slot) = SLOTS.iter().find(claims) else {
            return Err(Error::from_raw_os_error(libc::EAGAIN));
        };
        match Mapping::of_part(fd, number * WINDOW, WINDOW as usize) {
            Ok(map) => {
                slot.lost.store(false, Ordering::Relaxed);
                // Release: the mark first.
                slot.base.store(map.base() as usize, Ordering::Release);
                Ok(Window {
                    number,
                    map,
                    slot,
                    populated: 0..0,
                })
            }
            Err(error) => {
                slot.base.store(0, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Has `stores` store into the window, to which it gets the address, within a range of it that is given in bytes. The pages are had before,
    /// which costs less than one by one, unless they were for the last access; where that fails the stores meet the reason. Returns the window, for the
    /// next access.
    ///
    /// Errors: EFAULT, the file has not got all of what was stored; ENOTSUP, stores that fail would end the process.
    pub fn fill(
        mut self,
        range: Range<usize>,
        stores: impl FnOnce(*mut u8) -> Result<()>,
    ) -> Result<Window> {
        if !is_guarded() {
            return Err(Error::from_raw_os_error(libc::ENOTSUP));
        }
        let page = super::memory::page_bytes();
        let (first, end) = (range.start / page * page, range.end.next_multiple_of(page));
        if first < self.populated.start || end > self.populated.end {
            let _ = self.map.populate(first, end - first);
            self.populated = first..end;
        }
        let stored = stores(self.map.base());
        // The handler runs in the middle of the stores.
        compiler_fence(Ordering::SeqCst);
        // Relaxed: this thread's own handler has marked it.
        match self.slot.lost.load(Ordering::Relaxed) {
            false => stored.map(|()| self),
            true => Err(Error::from_raw_os_error(libc::EFAULT)),
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // The mapping goes right after that; nothing is stored any more.
        self.slot.base.store(0, Ordering::Release);
    }
}

/// The windows that a file keeps.
#[derive(Default)]
pub struct Windows(Mutex<Vec<Window>>);

impl Windows {
    /// A window of the file, which nobody else has until it is kept again.
    ///
    /// Errors: as [`Window::new`].
    pub fn take(&self, fd: BorrowedFd<'_>, number: u64) -> Result<Window> {
        let kept = {
            let mut kept = self.0.lock();
            let at = kept.iter().position(|window| window.number == number);
            at.map(|at| kept.remove(at))
        };
        kept.map_or_else(|| Window::new(fd, number), Ok)
    }

    /// Keeps a window, instead of the one that was not used for longest.
    pub fn keep(&self, window: Window) {
        let mut kept = self.0.lock();
        kept.push(window);
        let old = (kept.len() > KEPT).then(|| kept.remove(0));
        drop(kept);
        drop(old);
    }

    pub fn drop_all(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }
}

extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid siginfo; errno is this thread's.
    unsafe {
        let errno = *libc::__errno_location();
        if !((*info).si_code > 0 && is_mended((*info).si_addr() as usize)) {
            pass_on(signal, info, context);
        }
        *libc::__errno_location() = errno;
    }
}

/// Puts memory where a window's store has failed. False: it was none.
fn is_mended(address: usize) -> bool {
    let is_there = |slot: &&Slot| {
        let base = slot.base.load(Ordering::Acquire);
        base > CHANGING && address.wrapping_sub(base) < WINDOW as usize
    };
    let Some(slot) = SLOTS.iter().find(is_there) else {
        return false;
    };
    let page = super::memory::page_bytes();
    // SAFETY: a page of the window, in which this thread is storing; what it shows of the file is lost, which is noted.
    let put = unsafe {
        libc::mmap(
            (address / page * page) as *mut libc::c_void,
            page,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    slot.lost.store(true, Ordering::Relaxed);
    put != libc::MAP_FAILED
}

/// What would have happened without this library.
///
/// # Safety
/// The arguments of a handler.
unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: written before this handler was there, and never while it is; its action is a function of the kind that its flags say.
    unsafe {
        let before = (&raw const PASSED_TO).read();
        let is_sent = (*info).si_code <= 0;
        match before.sa_sigaction {
            libc::SIG_IGN if is_sent => {}
            libc::SIG_IGN | libc::SIG_DFL => {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &default, std::ptr::null_mut());
                // A store fails again when this returns.
                if is_sent {
                    libc::raise(signal);
                }
            }
            action if before.sa_flags & libc::SA_SIGINFO != 0 => {
                type Informed = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                std::mem::transmute::<usize, Informed>(action)(signal, info, context);
            }
            action => {
                std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(action)(signal);
            }
        }
    }
}

fn own_action() -> usize {
    on_bus_error as *const () as usize
}

/// Whether this thread's stores that fail come to our handler, which is put there at the first question. If the program has put one of its own
/// there since, it stays.
fn is_guarded() -> bool {
    let found = action(libc::SIGBUS);
    if found.sa_sigaction != own_action() && !installed(found) {
        return false;
    }
    // SAFETY: all zeros are a valid set, which the call fills.
    let mut blocked: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place; nothing is changed.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut blocked);
        libc::sigismember(&blocked, libc::SIGBUS) == 0
    }
}

/// Puts our handler there, if it was not yet.
#[cold]
fn installed(found: libc::sigaction) -> bool {
    let mut before = BEFORE.lock();
    if before.is_some() {
        return action(libc::SIGBUS).sa_sigaction == own_action();
    }
    let mut own = found;
    own.sa_sigaction = own_action();
    own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | found.sa_flags & libc::SA_RESTART;
    // SAFETY: the handler is not there, so nothing reads this; it calls what may be called in a handler.
    unsafe {
        (&raw mut PASSED_TO).write(found);
        libc::sigaction(libc::SIGBUS, &own, std::ptr::null_mut());
    }
    *before = Some(found);
    true
}

/// Puts the handler of before back, unless the program has put another one there.
pub fn end() {
    let Some(before) = BEFORE.lock().take() else {
        return;
    };
    if action(libc::SIGBUS).sa_sigaction == own_action() {
        // SAFETY: what was there before, in the same process.
        unsafe { libc::sigaction(libc::SIGBUS, &before, std::ptr::null_mut()) };
    }
}

/// Lets failing stores of this thread come to the handler.
pub fn unblock() {
    // SAFETY: all zeros are a valid set; only this thread's mask changes.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut set, libc::SIGBUS);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    fn store(window: Window, at: usize, bytes: &[u8]) -> Result<Window> {
        window.fill(at..at + bytes.len(), |memory| {
            // SAFETY: a part of the window, which nobody else uses.
            unsafe { memory.add(at).copy_from(bytes.as_ptr(), bytes.len()) };
            Ok(())
        })
    }

    #[test]
    fn what_the_file_does_not_take_is_an_error() {
        let name = format!("oxmpi-map-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = std::fs::File::options();
        let file = file
            .clone()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        let before = action(libc::SIGBUS).sa_sigaction;
        let windows = Windows::default();
        let take = || windows.take(file.as_fd(), 0).unwrap();
        file.set_len(5000).unwrap();
        let window = store(take(), 10, b"ab").unwrap();
        let base = window.map.base();
        windows.keep(store(window, 4095, b"cde").unwrap());
        assert_eq!(take().map.base(), base);
        let behind = store(take(), 9000, b"xyz").map(|_| ());
        assert_eq!(behind.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        // As if another process had made it shorter.
        let window = store(take(), 20, b"f").unwrap();
        file.set_len(0).unwrap();
        let gone = store(window, 10, b"xyz").map(|_| ());
        assert_eq!(gone.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        file.set_len(5000).unwrap();
        windows.keep(store(take(), 4095, b"cde").unwrap());
        let mut found = [0u8; 4];
        file.read_exact_at(&mut found, 4094).unwrap();
        assert_eq!(&found, b"\0cde");
        windows.drop_all();
        std::fs::remove_file(&path).unwrap();
        end();
        assert_eq!(action(libc::SIGBUS).sa_sigaction, before);
    }
}
