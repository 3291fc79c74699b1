//! What the threads of this process wait for, on its status page: the longest of the waits that are not over.
//!
//! Invariant: while a wait is published, the page shows it or one that was published before.

use super::wait::{FILE, Reason, WINDOW};
use super::{enter_at, own_page};
use crate::os::monotonic_nanoseconds;
use crate::sync::Ordering;
use crate::transport::Page;
use parking_lot::Mutex;
use std::sync::OnceLock;

/// Returns the name of the communicator that a context belongs to.
type NameOfContext = fn(u32) -> Option<String>;
static NAME_OF_CONTEXT: OnceLock<NameOfContext> = OnceLock::new();

/// Tells the engine, which knows no communicators, how to name them on the status page.
pub fn name_contexts_by(name: NameOfContext) {
    let _ = NAME_OF_CONTEXT.set(name);
}

/// The name of the communicator that a context belongs to, if it has one.
pub fn name_of_context(context: u32) -> Option<String> {
    NAME_OF_CONTEXT.get().and_then(|name| name(context))
}

/// Returns what the window or file of a handle is called.
type NameOfHandle = fn(i32) -> Option<String>;
static NAME_OF_WINDOW: OnceLock<NameOfHandle> = OnceLock::new();
static NAME_OF_FILE: OnceLock<NameOfHandle> = OnceLock::new();

/// Tells the engine, which knows no windows, how to name them on the status page.
pub fn name_windows_by(name: NameOfHandle) {
    let _ = NAME_OF_WINDOW.set(name);
}

/// As [`name_windows_by`], of files.
pub fn name_files_by(name: NameOfHandle) {
    let _ = NAME_OF_FILE.set(name);
}

/// What the object of a wait is called.
fn name_of(reason: &Reason) -> Option<String> {
    match reason.context {
        WINDOW => NAME_OF_WINDOW.get().and_then(|name| name(reason.tag)),
        FILE => NAME_OF_FILE.get().and_then(|name| name(reason.tag)),
        context => name_of_context(context),
    }
}

struct Wait {
    number: u64,
    reason: Reason,
    /// CLOCK_MONOTONIC nanoseconds.
    since: u64,
    /// The communicator's, window's or file's, once it was asked for.
    name: Option<String>,
}

#[derive(Default)]
struct Waits {
    /// Numbers given so far.
    last: u64,
    /// In the order in which they were published.
    list: Vec<Wait>,
}

static WAITS: Mutex<Waits> = Mutex::new(Waits {
    last: 0,
    list: Vec::new(),
});

/// A wait that others can see, for as long as this lives.
pub struct Published {
    number: u64,
    page: &'static Page,
    named: bool,
}

impl Published {
    /// Publishes a wait of this thread, in an engine of this number, that has begun `now`. `None`: there is no page.
    pub fn begin(reason: &Reason, number: u32, now: u64) -> Option<Published> {
        let page = own_page()?;
        {
            let engine = enter_at(number);
            let (posted, unexpected) = (engine.posted.len(), engine.unexpected.len());
            page.posted.store(posted as u32, Ordering::Relaxed);
            page.unexpected.store(unexpected as u32, Ordering::Relaxed);
            page.sending.store(engine.sending, Ordering::Relaxed);
        }
        let mut waits = WAITS.lock();
        waits.last += 1;
        let number = waits.last;
        waits.list.push(Wait {
            number,
            reason: *reason,
            since: now,
            name: None,
        });
        waits.show(page, waits.list.len() == 1);
        Some(Published {
            number,
            page,
            named: false,
        })
    }

    /// Names the communicator, window or file, if it was not named yet. Finding the name takes its time.
    pub fn name(&mut self) {
        if std::mem::replace(&mut self.named, true) {
            return;
        }
        let position = |waits: &Waits| waits.list.iter().position(|it| it.number == self.number);
        let reason = {
            let waits = WAITS.lock();
            position(&waits).map(|at| waits.list[at].reason)
        };
        // Not under the lock: communicators, windows and files have locks of their own.
        let name = reason.and_then(|reason| name_of(&reason));
        let mut waits = WAITS.lock();
        if let Some(at) = position(&waits) {
            waits.list[at].name = name;
            waits.show(self.page, at == 0);
        }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let mut waits = WAITS.lock();
        if let Some(at) = waits.list.iter().position(|it| it.number == self.number) {
            waits.list.remove(at);
            waits.show(self.page, at == 0);
        }
    }
}

impl Waits {
    /// Writes how many wait, and of the oldest all, if that is `new` there.
    fn show(&self, page: &Page, new: bool) {
        let count = self.list.len() as u32;
        match self.list.first() {
            Some(wait) if new => {
                page.function.store(wait.reason.function);
                page.peer.store(wait.reason.peer, Ordering::Relaxed);
                page.tag.store(wait.reason.tag, Ordering::Relaxed);
                page.context.store(wait.reason.context, Ordering::Relaxed);
                page.communicator
                    .store(wait.name.as_deref().unwrap_or_default());
                page.since.store(wait.since, Ordering::Relaxed);
            }
            Some(_) => {}
            // From now on it does something else.
            None => page.since.store(monotonic_nanoseconds(), Ordering::Relaxed),
        }
        page.waiting.store(count, Ordering::Release);
    }
}
