//! A thread that watches descriptors, so that other threads can sleep on something else and be woken by both.
//!
//! Invariant: a descriptor that has become ready is told once, until it is armed again; a thread that sleeps arms it before its
//! last poll.

use super::threads;
use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, epoll, eventfd};
use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What the word of the descriptor that ends the thread is.
const STOP: u64 = u64::MAX;
const STACK_BYTES: usize = 64 << 10;

/// See the module.
pub struct Descriptors {
    epoll: Arc<OwnedFd>,
    watched: Mutex<Vec<(OwnedFd, u32)>>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Descriptors {
    /// Watches none yet; `wake` is called with a descriptor's number when that is ready.
    ///
    /// Errors: no descriptor or no thread is to be had.
    pub fn new(wake: impl Fn(u32) + Send + 'static) -> Result<Self> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(STOP);
        epoll::add(&*epoll, &stop, data, epoll::EventFlags::IN)?;
        let own = epoll.clone();
        let thread = threads::start("oxmpi-wake", STACK_BYTES, move || watch(&own, wake))?;
        Ok(Self {
            epoll,
            watched: Mutex::new(Vec::new()),
            stop,
            thread: Some(thread),
        })
    }

    /// Watches one more, armed.
    pub fn add(&self, descriptor: BorrowedFd<'_>, number: u32) -> Result<()> {
        let own = descriptor.try_clone_to_owned()?;
        let data = epoll::EventData::new_u64(number.into());
        epoll::add(&*self.epoll, &own, data, once())?;
        self.watched.lock().push((own, number));
        Ok(())
    }

    /// Arms all again: what is ready now is told at once.
    pub fn arm(&self) {
        for (own, number) in &*self.watched.lock() {
            let data = epoll::EventData::new_u64((*number).into());
            // It was added, and this changes nothing about it.
            let _ = epoll::modify(&*self.epoll, own.as_fd(), data, once());
        }
    }
}

fn once() -> epoll::EventFlags {
    epoll::EventFlags::IN | epoll::EventFlags::ONESHOT
}

fn watch(epoll: &OwnedFd, wake: impl Fn(u32)) {
    let mut events: Vec<epoll::Event> = Vec::with_capacity(16);
    loop {
        events.clear();
        match epoll::wait(epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        for event in &events {
            let data = event.data;
            match data.u64() {
                STOP => return,
                number => wake(number as u32),
            }
        }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // An eventfd that was never written has room.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
