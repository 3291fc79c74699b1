//! A number for each long wait of this process: what is true of its program's memory stays true until that wait ends or a callback begins.
//!
//! With several threads in MPI it says nothing: who uses it asks whether there is but one.

use super::own_page;
use crate::sync::{AtomicU64, Ordering};
use crate::transport::Page;

/// The wait that lasts, 0: none.
static CURRENT: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);

/// A wait with a number of its own, which the status page tells others of, as long as this lives and no callback of the program has begun.
pub(super) struct NumberedWait(Option<&'static Page>);

impl NumberedWait {
    pub fn begin() -> NumberedWait {
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        CURRENT.store(number, Ordering::Relaxed);
        let page = own_page();
        if let Some(page) = page {
            page.waits.begin_long();
        }
        NumberedWait(page)
    }
}

impl Drop for NumberedWait {
    fn drop(&mut self) {
        interrupt();
        if let Some(page) = self.0 {
            page.waits.end_long();
        }
    }
}

/// The program goes on, in a callback or behind its call.
#[inline(always)]
pub(super) fn interrupt() {
    CURRENT.store(0, Ordering::Relaxed);
}

/// The number of the wait that lasts, never given twice; `None`: the program may run.
pub fn current() -> Option<u64> {
    match CURRENT.load(Ordering::Relaxed) {
        0 => None,
        number => Some(number),
    }
}
