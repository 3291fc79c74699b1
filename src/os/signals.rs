//! Signal actions of the process, and taking back those that libraries install when they are loaded; signals of a thread.

use libc::{c_int, sigaction};
use std::mem::MaybeUninit;

/// The last signal that has an action of its own.
const LAST: c_int = 31;

/// The process's signal actions as they are now, until they are put back. Libraries of network drivers (libpsm2, libpsm_infinipath) have
/// constructors that handle SIGSEGV, SIGABRT and others and then exit with 1: who started the process would see no signal.
pub struct Actions(Vec<(c_int, sigaction)>);

impl Actions {
    pub fn now() -> Self {
        Self((1..=LAST).map(|signal| (signal, action(signal))).collect())
    }

    /// Puts back those that have changed.
    pub fn restore(self) {
        for (signal, before) in self.0 {
            let now = action(signal);
            if now.sa_sigaction != before.sa_sigaction || now.sa_flags != before.sa_flags {
                // SAFETY: an action that the signal had before.
                unsafe { sigaction(signal, &raw const before, std::ptr::null_mut()) };
            }
        }
    }
}

/// What a signal does in this process.
pub fn action(signal: c_int) -> sigaction {
    // SAFETY: all zeros are a valid sigaction, which the call fills.
    let mut found: sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place; nothing is changed.
    unsafe { sigaction(signal, std::ptr::null(), &raw mut found) };
    found
}

/// From now on a signal that would end the process does nothing. Whatever this process starts has the signal's own action again.
pub fn survive(signal: c_int) {
    extern "C" fn nothing(_: c_int) {}
    let mut new = action(signal);
    if new.sa_sigaction == libc::SIG_DFL {
        new.sa_sigaction = nothing as extern "C" fn(c_int) as usize;
        new.sa_flags = libc::SA_RESTART;
        // SAFETY: a handler that does nothing.
        unsafe { sigaction(signal, &raw const new, std::ptr::null_mut()) };
    }
}

/// Calls `work` with all signals of this thread blocked: no handler runs here meanwhile, and threads that it starts inherit that.
pub fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both are valid places; the first is filled before it is read, the second by the call.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let done = work();
    // SAFETY: gives back the mask that this thread had.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_: c_int) {}

    #[test]
    fn a_signal_that_would_end_the_process_does_nothing() {
        // No other test uses it.
        const SIGNAL: c_int = libc::SIGVTALRM;
        survive(SIGNAL);
        // SAFETY: it has a handler.
        unsafe { libc::raise(SIGNAL) };
        let handler = action(SIGNAL).sa_sigaction;
        assert_ne!(handler, libc::SIG_DFL);
        // One of the program's stays.
        survive(SIGNAL);
        assert_eq!(action(SIGNAL).sa_sigaction, handler);
    }

    #[test]
    fn handlers_that_came_are_gone() {
        // No other test uses it.
        const SIGNAL: c_int = libc::SIGXFSZ;
        let actions = Actions::now();
        let before = action(SIGNAL).sa_sigaction;
        let handler = handler as extern "C" fn(c_int) as usize;
        // SAFETY: a handler that does nothing.
        unsafe { libc::signal(SIGNAL, handler) };
        assert_eq!(action(SIGNAL).sa_sigaction, handler);
        actions.restore();
        assert_eq!(action(SIGNAL).sa_sigaction, before);
    }
}
