//! Signals that the supervisor gets itself: flags keep them, and a socket wakes its loop.

use super::front::signals_to_ignore;
use oxmpi::sync::{AtomicBool, Ordering};
use signal_hook::consts::signal::{
    SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTOU, SIGUSR1,
};
use signal_hook::{flag, low_level::pipe};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

pub struct NotedSignals {
    stream: UnixStream,
    /// SIGTERM and SIGUSR1.
    flags: [(i32, Arc<AtomicBool>); 2],
}

impl NotedSignals {
    pub fn register() -> io::Result<NotedSignals> {
        let (stream, writer) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        // The terminal sends these to us too, but they count when the front process passes them on.
        let ignored = signals_to_ignore();
        for signal in [SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU] {
            if !ignored.contains(signal) {
                flag::register(signal, Arc::default())?;
            }
        }
        let flags = [SIGTERM, SIGUSR1].map(|signal| (signal, Arc::default()));
        for (signal, noted) in &flags {
            flag::register(*signal, Arc::clone(noted))?;
        }
        for wakes in [SIGCHLD, SIGTERM, SIGUSR1] {
            pipe::register(wakes, writer.try_clone()?)?;
        }
        Ok(NotedSignals { stream, flags })
    }

    /// Those that have come, SIGCHLD apart.
    pub fn take(&self) -> Vec<i32> {
        let mut bytes = [0u8; 256];
        while matches!((&self.stream).read(&mut bytes), Ok(count) if count > 0) {}
        let come = self.flags.iter();
        let come = come.filter(|(_, noted)| noted.swap(false, Ordering::Relaxed));
        come.map(|(signal, _)| *signal).collect()
    }
}

impl AsFd for NotedSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
