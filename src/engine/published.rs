//! What the threads of this process wait for, on its status page: the longest of the waits that are not over.
//!
//! Invariant: while a wait is published, the page shows it or one that was published before. What is awaited may change in a wait, such as the
//! holder of a lock: it is described anew after something has come, and with each liveness check.

use super::wait::{FILE, Reason, WINDOW};
use super::{enter_at, own_page};
use crate::os::monotonic_nanoseconds;
use crate::transport::Page;
use crate::transport::waits::{Kind, Wait, Waits, Whom};
use parking_lot::Mutex;
use std::sync::OnceLock;

/// Returns what a request for an access to the window or file of a handle waits for, with the name or without.
type OfHandle = fn(i32, bool) -> Option<Wait>;
static OF_WINDOW: OnceLock<OfHandle> = OnceLock::new();
static OF_FILE: OnceLock<OfHandle> = OnceLock::new();

/// Tells the engine, which knows no windows, how to describe waits for requests of theirs.
pub fn describe_windows_by(describe: OfHandle) {
    let _ = OF_WINDOW.set(describe);
}

/// As [`describe_windows_by`], of files.
pub fn describe_files_by(describe: OfHandle) {
    let _ = OF_FILE.set(describe);
}

/// What a wait for a request without messages waits for: one of a window or file, or a generalised one.
pub fn without_messages(context: u32, owner: i32, named: bool) -> Wait {
    let describe = match context {
        WINDOW => OF_WINDOW.get(),
        FILE => OF_FILE.get(),
        _ => None,
    };
    let described = describe.and_then(|describe| describe(owner, named));
    // The program completes a generalised request, maybe on another thread.
    described.unwrap_or_else(|| Wait::of(Kind::Generalized, Whom::Outside))
}

#[derive(Default)]
struct List {
    /// Numbers given so far.
    last: u64,
    /// When the last wait began.
    queues: [u32; 3],
    /// In the order in which they were published; with their numbers.
    waits: Vec<(u64, Waits)>,
}

static LIST: Mutex<List> = Mutex::new(List {
    last: 0,
    queues: [0; 3],
    waits: Vec::new(),
});

/// A wait that others can see, for as long as this lives.
pub struct Published {
    number: u64,
    page: &'static Page,
    named: bool,
}

impl Published {
    /// Publishes a wait of this thread, in an engine of this number, that has begun `now`. `None`: there is no page.
    pub fn begin(reason: &Reason<'_>, number: u32, now: u64) -> Option<Published> {
        let page = own_page()?;
        let queues = {
            let engine = enter_at(number);
            let (posted, unexpected) = (engine.posted.len(), engine.unexpected.len());
            [posted as u32, unexpected as u32, engine.sending]
        };
        let waits = Waits {
            threads: 1,
            since: now,
            queues,
            function: reason.function.into(),
            wait: (reason.what)(false),
        };
        let mut list = LIST.lock();
        list.last += 1;
        list.queues = queues;
        let number = list.last;
        list.waits.push((number, waits));
        list.show(page);
        Some(Published {
            number,
            page,
            named: false,
        })
    }

    /// Names the communicator, window or file, if it was not named yet. Finding the name takes its time.
    pub fn name(&mut self, reason: &Reason<'_>) {
        if !std::mem::replace(&mut self.named, true) {
            self.renew(reason);
        }
    }

    /// Describes the wait anew: something has come, and others may be awaited now.
    pub fn renew(&self, reason: &Reason<'_>) {
        // Not under the lock: communicators, windows and files have locks of their own.
        let wait = (reason.what)(self.named);
        let mut list = LIST.lock();
        if let Some(at) = list.position(self.number) {
            list.waits[at].1.wait = wait;
            list.show(self.page);
        }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let mut list = LIST.lock();
        if let Some(at) = list.position(self.number) {
            list.waits.remove(at);
            list.show(self.page);
        }
    }
}

impl List {
    fn position(&self, number: u64) -> Option<usize> {
        self.waits.iter().position(|(of, _)| *of == number)
    }

    /// Writes how many wait, and of the oldest all.
    fn show(&self, page: &Page) {
        let oldest = self.waits.first().map(|(_, waits)| waits.clone());
        page.waits.write(&Waits {
            threads: self.waits.len() as u32,
            queues: self.queues,
            // From now on it does something else.
            ..oldest.unwrap_or_else(|| Waits {
                since: monotonic_nanoseconds(),
                ..Waits::default()
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_the_longest_wait_that_is_not_over() {
        let page = Page::default();
        let mut list = List::default();
        let wait = |process: u32| Waits {
            threads: 1,
            since: process.into(),
            function: "MPI_Recv".into(),
            wait: Wait::of(Kind::Receive, Whom::of([process])),
            ..Waits::default()
        };
        let shown = |list: &List| {
            list.show(&page);
            let waits = page.waits.read().unwrap();
            (waits.threads, waits.wait.whom)
        };
        list.waits.push((1, wait(7)));
        list.waits.push((2, wait(8)));
        assert_eq!(shown(&list), (2, Whom::of([7])));
        list.waits.remove(0);
        assert_eq!(shown(&list), (1, Whom::of([8])));
        list.waits.clear();
        assert_eq!(shown(&list).0, 0);
        assert_ne!(page.waits.read().unwrap().since, 8);
    }
}
