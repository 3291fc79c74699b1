//! What the threads of this process wait for, on its status page, and that nothing moves meanwhile.
//!
//! A wait's processes may change while it lasts, such as the holder of a lock: the wait is described anew after a packet has come, and with each
//! liveness check. Invariants, on which mpiexec's proof rests that a job is stuck (`docs/verdict.md`): what a thread does for others in a look it does after
//! a packet was handled, in a step of a task, or it [`stir`]s; a look that could not look everywhere says that it [`is_partial`].

use super::wait::{FILE, Reason, WINDOW};
use super::{enter_at, own_page};
use crate::group::names;
use crate::os::sites;
use crate::sync::{AtomicU32, Ordering};
use crate::transport::Page;
use crate::transport::slots::{Message, PROGRESS_THREAD};
use crate::transport::waits::{Kind, Wait, Waits, Whom};
use std::cell::Cell;
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

/// Waits that are published.
static PUBLISHED: AtomicU32 = AtomicU32::new(0);

/// Nanoseconds between two liveness checks that count: calls of a collective operation are compared again after less.
const BETWEEN_CHECKS: u64 = 400_000_000;

thread_local! {
    /// Since this thread's look began it could not look somewhere.
    static PARTIAL: Cell<bool> = const { Cell::new(false) };
    /// A liveness check of this thread puts nothing off that is otherwise done seldom.
    static THOROUGH: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread makes a liveness check that puts nothing off, however short ago the last one was.
pub fn puts_nothing_off() -> bool {
    THOROUGH.get()
}

/// As long as this lives, liveness checks of this thread put nothing off, and each of them counts.
pub(super) struct Thorough(());

impl Thorough {
    pub(super) fn begin() -> Thorough {
        THOROUGH.set(true);
        Thorough(())
    }
}

impl Drop for Thorough {
    fn drop(&mut self) {
        THOROUGH.set(false);
    }
}

/// Something moves in this process but for a packet that is handled or sent: a task goes on, a wait is to be ended by the clock.
#[inline]
pub fn stir() {
    if PUBLISHED.load(Ordering::Relaxed) != 0 {
        stir_now();
    }
}

#[cold]
fn stir_now() {
    if let Some(page) = own_page() {
        page.waits.stir();
    }
}

/// This thread's look is not whole: another thread does something where it would have looked.
#[cold]
pub fn is_partial() {
    PARTIAL.set(true);
}

/// This thread begins to look everywhere, outside of a look that is counted.
pub(super) fn begin_tour() {
    PARTIAL.set(false);
}

/// Work of one of the library's own threads: while it lives, waits of this process may be ended by that.
pub struct Busy(Option<&'static Page>);

impl Busy {
    pub fn begin() -> Busy {
        let page = own_page();
        if let Some(page) = page {
            page.waits.work();
        }
        Busy(page)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(page) = self.0 {
            page.waits.rest();
        }
    }
}

/// A thread of the library's own that answers others, as long as this lives: its looks count as those of a wait, and what it moves stirs.
pub struct ThreadLooks(Option<&'static Page>);

impl ThreadLooks {
    pub fn begin() -> ThreadLooks {
        let page = own_page();
        PUBLISHED.fetch_add(1, Ordering::AcqRel);
        if let Some(page) = page {
            page.waits.begin_progress_thread();
        }
        ThreadLooks(page)
    }

    /// A look of this thread begins.
    pub fn begin_look(&self) {
        PARTIAL.set(false);
        if let Some(page) = self.0 {
            page.waits.begin_look(PROGRESS_THREAD);
        }
    }

    /// It has found nothing, moved nothing and left nothing out.
    pub fn end_look(&self) {
        if let Some(page) = self.0
            && !PARTIAL.get()
        {
            page.waits.end_look(PROGRESS_THREAD, false);
        }
    }

    /// A liveness check begins.
    pub fn begin_check(&self) {
        if let Some(page) = self.0 {
            page.waits.begin_check(PROGRESS_THREAD);
        }
    }

    /// It has found nothing.
    pub fn end_check(&self) {
        if let Some(page) = self.0 {
            page.waits.end_check(PROGRESS_THREAD);
        }
    }
}

impl Drop for ThreadLooks {
    fn drop(&mut self) {
        if let Some(page) = self.0 {
            page.waits.end_progress_thread();
        }
        PUBLISHED.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A wait that others can see, for as long as this lives.
pub struct Published {
    page: &'static Page,
    slot: Option<usize>,
    waits: Waits,
    named: bool,
    /// When the last check began that counts, nanoseconds.
    checked: u64,
    checks: bool,
    is_found: bool,
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
        PUBLISHED.fetch_add(1, Ordering::AcqRel);
        Some(Published {
            page,
            slot: page.waits.begin(&waits),
            waits,
            named: false,
            checked: 0,
            checks: false,
            is_found: false,
        })
    }

    /// Names the communicator, window or file, if it was not named yet. Finding the name takes its time.
    pub fn name(&mut self, reason: &Reason<'_>) {
        if !std::mem::replace(&mut self.named, true) {
            self.renew(reason);
        }
    }

    /// Describes the wait anew: something has come, and others may be awaited now.
    pub fn renew(&mut self, reason: &Reason<'_>) {
        self.waits.wait = (reason.what)(self.named);
        if let Some(slot) = self.slot {
            self.page.waits.renew(slot, &self.waits);
        }
    }

    /// Shows where the program is, once.
    pub fn find_sites(&mut self) {
        if let (false, Some(slot)) = (std::mem::replace(&mut self.is_found, true), self.slot) {
            self.page.waits.set_sites(slot, &sites::callers());
        }
    }

    /// Shows messages that are there and that the program may have meant.
    pub fn show_messages(&self, number: u32) {
        if let Some(slot) = self.slot {
            let messages = unexpected(number, &self.waits.wait);
            self.page.waits.set_messages(slot, &messages);
        }
    }

    /// A look begins.
    pub fn begin_look(&self) {
        PARTIAL.set(false);
        if let Some(slot) = self.slot {
            self.page.waits.begin_look(slot);
        }
    }

    /// It has found nothing, moved nothing and, as far as its maker knows, left nothing out. `closed`: nobody but those who are awaited has any
    /// part in what this process still has to do for others. Whether it counts.
    pub fn end_look(&self, closed: bool) -> bool {
        let counts = !PARTIAL.get();
        if let (true, Some(slot)) = (counts, self.slot) {
            self.page.waits.end_look(slot, closed);
        }
        counts
    }

    /// A liveness check begins; tasks were asked just before.
    pub fn begin_check(&mut self, now: u64) {
        let is_late = now.saturating_sub(self.checked) >= BETWEEN_CHECKS;
        self.checks = (is_late || puts_nothing_off()) && !PARTIAL.get();
        if let (true, Some(slot)) = (self.checks, self.slot) {
            self.checked = now;
            self.page.waits.begin_check(slot);
        }
    }

    /// It has found nothing. Whether it counts.
    pub fn end_check(&self) -> bool {
        if let (true, Some(slot)) = (self.checks, self.slot) {
            self.page.waits.end_check(slot);
        }
        self.checks
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        self.page.waits.end(self.slot);
        PUBLISHED.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Messages of an engine that nobody has asked for, first those from the awaited process and those of the awaited communicator.
fn unexpected(number: u32, wait: &Wait) -> Vec<Message> {
    let mut engine = enter_at(number);
    let awaited: &[u32] = match &wait.whom {
        Whom::Some(some) => some,
        _ => &[],
    };
    let is_awaited = |process: usize| {
        !awaited.is_empty()
            && names::on_page(process as u32).is_some_and(|it| awaited.contains(&it))
    };
    let mut found = Vec::new();
    for number in engine.messages.numbers() {
        if let Some(message) = engine.messages.get(number)
            && super::refusal::is_of_program(message.key.context)
        {
            let is_near = is_awaited(message.process) || message.key.context == wait.context;
            found.push((
                !is_near,
                Message {
                    source: message.key.source,
                    tag: message.key.tag,
                    context: message.key.context,
                    bytes: message.total.try_into().unwrap_or(u32::MAX),
                },
            ));
        }
    }
    found.sort_by_key(|(is_far, _)| *is_far);
    found.into_iter().map(|(_, message)| message).collect()
}
