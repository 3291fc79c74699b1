//! For tests: which lines of a staging area were published and read on this thread since they were last taken away.
//!
//! Ranks that take turns run in one thread: what a turn leaves here is that rank's.

use std::cell::RefCell;

/// A publisher and a round.
pub type Line = (usize, u64);

/// Lines that a rank has published and read. A line that is looked at before it is published does not count.
#[derive(Default)]
pub struct Tally {
    pub published: Vec<Line>,
    pub read: Vec<Line>,
}

thread_local! {
    static TALLY: RefCell<Option<Tally>> = const { RefCell::new(None) };
}

pub fn published(publisher: usize, round: u64) {
    TALLY.with_borrow_mut(|tally| {
        if let Some(tally) = tally {
            tally.published.push((publisher, round));
        }
    });
}

pub fn read(publisher: usize, round: u64) {
    TALLY.with_borrow_mut(|tally| {
        if let Some(tally) = tally {
            tally.read.push((publisher, round));
        }
    });
}

/// What came since the last time; the first time begins it.
pub fn take() -> Tally {
    TALLY.replace(Some(Tally::default())).unwrap_or_default()
}

/// Ends it.
pub fn end() {
    TALLY.set(None);
}
