//! Threads that the program cancels: they do not end inside of the library.
//!
//! Invariant: after MPI_Init a function of the C library that is a *cancellation point* (open, read, write, nanosleep, ...) is
//! called only while an [`Uncancelled`] lives: a thread that ended there would leave locks held and agreements half done. What
//! waits sleeps by `syscall`, which is none. c-tests/thread/cancellation_points.c looks at each such call.

use std::ptr::null_mut;

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, before: *mut libc::c_int) -> libc::c_int;
}

const PTHREAD_CANCEL_DISABLE: libc::c_int = 1;

/// While this lives a cancellation of this thread waits.
pub struct Uncancelled {
    before: libc::c_int,
}

impl Uncancelled {
    #[inline(never)]
    pub fn begin() -> Self {
        let mut before = 0;
        // SAFETY: `before` is a valid place; the state belongs to this thread.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
        Self { before }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        // SAFETY: gives back the state that this thread had; a null pointer asks for nothing.
        unsafe { pthread_setcancelstate(self.before, null_mut()) };
    }
}

/// Calls `what`, which has cancellation points.
#[inline]
pub fn uncancelled<R>(what: impl FnOnce() -> R) -> R {
    let _uncancelled = Uncancelled::begin();
    what()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn state() -> libc::c_int {
        let mut before = 0;
        // SAFETY: as above; the state is put back at once.
        unsafe {
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before);
            pthread_setcancelstate(before, null_mut());
        }
        before
    }

    #[test]
    fn the_state_before_comes_back() {
        let before = state();
        let inside = uncancelled(|| {
            let within = uncancelled(state);
            assert_eq!(within, PTHREAD_CANCEL_DISABLE);
            state()
        });
        assert_eq!(inside, PTHREAD_CANCEL_DISABLE);
        assert_ne!(before, PTHREAD_CANCEL_DISABLE);
        assert_eq!(state(), before);
    }
}
